# SPDX-License-Identifier: Apache-2.0
"""The action's decisions, before a stand-in of rclpy's server and of control_msgs, which is not on PyPI.

What the real ones do with it is tested by test/live/live_action.py, where they are installed.
"""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy.action
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Quaternion, Transform, Vector3
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header
from trajectory_msgs.msg import (
    JointTrajectory,
    MultiDOFJointTrajectory,
    MultiDOFJointTrajectoryPoint,
)

from opspace_ctrl import Controller, PoseTask, load_robot
from opspace_ctrl.control.targets.tolerances import Outcome
from opspace_ctrl.errors import TargetError
from opspace_ctrl.nodes import following
from opspace_ctrl.nodes.cdr import read_trajectory

Q = np.array([0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])


class Handle:
    """A goal as rclpy's server hands it over; `ended` is how, `result` what came back."""

    def __init__(self, request):
        self.request, self.is_cancel_requested = request, False
        self.feedback, self.ended, self.result = [], "", None

    def publish_feedback(self, feedback):
        self.feedback.append(feedback)

    def execute(self, callback):
        self.result = callback(self)

    def succeed(self):
        self.ended = "succeeded"

    def abort(self):
        self.ended = "aborted"

    def canceled(self):
        self.ended = "cancelled"


class Server:
    """rclpy's ActionServer, as far as it is used."""

    def __init__(self, node, kind, name, execute, *, handle_accepted_callback, cancel_callback):
        node.servers[name] = self
        self.accept, self.cancel, self.is_there = handle_accepted_callback, cancel_callback, True

    def destroy(self):
        self.is_there = False


class Rig:
    """A controller of arm7 with its action, and a node that only keeps what it is given."""

    def __init__(self):
        self.servers, self.said, self.time, self.blocked = {}, [], 0.0, ""
        model = load_robot("arm7")
        self.controller = Controller(
            model, [PoseTask("tool", speed=0.3), PoseTask("elbow", frame="link4", level=2)]
        )
        self.controller.activate(Q, np.zeros(model.nv), 0.0)
        self.tick()
        self.following = following.Following(
            self,
            self.controller,
            {"~/tool/trajectory": self.take},
            self.now,
            lambda: Header(frame_id="base_link"),
            lambda task: self.controller.stop(task, self.time),
        )

    # what it has of a node

    def create_timer(self, period, callback, clock):
        self.look = callback
        return SimpleNamespace(cancel=lambda: None, reset=lambda: None)

    def destroy_timer(self, timer):
        self.look = None

    def get_logger(self):
        return SimpleNamespace(warning=self.said.append)

    # what the session gives

    def now(self):
        if self.blocked:
            raise TargetError(self.blocked)
        return self.time, 0

    def take(self, data, size):
        assert size == len(data)
        try:
            read = read_trajectory(data, 100)
        except ValueError as error:
            raise TargetError(f"it cannot be read: {error}") from error
        assert deserialize_message(data, MultiDOFJointTrajectory).points
        self.now()
        self.controller.trajectory(
            "tool", read.times * 1e-9, read.transforms[:, :3], read.transforms[:, 3:], self.time
        )

    # the test's

    def tick(self, time=0.0):
        self.time = time
        self.controller.tick(Q, np.zeros(7), time)

    def send(self, *steps, **changed):
        """A goal through points beside the present pose: (time [s], dx, dy, dz)."""
        position, quaternion = self.controller.pose("tool")
        points = [
            MultiDOFJointTrajectoryPoint(
                transforms=[
                    Transform(
                        translation=Vector3(**dict(zip("xyz", (position + step).tolist()))),
                        rotation=Quaternion(**dict(zip("xyzw", quaternion.tolist()))),
                    )
                ],
                time_from_start=Duration(nanosec=int(1e9 * time)),
            )
            for time, *step in steps
        ]
        goal = {
            "trajectory": JointTrajectory(),
            "multi_dof_trajectory": MultiDOFJointTrajectory(points=points, joint_names=["tool"]),
            "goal_time_tolerance": Duration(),
        }
        lists = ("path_tolerance", "goal_tolerance")
        goal |= {f"{of}{name}": [] for name in lists for of in ("", "component_")}
        handle = Handle(SimpleNamespace(**goal | changed))
        self.servers["~/tool/follow_joint_trajectory"].accept(handle)
        return handle


@pytest.fixture
def rig(monkeypatch):
    kind = SimpleNamespace(Result=SimpleNamespace, Feedback=SimpleNamespace)
    actions = SimpleNamespace(FollowJointTrajectory=kind)
    monkeypatch.setitem(sys.modules, "control_msgs", SimpleNamespace(action=actions))
    monkeypatch.setitem(sys.modules, "control_msgs.action", actions)
    monkeypatch.setattr(rclpy.action, "ActionServer", Server)
    assert following.has_control_msgs()
    return Rig()


def tolerance(component, position, velocity=0.0, acceleration=0.0, joint_name=""):
    return SimpleNamespace(**locals())


def test_every_task_has_an_action_and_a_closed_one_has_none(rig):
    assert list(rig.servers) == [f"~/{name}/follow_joint_trajectory" for name in ("tool", "elbow")]
    running = rig.send((0.5, 0.0, 0.05, 0.0))
    rig.following.close()
    assert rig.look is None and running.ended == "aborted"
    assert not any(server.is_there for server in rig.servers.values())


