# SPDX-License-Identifier: Apache-2.0
"""A step response beside the gains that made it: a task is asked to jump, and what it does is plotted and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import viser

from ..control.settings import ControllerSettings
from ..control.tasks import ControlTask

__all__ = ["StepTest", "step_figures"]

SIZE = 0.02  # [m] of the step, along z
SECONDS = 1.5  # that are looked at
LATEST = 2.0  # [s] after which a target that is not told to have moved has
# what makes a jump of a motion: limits of speed that nothing reaches, and an error that is not shortened
AT_ONCE = {"speed": 100.0, "acceleration": 1e4, "error_clip": 10.0 * SIZE, "time": 0.0}


def step_figures(t: np.ndarray, x: np.ndarray) -> dict[str, float]:
    """What is said of a step response x(t) from 0 to 1.

    rise: from 10 to 90 % [s]; overshoot: beyond 1; damping: the ratio of the second-order motion that overshoots so
    much, 1 where nothing overshoots; left: what is missing at the end.
    """
    above = [np.flatnonzero(x >= level) for level in (0.1, 0.9)]
    rise = float(t[above[1][0]] - t[above[0][0]]) if all(len(each) for each in above) else np.inf
    overshoot = max(float(x.max()) - 1.0, 0.0)
    decrement = np.log(overshoot) if overshoot > 1e-3 else -np.inf
    ratio = 1.0 if np.isinf(decrement) else -decrement / np.hypot(np.pi, decrement)
    return {
        "rise": rise,
        "overshoot": overshoot,
        "damping": float(ratio),
        "left": float(1.0 - x[-1]),
    }


class StepTest:
    """A tab that makes a task jump.

    Args:
        gui: viser's.
        settings: Of the controller, as it was started.
        ask: Takes requests.
    """

    def __init__(self, gui: Any, settings: ControllerSettings, ask: Callable[..., None]):
        self._ask, self._gains = ask, dict(settings.values)
        self._tasks: dict[str, tuple[int, ControlTask]] = {
            task.name: (number, task)
            for number, task in enumerate(settings.tasks)
            if task.rows in ("pose", "position", "com")
        }
        self._start: np.void | None = None
        self._wanted = self._name = ""
        self._rows: list[np.ndarray] = []
        self._origin = np.inf  # when the target has jumped [s]
        self._before = np.zeros((2, 0))  # times and places of the response before
        self._task = gui.add_dropdown("task", tuple(self._tasks))
        self._button = gui.add_button("Step by 2 cm", icon=viser.Icon.STAIRS_UP)
        self._button.on_click(lambda _: setattr(self, "_wanted", self._task.value))
        series = [
            {"label": "t [s]"},
            {"label": "now", "stroke": "#1971c2", "width": 2},
            {"label": "before", "stroke": "#adb5bd", "width": 2},
        ]
        self._plot = gui.add_uplot(
            (np.zeros(2), np.zeros(2), np.zeros(2)),
            tuple(series),
            scales={"x": {"time": False, "auto": True}, "y": {"auto": True}},
            legend={"show": True, "live": False},
            height=190,
        )
        self._words = gui.add_html("")

    def changed(self, changes: Mapping[str, Any]) -> None:
        """Gains were changed: they are told beside the next response."""
        self._gains.update(changes)

    def add(self, rows: np.ndarray) -> None:
        """Take rows: begin when asked to, end when the time is over."""
        if self._start is None and self._wanted:
            self._begin(rows[-1])
        elif self._start is not None:
            self._rows.append(rows)
            self._origin = min(self._origin, self._jump(rows))
            began = min(self._origin, self._start["time"] + LATEST)
            if rows[-1]["time"] - began > SECONDS:
                self._end()

    def _jump(self, rows: np.ndarray) -> float:
        """When the target has moved, which is some time after it was asked to; inf if it has not."""
        assert self._start is not None
        number, _ = self._tasks[self._name]
        height = rows["target"][:, number, 11] - self._start["target"][number][11]
        jumped = rows["time"][np.abs(height) > 0.5 * SIZE]
        return float(jumped[0]) if len(jumped) else np.inf

    def _begin(self, row: np.void) -> None:
        self._name, self._wanted = self._wanted, ""
        number, _ = self._tasks[self._name]
        self._start, self._rows, self._origin = row.copy(), [], np.inf
        self._ask("settings", {f"{self._name}.{key}": value for key, value in AT_ONCE.items()})
        self._ask("target", self._name, row["pose"][number][9:] + [0.0, 0.0, SIZE], None)

    def _end(self) -> None:
        assert self._start is not None
        number, task = self._tasks[self._name]
        own = {f"{self._name}.{key}": self._gains[f"{self._name}.{key}"] for key in AT_ONCE}
        self._ask("target", self._name, self._start["pose"][number][9:], None)
        self._ask("settings", own)
        rows = np.concatenate(self._rows)
        origin = self._origin if np.isfinite(self._origin) else self._start["time"]
        rows = rows[rows["time"] >= origin]
        t = rows["time"] - origin
        x = (rows["pose"][:, number, 11] - self._start["pose"][number][11]) / SIZE
        self._start = None
        self._show(t, x, replace(task))

    def _show(self, t: np.ndarray, x: np.ndarray, task: ControlTask) -> None:
        times, places = self._before if self._before.size else np.array([[0.0], [np.nan]])
        before = np.interp(t, times, places, right=np.nan)
        self._plot.data = (t, x, before)
        self._before = np.array([t, x])
        found = step_figures(t, x)
        gains = [
            f"{key.replace('_', ' ')} {_text(self._gains[f'{task.name}.{key}'])}"
            for key in ("stiffness", "damping", "damping_ratio", "integral")
        ]
        lines = (
            f"rise {1e3 * found['rise']:.0f} ms, overshoot {100 * found['overshoot']:.1f} %",
            f"damping ratio found {found['damping']:.2f}",
            "with " + ", ".join(gains),
        )
        text = "<br>".join(escape(line) for line in lines)
        self._words.content = f'<div style="font-size:.8em;padding:.2em .75em">{text}</div>'


def _text(value: Any) -> str:
    several = value if isinstance(value, (list, tuple)) else [value]
    return " ".join(f"{each:g}" for each in several) or "by ratio"
