"""The report of a run on simulated hardware: times, tracking, torques, what each fault did, which limits were kept."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .fault_effects import fault_reports
from .log import Run

__all__ = ["Limit", "make_report", "on_schedule", "report_text"]

PERCENTILES = {"median": 50.0, "p99": 99.0, "p999": 99.9}


@dataclass(frozen=True)
class Limit:
    """A demand that a user may make of a run.

    Attributes:
        text: What is limited, with its unit.
        at: Where the reached value stands in the report, as keys.
    """

    text: str
    at: tuple[str, ...]


LIMITS = {
    "max_torque": Limit("largest effort commanded [Nm or N]", ("torque", "largest")),
    "max_error": Limit("largest tracking error [m]", ("tracking", "largest", "position")),
    "max_angle": Limit("largest tracking error [rad]", ("tracking", "largest", "angle")),
    "max_missed": Limit("missed deadlines", ("deadlines", "missed")),
    "max_latency": Limit("latency of commands, 99 % of them [s]", ("latency", "p99")),
    "max_refused": Limit("commands refused", ("counters", "refused")),
    "max_watchdog": Limit("trips of the watchdog", ("counters", "watchdog")),
}


def on_schedule(run: Run, wall: np.ndarray) -> np.ndarray:
    """The times of the schedule [s] at these times of the wall clock [s]; NaN outside the run."""
    known = np.isfinite(run["left"]) & np.isfinite(run["schedule"])
    if not known.any():
        return np.full(len(wall), np.nan)
    return np.interp(wall, run["left"][known], run["schedule"][known], left=np.nan, right=np.nan)


def make_report(
    run: Run,
    seconds: float,
    tracking: Mapping[str, np.ndarray],
    limits: Mapping[str, float],
    context: Mapping[str, object] | None = None,
) -> dict:
    """All numbers of a run, as plain data.

    Args:
        run: Its log.
        seconds: How long it was to be [s of the schedule]; what came later is left out.
        tracking: For every topic rows (wall time [s], error (6,): linear [m], angular [rad]).
        limits: Some of LIMITS and the largest values allowed.
        context: More about the run: the controller's command, its exit code ...

    Returns:
        What report.json holds; `kept` says whether all limits were kept, `summary` says it in words.
    """
    counters, faults = run.counters, run.faults
    run = run.until(seconds)
    errors = {task: _scheduled(run, rows, seconds) for task, rows in tracking.items()}
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
        "latency": statistics(run["arrived"] - run["left"]),
        "deadlines": _deadlines(run),
        "tracking": _tracking(errors),
        "torque": _torque(run),
        "counters": counters,
        "watchdog_seconds": float(run["watchdog"].sum() * run.period),
        "faults": fault_reports(run, faults, errors),
        "events": run.events,
    }
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


def _scheduled(run: Run, rows: np.ndarray, seconds: float) -> np.ndarray:
    """Rows (time of the schedule [s], position error [m], angle error [rad]) of a tracking error during the run."""
    rows = np.asarray(rows, dtype=float).reshape(-1, 7)
    times = on_schedule(run, rows[:, 0])
    rows = np.column_stack(
        (times, np.linalg.norm(rows[:, 1:4], axis=1), np.linalg.norm(rows[:, 4:], axis=1))
    )
    return rows[(times >= 0.0) & (times <= seconds)]


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


def _tracking(errors: Mapping[str, np.ndarray]) -> dict:
    tasks = {}
    for task, rows in errors.items():
        if len(rows):
            tasks[task] = {
                "samples": len(rows),
                "position": float(rows[:, 1].max()),
                "angle": float(rows[:, 2].max()),
                "position_rms": math.sqrt((rows[:, 1] ** 2).mean()),
                "angle_rms": math.sqrt((rows[:, 2] ** 2).mean()),
            }
    largest = {
        name: max((task[name] for task in tasks.values()), default=None)
        for name in ("position", "angle")
    }
    return {"tasks": tasks, "largest": largest}


def _torque(run: Run) -> dict:
    """Largest and root-mean-square effort commanded and applied, by joint coordinate."""
    during = np.isfinite(run["schedule"])
    command, applied = run["command"][during], run["applied"][during]
    limits = [np.inf if limit is None else limit for limit in run.header["effort_limits"]]
    most = np.nanmax(np.abs(command), axis=0, initial=0.0)
    return {
        "largest": float(most.max(initial=0.0)),
        "share_of_limit": float((most / limits).max(initial=0.0)),
        "commanded": most.tolist(),
        "applied": np.abs(applied).max(axis=0, initial=0.0).tolist(),
        "rms": np.sqrt((applied**2).mean(axis=0)).tolist() if len(applied) else [],
        "limits": run.header["effort_limits"],
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
