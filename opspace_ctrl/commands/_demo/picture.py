# SPDX-License-Identifier: Apache-2.0
"""The picture at the end: the path, the errors of the laps one over the other, torques and timing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._figure import ALARM, GREY, beside, curves, histogram, new_figure, save
from .record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]

LEAST = 1e-3  # [mm]: what is smaller is drawn as this
AXES = "xyz"


def draw(record: Record, delay_name: str, path: str, force: bool) -> None:
    """Write the picture of a run; `delay_name` says what the delays are."""
    figure = new_figure(14, 8)
    figure.suptitle(f"{record.model.name}: {record.scenario.story}")
    grid = figure.add_gridspec(2, 2, width_ratios=[1, 1.35], height_ratios=[1.25, 1])
    _path(figure.add_subplot(grid[0, 0]), record)
    _errors(figure.add_subplot(grid[0, 1]), record)
    delays = figure.add_subplot(grid[1, 0])
    histogram(delays, record.delay, "us")
    delays.set_title(f"{delay_name} of each step, at {record.rate:.0f} steps/s")
    _torques(figure.add_subplot(grid[1, 1]), record)
    save(figure, path, force)


def _laps(record: Record) -> list[tuple[str, Record, dict[str, Any]]]:
    """What each lap is called, its rows and its look: the first ones wide, so that all are seen where they coincide."""
    methods = record.scenario.methods
    looks: list[dict[str, Any]] = [
        {"linewidth": 1.2 + 1.3 * (len(methods) - 1 - k)} for k in range(len(methods))
    ]
    looks.append({"linewidth": 1.2, "color": "black", "linestyle": "--"})
    names = enumerate([*methods, "push"])
    return [(name, record.lap(k), looks[k]) for k, name in names]


def _path(axes: Axes, record: Record) -> None:
    """The plane in which the figure is largest: the target, and every lap over it."""
    extent = np.ptp(record.target, axis=0)
    across, up = sorted(np.argsort(-extent)[:2].tolist())
    axes.plot(*record.target[:, [across, up]].T, color=GREY, linewidth=9, alpha=0.6)
    for _, lap, look in _laps(record):
        axes.plot(*lap.position[:, [across, up]].T, **look)
    axes.set(
        xlabel=f"{AXES[across]} [m]",
        ylabel=f"{AXES[up]} [m]",
        title=f"path of {record.scenario.task}, the target in grey",
    )
    axes.set_aspect("equal", adjustable="datalim")
    axes.locator_params(axis="x", nbins=6)


def _errors(axes: Axes, record: Record) -> None:
    """The laps one over the other: methods that compute the same draw one curve."""
    scenario = record.scenario
    for k, (name, lap, look) in enumerate(_laps(record)):
        time = lap.time - k * scenario.lap
        axes.plot(time, np.maximum(lap.error, LEAST), label=name, **look)
    start = scenario.lap * len(scenario.methods)
    axes.axvspan(
        scenario.push_start - start, scenario.push_end - start, color=ALARM, alpha=0.15, linewidth=0
    )
    axes.set(
        xlabel="time of the lap [s]",
        ylabel="tracking error [mm]",
        yscale="log",
        xlim=(0.0, scenario.lap),
        title="the same path by each method, and with a push",
    )
    beside(axes)


def _torques(axes: Axes, record: Record) -> None:
    curves(axes, record.time, 100.0 * record.share, record.model.joint_names)
    scenario = record.scenario
    for k, name in enumerate([*scenario.methods, "push"]):
        axes.axvline(k * scenario.lap, color=GREY, linewidth=0.8)
        axes.text(
            (k + 0.5) * scenario.lap,
            1.01,
            name,
            fontsize=8,
            ha="center",
            va="bottom",
            transform=axes.get_xaxis_transform(),
        )
    axes.axvspan(scenario.push_start, scenario.push_end, color=ALARM, alpha=0.25, linewidth=0)
    axes.set(xlabel="time [s]", ylabel="torque [% of its limit]", xlim=(0.0, scenario.seconds))
