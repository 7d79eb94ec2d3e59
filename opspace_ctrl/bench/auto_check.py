# SPDX-License-Identifier: Apache-2.0
"""Is `auto` right? Its choice against every able method, on every robot of the example-robot-data wheel."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..errors import OpspaceError
from ..osim import OperationalSpace
from ..osim.registry import able_methods
from ..osim.tasks import blocks_of
from .robots import Case, default_tasks, load_quietly, wheel_urdfs
from .states import regular_states
from .timing import quiet, time_warm_block

STATES, CALLS = 16, 2048


def auto_check(
    cases: Iterable[tuple[str, Case | str]], tell: Callable[[str], None] = lambda text: None
) -> list[dict]:
    """Time the tick by every method beside auto's choice; `tell` hears what comes next.

    Returns:
        For each robot its name, n, m, `choice`, `fastest`, their times [us], and `excess`, the choice's over
        the fastest's less one; or its name and why it was `left_out`.
    """
    found = []
    for name, case in cases:
        tell(f"auto: {name}")
        found.append(
            {"robot": name, "left_out": case} if isinstance(case, str) else _compare(name, case)
        )
    return found


def wheel_cases() -> Iterator[tuple[str, Case | str]]:
    """Every robot of the wheel on a fixed and on a floating base; or why it is left out."""
    for name, path in wheel_urdfs().items():
        for base in ("fixed", "floating"):
            label = f"{name}, {base}"
            try:
                model = load_quietly(path, base)
                yield label, Case(label, model, default_tasks(model))
            except OpspaceError as error:
                yield label, str(error)


def _compare(name: str, case: Case) -> dict:
    """One object ticks by each method in turn: another would have other memory, which can matter more."""
    space = OperationalSpace(case.model, case.tasks)
    choice, states = space.method, regular_states(space, STATES, np.random.default_rng(0))
    methods = able_methods(case.model, blocks_of(case.model, case.tasks))
    space.prepare(*methods)
    least = dict.fromkeys(methods, np.inf)
    with quiet():
        for _ in range(CALLS // STATES):
            for method in methods:
                space.method = method
                least[method] = min(
                    least[method], min(time_warm_block(space.control, states)) / 1e3
                )
    fastest = min(least, key=lambda method: least[method])
    return {
        "robot": name,
        "nv": case.model.nv,
        "m": space.m,
        "choice": choice,
        "fastest": fastest,
        "choice_us": least[choice],
        "fastest_us": least[fastest],
        "excess": least[choice] / least[fastest] - 1.0,
        "least_us": least,
    }
