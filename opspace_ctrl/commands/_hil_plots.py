# SPDX-License-Identifier: Apache-2.0
"""Pictures of a run on simulated hardware: timing, tracking, torque, and what each entry of the schedule did."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..sim.record.fault_effects import AFTER
from ..sim.record.report import latencies
from ._figure import ALARM, INK, beside, curves, histogram, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from opspace_ctrl.sim.record.log import Run
    from opspace_ctrl.sim.record.tracking import Tracking

PICTURES = ("timing.png", "tracking.png", "torque.png", "faults.png")
LEAST = {"position": 1e-3, "angle": 1e-3}  # [mm], [deg]: what is smaller is drawn as this
CHARACTER = 0.0062  # of a picture's width: a letter of a name
BAR, IDLE, WAKE = "#76B7B2", "0.85", "#D9EAE8"


def draw(run: Run, report: Mapping, tracking: Mapping[str, Tracking]) -> dict[str, bytes]:
    """The PICTURES by their names. CommandError without matplotlib."""
    run = run.until(report["asked_seconds"])
    drawn = {}
    for name, picture in zip(PICTURES, (_timing, _tracking, _torque, _faults)):
        file = io.BytesIO()
        picture(run, report, tracking).savefig(file, format="png")
        drawn[name] = file.getvalue()
    return drawn


def _timing(run: Run, report: Mapping, tracking: Mapping) -> Figure:
    figure = new_figure(13, 4.5)
    period, latency, over_time = figure.subplots(1, 3)
    delay = 1e3 * latencies(run)
    histogram(period, 1e3 * np.diff(run["arrived"]), "ms")
    period.set_title("period of the commands, on the wall")
    histogram(latency, delay, "ms")
    latency.set_title("from a state to its command, on the wall")
    over_time.plot(run["schedule"], delay, ".", color=INK, markersize=2)
    late = np.isfinite(run["left"]) & np.isfinite(run["schedule"]) & ~np.isfinite(run["arrived"])
    late[-1:] = False  # nobody can know
    for time in run["schedule"][late][:1000]:
        over_time.axvline(time, color=ALARM, linewidth=0.6)
    over_time.set(
        title=f"the same over time; missed deadlines: {report['deadlines']['missed']}",
        xlabel="time of the schedule [s]",
        ylabel="[ms]",
        yscale="log",
        xlim=(0.0, report["asked_seconds"]),
    )
    return figure


def _tracking(run: Run, report: Mapping, tracking: Mapping[str, Tracking]) -> Figure:
    figure, (position, angle) = _below_the_schedule(report, 2)
    for k, (name, each) in enumerate(tracking.items()):
        sizes = {"position": 1e3 * each.rows[:, 1:4], "angle": np.degrees(each.rows[:, 4:])}
        for axes, what in ((position, "position"), (angle, "angle")):
            error = np.linalg.norm(sizes[what], axis=1)
            if error.any():  # else the task leaves it free
                drawn = np.maximum(error, LEAST[what])
                label = name.rpartition("/")[2]
                axes.plot(each.rows[:, 0], drawn, f"C{k}", linewidth=1.0, label=label)
    for axes, what, unit in ((position, "position", "mm"), (angle, "angle", "deg")):
        axes.set(ylabel=f"{what} error [{unit}]", yscale="log", ylim=(0.8 * LEAST[what], None))
    for limit in report["limits"]:
        if limit["name"] == "max_error":
            position.axhline(1e3 * limit["limit"], color=ALARM, linestyle="--", label="allowed")
    beside(position)
    beside(angle)
    covered = f"{100.0 * report['tracking']['coverage']:.4g} % of the steps were judged"
    angle.set_xlabel(
        f"time of the schedule [s]; {covered if tracking else 'no controller told a reference'}"
    )
    return figure


def _torque(run: Run, report: Mapping, tracking: Mapping) -> Figure:
    kind = run.header["commands"]
    figure, both = _below_the_schedule(report, 2)
    shown = ("command", kind, "command_limits"), ("applied", "effort", "effort_limits")
    for axes, (name, what, bounds) in zip(both, shown):
        limits = np.array([np.nan if limit is None else limit for limit in run.header[bounds]])
        is_limited = bool(len(limits)) and bool(np.isfinite(limits).all())
        values = 100.0 * run[name] / limits if is_limited else run[name]
        curves(axes, run["schedule"], values, run.header["joints"])
        unit = "[% of its limit]" if is_limited else "[SI]"
        axes.set_ylabel(f"{what} {'commanded' if name == 'command' else name} {unit}")
    applied = both[1]
    applied.set_xlabel("time of the schedule [s]")
    if legend := applied.get_legend():
        legend.remove()
    return figure


def _faults(run: Run, report: Mapping, tracking: Mapping) -> Figure:
    """When each entry acted and what was the largest then, above how far the joints were from where they began."""
    faults, seconds = report["faults"], report["asked_seconds"]
    height = 0.6 + 0.27 * len(faults)
    figure = new_figure(13, 3.6 + height)
    bars, motion = figure.subplots(2, 1, sharex=True, height_ratios=[height, 2.6])
    for row, fault in enumerate(faults):
        _bar(bars, row, fault, seconds, 0.62)
        bars.text(1.01, row, _effect(fault), fontsize=8, va="center", transform=_right(bars))
    if faults:
        header = "largest error and torque in its time"
        bars.text(1.01, -1, header, fontsize=8, va="center", transform=_right(bars))
    titles = [fault["title"] for fault in faults]
    bars.set_yticks(range(len(faults)), titles, fontsize=8)
    bars.set(ylim=(len(faults) - 0.4, -0.6), xlim=(0.0, seconds))
    _name_colours(bars)
    started = np.flatnonzero(np.isfinite(run["schedule"]))
    if len(started):
        q = run["q"][:, run.header["positions"]]
        acts = run["watchdog"] > 0
        motion.fill_between(
            run["schedule"],
            0,
            1,
            where=acts,
            color=ALARM,
            alpha=0.4,
            transform=motion.get_xaxis_transform(),
            label="watchdog acts" if acts.any() else None,
        )
        curves(motion, run["schedule"], q - q[started[0]], run.header["joints"])
    motion.set(xlabel="time of the schedule [s]", ylabel="joints moved by [rad, m]")
    return figure


def _effect(fault: Mapping) -> str:
    """The largest error and torque in an entry's time."""
    effect = fault["effect"]
    if not fault["acted"]:
        return "did not act"
    error, torque = effect["position_error"], effect["torque"]
    parts = [] if error is None else [f"{1e3 * max(error, 1e-6):.3g} mm"]
    return ", ".join([*parts, *([] if torque is None else [f"{torque:.3g} Nm"])])


