# SPDX-License-Identifier: Apache-2.0
"""The report of a run on simulated hardware: times, tracking, torques, what each fault did, which limits were kept."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .fault_effects import fault_reports, when
from .log import Run
from .tracking import Tracking

__all__ = ["Limit", "latencies", "make_report", "report_text"]

PERCENTILES = {"median": 50.0, "p99": 99.0, "p999": 99.9}


@dataclass(frozen=True)
class Limit:
    """A demand that a user may make of a run.

    Attributes:
        unit: As the help of `opspace hil` shows it.
        text: What is limited, with its unit.
        at: Where the reached value stands in the report, as keys.
    """

    unit: str
    text: str
    at: tuple[str, ...]


LIMITS = {
    "max_torque": Limit("NM", "largest effort commanded [Nm or N]", ("torque", "largest")),
    "max_error": Limit("M", "largest tracking error [m]", ("tracking", "largest", "position")),
    "max_angle": Limit("RAD", "largest tracking error [rad]", ("tracking", "largest", "angle")),
    "max_missed": Limit("N", "missed deadlines", ("deadlines", "missed")),
    "max_latency": Limit("S", "latency of commands, 99 % of them [s]", ("latency", "p99")),
    "max_refused": Limit("N", "commands refused", ("counters", "refused")),
    "max_watchdog": Limit("N", "trips of the watchdog", ("counters", "watchdog")),
}


def make_report(
    run: Run,
    seconds: float,
    tracking: Mapping[str, Tracking],
    limits: Mapping[str, float],
    context: Mapping[str, object] | None = None,
) -> dict:
    """All numbers of a run, as plain data.

    Args:
        run: Its log.
        seconds: How long it was to be [s of the schedule]; what came later is left out.
        tracking: Of each task, see `tracking_errors`.
        limits: Some of LIMITS and the largest values allowed.
        context: More about the run: the controller's command, its exit code ...

    Returns:
        What report.json holds; `kept` says whether all limits were kept, `summary` says it in words.
    """
    counters, faults = run.counters, run.faults
    run = run.until(seconds)
    errors = {task: _sizes(each.rows, seconds) for task, each in tracking.items()}
    reached = float(np.nanmax(run["schedule"], initial=0.0))
    report = {
        "robot": run.header["robot"],
        "joints": run.header["joints"],
        "lockstep": run.header["lockstep"],
        "step": run.header["step"],
        "seed": run.header["seed"],
        "asked_seconds": seconds,
        "seconds": reached,
        **(context or {}),
        "period": statistics(np.diff(run["arrived"])),
        "latency": statistics(latencies(run)),
        "deadlines": _deadlines(run),
        "tracking": _tracking(errors, tracking),
        "torque": _torque(run),
        "counters": counters,
        "watchdog_seconds": float(run["watchdog"].sum() * run.period),
        "faults": fault_reports(run, faults, errors),
        "events": run.events,
    }
    for part in (report["torque"], report["tracking"]["largest"]):
        part["words"] = when(part["time"], report["faults"])
    report["limits"] = [_judged(name, limit, report) for name, limit in limits.items()]
    complete = {
        "name": "complete",
        "text": "the run lasted as long as asked [s]",
        "limit": seconds,
        "reached": reached,
        "kept": reached >= seconds - 2 * run.period,
    }
    report["limits"].insert(0, complete)
    return conclude(report)


def latencies(run: Run) -> np.ndarray:
    """From each state to its command (n,), on the wall [s]; NaN without one, and for the first, which had to start."""
    return np.where(run["schedule"] > 0.0, run["arrived"] - run["left"], np.nan)


def conclude(report: dict) -> dict:
    """Write the verdict over the limits into the report."""
    broken = [limit for limit in report["limits"] if not limit["kept"]]
    report["kept"] = not broken
    report["summary"] = (
        "all limits kept"
        if not broken
        else "; ".join(
            f"{limit['text']}: {_shown(limit['reached'])}, allowed {_shown(limit['limit'])}"
            for limit in broken
        )
    )
    return report


def report_text(report: Mapping) -> str:
    """The report as JSON; numbers that are not finite become null."""
    return json.dumps(_plain(report), indent=2) + "\n"


def statistics(values: np.ndarray) -> dict[str, float | int | None]:
    """Count, mean, standard deviation, extremes and percentiles of the finite values."""
    values = values[np.isfinite(values)]
    if not len(values):
        return {"count": 0, **dict.fromkeys(("mean", "deviation", "least", *PERCENTILES, "most"))}
    return {
        "count": len(values),
        "mean": float(values.mean()),
        "deviation": float(values.std()),
        "least": float(values.min()),
        **{name: float(np.percentile(values, share)) for name, share in PERCENTILES.items()},
        "most": float(values.max()),
    }


def _sizes(rows: np.ndarray, seconds: float) -> np.ndarray:
    """Rows (time of the schedule [s], position error [m], angle error [rad]) of those (time, error) in the run."""
    rows = rows[(rows[:, 0] >= 0.0) & (rows[:, 0] <= seconds + 1e-9)]
    sizes = (np.linalg.norm(part, axis=1) for part in (rows[:, 1:4], rows[:, 4:]))
    return np.column_stack((rows[:, 0], *sizes))


def _deadlines(run: Run) -> dict:
    """States after the first command, but the last, that had no command before the next one."""
    during = np.isfinite(run["schedule"]) & np.isfinite(run["left"])
    answered = np.isfinite(run["arrived"][during])[:-1]
    missed = int((~answered).sum())
    return {
        "states": len(answered),
        "missed": missed,
        "share": missed / len(answered) if len(answered) else 0.0,
    }


def _tracking(errors: Mapping[str, np.ndarray], tracking: Mapping[str, Tracking]) -> dict:
    tasks = {
        task: {
            "samples": len(rows),
            "coverage": tracking[task].coverage,
            "told": tracking[task].told,
            "position": float(rows[:, 1].max()),
            "angle": float(rows[:, 2].max()),
            "position_rms": math.sqrt((rows[:, 1] ** 2).mean()),
            "angle_rms": math.sqrt((rows[:, 2] ** 2).mean()),
        }
        for task, rows in errors.items()
        if len(rows)
    }
    largest: dict[str, float | None] = {
        name: max((task[name] for task in tasks.values()), default=None)
        for name in ("position", "angle")
    }
    rows = np.vstack([np.empty((0, 3)), *errors.values()])
    largest["time"] = float(rows[rows[:, 1].argmax(), 0]) if len(rows) else None
    coverage = min((task["coverage"] for task in tasks.values()), default=0.0)
    return {"tasks": tasks, "largest": largest, "coverage": coverage}


def _torque(run: Run) -> dict:
    """Largest command, largest and root-mean-square effort, by joint coordinate, and when the largest command was."""
    during = np.isfinite(run["schedule"])
    command, applied = run["command"][during], run["applied"][during]
    size = np.nan_to_num(np.abs(command)).max(axis=1, initial=0.0)
    limits = [np.inf if limit is None else limit for limit in run.header["command_limits"]]
    most = np.nanmax(np.abs(command), axis=0, initial=0.0)
    return {
        "largest": float(most.max(initial=0.0)),
        "time": float(run["schedule"][during][size.argmax()]) if len(size) else None,
        "share_of_limit": float((most / limits).max(initial=0.0)),
        "commanded": most.tolist(),
        "applied": np.abs(applied).max(axis=0, initial=0.0).tolist(),
        "rms": np.sqrt((applied**2).mean(axis=0)).tolist() if len(applied) else [],
        "limits": run.header["command_limits"],
    }


def _judged(name: str, limit: float, report: Mapping) -> dict:
    """A limit with what was reached; what was not measured is not kept."""
    reached: Any = report
    for key in LIMITS[name].at:
        reached = reached.get(key)
    return {
        "name": name,
        "text": LIMITS[name].text,
        "limit": limit,
        "reached": reached,
        "kept": reached is not None and reached <= limit,
    }


def _shown(value: float | None) -> str:
    return (
        "not measured"
        if value is None
        else f"{value:.4g}"
        if isinstance(value, float)
        else str(value)
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
