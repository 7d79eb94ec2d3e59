# SPDX-License-Identifier: Apache-2.0
"""The sentences around the tables of a timing report: where and how it was made, who is missing and why."""

from typing import Any

from ..bench.body import NATIVE
from ..bench.targets import LEAST_CALLS, LEAST_TICKS

BUSY = 0.5  # load a core
POOR_FIT = 0.3  # of a time, beside the line that was fitted to it


def head(report: dict[str, Any]) -> list[str]:
    """Machine, versions, and how often was measured; counts are those that were, not those asked for."""
    machine, versions, plan = report["machine"], report["versions"], report["plan"]
    installed = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    core = "not pinned" if report["core"] is None else f"pinned to core {report['core']}"
    calls, ticks = counts(report)
    return [
        f"{machine['cpu']}, {machine['cores_allowed']} of {machine['cores']} cores ({core}), "
        f"{' '.join(machine['vector_flags'])}",
        f"{machine['system']}; {installed}",
        f"{report['made']}; {calls} calls of each at {plan['states']} random regular states, in turns, and {ticks} "
        f"ticks for the tail; every time includes {report['clock_us']:.2f} us of the clock",
    ]


def counts(report: dict[str, Any]) -> tuple[int, int]:
    """Timed calls of each contestant, and ticks for the tail: the fewest on any robot."""
    robots, plan = report["robots"].values(), report["plan"]
    calls = [
        timing["calls"]
        for robot in robots
        for field in robot["times"].values()
        for timing in field.values()
    ]
    ticks = [robot["tail"]["calls"] for robot in robots]
    return min(calls, default=plan["calls"]), min(ticks, default=plan["calls_long"])


def notes(report: dict[str, Any]) -> list[str]:
    """Sentences on what the tables leave out."""
    robots = report["robots"]
    lines = [f"{name} is {robot['path']}" for name, robot in robots.items() if robot.get("path")]
    lines += [f"tasks of {name}: {', '.join(each['frames'])}" for name, each in robots.items()]
    lines += _choices(robots) + _native(robots) + _unjudged(report) + _busy(report)
    lines += [f"{name} left out: {reason}" for name, reason in report["left_out"].items()]
    lines += [
        f"{name} without {peer}: {reason}"
        for name, robot in robots.items()
        for peer, reason in robot["absent"].items()
    ]
    lines += [
        f"singular tick of {name}: {robot['singularity']['singular_states']}"
        for name, robot in robots.items()
    ]
    lines += [f"{what} failed: {reason}" for what, reason in report.get("failed", {}).items()]
    return lines + (
        ["interrupted: what was complete by then is shown"] if report.get("interrupted") else []
    )


def _choices(robots: dict[str, Any]) -> list[str]:
    """Say which method auto takes on which robot."""
    chosen: dict[str, list[str]] = {}
    for name, robot in robots.items():
        if "auto" in robot:
            chosen.setdefault(robot["auto"], []).append(name)
    taken = "; ".join(f"{method} on {', '.join(names)}" for method, names in chosen.items())
    return [f"auto takes {taken}"] if taken else []


def _native(robots: dict[str, Any]) -> list[str]:
    """Say what time native programs take for the body, as far as it is known."""
    known = [
        f"{name}: {', '.join(f'{program} {us:g} us' for program, us in NATIVE[name].items())}"
        for name, robot in robots.items()
        if name in NATIVE and not robot.get("path")
    ]
    where = "beside the body, on another machine (a core of 2.3 GHz with AVX-512)"
    return [f"{where}: {'; '.join(known)}"] if known else []


def _unjudged(report: dict[str, Any]) -> list[str]:
    """Say which targets are not applied because too little was measured."""
    calls, ticks = counts(report)
    lines = [
        f"ratios and shares are not judged: {calls} calls, their targets are for {LEAST_CALLS} or more"
    ]
    late = [f"the tail is not judged: {ticks} ticks, its target is for {LEAST_TICKS} or more"]
    return (lines if report["robots"] and calls < LEAST_CALLS else []) + (
        late if report["robots"] and ticks < LEAST_TICKS else []
    )


def _busy(report: dict[str, Any]) -> list[str]:
    """Say what cannot be believed because others ran beside."""
    load, cores = report["machine"].get("load") or 0.0, report["machine"]["cores_allowed"] or 1
    lines = [f"the machine was busy: a load of {load:.1f} on {cores} cores when it began"]
    poor = [
        f"{name} of {shape} {100.0 * misfit:.0f} %"
        for shape, grown in report.get("growth", {}).items()
        for name, misfit in grown.get("misfits", {}).items()
        if misfit > POOR_FIT
    ]
    fits = f"no power of the number of joints fits, the exponent says little: {', '.join(poor)}"
    return (lines if load > BUSY * cores else []) + ([fits] if poor else [])


def summary(report: dict[str, Any]) -> str:
    """Count the targets that are met."""
    judged = [verdict["met"] for verdict in report["verdicts"] if verdict["met"] is not None]
    return f"{sum(judged)} of {len(judged)} targets met"
