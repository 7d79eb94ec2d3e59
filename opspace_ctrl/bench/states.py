# SPDX-License-Identifier: Apache-2.0
"""States to time at: random ones, regular or singular."""

from typing import NamedTuple

import numpy as np

from ..errors import OpspaceError
from ..osim import OperationalSpace

PATIENCE = 50  # random states looked at for each one that is wanted


class NoRegularStates(OpspaceError):
    """The tasks are singular (nearly) wherever one looks: there is no regular tick to time."""


class State(NamedTuple):
    """The arguments of a control tick: q (nq,), v (nv,), F (m,), tau0 (nv,)."""

    q: np.ndarray
    v: np.ndarray
    force: np.ndarray
    tau0: np.ndarray


def random_state(ospace: OperationalSpace, rng: np.random.Generator) -> State:
    """A random configuration within the limits; v, F and tau0 of unit variance."""
    nv = ospace.model.nv
    return State(
        ospace.model.random_configuration(rng),
        rng.normal(size=nv),
        rng.normal(size=ospace.m),
        rng.normal(size=nv),
    )


def regular_states(ospace: OperationalSpace, count: int, rng: np.random.Generator) -> list[State]:
    """Random states at which no direction of the tasks is damped or lost.

    Raises:
        NoRegularStates: They are too rare.
    """
    found: list[State] = []
    for _ in range(PATIENCE * count):
        state = random_state(ospace, rng)
        ospace.update(state.q)
        if not ospace.damped and ospace.rank == ospace.m:
            found.append(state)
            if len(found) == count:
                return found
    raise NoRegularStates(
        f"{ospace.model.name}: {len(found)} of {PATIENCE * count} random states are "
        f"regular, {count} are wanted"
    )


def singular_states(ospace: OperationalSpace, count: int, rng: np.random.Generator) -> list[State]:
    """States with every joint at zero, where limbs are straight; none if this robot is regular there."""
    neutral = ospace.model.neutral()
    if ospace.update(neutral).rank == ospace.m:
        return []
    return [random_state(ospace, rng)._replace(q=neutral) for _ in range(count)]
