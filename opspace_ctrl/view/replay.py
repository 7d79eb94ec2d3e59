# SPDX-License-Identifier: Apache-2.0
"""A recorded run on a timeline: it plays, pauses, and goes wherever the slider is put."""

from __future__ import annotations

from time import monotonic
from typing import Any

import numpy as np
import viser

__all__ = ["Replay"]

SPEEDS = ("1", "0.1", "0.25", "0.5", "2", "4")


class Replay:
    """Rows that come one after the other as time goes by; a page reads it as it reads a `Ring`.

    Args:
        rows: In the order of time.
        is_repeated: It begins again at its end.

    Attributes:
        at: The time that is shown, from the beginning [s].
        is_playing, speed: Whether time goes by, and how fast.
    """

    def __init__(self, rows: np.ndarray, is_repeated: bool = False):
        self.rows, self._is_repeated = rows, is_repeated
        self._times = rows["time"] - rows["time"][0]
        self.length = float(self._times[-1])
        self.at, self.is_playing, self.speed = 0.0, True, 1.0
        self._clock = monotonic()
        self._slider: Any = None

    # ---- as a ring ----

    def latest(self) -> np.void | None:
        """The row that is shown."""
        row: np.void = self.rows[self._index()]
        return row

    def since(self, count: int) -> tuple[int, np.ndarray]:
        """The rows from the one that was shown last to the one to be shown now."""
        now = monotonic()
        if self.is_playing and self._is_repeated and self.at >= self.length:
            self.at = 0.0
        elif self.is_playing:
            self.at = min(self.at + self.speed * (now - self._clock), self.length)
        self._clock = now
        index = self._index()
        first = count if 0 <= count <= index else index
        return index, self.rows[first : index + 1]

    def whole(self) -> np.ndarray:
        """All rows."""
        return self.rows

    def _index(self) -> int:
        return int(np.searchsorted(self._times, self.at + 1e-9).clip(1, len(self.rows)) - 1)

    # ---- the timeline ----

    def add_timeline(self, gui: Any) -> None:
        """Put slider, button and speeds into the panel."""
        step = max(self.length / 1000.0, 1e-3)
        self._slider = gui.add_slider(
            "time [s]", 0.0, max(self.length, step), step, 0.0, hint="Drag it to any moment"
        )
        self._slider.on_update(self._scrubbed)
        play = gui.add_button("Play / pause", icon=viser.Icon.PLAYER_PAUSE)
        play.on_click(lambda _: self._toggle())
        speed = gui.add_dropdown("speed", SPEEDS)
        speed.on_update(lambda _: setattr(self, "speed", float(speed.value)))

    def _toggle(self) -> None:
        if self.at >= self.length:
            self.at, self.is_playing = 0.0, True
        else:
            self.is_playing = not self.is_playing

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None:
            self.at, self.is_playing = float(self._slider.value), False

    def show(self) -> None:
        """Let the slider follow."""
        if self._slider is not None and self.is_playing:
            self._slider.value = round(self.at, 3)