def test_feedback_is_what_the_controller_says_until_the_reference_arrives(rig):
    goal = rig.send((0.5, 0.0, 0.05, 0.0))
    rig.tick(0.25)
    rig.look()
    (feedback,) = goal.feedback
    desired, actual, error = (
        getattr(feedback, f"multi_dof_{name}").transforms[0].translation
        for name in ("desired", "actual", "error")
    )
    assert 0.02 < desired.y - actual.y < 0.03  # the robot of this test stands still
    assert error.y == pytest.approx(desired.y - actual.y, abs=1e-12)
    assert feedback.header.frame_id == "base_link" and feedback.multi_dof_joint_names == ["tool"]
    rig.tick(0.4999)
    rig.look()
    assert not goal.ended and len(goal.feedback) == 2
    rig.tick(0.5)
    rig.look()
    rig.look()
    assert goal.ended == "succeeded" and goal.result.error_code == Outcome.SUCCESSFUL
    assert len(goal.feedback) == 2


def test_what_is_slower_than_asked_for_ends_when_it_has_arrived(rig):
    """A way that the task's limits stretch."""
    goal = rig.send((0.1, 0.0, 0.1, 0.0))
    rig.tick(0.2)
    rig.look()
    assert not goal.ended and "tool" in rig.controller.report.clipped_targets
    rig.tick(5.0)
    rig.look()
    assert goal.ended == "succeeded"


def test_tolerances_are_judged_by_the_error(rig):
    strict = [tolerance(2, 0.01, joint_name="tool"), tolerance(4, 0.0), tolerance(5, -1.0)]
    on_the_way = rig.send((0.5, 0.0, 0.05, 0.0), component_path_tolerance=strict)
    rig.tick(0.4)
    rig.look()
    assert on_the_way.result.error_code == Outcome.PATH_TOLERANCE_VIOLATED
    rig.tick(1.0)
    leeway = {"component_goal_tolerance": strict, "goal_time_tolerance": Duration(sec=1)}
    at_the_end, later = (rig.send((0.5, 0.0, 0.0, 0.0)) for _ in range(2))
    at_the_end = rig.send((0.5, 0.0, 0.05, 0.0), **leeway)
    assert later.result.error_string == "another goal has come"
    rig.tick(2.4)
    rig.look()
    assert not at_the_end.ended
    rig.tick(2.5)
    rig.look()
    assert at_the_end.result.error_code == Outcome.GOAL_TOLERANCE_VIOLATED
    for_ever = rig.send((0.5, 0.0, 0.05, 0.0), component_goal_tolerance=strict)
    rig.tick(1e4)
    rig.look()
    assert not for_ever.ended  # no time was given


def test_a_cancelled_goal_stops_the_task(rig):
    goal = rig.send((0.9, 0.0, 0.05, 0.0))
    rig.tick(0.4)
    goal.is_cancel_requested = True
    assert rig.servers["~/tool/follow_joint_trajectory"].cancel(goal) == (
        rclpy.action.CancelResponse.ACCEPT
    )
    rig.look()
    assert goal.ended == "cancelled" and "rest" in goal.result.error_string
    rig.tick(5.0)
    position, _ = rig.controller.pose("tool")
    reached, _ = rig.controller.target("tool")
    assert 0.005 < reached[1] - position[1] < 0.045


@pytest.mark.parametrize(
    "changed, code, says",
    [
        ({"multi_dof_trajectory": MultiDOFJointTrajectory()}, -1, "1 to 100 points"),
        (
            {"multi_dof_trajectory": MultiDOFJointTrajectory(joint_names=["x"])},
            -2,
            "valid is one of",
        ),
        ({"path_tolerance": [object()]}, -1, "for joints"),
        ({"component_path_tolerance": [tolerance(1, 0.1, joint_name="y")]}, -2, "['y']"),
        ({"component_path_tolerance": [tolerance(0, 0.1)]}, -1, "no component 0"),
        ({"component_goal_tolerance": [tolerance(1, 0.1, acceleration=1.0)]}, -1, "not velocities"),
        ({"component_goal_tolerance": [tolerance(1, float("nan"))]}, -1, "not finite"),
    ],
)
def test_a_goal_that_cannot_be_has_a_result_with_the_reason_and_disturbs_no_other(
    rig, changed, code, says
):
    running = rig.send((0.5, 0.0, 0.05, 0.0))
    goal = rig.send((0.5, 0.0, 0.0, 0.0), **changed)
    assert goal.ended == "aborted" and goal.result.error_code == code
    assert says in goal.result.error_string and says in rig.said[-1]
    rig.look()
    assert not running.ended


def test_another_target_and_a_closed_gate_end_a_goal_with_the_reason(rig):
    first = rig.send((0.5, 0.0, 0.05, 0.0))
    rig.controller.hold(Q, np.zeros(7), 0.1)
    rig.look()
    assert first.ended == "aborted" and "another target" in first.result.error_string
    second = rig.send((0.5, 0.0, 0.05, 0.0))
    rig.blocked = "no gate may be closed: stop: emergency stop"
    rig.look()
    assert second.result.error_string == rig.blocked
    assert rig.send((0.5, 0.0, 0.0, 0.0)).result.error_string == rig.blocked
