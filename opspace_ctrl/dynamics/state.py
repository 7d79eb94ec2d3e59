# SPDX-License-Identifier: Apache-2.0
"""Numbers from outside: looked at before they are taken, so that a bad one leaves the workspace as it was."""

import math

from ..compiled.jit import kernel
from ..compiled.lanes import W, numbers, splat, total

OK, REFUSED = 0, 1
LARGE = 1e238  # a number that overflows times this, one beyond 1e70, is refused: forces hold squares of two of them
TOO_LARGE = "an entry of q, v, a force or an acceleration is beyond 1e70"


@kernel
def are_usable(x, size):
    """Are the first numbers of a field finite, and not absurdly large?"""
    spoiled, rest = splat(0.0), 0.0
    whole = size - size % W
    for i in range(0, whole, W):
        spoiled = spoiled + 0.0 * (LARGE * x[i : i + W])  # 0, or NaN for what is not finite
    for i in range(whole, size):
        rest += 0.0 * (LARGE * x[i])
    return total(spoiled) + rest == 0.0


@kernel
def is_usable(x, size):
    """Does the NumPy vector x have so many entries, all of them finite and not absurdly large?"""
    return len(x) == size and are_usable(numbers(x), size)


@kernel
def has_rotations(tree, x):
    """Is no quaternion of the configuration x zero? Needs `group`."""
    group = tree.group
    for g in range(tree.groups):
        k = group[g, 4]
        if k >= 0:
            if not x[k] ** 2 + x[k + 1] ** 2 + x[k + 2] ** 2 + x[k + 3] ** 2 > 1e-12:
                return False
    return True


@kernel
def is_configuration(tree, x):
    """Is the NumPy vector x a usable q?"""
    return is_usable(x, tree.nq) and has_rotations(tree, x)


@kernel
def copy(x, out, size):
    """out = x."""
    for i in range(size):
        out[i] = x[i]


@kernel
def take_configuration(tree, x):
    """Copy a configuration into q, quaternions normalised."""
    q, group = tree.q, tree.group
    copy(x, q, tree.nq)
    for g in range(tree.groups):
        k = group[g, 4]
        if k >= 0:
            scale = 1.0 / math.sqrt(q[k] ** 2 + q[k + 1] ** 2 + q[k + 2] ** 2 + q[k + 3] ** 2)
            for i in range(4):
                q[k + i] *= scale
