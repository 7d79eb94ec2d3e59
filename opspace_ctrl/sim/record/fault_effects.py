# SPDX-License-Identifier: Apache-2.0
"""The effects of each entry of a schedule: counts, and how tracking, torque and motion changed in its time.

That time is one and the same for all quantities: from the entry's start until AFTER its end, because what a fault has
done to the controller shows when it is over.
"""

import math
from collections.abc import Mapping

import numpy as np

from .log import Run

__all__ = ["fault_reports", "when"]

# [s] compared with an entry's time is so much before it; its aftermath
BEFORE, AFTER = (0.5, 0.5)
NOTHING = 1e-9  # [rad or m]: of an encoder
# What the counts of the entries mean.
WORDS = {
    "delayed": "messages delayed",
    "dropped": "messages dropped",
    "duplicated": "messages duplicated",
    "reordered": "messages overtaken",
    "lost": "messages lost",
    "measurements": "measurements changed",
    "steps": "steps",
    "sent": "sent to the controller",
}


def fault_reports(run: Run, faults: list[dict], errors: Mapping[str, np.ndarray]) -> list[dict]:
    """Every entry of the log with its effects and a line in words.

    Args:
        run: Its rows are compared in and before each entry's time.
        faults: As the log has them: with counts.
        errors: For every task rows (time of the schedule [s], position error [m], angle error [rad]).
    """
    return [_report(run, fault, errors) for fault in faults]


def when(time: float | None, faults: list[dict]) -> str:
    """A time of the schedule [s] in words: which entries acted then, or had just done so."""
    if time is None:
        return ""
    acting = [each for each in faults if each["acted"] and each["start"] <= time < _last(each)]
    told = [
        each["title"]
        if time < _end(each)
        else f"{1e3 * (time - _end(each)):.0f} ms after {each['title']}"
        for each in acting
    ]
    return f"at {time:.3f} s ({'; '.join(told) or 'when nothing acted'})"


def _end(fault: dict) -> float:
    return math.inf if fault["end"] is None else fault["end"]


def _last(fault: dict) -> float:
    """When its aftermath is over [s]."""
    return _end(fault) + AFTER


def _report(run: Run, fault: dict, errors: Mapping[str, np.ndarray]) -> dict:
    start, schedule = fault["start"], run["schedule"]
    inside = (schedule >= start) & (schedule < _last(fault))
    before = (schedule >= start - BEFORE) & (schedule < start)
    effect = {
        **_largest_errors(errors, start, _last(fault), ""),
        **_largest_errors(errors, start - BEFORE, start, "_before"),
        **_largest_torque(run, inside, ""),
        **_largest_torque(run, before, "_before"),
        "speed": float(np.abs(run["v"][inside]).max(initial=0.0)),
        "measured_off": _measured_off(run, inside & (schedule < _end(fault))),
        "watchdog_seconds": float(run["watchdog"][inside].sum() * run.period),
    }
    counts = {name: count for name, count in fault["counts"].items() if count}
    if "steps" in counts:  # the simulator goes on until somebody ends it
        during = np.count_nonzero((schedule >= start) & (schedule < _end(fault)))
        counts["steps"] = min(counts["steps"], int(during))
    return {
        **fault,
        "acted": bool(counts),
        "effect": effect,
        "words": _words(fault, counts, effect),
    }


def _largest_errors(
    errors: Mapping[str, np.ndarray], start: float, end: float, ending: str
) -> dict[str, float | None]:
    inside = [rows[(rows[:, 0] >= start) & (rows[:, 0] < end), 1:] for rows in errors.values()]
    values = np.vstack([np.empty((0, 2)), *inside])
    largest = values.max(axis=0).tolist() if len(values) else (None, None)
    return dict(zip((f"position_error{ending}", f"angle_error{ending}"), largest))


def _largest_torque(run: Run, inside: np.ndarray, ending: str) -> dict:
    """The largest effort that was commanded, and of which joint."""
    most = np.nanmax(np.abs(run["command"][inside]), axis=0, initial=0.0)
    if not inside.any() or not len(most):
        return {f"torque{ending}": None, f"torque_joint{ending}": None}
    joint = run.header["joints"][int(most.argmax())]
    return {f"torque{ending}": float(most.max()), f"torque_joint{ending}": joint}


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
    if effect["measured_off"] > NOTHING:
        parts.append(f"positions measured off by up to {effect['measured_off']:.2g}")
    if effect["position_error"] is not None:
        before = effect["position_error_before"]
        known = "" if before is None else f" ({_millimetres(before)} before)"
        parts.append(f"tracking error up to {_millimetres(effect['position_error'])}{known}")
    if effect["torque"] is not None:
        before = effect["torque_before"]
        known = "" if before is None else f" ({before:.3g} before)"
        parts.append(f"torque up to {effect['torque']:.3g} on {effect['torque_joint']}{known}")
    if effect["watchdog_seconds"]:
        parts.append(f"watchdog for {1e3 * effect['watchdog_seconds']:.0f} ms")
    return line + ", ".join(parts)


def _millimetres(metres: float) -> str:
    """In words; what is less than a micrometre is none."""
    return f"{1e3 * metres:.3g} mm" if metres >= 1e-6 else "0 mm"
