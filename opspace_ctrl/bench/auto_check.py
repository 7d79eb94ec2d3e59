"""Is `auto` right? Its choice against every able method, on every robot of the example-robot-data wheel."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..errors import OpspaceError
from ..osim import OperationalSpace
from .ours import our_contestants, spaces
from .robots import Case, default_tasks, load_quietly, wheel_urdfs
from .states import regular_states
from .timing import time_in_turns

__all__ = ["auto_check", "wheel_cases"]

STATES, CALLS = 16, 2048


def auto_check(cases: Iterable[tuple[str, Case | str]], tell: Callable[[str], None] = lambda text: None
               ) -> list[dict]:
    """Time the tick by every method beside auto's choice; `tell` hears what comes next.

    Returns:
        For each robot its name, n, m, `choice`, `fastest`, their times [us], and `excess`, the choice's over
        the fastest's less one; or its name and why it was `left_out`.
    """
    found = []
    for name, case in cases:
        tell(f"auto: {name}")
        found.append({"robot": name, "left_out": case} if isinstance(case, str) else _compare(name, case))
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
    choice = OperationalSpace(case.model, case.tasks).method
    built = spaces(case)
    states = regular_states(built["sparse_ltdl"], STATES, np.random.default_rng(0))
    times = time_in_turns(our_contestants(built, states)["tick"], CALLS)
    least = {method: timing.least for method, timing in times.items()}
    fastest = min(least, key=lambda method: least[method])
    return {"robot": name, "nv": case.model.nv, "m": built[choice].m, "choice": choice, "fastest": fastest,
            "choice_us": least[choice], "fastest_us": least[fastest],
            "excess": least[choice] / least[fastest] - 1.0, "least_us": least}
