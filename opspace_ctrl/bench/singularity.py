# SPDX-License-Identifier: Apache-2.0
"""The time that the singularity test takes of a regular tick, and the time of a singular tick."""

import numpy as np

from ..osim import OperationalSpace
from .states import State, singular_states
from .timing import quiet, time_warm_block


def singularity_costs(
    space: OperationalSpace, states: list[State], rounds: int
) -> dict[str, float | str]:
    """Mean over the states of the least time [us] of the tick: tested, untested and singular.

    `watched` is the tick as it is. `unwatched` runs with a threshold below zero, at which neither bound of the
    smallest eigenvalue is computed. The same object is timed in turns, so that memory and code are
    the same. The mean, not the minimum, for the estimate runs at some states only.
    """
    fields = space._space
    usual = fields.trip, fields.damping
    never, always = (-np.inf, fields.damping), (np.inf, np.inf)
    singular = singular_states(space, len(states), np.random.default_rng(0))
    runs = {
        "watched": (usual, states),
        "unwatched": (never, states),
        "singular": (usual, singular) if singular else (always, states),
    }
    times: dict[str, list[list[int]]] = {name: [] for name in runs}
    try:
        with quiet():
            # by itself: who came after it would pay for that
            for turn in (("watched", "unwatched"), ("singular",)):
                for name in turn * rounds:
                    (fields.trip, fields.damping), inputs = runs[name]
                    times[name].append(time_warm_block(space.control, inputs))
    finally:
        fields.trip, fields.damping = usual
    mean = {name: float(np.min(taken, axis=0).mean()) / 1e3 for name, taken in times.items()}
    where = (
        f"joints at zero, rank {space.update(singular[0].q).rank} of {space.m}"
        if singular
        else "regular states, treated as singular"
    )
    return {
        **mean,
        "calls": rounds * len(states),
        "singular_states": where,
        "test_share": mean["watched"] / mean["unwatched"] - 1.0,
        "singular_ratio": mean["singular"] / mean["watched"],
    }
