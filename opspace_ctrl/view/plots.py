# SPDX-License-Identifier: Apache-2.0
"""Plots beside the scene: errors of tasks, torques by level against their limits, the time of a tick."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
import viser

from ..control.settings import ControllerSettings
from ..model import Model
from ..sim.joint_index import coordinate_names
from .step import StepTest

__all__ = ["Plots", "plot_panel", "rows_as_csv"]

WIDTH = 332  # pixels
SECONDS = 10.0  # that are plotted
POINTS = 300  # of a line: one a frame
LINES = 8  # joints that a plot has a line for each of
LONGEST, LETTER = 22, 5.0  # name of a joint beside a bar, and the width of a letter
# from zero to at least one: noise far below that does not fill the plot
FROM_ZERO = {
    "min": {"pad": 0.0, "soft": 0.0, "mode": 1},
    "max": {"pad": 0.1, "soft": 1.0, "mode": 1},
}
PALETTE = ("#868e96", "#e03131", "#1971c2", "#2f9e44", "#e8590c", "#9c36b5", "#0c8599", "#f08c00")


class Plots:
    """Plots over the last seconds.

    Args:
        server: viser's.
        model, settings: The robot and its controller.
        ask: Takes requests; None: nothing can be asked for.
        tabs: viser's group of tabs that plots are added to; None: those of `plot_panel`.
        is_live: Errors and times are told; of a recorded run nobody knows them.
    """

    def __init__(
        self,
        server: Any,
        model: Model,
        settings: ControllerSettings,
        ask: Callable[..., None] | None = None,
        tabs: Any = None,
        is_live: bool = True,
    ):
        gui = server.gui
        self._names = coordinate_names(model)
        self._limits = np.where(np.isfinite(model.effort_limits), model.effort_limits, np.nan)
        self._limits[self._limits == 0.0] = np.nan
        tasks = list(enumerate(settings.tasks))
        self._placed = {i: task.name for i, task in tasks if task.rows != "orientation"}
        self._turned = {i: task.name for i, task in tasks if task.rows not in ("position", "com")}
        self._levels = level_names(settings)
        self._kept: np.ndarray | None = None
        self._count = 0
        self.is_paused = False
        tabs = tabs or plot_panel(gui)
        self._error: Any = None
        self._angle: Any = None
        self._tick: Any = None
        if is_live:
            with tabs.add_tab("Error", viser.Icon.TARGET):
                self._error = self._plot(gui, [f"{name} [mm]" for name in self._placed.values()])
                self._angle = self._plot(gui, [f"{name} [deg]" for name in self._turned.values()])
        limited = np.flatnonzero(np.isfinite(self._limits))
        self._lines = {int(j): self._names[j] for j in limited} if len(limited) <= LINES else {}
        with tabs.add_tab("Torque", viser.Icon.CHART_BAR):
            self._bars = gui.add_html("")
            labels = [f"{name} [%]" for name in self._lines.values()]
            self._shares = self._plot(gui, labels or ["largest of all joints [%]"])
        if is_live:
            with tabs.add_tab("Time", viser.Icon.CLOCK):
                self._tick = self._plot(gui, ["tick [us]", "longest [us]"])
                self._trip = self._plot(gui, ["state to command [us]"])
                self._missed = self._plot(gui, ["turns that were missed, a second"])
        self.step: StepTest | None = None
        if ask is not None and any(task.rows != "orientation" for task in settings.tasks):
            with tabs.add_tab("Step", viser.Icon.STAIRS_UP):
                self.step = StepTest(gui, settings, ask)

    def _plot(self, gui: Any, labels: Sequence[str]) -> Any:
        series = [
            {"label": label, "stroke": PALETTE[1 + i % (len(PALETTE) - 1)], "width": 2}
            for i, label in enumerate(labels)
        ]
        if not labels:
            return None
        empty = tuple(np.zeros(2) for _ in range(1 + len(labels)))
        return gui.add_uplot(
            empty,
            ({"label": "t [s]"}, *series),
            scales={"x": {"time": False, "auto": True}, "y": {"auto": True, "range": FROM_ZERO}},
            legend={"show": True, "live": False},
            padding=(10, 16, 0, 0),  # room for the uppermost number
            height=190,
        )

    def add(self, rows: np.ndarray) -> None:
        """Take the rows since the last frame: the newest, with the longest tick of all, is a point of the plots."""
        if self.step is not None:
            self.step.add(rows)
        if self._kept is None:
            self._kept = np.zeros(POINTS, rows.dtype)
        at = self._count % POINTS
        self._kept[at] = rows[-1]
        self._kept["tick_most"][at] = rows["tick_most"].max()
        self._count += 1

    def clear(self) -> None:
        """Forget the past."""
        self._count = 0

    def _points(self) -> np.ndarray:
        """What is plotted, in the order of time."""
        assert self._kept is not None
        order = np.arange(max(0, self._count - POINTS), self._count) % POINTS
        points = self._kept[order]
        return points[points["time"] > points["time"][-1] - SECONDS]

    def draw(self) -> None:
        """Show what has been added."""
        if self.is_paused or self._count < 2:
            return
        rows = self._points()
        t = rows["time"] - rows["time"][-1]
        e = rows["error"]
        if self._error is not None:
            size = np.linalg.norm(e[:, list(self._placed), :3], axis=2)
            self._error.data = (t, *(1e3 * size.T))
        if self._angle is not None:
            size = np.linalg.norm(e[:, list(self._turned), 3:], axis=2)
            self._angle.data = (t, *np.degrees(size.T))
        self._shares.data = (t, *self._share_lines(rows["effort"]))
        if self._tick is not None:
            self._draw_times(t, rows)
        self._bars.content = torque_bars(
            self._names, self._levels, rows[-1]["level"], rows[-1]["effort"], self._limits
        )

    def _draw_times(self, t: np.ndarray, rows: np.ndarray) -> None:
        self._tick.data = (t, rows["tick"], rows["tick_most"])
        self._trip.data = (t, rows["trip"])
        spans = np.maximum(np.diff(rows["time"], prepend=rows["time"][0] - 1e-3), 1e-3)
        missed = np.diff(rows["missed"], prepend=rows["missed"][0]) / spans
        self._missed.data = (t, missed.astype(float))

    def _share_lines(self, efforts: np.ndarray) -> np.ndarray:
        """(lines, n) per cent of the limits that the drives apply: of every joint, or of that which has most."""
        shares = np.nan_to_num(100.0 * np.abs(efforts) / self._limits)
        return shares[:, list(self._lines)].T if self._lines else shares.max(axis=1)[None]


def plot_panel(gui: Any) -> Any:
    """A panel for plots at the left of the scene: there is one only, or nothing is left of the scene."""
    panel = gui.add_panel()
    panel.dock_left()
    panel.set_width(WIDTH)
    return panel


def level_names(settings: ControllerSettings) -> list[str]:
    """Names of the levels of a row: bias, limits, the tasks level by level, posture."""
    own = ["+".join(settings.tasks[i].name for i in level) for level in settings.levels()]
    return ["bias", "limits", *own, "posture"]


def torque_bars(
    names: Sequence[str],
    levels: Sequence[str],
    level: np.ndarray,
    effort: np.ndarray,
    limits: np.ndarray,
) -> str:
    """Torques of joints as a picture: per cent of their limits, stacked by level to both sides of zero.

    Args:
        names: Of the joints (k).
        levels: Their names, bias first.
        level: (levels, k) [Nm or N].
        effort: (k,) what the drives apply, drawn as a mark.
        limits: (k,) NaN where there is none: then the bar is in [Nm or N].
    """
    row, half = 13, 90
    left = 12 + round(LETTER * min(LONGEST, max(map(len, names), default=0)))
    lines = []
    for j, name in enumerate(names):
        y = row * j + 12
        scale = 1.0 / limits[j] if np.isfinite(limits[j]) else 0.01
        ends = {True: 0.0, False: 0.0}
        for i, part in enumerate(level[:, j] * scale):
            is_up = bool(part >= 0.0)
            start, ends[is_up] = ends[is_up], ends[is_up] + part
            a, b = sorted((start, ends[is_up]))
            a, b = max(a, -1.05), min(b, 1.05)
            if b - a > 1e-3:
                lines.append(
                    f'<rect x="{left + half * (1 + a):.1f}" y="{y}" width="{half * (b - a):.1f}" height="9" '
                    f'fill="{PALETTE[i % len(PALETTE)]}"/>'
                )
        at = left + half * (1 + float(np.clip(effort[j] * scale, -1.05, 1.05)))
        lines.append(f'<rect x="{at - 1:.1f}" y="{y - 1}" width="2" height="11" fill="#212529"/>')
        lines.append(
            f'<text x="{left - 6}" y="{y + 8}" text-anchor="end" font-size="9" fill="currentColor">'
            f"{escape(_short(name))}</text>"
        )
    height = row * len(names) + 14
    grid = "".join(
        f'<line x1="{left + half * (1 + x)}" x2="{left + half * (1 + x)}" y1="10" y2="{height}" '
        f'stroke="#ced4da" stroke-width="{1 if abs(x) < 1 else 2}"/>'
        f'<text x="{left + half * (1 + x)}" y="8" text-anchor="middle" font-size="8" fill="currentColor">'
        f"{round(100 * x)}%</text>"
        for x in (-1.0, -0.5, 0.0, 0.5, 1.0)
    )
    legend = " ".join(
        f'<span style="white-space:nowrap"><span style="color:{PALETTE[i % len(PALETTE)]}">&#9632;</span> '
        f"{escape(text)}</span>"
        for i, text in enumerate(levels)
    )
    return (
        f'<div style="padding:.4em"><div style="font-size:.75em;line-height:1.3">{legend}</div>'
        f'<svg viewBox="0 0 {left + 2 * half + 14} {height + 4}" width="100%">{grid}{"".join(lines)}</svg></div>'
    )


def _short(name: str) -> str:
    return (
        name if len(name) <= LONGEST else f"{name[: LONGEST // 2]}\u2026{name[1 - LONGEST // 2 :]}"
    )


def rows_as_csv(rows: np.ndarray, model: Model, settings: ControllerSettings) -> str:
    """Rows as a table with a line of names."""
    joints, tasks = coordinate_names(model), [task.name for task in settings.tasks]
    axes = ("x", "y", "z", "rx", "ry", "rz")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            "time",
            "tick_us",
            "missed",
            "gates",
            *(f"q{i}" for i in range(model.nq)),
            *(f"effort.{name}" for name in joints),
            *(f"{task}.error.{axis}" for task in tasks for axis in axes),
            *(f"{task}.position.{axis}" for task in tasks for axis in axes[:3]),
        ]
    )
    for row in rows:
        writer.writerow(
            [
                f"{row['time']:.6f}",
                f"{row['tick']:.3f}",
                int(row["missed"]),
                int(row["gates"]),
                *(repr(float(each)) for each in row["q"]),
                *(repr(float(each)) for each in row["effort"]),
                *(repr(float(each)) for each in row["error"].ravel()),
                *(repr(float(each)) for each in row["pose"][:, 9:].ravel()),
            ]
        )
    return out.getvalue()
