# SPDX-License-Identifier: Apache-2.0
"""Our contestants: every method that can carry the robot."""

from collections.abc import Callable, Sequence

import numpy as np

from ..dynamics import forward_dynamics, forward_methods, inverse_dynamics
from ..model import Model
from ..osim import OperationalSpace
from ..osim.registry import able_methods
from ..osim.tasks import blocks_of
from .agreement import explicit_parts
from .body import TICKS, body
from .peers import Field
from .robots import Case
from .states import State
from .timing import Contestant

FASTEST = "sparse_ltdl"  # on the robots that are timed; Jbar and N are made from its factor of H


def spaces(case: Case) -> dict[str, OperationalSpace]:
    """An `OperationalSpace` for each method that can carry the robot and its tasks, by name."""
    able = able_methods(case.model, blocks_of(case.model, case.tasks))
    return {name: OperationalSpace(case.model, case.tasks, method=name) for name in able}


def our_contestants(built: dict[str, OperationalSpace], states: Sequence[State]) -> Field:
    """Our contestants by quantity and name; the first of each is dense algebra where there is a choice."""
    model = next(iter(built.values())).model
    configurations, motions = [(s.q,) for s in states], [(s.q, s.v, s.tau0) for s in states]
    return {
        "tick": {name: Contestant(space.control, states, _alone) for name, space in built.items()},
        "body": {FASTEST: Contestant(body(built[FASTEST]), states, _alone, TICKS)},
        "explicit": {
            FASTEST: Contestant(
                explicit_set(built[FASTEST]), states, lambda parts, k: explicit_parts(*parts)
            )
        },
        "inertia_inv": {
            name: Contestant(_inertia_inv(space), configurations, _alone)
            for name, space in built.items()
        },
        "forward": {
            name: Contestant(_forward(model, name), motions, _alone)
            for name in forward_methods(model)
        },
        "inverse": {
            "rnea": Contestant(inverse_dynamics, [(model, *motion) for motion in motions], _alone)
        },
    }


def explicit_set(space: OperationalSpace) -> Callable[..., tuple[np.ndarray, ...]]:
    """Lambda, Jbar, N and tau as matrices."""

    def call(q, v, force, tau0):
        space.update(q, v)
        return (
            space.inertia,
            space.jbar,
            space.null_space,
            space.torque(force, tau0, compensate=True),
        )

    return call


def _inertia_inv(space: OperationalSpace) -> Callable[[np.ndarray], np.ndarray]:
    return lambda q: space.update(q).inertia_inv


def _forward(model: Model, method: str) -> Callable[..., np.ndarray]:
    return lambda q, v, tau: forward_dynamics(model, q, v, tau, method=method)


def _alone(result: np.ndarray, k: int) -> tuple[np.ndarray]:
    """A result that is one array, in our coordinates."""
    del k
    return (result,)
