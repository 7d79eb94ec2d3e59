"""Eight doubles in a register, and bare rows of memory: what the compiled kernels are written in.

`Lanes` lowers to LLVM's <8 x double> (one zmm, two ymm or four xmm registers). `Floats` and `Ints` are a pointer with a
row stride: `a[i, j]` and `a[i]` neither check nor wrap, `load(a, i, j)` and `store(a, i, j, x)` move eight neighbours.
They are made inside a kernel from the address of a workspace, so a kernel takes one integer and no array.

    >>> x = load(Y, d, 0)             # doctest: +SKIP
    >>> store(Y, e, 0, load(Y, e, 0) - L[i, e] * x)    # doctest: +SKIP
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

WIDTH = 8
_DOUBLE, INT, _INT32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
VECTOR, INTS = ir.VectorType(_DOUBLE, WIDTH), ir.VectorType(INT, WIDTH)
_FLAGS = ("contract", "nsz", "arcp")


class LanesType(types.Type):
    """Numba type of eight doubles."""

    def __init__(self):
        super().__init__(name="Lanes")


class RowsType(types.Type):
    """Numba type of a pointer to `dtype` with a row stride, in elements."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Rows({dtype})")


lanes = LanesType()
floats_type, ints_type = RowsType(types.float64), RowsType(types.int64)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, VECTOR)


@register_model(RowsType)
class _RowsModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        members = [("data", types.CPointer(fe_type.dtype)), ("stride", types.int64)]
        super().__init__(dmm, fe_type, members)


# ---- arithmetic -------------------------------------------------------------------------------------------------


def _splat(builder, x):
    undefined = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, x, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(
        first, undefined, ir.Constant(ir.VectorType(_INT32, WIDTH), [0] * WIDTH)
    )


def constant(x, element=_DOUBLE):
    """The LLVM constant that has x in every lane."""
    return ir.Constant(ir.VectorType(element, WIDTH), [ir.Constant(element, x)] * WIDTH)


def _binary(op, instruction):
    cases = [
        signature(lanes, lanes, lanes),
        signature(lanes, types.float64, lanes),
        signature(lanes, lanes, types.float64),
    ]
    infer_global(op)(type(f"Lanes_{instruction}", (ConcreteTemplate,), {"cases": cases}))

    def lower(context, builder, sig, args):
        x, y = (a if t == lanes else _splat(builder, a) for a, t in zip(args, sig.args))
        return getattr(builder, instruction)(x, y, flags=_FLAGS)

    for case in cases:
        lower_builtin(op, *case.args)(lower)


for _op, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _binary(_op, _instruction)


@infer_global(operator.neg)
class _Negation(ConcreteTemplate):
    cases = [signature(lanes, lanes)]


@lower_builtin(operator.neg, lanes)
def _lower_neg(context, builder, sig, args):
    return builder.fneg(args[0])


@intrinsic
def splat(typingctx, x):
    """The same double in every lane."""

    def codegen(context, builder, sig, args):
        return _splat(builder, args[0])

    return lanes(types.float64), codegen


@intrinsic
def absolute(typingctx, x):
    """|x| of every lane."""

    def codegen(context, builder, sig, args):
        bits = builder.and_(builder.bitcast(args[0], INTS), constant(2**63 - 1, INT))
        return builder.bitcast(bits, VECTOR)

    return lanes(lanes), codegen


@intrinsic
def total(typingctx, x):
    """Sum of the eight lanes."""

    def codegen(context, builder, sig, args):
        lane = [builder.extract_element(args[0], ir.Constant(_INT32, i)) for i in range(WIDTH)]
        while len(lane) > 1:  # pairwise: a chain of three additions, not seven
            half = len(lane) // 2
            lane = [builder.fadd(lane[i], lane[i + half], flags=_FLAGS) for i in range(half)]
        return lane[0]

    return types.float64(lanes), codegen


@intrinsic
def pair(typingctx, a, b):
    """`a` in the first four lanes, `b` in the last four."""

    def codegen(context, builder, sig, args):
        return _shuffled(
            builder, _splat(builder, args[0]), _splat(builder, args[1]), [0] * 4 + [WIDTH] * 4
        )

    return lanes(types.float64, types.float64), codegen


def _rearranged(order):
    def picker(typingctx, x):
        def codegen(context, builder, sig, args):
            return _shuffled(builder, args[0], constant(0.0), order)

        return lanes(lanes), codegen

    return picker


first_half = intrinsic(_rearranged([0, 1, 2, 3, 0, 1, 2, 3]))  # the first four lanes twice
last_half = intrinsic(_rearranged([4, 5, 6, 7, 4, 5, 6, 7]))  # the last four lanes twice
halves_swapped = intrinsic(_rearranged([4, 5, 6, 7, 0, 1, 2, 3]))
# zeros before the last four lanes
last_half_alone = intrinsic(_rearranged([8, 8, 8, 8, 4, 5, 6, 7]))


