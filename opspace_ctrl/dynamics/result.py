"""Vectors that compiled functions return: the caller's own, though seldom new."""

from __future__ import annotations

from ..fastcall import Result
from ..jit import kernel
from ..vector import is_forgotten, new_array, reused, vector
from . import layout as at
from .layout import count

__all__ = ["result"]


@kernel
def _new_vector(w):
    """A vector (nv,): one of two spare ones that was given out before and that nobody holds any more, else a new one.

    Two, since a loop still holds what it got last while it asks for the next. Making one takes 130 ns, as long as a
    fifth of the inverse dynamics of an arm.
    """
    nv, ndarray = count(w, at.NV), count(w, at.NDARRAY)
    for slot in range(at.SPARE, at.SPARE_TOO + 1):
        if is_forgotten(count(w, slot), nv, ndarray, count(w, at.FLOAT64)):
            return reused(count(w, slot))
    # a slot of the header is two words
    return new_array(count(w, at.NEW_ARRAY), ndarray, w + 16 * at.NV)


result = Result(vector, _new_vector)
