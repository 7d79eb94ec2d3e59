"""Pictures of a run on simulated hardware: timing, tracking, torque, and what each fault did."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..sim.record.report import on_schedule
from ._figure import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from opspace_ctrl.sim.record.log import Run

LONGEST_LEGEND = 12  # joints
INK, FAINT, ALARM, BAR = "#4E79A7", "0.9", "#E15759", "#A0CBE8"
PICTURES = ("timing.png", "tracking.png", "torque.png", "faults.png")
MAX_POINTS = 4000  # of a curve; more only make the file large


def draw(run: Run, report: Mapping, tracking: Mapping[str, np.ndarray]) -> dict[str, bytes]:
    """The PICTURES by their names. CommandError without matplotlib."""
    run = run.until(report["asked_seconds"])
    drawn = {}
    for name, picture in zip(PICTURES, (_timing, _tracking, _torque, _faults)):
        file = io.BytesIO()
        picture(run, report, tracking).savefig(file, format="png")
        drawn[name] = file.getvalue()
    return drawn


def _thinned(*columns: np.ndarray) -> list[np.ndarray]:
    every = max(1, len(columns[0]) // MAX_POINTS)
    return [column[::every] for column in columns]


def _timing(run: Run, report: Mapping, tracking: Mapping) -> Figure:
    figure = new_figure(13, 4)
    period, latency, missed = figure.subplots(1, 3)
    for axes, values, title in (
        (period, np.diff(run["arrived"]), "period of the commands"),
        (latency, run["arrived"] - run["left"], "from a state to its command"),
    ):
        values = 1e3 * values[np.isfinite(values)]
        if len(values):
            axes.hist(values, bins=80, color=INK)
            axes.axvline(np.percentile(values, 99), color=ALARM, linewidth=1, label="99 %")
            axes.legend()
        axes.set(title=title, xlabel="time on the wall [ms]", ylabel="number", yscale="log")
    late = np.isfinite(run["left"]) & np.isfinite(run["schedule"]) & ~np.isfinite(run["arrived"])
    if len(late):
        late[-1] = False  # nobody can know
    missed.plot(run["schedule"], np.cumsum(late), color=INK)
    missed.set(
        title=f"missed deadlines: {report['deadlines']['missed']}",
        xlabel="time [s]",
        ylabel="so far",
    )
    return figure


def _tracking(run: Run, report: Mapping, tracking: Mapping[str, np.ndarray]) -> Figure:
    figure = new_figure(11, 6)
    position, angle = figure.subplots(2, 1, sharex=True)
    for topic, rows in tracking.items():
        time = on_schedule(run, rows[:, 0])
        for axes, part, factor in ((position, rows[:, 1:4], 1e3), (angle, rows[:, 4:], 1.0)):
            axes.plot(
                *_thinned(time, factor * np.linalg.norm(part, axis=1)), linewidth=1, label=topic
            )
    if tracking:
        position.legend(fontsize=8)
    else:
        position.set_title("the controller has published no tracking error")
    position.set_ylabel("position error [mm]")
    angle.set(ylabel="angle error [rad]", xlabel="time [s]")
    for axes in (position, angle):
        _shade(axes, report)
    return figure


def _torque(run: Run, report: Mapping, tracking: Mapping) -> Figure:
    figure = new_figure(11, 6)
    command, applied = figure.subplots(2, 1, sharex=True)
    limits = np.array([np.nan if limit is None else limit for limit in run.header["effort_limits"]])
    is_limited = bool(len(limits)) and np.isfinite(limits).all()
    names = run.header["joints"] if len(limits) <= LONGEST_LEGEND else None
    unit = "[% of limit]" if is_limited else "[Nm, N]"
    for axes, name, title in ((command, "command", "commanded"), (applied, "applied", "applied")):
        efforts = 100 * run[name] / limits if is_limited else run[name]
        axes.plot(*_thinned(run["schedule"], efforts), linewidth=0.8, label=names)
        axes.set_ylabel(f"{title} effort {unit}")
        _shade(axes, report)
    if names:
        command.legend(ncols=4, fontsize=7)
    applied.set_xlabel("time [s]")
    return figure


def _faults(run: Run, report: Mapping, tracking: Mapping) -> Figure:
    """When each fault acted, with its line in words, above how far the joints were from where they began."""
    faults = report["faults"]
    figure = new_figure(14, 3.2 + 0.32 * len(faults))
    bars, motion = figure.subplots(2, 1, sharex=True, height_ratios=[0.4 + 0.32 * len(faults), 2.4])
    seconds = report["asked_seconds"]
    for row, fault in enumerate(faults):
        end = seconds if fault["end"] is None else fault["end"]
        bars.barh(
            row,
            max(end - fault["start"], 0.002 * seconds),
            left=fault["start"],
            height=0.7,
            color=BAR if fault["acted"] else FAINT,
        )
        bars.text(0.0, row, f" {fault['words']}", fontsize=6.5, va="center")
    bars.set(yticks=[], ylim=(len(faults) - 0.4, -0.6), xlim=(0.0, seconds), title="faults")
    started = np.flatnonzero(np.isfinite(run["schedule"]))
    if len(started):
        q = run["q"][:, run.header["positions"]]
        motion.plot(*_thinned(run["schedule"], q - q[started[0]]), linewidth=0.8)
        motion.fill_between(
            run["schedule"],
            0,
            1,
            where=run["watchdog"] > 0,
            color=ALARM,
            alpha=0.4,
            transform=motion.get_xaxis_transform(),
            label="watchdog acts",
        )
        motion.legend(fontsize=8)
    motion.set(xlabel="time [s]", ylabel="joints moved [rad, m]")
    return figure


def _shade(axes: Axes, report: Mapping) -> None:
    for fault in report["faults"]:
        end = report["asked_seconds"] if fault["end"] is None else fault["end"]
        axes.axvspan(
            fault["start"], min(end, report["asked_seconds"]), color="0.5", alpha=0.08, linewidth=0
        )
