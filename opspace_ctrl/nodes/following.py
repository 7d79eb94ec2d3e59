# SPDX-License-Identifier: Apache-2.0
"""The action of each task, where control_msgs is installed: a trajectory with feedback, a result and a cancellation.

It is control_msgs/FollowJointTrajectory, whose `multi_dof_trajectory` is the message of the topic `~/<t>/trajectory`.
Everything here runs in the executor's thread; a goal is judged at the rate of its feedback, not at every tick.

rclpy polls a coroutine that waits without any pause, which would take the interpreter from the control loop. So a goal
waits outside: it stays ACCEPTED while it is followed, and is executed when its outcome is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import Transform
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.serialization import serialize_message
from std_msgs.msg import Header
from trajectory_msgs.msg import MultiDOFJointTrajectoryPoint

from ..control.controller import Controller
from ..control.targets.tolerances import Component, Outcome, Pursuit, Tolerance
from ..control.tasks import ControlTask
from ..errors import OpspaceError, TargetError, listed, quoted
from ..model.rotations import quaternion_exp
from .messages import quaternion_message, vector_message
from .task_topics import TaskTopics

PERIOD = 0.02  # [s] between two looks at the goals


def has_control_msgs() -> bool:
    """Is control_msgs installed?"""
    try:
        import control_msgs.action  # noqa: F401
    except ImportError:
        return False
    return True


@dataclass
class _Goal:
    """A goal that is being followed: its handle, what it asks for, and its motion."""

    handle: Any
    pursuit: Pursuit
    motion: tuple[float | None, float]


class Following:
    """The action servers, one a task; a task follows one goal at a time, the newest."""

    def __init__(
        self,
        node: Node,
        controller: Controller,
        take: dict[str, Callable[[bytes, int], None]],
        now: Callable[[], tuple[float, int]],
        header: Callable[[], Header | None],
        stop: Callable[[str], None],
    ):
        """Serve.

        Args:
            node: Whose names it uses.
            controller: What follows.
            take: {topic: takes a serialised message and its length, or raises TargetError}.
            now: The time [s] and the stamp [ns] of the newest tick; raises TargetError while nothing is controlled.
            header: Of what is told about the newest tick.
            stop: Brings a task to rest where it is.
        """
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionServer, CancelResponse

        self._type: Any = FollowJointTrajectory
        self._node, self._controller, self._take = node, controller, take
        self._now, self._header, self._stop = now, header, stop
        self._goals: dict[str, _Goal] = {}
        # by the steady clock: simulated time may stand; it runs only while there are goals
        self._timer = node.create_timer(
            PERIOD, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._timer.cancel()

        def serve(name: str) -> ActionServer:
            return ActionServer(
                node,
                FollowJointTrajectory,
                f"~/{name}/follow_joint_trajectory",
                self._conclude,
                handle_accepted_callback=partial(self._accept, name),
                cancel_callback=lambda handle: CancelResponse.ACCEPT,
            )

        self.of_tasks = TaskTopics(serve, lambda server: server.destroy())
        self.of_tasks.add(controller.task_names)

    def close(self) -> None:
        """Serve no longer."""
        self._node.destroy_timer(self._timer)
        for goal in self._goals.values():
            goal.handle.abort()
        self.of_tasks.keep(())

    def _accept(self, name: str, handle) -> None:
        """Follow a goal, or abort it: it cannot just be rejected, since only a result carries words."""
        (task,) = (task for task in self._controller.settings.tasks if task.name == name)
        try:
            self._begin(task, handle)
        except _UnknownName as error:
            self._end(name, handle, Outcome.INVALID_JOINTS, str(error))
        except OpspaceError as error:
            self._end(name, handle, Outcome.INVALID_GOAL, str(error))

    def _end(self, name: str, handle, outcome: Outcome, text: str) -> None:
        """Let a goal have its result."""
        if outcome is not Outcome.SUCCESSFUL:
            self._node.get_logger().warning(f"{name}: a goal was aborted: {text}")
        handle.execute(partial(self._conclude, outcome=outcome, text=text))

    def _conclude(self, handle, outcome: Outcome = Outcome.INVALID_GOAL, text: str = "") -> Any:
        if handle.is_cancel_requested:
            handle.canceled()
        elif outcome is Outcome.SUCCESSFUL:
            handle.succeed()
        else:
            handle.abort()
        return self._type.Result(error_code=int(outcome), error_string=text)

    def _begin(self, task: ControlTask, handle) -> None:
        """Take the trajectory of a goal; the goal before it ends."""
        request, name = handle.request, task.name
        if request.trajectory.points or request.path_tolerance or request.goal_tolerance:
            raise TargetError(
                "a task follows multi_dof_trajectory, with component_path_tolerance and "
                "component_goal_tolerance; trajectory, path_tolerance and goal_tolerance are for joints"
            )
        _check_names(task, request.multi_dof_trajectory.joint_names)
        path = _tolerances(task, request.component_path_tolerance)
        at_goal = _tolerances(task, request.component_goal_tolerance)
        leeway = request.goal_time_tolerance.sec + 1e-9 * request.goal_time_tolerance.nanosec
        data = serialize_message(request.multi_dof_trajectory)
        self._take[f"~/{name}/trajectory"](data, len(data))
        motion = self._controller.motion(name)
        pursuit = Pursuit(motion[1], path, at_goal, leeway or np.inf)
        before = self._goals.get(name)
        self._goals[name] = _Goal(handle, pursuit, motion)
        self._timer.reset()
        if before is not None:
            self._end(name, before.handle, Outcome.INVALID_GOAL, "another goal has come")

    def _look(self) -> None:
        """Tell every goal how it goes, and end those that are over."""
        for name, goal in list(self._goals.items()):
            outcome = self._outcome(name, goal)
            if outcome is None:
                goal.handle.publish_feedback(self._feedback(name))
            else:
                del self._goals[name]
                self._end(name, goal.handle, *outcome)
        if not self._goals:
            self._timer.cancel()

    def _outcome(self, name: str, goal: _Goal) -> tuple[Outcome, str] | None:
        try:
            time, _ = self._now()
            motion = self._controller.motion(name)
        except TargetError as error:
            return Outcome.INVALID_GOAL, str(error)
        if motion != goal.motion:
            return Outcome.INVALID_GOAL, "another target, a hold or a restart has replaced it"
        if goal.handle.is_cancel_requested:
            self._stop(name)
            return Outcome.SUCCESSFUL, "cancelled: the task comes to rest where it is"
        return goal.pursuit.judge(time, self._controller.error(name))

    def _feedback(self, name: str) -> Any:
        """Where the task should be, where it is, and the difference, in the axes of its poses."""
        controller = self._controller
        error = controller.error(name).copy()  # the next tick changes it
        difference = (error[:3], quaternion_exp(error[3:]))
        return self._type.Feedback(
            header=self._header() or Header(),
            multi_dof_joint_names=[name],
            multi_dof_desired=_point(*controller.target(name)),
            multi_dof_actual=_point(*controller.pose(name)),
            multi_dof_error=_point(*difference),
        )


class _UnknownName(TargetError):
    """A goal names what is not there."""


def _check_names(task: ControlTask, names: Sequence[str]) -> None:
    """Refuse names other than the task's or its frame's; none are good too."""
    valid = dict.fromkeys((task.name, task.moved_frame or task.name))
    if len(names) > 1 or not {*names, ""} <= {*valid, ""}:
        raise _UnknownName(
            f"joint_names: {quoted(list(names))}; valid is one of {listed(valid)}, or none"
        )


def _tolerances(task: ControlTask, messages: Sequence[Any]) -> list[Tolerance]:
    """Those of a goal that ask for something: zero is the default and below zero is none, which are the same here."""
    found = []
    for each in messages:
        _check_names(task, [each.joint_name])
        if each.component not in list(Component):
            raise TargetError(
                f"tolerance: no component {each.component}; valid are 1 to {len(Component)}"
            )
        if each.velocity > 0.0 or each.acceleration > 0.0:
            raise TargetError("tolerance: positions are judged, not velocities and accelerations")
        if not np.isfinite(each.position):
            raise TargetError("tolerance: position is not finite")
        if each.position > 0.0:
            found.append(Tolerance(Component(each.component), each.position))
    return found


def _point(position: np.ndarray, quaternion: np.ndarray) -> MultiDOFJointTrajectoryPoint:
    transform = Transform(
        translation=vector_message(position), rotation=quaternion_message(quaternion)
    )
    return MultiDOFJointTrajectoryPoint(transforms=[transform])