@intrinsic
def from_lane(typingctx, x, k):
    """`x` with the lanes before `k` set to zero."""

    def codegen(context, builder, sig, args):
        number = ir.Constant(INTS, [ir.Constant(INT, i) for i in range(WIDTH)])
        start = builder.insert_element(
            ir.Constant(INTS, ir.Undefined), args[1], ir.Constant(_INT32, 0)
        )
        start = builder.shuffle_vector(
            start,
            ir.Constant(INTS, ir.Undefined),
            ir.Constant(ir.VectorType(_INT32, WIDTH), [0] * WIDTH),
        )
        return builder.select(builder.icmp_signed(">=", number, start), args[0], constant(0.0))

    return lanes(lanes, types.int64), codegen


# ---- memory -----------------------------------------------------------------------------------------------------


def _pointer(context, builder, rows_type, rows, index):
    """Address of element `index` (an integer, or a pair row, column)."""
    struct = cgutils.create_struct_proxy(rows_type)(context, builder, value=rows)
    if isinstance(index, tuple):
        index = builder.add(builder.mul(index[0], struct.stride), index[1])
    return builder.gep(struct.data, [index])


def _unpack(builder, index_type, index):
    if isinstance(index_type, types.BaseTuple):
        return tuple(cgutils.unpack_tuple(builder, index, 2))
    return index


_PAIR = types.UniTuple(types.int64, 2)


@infer_global(operator.getitem)
class _GetItem(ConcreteTemplate):
    cases = [
        signature(t.dtype, t, i) for t in (floats_type, ints_type) for i in (types.int64, _PAIR)
    ]


@infer_global(operator.setitem)
class _SetItem(ConcreteTemplate):
    cases = [
        signature(types.void, t, i, t.dtype)
        for t in (floats_type, ints_type)
        for i in (types.int64, _PAIR)
    ]


def _lower_get(context, builder, sig, args):
    return builder.load(
        _pointer(context, builder, sig.args[0], args[0], _unpack(builder, sig.args[1], args[1]))
    )


def _lower_set(context, builder, sig, args):
    builder.store(
        args[2],
        _pointer(context, builder, sig.args[0], args[0], _unpack(builder, sig.args[1], args[1])),
    )
    return context.get_dummy_value()


for _rows in (floats_type, ints_type):
    for _index in (types.int64, _PAIR):
        lower_builtin(operator.getitem, _rows, _index)(_lower_get)
        lower_builtin(operator.setitem, _rows, _index, _rows.dtype)(_lower_set)


def _vector_pointer(context, builder, sig, args):
    return builder.bitcast(
        _pointer(context, builder, sig.args[0], args[0], (args[1], args[2])), VECTOR.as_pointer()
    )


@intrinsic
def load(typingctx, rows, i, j):
    """Eight neighbours of row `i` from column `j` on."""

    def codegen(context, builder, sig, args):
        value = builder.load(_vector_pointer(context, builder, sig, args))
        value.align = 8
        return value

    return lanes(rows, types.int64, types.int64), codegen


@intrinsic
def store(typingctx, rows, i, j, x):
    """Write eight neighbours of row `i` from column `j` on."""

    def codegen(context, builder, sig, args):
        builder.store(args[3], _vector_pointer(context, builder, sig, args)).align = 8
        return context.get_dummy_value()

    return types.void(rows, types.int64, types.int64, lanes), codegen


@intrinsic
def columns(typingctx, rows, i, j):
    """The columns of the 8 x 8 numbers of `rows` from (i, j) on, a register each."""

    def codegen(context, builder, sig, args):
        lines = []
        for r in range(WIDTH):
            row = builder.add(args[1], ir.Constant(INT, r))
            lines.append(
                builder.load(_vector_pointer(context, builder, sig, (args[0], row, args[2])))
            )
            lines[-1].align = 8
        for half in (4, 2, 1):  # exchange ever smaller squares across the diagonal
            lower = [c if not c & half else WIDTH + (c ^ half) for c in range(WIDTH)]
            upper = [c ^ half if not c & half else WIDTH + c for c in range(WIDTH)]
            for r in (r for r in range(WIDTH) if not r & half):
                a, b = lines[r], lines[r | half]
                lines[r], lines[r | half] = (
                    _shuffled(builder, a, b, lower),
                    _shuffled(builder, a, b, upper),
                )
        return context.make_tuple(builder, sig.return_type, lines)

    return types.UniTuple(lanes, WIDTH)(rows, types.int64, types.int64), codegen


def _shuffled(builder, a, b, lanes_of_both):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT32, WIDTH), lanes_of_both))


def _rows_at(result):
    def maker(typingctx, address, stride):
        def codegen(context, builder, sig, args):
            struct = cgutils.create_struct_proxy(result)(context, builder)
            struct.data = builder.inttoptr(args[0], struct.data.type)
            struct.stride = args[1]
            return struct._getvalue()

        return result(types.int64, types.int64), codegen

    return maker


floats_at = intrinsic(_rows_at(floats_type))
ints_at = intrinsic(_rows_at(ints_type))


@intrinsic
def call(typingctx, address, argument):
    """Call the C function `int64 f(int64)` at `address`: how a method is chosen without compiling the caller again."""

    def codegen(context, builder, sig, args):
        function = ir.FunctionType(INT, [INT])
        return builder.call(builder.inttoptr(args[0], function.as_pointer()), [args[1]])

    return types.int64(types.int64, types.int64), codegen
