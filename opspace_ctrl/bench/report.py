# SPDX-License-Identifier: Apache-2.0
"""One run: what is asked for, compared, measured and judged, as plain data for JSON, tables and plots."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone

import numpy as np

from ..errors import SourceError
from ..model.source import ROBOTS as SHIPPED
from ..osim import OperationalSpace
from . import auto_check, growth, start_up, targets
from .agreement import check_agreement, conditions
from .exported import exported
from .failure import noted
from .machine import machine, versions
from .ours import our_contestants, spaces
from .peers import peer_contestants
from .robots import DEFAULT, Case, ensure_exists, find_case, is_path, labels, wheel_urdfs
from .singularity import singularity_costs
from .states import regular_states
from .tail import allocations, tail
from .timing import clock_cost, pinned, time_in_turns

FORMAT = 2
STEPS = 3  # of each robot: the comparison, the tail, the singular tick


@dataclass(frozen=True)
class Plan:
    """The choice of robots and measurements of a run.

    Attributes:
        robots: Names or paths; empty for the default ones, without those that are not installed.
        base: "fixed", "floating", or None for each robot's own.
        frames: Of the tasks, instead of each robot's own.
        calls: Timed calls of each contestant, at least.
        calls_long: Ticks for the tail, at least.
        states: Random states that the calls go through.
        growth, start_up, auto, exported: Also these?
    """

    robots: Sequence[str] = ()
    base: str | None = None
    frames: Sequence[str] = ()
    calls: int = 2048
    calls_long: int = 100_000
    states: int = 64
    growth: bool = False
    start_up: bool = False
    auto: bool = False
    exported: bool = False

    @property
    def shipped(self) -> list[str]:
        """Those of the robots whose controllers are shipped, too."""
        return [name for name in self.robots or DEFAULT if name in SHIPPED]

    @property
    def steps(self) -> int:
        """The number of times that `run` tells what it does next."""
        steps = STEPS * len(set(self.robots or DEFAULT))
        steps += len(growth.SHAPES) * len(growth.SIZES) if self.growth else 0
        steps += 1 + start_up.LATER if self.start_up else 0
        steps += len(self.shipped) if self.exported else 0
        return steps + (2 * len(wheel_urdfs()) if self.auto else 0)


def run(plan: Plan, tell: Callable[[str], None] = lambda text: None) -> dict:
    """Measure. What fails is in `failed` with its reason, what is complete is kept, also when interrupted.

    Args:
        plan: What.
        tell: Called before each step with what comes next; nothing is on the clock then.

    Raises:
        SourceError: There is no robot of this name; nothing has been measured yet.
    """
    for name in plan.robots:
        ensure_exists(name)
    report: dict = {
        "format": FORMAT,
        "made": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
        "plan": asdict(plan),
        "robots": {},
        "left_out": {},
        "failed": {},
        "interrupted": False,
        "verdicts": [],
        "core": None,
        "clock_us": clock_cost(),
    }
    try:
        _fill(report, plan, tell)
    except KeyboardInterrupt:
        report["interrupted"] = True
    report["verdicts"] = [verdict.as_dict() for verdict in report["verdicts"]]
    return report


def _fill(report: dict, plan: Plan, tell: Callable[[str], None]) -> None:
    """Part by part, each added when it is complete."""
    failed = report["failed"]
    with pinned() as core:
        report.update(core=core, clock_us=clock_cost())  # pinned, it may take less
        for label, name in labels(plan.robots or DEFAULT).items():
            with noted(failed, label):
                _add_robot(report, label, name, plan, tell)
        if plan.growth:
            with noted(failed, "growth"):
                _add_growth(report, tell)
        if plan.exported:
            with noted(failed, "exported"):
                report["exported"] = exported(plan.shipped, tell)
        if plan.auto:
            with noted(failed, "auto"):
                report["auto"] = auto_check.auto_check(auto_check.wheel_cases(), tell)
                report["verdicts"] += targets.auto_verdicts(report["auto"])
    if plan.start_up:  # not pinned: a user's start is not either
        with noted(failed, "start-up"):
            report["start_up"] = start_up.start_up(tell)
            report["verdicts"] += targets.start_up_verdicts(report["start_up"])


def _add_robot(
    report: dict, label: str, name: str, plan: Plan, tell: Callable[[str], None]
) -> None:
    try:
        case = replace(find_case(name, plan.base, plan.frames), name=label)
    except SourceError as error:
        if plan.robots:
            raise
        report["left_out"][label] = str(error)
        return
    robot, verdicts = _measure(case, plan, tell)
    report["robots"][label] = {**robot, "path": name if is_path(name) else None}
    report["verdicts"] += verdicts
    for peer, reason in robot["peers_failed"].items():
        report["failed"][f"{label}, {peer}"] = reason


def _measure(
    case: Case, plan: Plan, tell: Callable[[str], None]
) -> tuple[dict, list[targets.Verdict]]:
    """One robot: contestants compared, then timed by quantity; then the tick in detail."""
    tell(f"{case.name}: methods and peers")
    built = spaces(case)
    space = built["sparse_ltdl"]
    states = regular_states(space, plan.states, np.random.default_rng(0))
    ours = our_contestants(built, states)
    theirs, absent, failed = peer_contestants(case, states)
    condition = conditions(space, states)
    times: dict[str, dict] = {}
    agreement: dict[str, dict] = {}
    for quantity, contestants in ours.items():
        field = {**contestants, **theirs.get(quantity, {})}
        amplified = np.ones_like(condition) if quantity == "inverse" else condition
        agreement[quantity] = check_agreement(quantity, field, amplified)
        times[quantity] = time_in_turns(field, plan.calls)
    tell(f"{case.name}: tail of the tick")
    memory, late = allocations(space, states[0]), tail(space, states, plan.calls_long)
    tell(f"{case.name}: singular tick")
    singular = singularity_costs(space, states, max(1, plan.calls // plan.states))
    own = {quantity: {name: times[quantity][name] for name in ours[quantity]} for quantity in times}
    verdicts = [
        *targets.ratio_verdicts(case.name, own, times),
        *targets.body_verdicts(case.name, own),
        *targets.spread_verdicts(case.name, own),
        *targets.tick_verdicts(case.name, memory, late, singular),
    ]
    return {
        **_facts(case, space),
        "condition_median": float(np.median(condition)),
        "condition_max": float(condition.max()),
        "absent": absent,
        "peers_failed": failed,
        "peers": {quantity: list(theirs.get(quantity, {})) for quantity in times},
        "agreement": agreement,
        "allocations": memory,
        "tail": late,
        "singularity": singular,
        "times": {
            quantity: {name: asdict(timing) for name, timing in field.items()}
            for quantity, field in times.items()
        },
    }, verdicts


def _facts(case: Case, space: OperationalSpace) -> dict:
    model = case.model
    return {
        "nv": model.nv,
        "bodies": len(model.parent),
        "depth": model.depth,
        "m": space.m,
        "frames": case.frames,
        "floating": case.is_floating,
        "auto": OperationalSpace(model, case.tasks).method,
    }


def _add_growth(report: dict, tell: Callable[[str], None]) -> None:
    times = growth.growth(growth.SIZES, tell)
    slopes = {shape: growth.exponents(by_name) for shape, by_name in times.items()}
    crossings = {shape: growth.crossover(by_name) for shape, by_name in times.items()}
    least = {
        shape: {name: list(by_size.values()) for name, by_size in by_name.items()}
        for shape, by_name in times.items()
    }
    report["growth"] = {
        shape: {
            "joints": list(growth.SIZES),
            "least_us": least[shape],
            "exponents": slopes[shape],
            "misfits": growth.misfits(times[shape]),
            "crossover": asdict(crossing) if crossing else None,
        }
        for shape, crossing in crossings.items()
    }
    report["verdicts"] += targets.growth_verdicts(slopes)
