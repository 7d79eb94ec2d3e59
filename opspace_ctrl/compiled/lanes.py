# SPDX-License-Identifier: Apache-2.0
"""Eight doubles in a register, and rows of memory to read them from: what kernels are written in.

    x = a[i, j:j + W]          eight neighbours of row i from column j on, in one register
    x = a[j:j + W]             eight neighbours of a vector
    a[i, j:j + W] = 2.0 * x    writes them; a number goes into all eight
    a[i, j], a[i]              one number; compiled, nothing is checked and nothing wraps
    row(a, i)                  row i as a vector

A register is LLVM's <8 x double>: one zmm, two ymm or four xmm. It is always whole: rows are padded for it, and what it
reads past the end of one is what stands there. Uncompiled (NUMBA_DISABLE_JIT=1) the same text works on NumPy arrays of
class `Rows`, which do check.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

W = 8
DOUBLE, WORD, HALF_WORD = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
VECTOR, WORDS = ir.VectorType(DOUBLE, W), ir.VectorType(WORD, W)
# 'nnan' and 'ninf' are left out on purpose: a non-finite value must stay visible.
FLAGS = ("contract", "nsz", "arcp")


class Rows(np.ndarray):
    """A field of a workspace as uncompiled kernels see it: NumPy's array, but for registers and for what wraps.

    Attributes:
        memory: All numbers from the first of the field on, padding included, as a vector.
        stride: From a row to the next, in numbers.
    """

    memory: np.ndarray | None
    stride: int

    def __array_finalize__(self, other):
        self.memory, self.stride = None, 1

    def _register(self, index) -> np.ndarray | None:
        """The register in `memory` that an index names, if it names one."""
        if self.memory is None:
            return None
        i, piece = index if isinstance(index, tuple) and len(index) == 2 else (0, index)
        if not isinstance(piece, slice) or isinstance(i, slice) or piece.start is None:
            return None
        if piece.step is not None or piece.stop != piece.start + W:
            return None
        place = int(i) * self.stride + int(piece.start)
        if min(i, piece.start) < 0 or place + W > self.memory.size:
            raise IndexError(f"register at {index} of a field of shape {self.shape}")
        return self.memory[place : place + W]

    def __getitem__(self, index):
        register = self._register(index)
        if register is not None:
            return register.copy()
        self._check(index)
        found = super().__getitem__(index)
        return found.view(np.ndarray) if isinstance(found, np.ndarray) else found

    def __setitem__(self, index, value):
        register = self._register(index)
        if register is not None:
            register[:] = value
            return
        self._check(index)
        self.view(np.ndarray)[index] = value

    def __repr__(self):
        return repr(self.view(np.ndarray))

    def __str__(self):
        return str(self.view(np.ndarray))

    def _check(self, index) -> None:
        """Compiled, a negative place is not counted from the end."""
        for each in index if isinstance(index, tuple) else (index,):
            if isinstance(each, (int, np.integer)) and each < 0 and self.memory is not None:
                raise IndexError(
                    f"place {index} of a field of shape {self.shape}: nothing wraps in a kernel"
                )


class LanesType(types.Type):
    """Numba's type of eight doubles."""

    def __init__(self):
        super().__init__(name="Lanes")


class RowsType(types.Type):
    """Numba's type of a pointer to numbers, and of the stride of its rows."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Rows({dtype})")


lanes = LanesType()
floats, ints = RowsType(types.float64), RowsType(types.int64)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, VECTOR)


@register_model(RowsType)
class _RowsModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        members = [("data", types.CPointer(fe_type.dtype)), ("stride", types.int64)]
        super().__init__(dmm, fe_type, members)


def compiled_form(function, *signatures):
    """Tell Numba what a Python function becomes in a kernel: `lower(context, builder, sig, args)`, decorated with this.

    So one name has both forms, and a kernel's text runs compiled and uncompiled.
    """
    name = getattr(function, "__name__", str(function))
    template = type(
        f"Typing_{name}", (ConcreteTemplate,), {"key": function, "cases": [*signatures]}
    )
    infer(template)
    infer_global(function, types.Function(template))

    def register(lower):
        for each in signatures:
            lower_builtin(function, *each.args)(lower)
        return lower

    return register


# ---- arithmetic ----


def constant(x, element=DOUBLE):
    """The LLVM constant that has x in every lane."""
    return ir.Constant(ir.VectorType(element, W), [ir.Constant(element, x)] * W)


def _shuffled(builder, a, b, order):
    """The lanes of a (0 to 7) and b (8 to 15) in an order."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(HALF_WORD, W), order))


