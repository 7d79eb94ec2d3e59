"""Array arguments without ceremony: how a float64 vector gets from Python into a kernel.

Numba's way, a type look-up and a reference-counted record an array, costs 60 ns for each; four of them are a third of
the control tick of an arm. A `vector` argument is the address of the array object, and the kernel reads its fields:
`is_vector` says whether it is a contiguous, aligned vector of native doubles (nothing is ever converted on the way),
and only then `floats_of` gives its numbers. The caller holds the array, so it lives as long as the call.

A kernel can also hand an array to Python: `new_array` makes one, `reused` gives one out again that everybody has
forgotten, which takes a tenth of the time.
"""

from __future__ import annotations

import ctypes

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from .jit import kernel
from .lanes import floats_at, ints_at

__all__ = [
    "FLOAT64",
    "NDARRAY",
    "NEW_ARRAY",
    "floats_of",
    "is_absent",
    "is_forgotten",
    "is_vector",
    "new_array",
    "reused",
    "vector",
]

# The head of a NumPy array object in words, the same since NumPy 1.7; nd and flags are the low halves of theirs.
_TYPE = (object.__basicsize__ - 8) // 8
_DATA, _ND, _DIMENSIONS, _STRIDES, _BASE, _DESCR, _FLAGS = range(_TYPE + 1, _TYPE + 8)
_LOW_HALF = 0xFFFFFFFF
_USABLE = 0x0001 | 0x0100  # NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_ALIGNED
_OWN = _USABLE | 0x0004 | 0x0400  # NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE
_REFERENCES = 0  # the word of an object whose low half counts references
_NPY_DOUBLE, _PYARRAY_NEW = 12, 93  # numbers of NumPy's C interface, the same in NumPy 1 and 2


def _numpy_function(number: int) -> int:
    """Address of a function of NumPy's C interface."""
    get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    core = np._core if hasattr(np, "_core") else np.core  # NumPy 2, NumPy 1
    table = get_pointer(core.multiarray._ARRAY_API, None)
    return ctypes.c_void_p.from_address(table + number * ctypes.sizeof(ctypes.c_void_p)).value


# What an array of doubles points to, and what makes one; other in every process, so kernels get it with the workspace.
NDARRAY, FLOAT64, NEW_ARRAY = (
    id(np.ndarray),
    id(np.dtype(np.float64)),
    _numpy_function(_PYARRAY_NEW),
)


class VectorType(types.Type):
    """Numba type of an array object that the kernel itself looks into."""

    def __init__(self):
        super().__init__(name="Vector")


vector = VectorType()


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.IntType(64))


@intrinsic
def _address(typingctx, x):
    """Address of the array object."""

    def codegen(context, builder, sig, args):
        return args[0]

    return types.int64(vector), codegen


@intrinsic
def _vector_at(typingctx, address):
    """The array object at an address."""

    def codegen(context, builder, sig, args):
        return args[0]

    return vector(types.int64), codegen


@kernel
def is_absent(x):
    """Was no array given, or None?"""
    return _address(x) == 0


@kernel
def is_vector(x, size, ndarray, float64):
    """Is x an array of so many doubles, one behind the other? `ndarray` and `float64` are the addresses above."""
    head = ints_at(_address(x), 1)
    if head[_TYPE] != ndarray or head[_DESCR] != float64 or head[_ND] & _LOW_HALF != 1:
        return False
    return head[_FLAGS] & _USABLE == _USABLE and ints_at(head[_DIMENSIONS], 1)[0] == size


@kernel
def floats_of(x):
    """The numbers of an array that `is_vector`."""
    return floats_at(ints_at(_address(x), 1)[_DATA], 1)


@intrinsic
def new_array(typingctx, function, ndarray, size_address):
    """A new array of as many doubles as the number at an address says; the other two are addresses above."""

    def codegen(context, builder, sig, args):
        word, half = ir.IntType(64), ir.IntType(32)
        PyArray_New = ir.FunctionType(word, [word, half, word, half, word, word, half, half, word])
        null, none = ir.Constant(word, 0), ir.Constant(half, 0)
        return builder.call(
            builder.inttoptr(args[0], PyArray_New.as_pointer()),
            [
                args[1],
                ir.Constant(half, 1),
                args[2],
                ir.Constant(half, _NPY_DOUBLE),
                null,
                null,
                none,
                none,
                null,
            ],
        )

    return vector(types.int64, types.int64, types.int64), codegen


@intrinsic
def _incref(typingctx, x):
    def codegen(context, builder, sig, args):
        api = context.get_python_api(builder)
        api.incref(builder.inttoptr(args[0], api.pyobj))
        return args[0]

    return vector(vector), codegen


@kernel
def is_forgotten(address, size, ndarray, float64):
    """Does nobody hold the array at an address but who keeps it for us, and is it still a vector one can write to?"""
    if (
        ints_at(address, 1)[_REFERENCES] & _LOW_HALF != 1
        or ints_at(address, 1)[_FLAGS] & _OWN != _OWN
    ):
        return False
    return is_vector(_vector_at(address), size, ndarray, float64)


@kernel
def reused(address):
    """A new reference to the array at an address."""
    return _incref(_vector_at(address))


def _check_layout() -> None:
    """The fields are where we look for them, on this Python and NumPy."""
    samples = [np.arange(3.0)]  # one that only this list holds
    words = (ctypes.c_int64 * (_FLAGS + 1)).from_address(id(samples[0]))
    expected = NDARRAY, samples[0].ctypes.data, 1, FLOAT64, _OWN, 1
    found = (
        words[_TYPE],
        words[_DATA],
        words[_ND] & _LOW_HALF,
        words[_DESCR],
        words[_FLAGS] & _OWN,
        words[_REFERENCES] & _LOW_HALF,
    )
    if found != expected:
        raise ImportError(
            "opspace_ctrl does not know how this build of Python and NumPy lays out an array"
        )


_check_layout()
