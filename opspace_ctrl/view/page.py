# SPDX-License-Identifier: Apache-2.0
"""The page: everything in it, fed with the newest rows some thirty times a second."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np

from .handles import Pushes, TaskHandle
from .overlays import Overlays
from .panel import Panel
from .plots import Plots, rows_as_csv
from .replay import Replay
from .scene import COLOURS, RobotScene, Trail, add_ground, extent, look_at_robots
from .shapes import robot_shapes
from .share import as_html
from .source import Subject

__all__ = ["Page", "feed"]

RATE = 30.0  # frames a second
SLOW = 4.0  # of trails, overlays and words a second
PLOTS = 2.0  # of plots a second
QUIET = 1.0  # [s] without a row after which that is said


class Page:
    """The scene and the panel of one robot.

    Args:
        server: viser's, or a part of its scene (`Within`).
        subject: What is shown.
        is_alone: There is no other robot: ground and camera are this one's.
        plot_tabs: A group of tabs for its plots; None: a panel of their own.
    """

    def __init__(self, server: Any, subject: Subject, is_alone: bool = True, plot_tabs: Any = None):
        self._server, self._subject = server, subject
        model, settings = subject.model, subject.settings
        shapes = robot_shapes(model, subject.folder)
        self.robot = RobotScene(server, model, shapes)
        if is_alone:
            add_ground(server, model, subject.ground)
        self._replay = subject.ring if isinstance(subject.ring, Replay) else None
        if self._replay is not None:
            self._replay.add_timeline(server.gui)
        ask = subject.ask and self._ask
        self.panel = Panel(
            server, model, settings, subject.methods, ask, subject.able, self._release, is_alone
        )
        self.handles = [
            TaskHandle(server, model, task, number, shapes, subject.ask, self._tell)
            for number, task in enumerate(settings.tasks)
        ]
        self.trails = [
            Trail(server, f"/trails/{task.name}", COLOURS[number % len(COLOURS)])
            for number, task in enumerate(settings.tasks)
        ]
        self.pushes = None
        if subject.ask is not None and "push" in subject.able:
            self.pushes = Pushes(server, model, self.robot, subject.ask)
        self.shapes = shapes
        self._show_tab()
        self.plots = Plots(server, model, settings, subject.ask, plot_tabs, subject.is_live)
        with self.panel.show_tab:
            pause = server.gui.add_checkbox("pause the plots", False)
            pause.on_update(lambda _: setattr(self.plots, "is_paused", pause.value))
        self._count, self._slow, self._plotted, self._time = 0, 0.0, 0.0, -np.inf
        self._heard = monotonic()
        server.on_client_disconnect(self._gone)
        if is_alone:
            look_at_robots(server, [self.extent()])

    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        """The corners (3,) of the box that the robot fills [m]."""
        model, row = self._subject.model, self._subject.ring.latest()
        return extent(model, model.neutral() if row is None else row["q"], self.shapes)

    def _show_tab(self) -> None:
        gui = self._server.gui
        with self.panel.show_tab:
            for title, is_on, act in (
                ("frames of the links", False, self.robot.show_frames),
                ("see through the robot", False, self.robot.fade),
                ("ghost of the target", True, self._show_ghosts),
                ("trails", True, self._show_trails),
            ):
                box = gui.add_checkbox(title, is_on)
                box.on_update(lambda _, box=box, act=act: act(box.value))
            self._handle_boxes(gui)
            if self.pushes is not None:
                push = gui.add_checkbox("dragging a link pushes it", True)
                push.on_update(lambda _: setattr(self.pushes, "is_on", push.value))
            model, settings = self._subject.model, self._subject.settings
            self.overlays = Overlays(
                self._server, model, settings, self.robot, self._subject.ground
            )
            take = gui.add_button_group("take away", ("PNG", "CSV", "HTML"))
            take.on_click(self._take_away)

    def _take_away(self, event: Any) -> None:
        """Send a picture, a table of the last seconds, or a page that plays them, to whoever asked."""
        subject, client, word = self._subject, event.client, event.target.value
        rows = subject.ring.whole()
        name = f"{subject.model.name}.{word.lower()}"
        if client is None or not len(rows):
            return
        if word == "CSV":
            content = rows_as_csv(rows, subject.model, subject.settings).encode()
        elif word == "HTML":
            content = as_html(
                subject.model, subject.settings, self.shapes, rows, subject.ground
            ).encode()
        else:
            content = _png(client.get_render(800, 1280, transport_format="png"))
        client.send_file_download(name, content, save_immediately=True)

    def _handle_boxes(self, gui: Any) -> None:
        """A box for every handle; those inside the robot are off where there are others."""
        if self._subject.ask is None or len(self.handles) < 2:
            return
        has_frames = any(handle.task.rows in ("pose", "position") for handle in self.handles)
        for handle in self.handles:
            is_on = handle.task.rows in ("pose", "position") or not has_frames
            handle.show_handle(is_on)
            box = gui.add_checkbox(f"handle of {handle.task.name}", is_on)
            box.on_update(lambda _, box=box, handle=handle: handle.show_handle(box.value))

    def _show_ghosts(self, is_shown: bool) -> None:
        for handle in self.handles:
            handle.has_ghost = is_shown

    def _show_trails(self, is_shown: bool) -> None:
        for trail in self.trails:
            trail.show(is_shown)

    def _ask(self, name: str, *arguments: Any, answer: Any = None) -> None:
        """A request of the panel; gains are told beside the next step response, too."""
        if name == "settings" and self.plots.step is not None:
            self.plots.step.changed(*arguments)
        assert self._subject.ask is not None
        self._subject.ask(name, *arguments, answer=answer)

    def _tell(self, text: str) -> None:
        self.panel.note.say(text)

    def _release(self) -> None:
        for handle in self.handles:
            handle.give_up()

    async def _gone(self, client: Any) -> None:
        """A page was closed, reloaded or lost."""
        for handle in self.handles:
            handle.let_go(client.client_id)
        if self.pushes is not None:
            self.pushes.let_go(client.client_id)

    def _forget(self) -> None:
        self.plots.clear()
        for trail in self.trails:
            trail.clear()

    def _say_silence(self) -> None:
        quiet = monotonic() - self._heard
        if quiet < QUIET:
            return
        trouble = self._subject.trouble()
        if self.panel.is_paused and not trouble:
            self.panel.show_pause()
        else:
            nothing = f"nothing has been heard of the robot for {quiet:.0f} s"
            self.panel.show_silence(trouble or nothing)

    def update(self) -> np.void | None:
        """Show what has happened since the last time; the newest row."""
        self._count, rows = self._subject.ring.since(self._count)
        if not len(rows):
            self._say_silence()
            return None
        row, self._heard = rows[-1], monotonic()
        if row["gates"]:
            self._release()
        if rows["time"][0] < self._time - 1e-9:  # somebody has gone back
            self._forget()
        self._time = float(row["time"])
        is_slow = monotonic() - self._slow > 1.0 / SLOW
        with self._server.atomic():
            self.robot.show(row["q"])
            for handle in self.handles:
                handle.show(row)
            self.plots.add(rows)
            for number, trail in enumerate(self.trails):
                trail.add(rows["pose"][::5, number, 9:])
            if self.pushes is not None:
                self.pushes.act(row["q"])
            if is_slow:
                self._slow = monotonic()
                for trail in self.trails:
                    trail.draw()
                self.overlays.show(row)
                if self._replay is not None:
                    self._replay.show()
                trouble = [handle.trouble for handle in self.handles if handle.trouble]
                self.panel.show(row, trouble, self._subject.is_live)
            if monotonic() - self._plotted > 1.0 / PLOTS:
                self._plotted = monotonic()
                self.plots.draw()
        return row


def feed(
    page: Any, wait: Callable[[float], bool], also: Callable[[np.void], None] = lambda row: None
) -> None:
    """Let a page be up to date `RATE` times a second.

    Args:
        page: What has `update`.
        wait: Waits for so long [s]; whether this is the end.
        also: Gets every row that is shown.
    """
    due = monotonic()
    while not wait(max(due - monotonic(), 0.0)):
        row = page.update()
        if row is not None:
            also(row)
        due = max(due + 1.0 / RATE, monotonic())  # a frame that is late is not made up for


def _png(picture: np.ndarray) -> bytes:
    """The bytes of a picture (h, w, 3 or 4), on white as the page has it."""
    import imageio.v3 as iio

    shown = picture[..., :3].astype(float)
    if picture.shape[2] > 3:
        share = picture[..., 3:] / 255.0
        shown = share * shown + (1.0 - share) * 255.0
    return bytes(iio.imwrite("<bytes>", shown.round().astype(np.uint8), extension=".png"))
