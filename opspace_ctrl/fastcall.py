"""From Python into a kernel with nothing in between: CPython's own calling convention, METH_FASTCALL.

Python hands over a bare array of objects; the kernel takes what its signature says from it, so no tuple is made,
nothing is looked up and no type is inferred. Of 60 ns that Numba's wrapper takes for five arguments, half is left. A
function can be bound to a workspace, whose address is then its last argument: a number less to convert. An argument of
a `Result` type is not given by Python but made for the call, and returned by it.
"""

from __future__ import annotations

import ctypes

from llvmlite import ir
from numba import types
from numba.core import cgutils, sigutils
from numba.extending import intrinsic

__all__ = ["CALL", "DATA", "WORD", "Callee", "FastFunction", "MethodDef", "Result", "adapter"]

# PyObject *f(PyObject *self, PyObject **arguments, size)
CALL = types.int64(types.int64, types.int64, types.int64)
_METH_FASTCALL = 0x0080
WORD = ir.IntType(64)
DATA = object.__basicsize__ // 8  # the word of an array object that points to its numbers


class Result(types.Type):
    """Type of an argument that is made for the call: Python gets it back if the kernel returns 0, else None.

    Args:
        plain: Type of the argument as the kernel sees it, the address of a Python object.
        make: Kernel that makes one, given the workspace: a new reference, or NULL with an exception set.
    """

    def __init__(self, plain: types.Type, make):
        self.plain, self.make = plain, make
        super().__init__(name=f"Result({plain})")


def adapter(part, signature):
    """A function for Numba with the C signature `CALL`: takes `part`'s arguments from Python, calls it, gives back."""
    args, _ = sigutils.normalize_signature(signature)
    invoke = _invocation(part, args)

    def call(self, arguments, number):
        return invoke(self, arguments, number)

    return call


def _invocation(part, arg_types):
    given = [t for t in arg_types if not isinstance(t, Result)]
    results = [t for t in arg_types if isinstance(t, Result)]
    plain = tuple(getattr(t, "plain", t) for t in arg_types)

    @intrinsic
    def invoke(typingctx, self, arguments, number):
        kernel, makers = (
            Callee(typingctx, part, plain),
            [Callee(typingctx, t.make, plain[-1:]) for t in results],
        )

        def codegen(context, builder, sig, args):
            api, (owner, objects, number) = context.get_python_api(builder), args
            objects = builder.inttoptr(objects, api.pyobj.as_pointer())
            # NULL: an exception is set
            out = cgutils.alloca_once_value(builder, ir.Constant(WORD, 0))
            is_bound = cgutils.is_not_null(builder, owner)
            wanted = builder.sub(ir.Constant(WORD, len(given)), builder.zext(is_bound, WORD))
            with builder.if_else(builder.icmp_signed("==", number, wanted), likely=True) as (
                right,
                wrong,
            ):
                with right:
                    values = [
                        _unboxed(api, t, builder.load(cgutils.gep_inbounds(builder, objects, i)))
                        for i, t in enumerate(given[:-1])
                    ]
                    values.append(_last(api, given[-1], owner, is_bound, objects, len(given) - 1))
                    with builder.if_then(cgutils.is_null(builder, api.err_occurred()), likely=True):
                        if results:
                            _call_for_result(context, api, kernel, makers[0], values, out)
                        else:
                            found = kernel.call(context, builder, values)
                            builder.store(_boxed(api, kernel.signature.return_type, found), out)
                with wrong:
                    api.err_set_string(
                        "PyExc_TypeError",
                        f"a compiled function takes {len(given)} arguments, or one "
                        "less if it is bound to a workspace",
                    )
            return builder.load(out)

        return CALL, codegen

    return invoke


class Callee:
    """A kernel as an intrinsic calls it."""

    def __init__(self, typingctx, dispatcher, arg_types):
        self._type = types.Dispatcher(dispatcher)
        self.signature = typingctx.resolve_function_type(self._type, arg_types, {})

    def call(self, context, builder, values):
        """Emit the call."""
        return context.get_function(self._type, self.signature)(builder, values)


def _call_for_result(context, api, kernel: Callee, maker: Callee, values, out) -> None:
    """Make a result, call the kernel with it as the last but one argument, and put the result or None into `out`."""
    builder = api.builder
    made = maker.call(context, builder, values[-1:])
    with builder.if_then(cgutils.is_not_null(builder, made), likely=True):
        status = kernel.call(context, builder, [*values[:-1], made, values[-1]])
        with builder.if_else(cgutils.is_null(builder, status), likely=True) as (done, refused):
            with done:
                builder.store(made, out)
            with refused:
                api.decref(builder.inttoptr(made, api.pyobj))
                builder.store(_boxed(api, types.none, None), out)


def _last(api, kind, owner, is_bound, objects, place: int):
    """The last argument: the address of the workspace a function is bound to, else as given."""
    builder = api.builder
    with builder.if_else(is_bound) as (bound, free):
        with bound:
            address = builder.load(
                cgutils.gep_inbounds(builder, builder.inttoptr(owner, WORD.as_pointer()), DATA)
            )
            from_owner = builder.basic_block
        with free:
            given = _unboxed(api, kind, builder.load(cgutils.gep_inbounds(builder, objects, place)))
            from_call = builder.basic_block
    value = builder.phi(given.type)
    value.add_incoming(address, from_owner)
    value.add_incoming(given, from_call)
    return value


def _unboxed(api, kind, value):
    """A Python object as a number of this type; any other type is handed the object's address."""
    if kind == types.int64:
        return api.long_as_longlong(value)
    if kind == types.float64:
        return api.float_as_double(value)
    if kind == types.boolean:
        return api.builder.icmp_signed(
            "!=", api.object_istrue(value), ir.Constant(ir.IntType(32), 0)
        )
    return api.builder.ptrtoint(value, WORD)


def _boxed(api, kind, value):
    """The address of a new reference to a Python object for a result; any type but these is one already."""
    if kind == types.none:
        found = api.make_none()
    elif kind == types.int64:
        found = api.long_from_longlong(value)
    elif kind == types.float64:
        found = api.float_from_double(value)
    elif kind == types.boolean:
        found = api.bool_from_bool(value)
    else:
        return value
    return api.builder.ptrtoint(found, WORD)


class MethodDef(ctypes.Structure):
    """CPython's `PyMethodDef`."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_new_function = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.POINTER(MethodDef), ctypes.c_void_p, ctypes.c_void_p
)(("PyCFunction_NewEx", ctypes.pythonapi))


_definitions: list[MethodDef] = []  # for good: functions point to them


class FastFunction:
    """Makes Python functions of a compiled `adapter`.

    Args:
        address: Of the machine code.
        name: What the functions are called.
    """

    def __init__(self, address: int, name: str):
        self._definition = MethodDef(name.encode(), address, _METH_FASTCALL, None)
        _definitions.append(self._definition)

    def free(self):
        """The function that takes all arguments."""
        return _new_function(self._definition, None, None)

    def bound(self, header):
        """The function without its last argument, which is the address of `header`'s numbers; it keeps that array."""
        return _new_function(self._definition, id(header), None)