def _spread(builder, x, vector=VECTOR):
    """The same number in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, x, ir.Constant(HALF_WORD, 0))
    return _shuffled(builder, first, nothing, [0] * W)


def _arithmetic(operation, instruction):
    cases = [
        signature(lanes, lanes, lanes),
        signature(lanes, types.float64, lanes),
        signature(lanes, lanes, types.float64),
    ]

    @compiled_form(operation, *cases)
    def lower(context, builder, sig, args):
        x, y = (a if t == lanes else _spread(builder, a) for a, t in zip(args, sig.args))
        return getattr(builder, instruction)(x, y, flags=FLAGS)


for _operation, _in_place, _instruction in (
    (operator.add, operator.iadd, "fadd"),
    (operator.sub, operator.isub, "fsub"),
    (operator.mul, operator.imul, "fmul"),
    (operator.truediv, operator.itruediv, "fdiv"),
):
    _arithmetic(_operation, _instruction)
    _arithmetic(_in_place, _instruction)


@compiled_form(operator.neg, signature(lanes, lanes))
def _negative(context, builder, sig, args):
    return builder.fneg(args[0])


def splat(x):
    """The same number in every lane."""
    return np.full(W, x, float)


@compiled_form(splat, signature(lanes, types.float64))
def _splat(context, builder, sig, args):
    return _spread(builder, args[0])


def absolute(x):
    """|x| of every lane."""
    return np.abs(x)


@compiled_form(absolute, signature(lanes, lanes))
def _absolute(context, builder, sig, args):
    bits = builder.and_(builder.bitcast(args[0], WORDS), constant(2**63 - 1, WORD))
    return builder.bitcast(bits, VECTOR)


def total(x):
    """The sum of the lanes."""
    return np.sum(x)


@compiled_form(total, signature(types.float64, lanes))
def _total(context, builder, sig, args):
    lane = [builder.extract_element(args[0], ir.Constant(HALF_WORD, i)) for i in range(W)]
    while len(lane) > 1:  # pairwise: three additions one after the other, not seven
        half = len(lane) // 2
        lane = [builder.fadd(lane[i], lane[i + half], flags=FLAGS) for i in range(half)]
    return lane[0]


def pair(a, b):
    """`a` in the first four lanes, `b` in the last four."""
    return np.repeat(np.array([a, b], float), W // 2)


@compiled_form(pair, signature(lanes, types.float64, types.float64))
def _pair(context, builder, sig, args):
    a, b = (_spread(builder, x) for x in args)
    return _shuffled(builder, a, b, [0] * 4 + [W] * 4)


def _rearranged(order, doc):
    """A function that gives the lanes of a register in an order; 8 stands for a zero."""

    def rearrange(x):
        return np.append(x, 0.0)[order]

    rearrange.__doc__ = doc

    @compiled_form(rearrange, signature(lanes, lanes))
    def lower(context, builder, sig, args):
        return _shuffled(builder, args[0], constant(0.0), order)

    return rearrange


first_half = _rearranged([0, 1, 2, 3, 0, 1, 2, 3], "The first four lanes twice.")
last_half = _rearranged([4, 5, 6, 7, 4, 5, 6, 7], "The last four lanes twice.")
halves_swapped = _rearranged([4, 5, 6, 7, 0, 1, 2, 3], "The last four lanes before the first four.")
last_half_alone = _rearranged([8, 8, 8, 8, 4, 5, 6, 7], "The last four lanes, zeros before them.")


def from_lane(x, k):
    """`x` with the lanes before `k` set to zero."""
    return np.where(np.arange(W) >= k, x, 0.0)


@compiled_form(from_lane, signature(lanes, lanes, types.int64))
def _from_lane(context, builder, sig, args):
    number = ir.Constant(WORDS, [ir.Constant(WORD, i) for i in range(W)])
    is_kept = builder.icmp_signed(">=", number, _spread(builder, args[1], WORDS))
    return builder.select(is_kept, args[0], constant(0.0))


# ---- memory ----

_PLACE = types.int64
_PAIR = types.UniTuple(types.int64, 2)
_REGISTER = types.slice2_type
_REGISTER_OF_ROW = types.Tuple((types.int64, types.slice2_type))


def _pointer(context, builder, rows_type, rows, place, is_register):
    """Address of a place (or of row and column) of some rows."""
    struct = cgutils.create_struct_proxy(rows_type)(context, builder, value=rows)
    if isinstance(place, tuple):
        place = builder.add(builder.mul(place[0], struct.stride), place[1])
    found = builder.gep(struct.data, [place])
    return builder.bitcast(found, VECTOR.as_pointer()) if is_register else found


def _indexed(context, builder, sig, args):
    """Address of what an index names."""
    index = args[1]
    if sig.args[1] == _REGISTER:
        index = context.make_helper(builder, _REGISTER, index).start
    elif sig.args[1] == _REGISTER_OF_ROW:
        i, piece = cgutils.unpack_tuple(builder, index, 2)
        index = i, context.make_helper(builder, _REGISTER, piece).start
    elif sig.args[1] == _PAIR:
        index = tuple(cgutils.unpack_tuple(builder, index, 2))
    is_register = sig.args[1] in (_REGISTER, _REGISTER_OF_ROW)
    return _pointer(context, builder, sig.args[0], args[0], index, is_register)


_NUMBERS = [signature(t.dtype, t, i) for t in (floats, ints) for i in (_PLACE, _PAIR)]
_REGISTERS = [signature(lanes, floats, i) for i in (_REGISTER, _REGISTER_OF_ROW)]


@compiled_form(operator.getitem, *_NUMBERS, *_REGISTERS)
def _read(context, builder, sig, args):
    value = builder.load(_indexed(context, builder, sig, args))
    value.align = 8
    return value


@compiled_form(
    operator.setitem,
    *(signature(types.void, *each.args, each.return_type) for each in _NUMBERS + _REGISTERS),
    *(signature(types.void, *each.args, types.float64) for each in _REGISTERS),
)
def _write(context, builder, sig, args):
    value = args[2]
    if sig.args[1] in (_REGISTER, _REGISTER_OF_ROW) and sig.args[2] == types.float64:
        value = _spread(builder, value)
    builder.store(value, _indexed(context, builder, sig, args)).align = 8
    return context.get_dummy_value()


def row(rows, i):
    """Row i of some rows, as a vector."""
    found = rows.view(np.ndarray)[i].view(Rows)
    found.memory = rows.memory[i * rows.stride :]
    return found


@compiled_form(row, *(signature(t, t, types.int64) for t in (floats, ints)))
def _row(context, builder, sig, args):
    zero = ir.Constant(WORD, 0)
    found = cgutils.create_struct_proxy(sig.return_type)(context, builder)
    found.data = _pointer(context, builder, sig.args[0], args[0], (args[1], zero), False)
    found.stride = ir.Constant(WORD, 1)
    return found._getvalue()


def numbers(x):
    """The numbers of a NumPy vector, to be read as those of a field; a register must not reach past its end."""
    found = np.asarray(x).view(Rows)
    found.memory = np.asarray(x)
    return found


@intrinsic
def _numbers_of(typingctx, x):
    def codegen(context, builder, sig, args):
        found = cgutils.create_struct_proxy(floats)(context, builder)
        found.data = context.make_array(sig.args[0])(context, builder, args[0]).data
        found.stride = ir.Constant(WORD, 1)
        return found._getvalue()

    return floats(x), codegen


@overload(numbers)
def _numbers(x):
    if isinstance(x, types.Array) and (x.dtype, x.ndim, x.layout) == (types.float64, 1, "C"):
        return lambda x: _numbers_of(x)


def columns(rows, i, j):
    """The columns of the 8 x 8 numbers of `rows` from (i, j) on, a register each."""
    return tuple(np.array([rows[i + r, j : j + W] for r in range(W)]).T.copy())


@compiled_form(columns, signature(types.UniTuple(lanes, W), floats, types.int64, types.int64))
def _columns(context, builder, sig, args):
    lines = []
    for r in range(W):
        place = builder.add(args[1], ir.Constant(WORD, r)), args[2]
        lines.append(builder.load(_pointer(context, builder, floats, args[0], place, True)))
        lines[-1].align = 8
    for half in (4, 2, 1):  # exchange ever smaller squares across the diagonal
        lower = [c if not c & half else W + (c ^ half) for c in range(W)]
        upper = [c ^ half if not c & half else W + c for c in range(W)]
        for r in (r for r in range(W) if not r & half):
            a, b = lines[r], lines[r | half]
            lines[r] = _shuffled(builder, a, b, lower)
            lines[r | half] = _shuffled(builder, a, b, upper)
    return context.make_tuple(builder, sig.return_type, lines)
