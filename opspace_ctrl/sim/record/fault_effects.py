"""The effects of each fault of a run: counts, and how tracking, torque and motion changed while it acted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .log import Run

__all__ = ["fault_reports"]

# [s]: tracking is compared with so much before, and looked at for so much after the end
BEFORE, AFTER = (0.5, 0.1)
NOTHING = 1e-9  # [rad or m]: of an encoder
# What the counts of the faults mean.
WORDS = {
    "delayed": "messages delayed",
    "dropped": "messages dropped",
    "duplicated": "messages duplicated",
    "reordered": "messages overtaken",
    "lost": "messages lost",
    "measurements": "measurements changed",
    "steps": "steps",
}


def fault_reports(run: Run, faults: list[dict], errors: Mapping[str, np.ndarray]) -> list[dict]:
    """Every fault of the log with its effects and a line in words.

    Args:
        run: Its rows are compared inside and before each fault's time.
        faults: As the log has them: with counts.
        errors: For every task rows (time of the schedule [s], position error [m], angle error [rad]).
    """
    return [_report(run, fault, errors) for fault in faults]


def _report(run: Run, fault: dict, errors: Mapping[str, np.ndarray]) -> dict:
    start, end = fault["start"], np.inf if fault["end"] is None else fault["end"]
    effect: dict[str, float | None] = {}
    for name, column in (("position_error", 1), ("angle_error", 2)):
        effect[name] = _largest_error(errors, column, start, end + AFTER)
        effect[f"{name}_before"] = _largest_error(errors, column, start - BEFORE, start)
    schedule = run["schedule"]
    inside = (schedule >= start) & (schedule < end)
    if inside.any():
        applied, v = run["applied"][inside], run["v"][inside]
        effect["torque"] = float(np.abs(applied).max(initial=0.0))
        effect["speed"] = float(np.abs(v).max(initial=0.0))
        effect["measured_off"] = _measured_off(run, inside)
        effect["watchdog_seconds"] = float(run["watchdog"][inside].sum() * run.period)
    counts = {name: count for name, count in fault["counts"].items() if count}
    return {
        **fault,
        "acted": bool(counts),
        "effect": effect,
        "words": _words(fault, counts, effect),
    }


def _largest_error(
    errors: Mapping[str, np.ndarray], column: int, start: float, end: float
) -> float | None:
    values = [rows[(rows[:, 0] >= start) & (rows[:, 0] < end), column] for rows in errors.values()]
    values = [value for value in values if len(value)]
    return float(max(value.max() for value in values)) if values else None


def _measured_off(run: Run, inside: np.ndarray) -> float:
    """The largest difference between measured and true joint positions [rad or m]."""
    true = run["q"][inside][:, run.header["positions"]]
    return float(np.abs(run["position"][inside] - true).max(initial=0.0))


def _words(fault: dict, counts: dict[str, int], effect: dict) -> str:
    end = "the end" if fault["end"] is None else f"{fault['end']:g} s"
    line = f"{fault['title']}, {fault['start']:g} s to {end}: "
    if not counts:
        return line + "did not act"
    parts = [f"{count} {WORDS[name]}" for name, count in counts.items()]
    if effect.get("measured_off", 0.0) > NOTHING:
        parts.append(f"positions measured off by up to {effect['measured_off']:.2g}")
    if effect["position_error"] is not None:
        before = effect["position_error_before"]
        known = "" if before is None else f" ({1e3 * before:.3g} mm before)"
        parts.append(f"tracking error up to {1e3 * effect['position_error']:.3g} mm{known}")
    if effect.get("torque") is not None:
        parts.append(f"torque up to {effect['torque']:.3g}")
    if effect.get("watchdog_seconds"):
        parts.append(f"watchdog for {1e3 * effect['watchdog_seconds']:.0f} ms")
    return line + ", ".join(parts)
