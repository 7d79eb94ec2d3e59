"""The page: everything in it, fed with the newest rows some thirty times a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from ..control.settings import ControllerSettings
from ..model import Model
from .handles import Pushes, TaskHandle
from .panel import Panel
from .rows import Ring
from .scene import COLOURS, RobotScene, Trail, add_ground, extent
from .shapes import Shape, robot_shapes

__all__ = ["Page", "Subject"]

RATE = 30.0  # frames a second
SLOW = 5.0  # of plots, trails and words a second
VIEW = np.array([0.75, -0.6, 0.28])  # where the camera is, seen from the robot
DISTANCE = 1.25  # of the camera, in sizes of the robot


@dataclass(frozen=True)
class Subject:
    """What is shown.

    Attributes:
        model, settings: The robot and its controller.
        ring: What happens.
        methods: That a row's `method` counts.
        ask: Takes requests; None: the page only shows.
        folder: Where the robot's URDF lies, for its meshes.
        ground: Height of the floor [m].
    """

    model: Model
    settings: ControllerSettings
    ring: Ring
    methods: tuple[str, ...] = ()
    ask: Callable[..., None] | None = None
    folder: Path | None = None
    ground: float = 0.0


class Page:
    """The scene and the panel of one robot."""

    def __init__(self, server: Any, subject: Subject):
        self._server, self._subject = server, subject
        model, settings = subject.model, subject.settings
        shapes = robot_shapes(model, subject.folder)
        self.robot = RobotScene(server, model, shapes)
        add_ground(server, model, subject.ground)
        self.panel = Panel(server, model, settings, subject.methods, subject.ask, self._release)
        self.handles = [
            TaskHandle(server, model, task, number, shapes, subject.ask, self._tell)
            for number, task in enumerate(settings.tasks)
        ]
        self.trails = [
            Trail(server, f"/trails/{task.name}", COLOURS[number % len(COLOURS)])
            for number, task in enumerate(settings.tasks)
        ]
        self.pushes = Pushes(server, model, self.robot, subject.ask) if subject.ask else None
        self._show_tab()
        self._count, self._slow = 0, 0.0
        server.on_client_disconnect(self._gone)
        self._look(shapes)

    def _look(self, shapes: Sequence[Shape]) -> None:
        """Put the camera where the whole robot is seen, from the front and a little above."""
        row = self._subject.ring.latest()
        q = self._subject.model.neutral() if row is None else row["q"]
        low, high = extent(self._subject.model, q, shapes)
        centre, size = 0.5 * (low + high), float(np.linalg.norm(high - low))
        self._server.initial_camera.look_at = tuple(centre)
        self._server.initial_camera.position = tuple(centre + DISTANCE * size * VIEW)

    def _show_tab(self) -> None:
        gui = self._server.gui
        with self.panel.show_tab:
            for title, is_on, act in (
                ("frames of the links", False, self.robot.show_frames),
                ("ghost of the target", True, self._show_ghosts),
                ("trails", True, self._show_trails),
            ):
                box = gui.add_checkbox(title, is_on)
                box.on_update(lambda _, box=box, act=act: act(box.value))

    def _show_ghosts(self, is_shown: bool) -> None:
        for handle in self.handles:
            handle.show_ghost(is_shown)

    def _show_trails(self, is_shown: bool) -> None:
        for trail in self.trails:
            trail.show(is_shown)

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

    def update(self) -> np.void | None:
        """Show what has happened since the last time; the newest row."""
        self._count, rows = self._subject.ring.since(self._count)
        if not len(rows):
            return None
        row = rows[-1]
        if row["gates"]:
            self._release()
        is_slow = monotonic() - self._slow > 1.0 / SLOW
        with self._server.atomic():
            self.robot.show(row["q"])
            for handle in self.handles:
                handle.show(row)
            for number, trail in enumerate(self.trails):
                trail.add(rows["pose"][::5, number, 9:])
            if self.pushes is not None:
                self.pushes.act(row["q"])
            if is_slow:
                self._slow = monotonic()
                for trail in self.trails:
                    trail.draw()
                self.panel.show(row, [handle.trouble for handle in self.handles if handle.trouble])
        return row
