"""Numbers from outside: looked at before they are taken, so that a bad one leaves the workspace as it was."""
from __future__ import annotations

import math

from ..jit import kernel
from . import layout as at
from .kinematics import FLOATING
from .layout import count, floats, ints

OK, REFUSED = 0, 1
LARGEST_POSITION = 1e100  # [rad or m]; inertias hold squares of positions, which must not overflow


@kernel
def is_finite(x, size):
    """Has x this many entries, all of them finite?"""
    if x.size != size:
        return False
    spoiled = 0.0
    for i in range(size):
        spoiled += 0.0 * x[i]  # 0 for a finite number, NaN otherwise
    return spoiled == 0.0


@kernel
def is_configuration(w, q):
    """Is q of the right length, with no entry beyond LARGEST_POSITION and no zero quaternion?"""
    if q.size != count(w, at.NQ):
        return False
    beyond = 0
    for i in range(q.size):
        beyond += not abs(q[i]) <= LARGEST_POSITION  # written so that NaN is beyond, too
    if beyond > 0:
        return False
    group = ints(w, at.GROUP)
    for g in range(count(w, at.GROUPS)):
        k = group[g, 2] + 3
        if group[g, 0] == FLOATING and not q[k]**2 + q[k + 1]**2 + q[k + 2]**2 + q[k + 3]**2 > 1e-12:
            return False
    return True


@kernel
def copy(x, out):
    """out = x."""
    for i in range(x.size):
        out[i] = x[i]


@kernel
def take_configuration(w, q):
    """Copy q into Q, quaternions normalised."""
    Q, group = floats(w, at.Q), ints(w, at.GROUP)
    copy(q, Q)
    for g in range(count(w, at.GROUPS)):
        if group[g, 0] == FLOATING:
            k = group[g, 2] + 3
            scale = 1.0 / math.sqrt(Q[k]**2 + Q[k + 1]**2 + Q[k + 2]**2 + Q[k + 3]**2)
            for i in range(4):
                Q[k + i] *= scale
