# SPDX-License-Identifier: Apache-2.0
"""The control tick without Python: its body, repeated in a compiled loop."""

from collections.abc import Callable

import numpy as np

from ..compiled.jit import address, entry, integer, prepare, vector
from ..osim import OperationalSpace
from ..osim.entries import compensated_tick, space_at

TICKS = 16  # in a loop: what it takes to get there is shared by so many
# Least times [us] of the same tick in C++ and C, on one core of 2.3 GHz with AVX-512: programs of their own, that are
# not run here. By robot and program.
NATIVE = {
    "panda": {"Pinocchio in C++": 3.0, "MuJoCo in C": 1.7},
    "g1": {"Pinocchio in C++": 22.7, "MuJoCo in C": 16.8},
}


@entry(vector, vector, vector, vector, integer, address)
def repeat(q, v, force, tau0, times, address):
    """So many ticks at one state. Returns what the last did, 0 if it refused something."""
    space, done = space_at(address), 0
    for _ in range(times):
        done = compensated_tick(space, q, v, force, tau0)
    return done


def body(space: OperationalSpace) -> Callable[..., np.ndarray]:
    """A function that makes `TICKS` control ticks in one call; its arguments and result are those of `control`."""
    prepare([repeat])

    def call(q, v, force, tau0):
        repeat(q, v, force, tau0, TICKS, space._now.address)
        return space._now.tau

    return call