def _right(axes: Axes) -> Any:
    """Places beside the axes, at the height of its rows."""
    return axes.get_yaxis_transform()


def _bar(axes: Axes, row: float, fault: Mapping, seconds: float, height: float) -> None:
    """An entry of the schedule with its aftermath."""
    end = seconds if fault["end"] is None else min(fault["end"], seconds)
    width = max(end - fault["start"], 0.002 * seconds)
    if fault["acted"] and fault["end"] is not None:
        axes.barh(row, width + AFTER, left=fault["start"], height=height, color=WAKE)
    colour = BAR if fault["acted"] else IDLE
    axes.barh(row, width, left=fault["start"], height=height, color=colour)


def _name_colours(axes: Axes) -> None:
    from matplotlib.patches import Patch

    meanings = {BAR: "acts", WAKE: "aftermath", IDLE: "did not act"}
    patches = [Patch(color=colour, label=text) for colour, text in meanings.items()]
    axes.legend(
        handles=patches,
        ncols=3,
        fontsize=8,
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
    )


def _below_the_schedule(report: Mapping, count: int) -> tuple[Figure, list[Axes]]:
    """Axes over the time of the schedule, below a strip that says what acted when."""
    seconds = report["asked_seconds"]
    lanes = _lanes([fault for fault in report["faults"] if fault["start"] < seconds], seconds)
    height = 0.22 * max(1, len(lanes))
    figure = new_figure(13, 3.0 * count + height)
    strip, *axes = figure.subplots(
        count + 1, 1, sharex=True, height_ratios=[height, *[3.0] * count]
    )
    for row, lane in enumerate(lanes):
        for fault in lane:
            _bar(strip, row, fault, seconds, 0.9)
            strip.text(fault["start"], row, f" {fault['kind']}", fontsize=8, va="center")
            for each in axes:
                end = seconds if fault["end"] is None else min(fault["end"], seconds)
                if fault["acted"]:
                    each.axvspan(fault["start"], end, color=BAR, alpha=0.12, linewidth=0)
    strip.set(yticks=[], ylim=(max(1, len(lanes)) - 0.5, -0.5), xlim=(0.0, seconds))
    strip.tick_params(bottom=False)
    strip.set_ylabel("schedule", rotation=0, ha="right", va="center")
    for side in ("top", "right", "left", "bottom"):
        strip.spines[side].set_visible(False)
    return figure, axes


def _lanes(faults: list[dict], seconds: float) -> list[list[dict]]:
    """The entries in as few rows as hold their bars and names side by side."""
    lanes: list[tuple[float, list[dict]]] = []
    for fault in sorted(faults, key=lambda each: each["start"]):
        end = seconds if fault["end"] is None else fault["end"] + AFTER
        name = fault["start"] + (len(fault["kind"]) + 3) * CHARACTER * seconds
        free = next(
            (k for k, (taken, _) in enumerate(lanes) if taken <= fault["start"]), len(lanes)
        )
        if free == len(lanes):
            lanes.append((0.0, []))
        lanes[free] = max(end, name), [*lanes[free][1], fault]
    return [lane for _, lane in lanes]
