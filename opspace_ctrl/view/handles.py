# SPDX-License-Identifier: Apache-2.0
"""What is dragged in the scene: the target of each task, and forces on the robot.

Whoever drags is remembered: when that page goes away the task holds where it is and the force ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

import numpy as np

from ..control.tasks import ControlTask
from ..dynamics import frame_pose
from ..model import Model
from .scene import COLOURS, RobotScene, ghost, rotation_wxyz, wxyz
from .shapes import Shape

__all__ = ["Pushes", "TaskHandle"]

Ask = Callable[..., None]

SIZE = 0.16  # of a handle [m]
STIFFNESS, STRONGEST = 300.0, 150.0  # [N/m], [N] of a force that is dragged
IDLE = 2.0  # [s] after which a force whose end does not move is let go
ARROW = 0.004  # [m] a newton
SHORT, SHORT_ANGLE = 0.01, 0.05  # [m], [rad] from a target that counts as out of reach
NEAR, NEAR_ANGLE = 0.01, 0.05  # [m], [rad] within which a link is where its ghost would be
SETTLED = 0.7  # [s] that a task has not moved


class TaskHandle:
    """The target of a task: a handle to drag, and a ghost of the link where it is to go.

    Args:
        server: viser's.
        model: The robot.
        task, number: The task, and its place in rows.
        shapes: Of the robot.
        ask: Takes requests; None: the handle only shows.
        tell: Takes what a request was refused for, "" if it was not.

    Attributes:
        dragged_by: The client that drags it.
        trouble: Why the target cannot be reached, in words.
        has_ghost: A ghost is wanted.
    """

    def __init__(
        self,
        server: Any,
        model: Model,
        task: ControlTask,
        number: int,
        shapes: Sequence[Shape],
        ask: Ask | None,
        tell: Callable[[str], None],
    ):
        self.task, self._model, self._number, self._ask, self._tell = task, model, number, ask, tell
        self._server = server
        self.dragged_by: int | None = None
        self._is_ours, self._moved, self._last = False, monotonic(), np.zeros(3)
        self.trouble, self.has_ghost = "", True
        name = f"/tasks/{task.name}"
        self._parent = server.scene.add_frame(name, show_axes=False)
        self._node = server.scene.add_transform_controls(
            f"{name}/handle",
            scale=SIZE,
            disable_rotations=task.rows in ("position", "com"),
            disable_axes=task.rows == "orientation",
            disable_sliders=task.rows == "orientation",
            depth_test=False,
            visible=ask is not None,
        )
        self._goal = server.scene.add_frame(f"{name}/goal", show_axes=False)
        self._ghost = (
            ghost(server, self._goal.name, model, task.moved_frame, shapes)
            if task.moved_frame
            else [self._ball(server)]
        )
        self._label = server.scene.add_label(
            f"{name}/goal/label", "", visible=False, anchor="bottom-center"
        )
        if ask is not None:
            self._node.on_update(self._dragged)

    def _ball(self, server: Any) -> Any:
        """For what has no link: the centre of mass."""
        colour = COLOURS[self._number % len(COLOURS)]
        return server.scene.add_icosphere(
            f"{self._goal.name}/ghost", radius=0.03, color=colour, opacity=0.5
        )

    async def _dragged(self, event: Any) -> None:
        """Ask for where the handle is; a drag also ends when its page is lost, and then the task holds."""
        if event.phase != "end":
            self.dragged_by, self._is_ours = event.client_id, True
            self._send()
        elif event.client_id in self._server.get_clients():
            self.dragged_by = None
        else:
            self.let_go(event.client_id)

    def _send(self) -> None:
        if self._ask is None:
            return
        rows, node = self.task.rows, self._node
        position = None if rows == "orientation" else np.array(node.position)
        turn = None if rows in ("position", "com") else np.roll(node.wxyz, -1)
        self._ask("target", self.task.name, position, turn, answer=self._tell)

    def let_go(self, client: int) -> bool:
        """A page has gone: whether it was the one that dragged. Then the task holds where it is."""
        if self.dragged_by != client:
            return False
        self.dragged_by, self._is_ours = None, False
        if self._ask is not None:
            self._ask("hold_task", self.task.name)
        return True

    def give_up(self) -> None:
        """The target is no longer where the handle is: it holds, or a gate has closed."""
        self._is_ours = False

    def show(self, row: np.void) -> None:
        """Follow a row: the frame that the task is relative to, the target, and whether it is out of reach."""
        target, error = row["target"][self._number], row["error"][self._number]
        if self.task.reference_frame:
            position, turn = frame_pose(self._model, row["q"], self.task.reference_frame)
            self._parent.position, self._parent.wxyz = position, wxyz(turn)
        if not self._is_ours:
            place = (row["pose"] if self.task.rows == "orientation" else row["target"])[
                self._number
            ]
            _place(self._node, place[9:], rotation_wxyz(target))
        _place(self._goal, np.array(self._node.position), np.array(self._node.wxyz))
        self._show_ghost(row["pose"][self._number])
        self._judge(row, error)

    def _judge(self, row: np.void, error: np.ndarray) -> None:
        """Say so if the task has come to rest short of where the handle is."""
        position = row["pose"][self._number][9:]
        if np.linalg.norm(position - self._last) > 2e-3:
            self._last, self._moved = position.copy(), monotonic()
        short, angle = np.linalg.norm(error[:3]), np.linalg.norm(error[3:])
        is_short = self._is_ours and monotonic() - self._moved > SETTLED
        if is_short and short > SHORT and self.task.rows != "orientation":
            self.trouble = f"out of reach by {1e3 * short:.0f} mm"
        elif is_short and angle > SHORT_ANGLE and self.task.rows not in ("position", "com"):
            self.trouble = f"out of reach by {np.degrees(angle):.0f} degrees"
        else:
            self.trouble = ""
        if self._label.visible != bool(self.trouble):
            self._label.visible = bool(self.trouble)
            for each in self._ghost:
                each.color = (220, 40, 40) if self.trouble else (70, 150, 230)
        if self.trouble and self._label.text != self.trouble:
            self._label.text = self.trouble

    def _show_ghost(self, pose: np.ndarray) -> None:
        """Where the link is at its target there is no ghost of it."""
        apart = np.linalg.norm(pose[9:] - self._node.position) > NEAR
        turned = abs(rotation_wxyz(pose) @ self._node.wxyz) < np.cos(0.5 * NEAR_ANGLE)
        is_shown = self.has_ghost and bool(apart or (turned and pose[:9].any()))
        for each in self._ghost:
            if each.visible != is_shown:
                each.visible = is_shown

    def show_handle(self, is_shown: bool) -> None:
        """Draw the handle, or not."""
        self._node.visible = is_shown


def _place(node: Any, position: np.ndarray, turn: np.ndarray) -> None:
    """Move a node, if it is elsewhere."""
    if np.abs(np.array(node.position) - position).max() > 1e-5:
        node.position = position
    if np.abs(np.array(node.wxyz) - turn).max() > 1e-5:
        node.wxyz = turn


class Pushes:
    """Forces that are dragged out of the robot's links, as if by a rubber band."""

    def __init__(self, server: Any, model: Model, robot: RobotScene, ask: Ask):
        self._model, self._robot, self._ask = model, robot, ask
        self._place = getattr(server, "place", np.zeros(3))  # of the robot's world in the scene
        self.is_on = True
        self._client: int | None = None
        self._body, self._moved = -1, 0.0
        self._start, self._end = np.zeros(3), np.zeros(3)
        self.force = np.zeros(3)
        self._arrow = server.scene.add_arrows(
            "/push",
            np.zeros((1, 2, 3), np.float32),
            np.array([220, 40, 40], np.uint8),
            shaft_radius=0.008,
            head_radius=0.02,
            head_length=0.05,
            visible=False,
        )
        for body, meshes in robot.meshes.items():
            if body >= 0:
                for mesh in meshes:
                    mesh.on_drag("left")(self._dragged)

    async def _dragged(self, event: Any) -> None:
        if not self.is_on or event.phase == "end":
            self.let_go(event.client_id)
            return
        self._client, self._moved = event.client_id, monotonic()
        self._body = self._robot.body_at(event.target)
        self._start = np.array(event.start_position) - self._place
        self._end = np.array(event.end_position) - self._place

    def let_go(self, client: int) -> bool:
        """A page has gone, or its drag is over: whether it was the one that pushed."""
        if self._client != client:
            return False
        self._client = None
        return True

    def act(self, q: np.ndarray) -> None:
        """Push on, and draw it; a push counts for a moment only."""
        is_on = self._client is not None and monotonic() - self._moved < IDLE
        if self._arrow.visible != is_on:
            self._arrow.visible = is_on
        if not is_on:
            if self.force.any():
                self._ask("push", self._model.body_names[self._body], np.zeros(3), self._start)
            self._client, self.force = None, np.zeros(3)
            return
        force = STIFFNESS * (self._end - self._start)
        size = float(np.linalg.norm(force))
        self.force = force * min(1.0, STRONGEST / size) if size else force
        name = self._model.body_names[self._body]
        self._ask("push", name, self.force, self._start)
        ends = np.stack([self._start, self._start + ARROW * self.force])
        self._arrow.points = ends[None].astype(np.float32)
