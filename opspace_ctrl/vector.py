"""Array arguments without ceremony: how a float64 vector gets from Python into a kernel.

Numba's way, a type look-up and a reference-counted record an array, costs 60 ns for each; four of them are a third of
the control tick of an arm. A `vector` argument is the address of the array object, and the kernel reads its fields:
`is_vector` says whether it is a contiguous, aligned vector of native doubles (nothing is ever converted on the way),
and only then `floats_of` gives its numbers. The caller holds the array, so it lives as long as the call.
"""
from __future__ import annotations

import ctypes

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

from .jit import kernel
from .lanes import floats_at, ints_at

__all__ = ["NDARRAY", "FLOAT64", "floats_of", "is_vector", "vector"]

# The head of a NumPy array object in words, the same since NumPy 1.7; nd and flags are the low halves of theirs.
_TYPE = (object.__basicsize__ - 8) // 8
_DATA, _ND, _DIMENSIONS, _STRIDES, _BASE, _DESCR, _FLAGS = range(_TYPE + 1, _TYPE + 8)
_LOW_HALF = 0xFFFFFFFF
_USABLE = 0x0001 | 0x0100  # NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_ALIGNED
# What an array of doubles points to; other in every process, so kernels get it with the workspace.
NDARRAY, FLOAT64 = id(np.ndarray), id(np.dtype(np.float64))


class VectorType(types.Type):
    """Numba type of an array object that the kernel itself looks into."""

    def __init__(self):
        super().__init__(name="Vector")


vector = VectorType()


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.IntType(64))


@unbox(VectorType)
def _unbox_vector(typ, obj, c):
    return NativeValue(c.builder.ptrtoint(obj, ir.IntType(64)))


@intrinsic
def _address(typingctx, x):
    """Address of the array object."""
    def codegen(context, builder, sig, args):
        return args[0]
    return types.int64(vector), codegen


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


def _check_layout() -> None:
    """The fields are where we look for them, on this Python and NumPy."""
    sample = np.arange(3.0)
    words = (ctypes.c_int64 * (_FLAGS + 1)).from_address(id(sample))
    found = words[_TYPE], words[_DATA], words[_ND] & _LOW_HALF, words[_DESCR], words[_FLAGS] & _USABLE
    if found != (NDARRAY, sample.ctypes.data, 1, FLOAT64, _USABLE):
        raise ImportError("opspace_ctrl does not know how this build of Python and NumPy lays out an array")


_check_layout()
