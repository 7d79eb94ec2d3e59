"""Numbers from outside: looked at before they are taken, so that a bad one leaves the workspace as it was."""

from __future__ import annotations

import math

from ..jit import kernel
from ..lanes import WIDTH, load, splat, total
from ..vector import floats_of, is_absent, is_vector
from . import layout as at
from .kinematics import FLOATING
from .layout import count, floats, ints

OK, REFUSED = 0, 1
LARGE = 1e238  # a number that overflows times this, one beyond 1e70, is refused: forces hold squares of two of them
TOO_LARGE = "an entry of q, v, a force or an acceleration is beyond 1e70"


@kernel
def is_usable(w, x, size):
    """Is x a vector of so many entries, all of them finite and not absurdly large?"""
    if is_absent(x) or not is_vector(x, size, count(w, at.NDARRAY), count(w, at.FLOAT64)):
        return False
    spoiled, numbers, rest = splat(0.0), floats_of(x), 0.0
    whole = size - size % WIDTH
    for i in range(0, whole, WIDTH):
        spoiled = spoiled + 0.0 * (LARGE * load(numbers, 0, i))  # 0, or NaN for what is not finite
    for i in range(whole, size):
        rest += 0.0 * (LARGE * numbers[i])
    return total(spoiled) + rest == 0.0


@kernel
def is_configuration(w, x):
    """Is x a usable q, with no zero quaternion?"""
    if not is_usable(w, x, count(w, at.NQ)):
        return False
    q, group = floats_of(x), ints(w, at.GROUP)
    for g in range(count(w, at.GROUPS)):
        k = group[g, 2] + 3
        if (
            group[g, 0] == FLOATING
            and not q[k] ** 2 + q[k + 1] ** 2 + q[k + 2] ** 2 + q[k + 3] ** 2 > 1e-12
        ):
            return False
    return True


@kernel
def copy(x, out, size):
    """out = x."""
    for i in range(size):
        out[i] = x[i]


@kernel
def take(x, out, size):
    """out = x, or zero if no x is given."""
    if is_absent(x):
        for i in range(size):
            out[i] = 0.0
    else:
        copy(floats_of(x), out, size)


@kernel
def take_configuration(w, x):
    """Copy q into Q, quaternions normalised."""
    Q, group = floats(w, at.Q), ints(w, at.GROUP)
    copy(floats_of(x), Q, count(w, at.NQ))
    for g in range(count(w, at.GROUPS)):
        if group[g, 0] == FLOATING:
            k = group[g, 2] + 3
            scale = 1.0 / math.sqrt(Q[k] ** 2 + Q[k + 1] ** 2 + Q[k + 2] ** 2 + Q[k + 3] ** 2)
            for i in range(4):
                Q[k + i] *= scale
