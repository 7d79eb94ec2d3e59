# SPDX-License-Identifier: Apache-2.0
"""The action of a task and the bond, with the real control_msgs, bond and bondpy; `make test-launch` runs this.

The file's name keeps it out of `make test`: these packages come with a ROS 2 installation, not from PyPI.
"""

from itertools import pairwise

import numpy as np
import pytest
import rclpy
from action_msgs.msg import GoalStatus
from bondpy.bondpy import Bond
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointComponentTolerance
from geometry_msgs.msg import PoseStamped, Transform
from helpers import ros
from helpers.compiled_nodes import compile_controller, parameters
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectoryPoint, MultiDOFJointTrajectoryPoint

from opspace_ctrl.nodes.messages import quaternion_of, vector_of

NODE = "/opspace_controller"
RESULT = FollowJointTrajectory.Result


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    compile_controller("arm7")
    with ros.Graph(tmp_path_factory.mktemp("graph")) as graph:
        simulator = parameters("arm7", "opspace_simulator") | {"mode": "lockstep", "pace": True}
        controller = parameters("arm7", "opspace_controller") | {
            "use_sim_time": True,
            "liveness_timeout": ros.LONG,  # a machine that is busy is no failure
        }
        for name, values in (("simulator", simulator), ("controller", controller)):
            graph.start(name, parameters=values | {"autostart": True})
            node = f"/opspace_{name}"
            graph.wait_for(
                lambda node=node: graph.state(node) == "active", node, patience=ros.COMPILING
            )
        yield graph


@pytest.fixture(scope="module")
def pose(graph):
    """What the controller says of its tool."""
    pose = graph.listen(PoseStamped, f"{NODE}/tool/pose")
    graph.wait_for(lambda: pose.count > 2, "poses")
    return pose


@pytest.fixture(scope="module")
def client(graph, pose):
    client = ActionClient(graph.node, FollowJointTrajectory, f"{NODE}/tool/follow_joint_trajectory")
    graph.wait_for(client.server_is_ready, "the action")
    return client


class Sent:
    """A goal that has been accepted, its feedback and its result."""

    def __init__(self, graph, client, goal):
        self.graph, self.feedback = graph, []
        accepted = client.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)
        )
        graph.wait_for(accepted.done, "an answer to the goal")
        self.handle = accepted.result()
        assert self.handle.accepted
        self.ended = self.handle.get_result_async()

    def result(self):
        """(status, result) when it has ended."""
        self.graph.wait_for(self.ended.done, "the result")
        return self.ended.result().status, self.ended.result().result


def way(pose, *steps, names=("tool",)):
    """A goal from the present pose through points beside it: (time [s], dx, dy, dz)."""
    goal = FollowJointTrajectory.Goal()
    goal.multi_dof_trajectory.joint_names = list(names)
    here = pose.last.pose
    for time, *step in steps:
        x, y, z = map(float, vector_of(here.position) + step)
        transform = Transform(rotation=here.orientation)
        transform.translation.x, transform.translation.y, transform.translation.z = x, y, z
        whole = int(time)
        goal.multi_dof_trajectory.points.append(
            MultiDOFJointTrajectoryPoint(
                transforms=[transform],
                time_from_start=Duration(sec=whole, nanosec=int(1e9 * (time - whole))),
            )
        )
    return goal


def tolerance(component, position, **other):
    return JointComponentTolerance(component=component, position=position, **other)


def place(pose):
    return vector_of(pose.last.pose.position)


def test_a_goal_is_followed_with_feedback_and_succeeds_within_its_tolerance(graph, client, pose):
    start = place(pose)
    goal = way(pose, (0.5, 0.0, 0.03, 0.0), (1.0, 0.0, 0.06, 0.02))
    goal.component_goal_tolerance = [
        tolerance(JointComponentTolerance.TRANSLATION, 0.005),
        tolerance(JointComponentTolerance.ROTATION, 0.2),
    ]
    sent = Sent(graph, client, goal)
    status, result = sent.result()
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    assert result.error_code == RESULT.SUCCESSFUL
    assert len(sent.feedback) > 10
    wanted = np.array(
        [vector_of(each.multi_dof_desired.transforms[0].translation) for each in sent.feedback]
    )
    assert wanted[0, 1] < wanted[-1, 1] and abs(wanted[-1] - start - [0.0, 0.06, 0.02]).max() < 2e-3
    for each in sent.feedback:
        desired, actual, error = (
            each.multi_dof_desired.transforms[0],
            each.multi_dof_actual.transforms[0],
            each.multi_dof_error.transforms[0],
        )
        difference = vector_of(desired.translation) - vector_of(actual.translation)
        np.testing.assert_allclose(vector_of(error.translation), difference, atol=2e-3)
        assert abs(np.linalg.norm(quaternion_of(error.rotation)) - 1.0) < 1e-9
        assert each.multi_dof_joint_names == ["tool"] and each.header.frame_id
    stamps = [each.header.stamp.sec + 1e-9 * each.header.stamp.nanosec for each in sent.feedback]
    assert all(before <= after for before, after in pairwise(stamps))


def test_a_cancelled_goal_comes_to_rest_on_its_way(graph, client, pose):
    start = place(pose)
    sent = Sent(graph, client, way(pose, (20.0, 0.0, -0.1, 0.0)))
    graph.wait_for(lambda: abs(place(pose) - start).max() > 0.005, "it moves")
    cancelled = sent.handle.cancel_goal_async()
    graph.wait_for(cancelled.done, "an answer")
    assert len(cancelled.result().goals_canceling) == 1
    status, result = sent.result()
    assert status == GoalStatus.STATUS_CANCELED and "rest" in result.error_string
    stopped = place(pose)
    seen = pose.count
    graph.wait_for(lambda: pose.count > seen + 50, "time goes on")
    assert np.abs(place(pose) - stopped).max() < 0.01 and start[1] - stopped[1] < 0.09


def names(goal):
    goal.multi_dof_trajectory.joint_names = ["elbow"]


def joints(goal):
    goal.trajectory.points = [JointTrajectoryPoint(positions=[0.0])]


def speed(goal):
    goal.component_path_tolerance = [tolerance(4, 0.1, velocity=0.1)]


def component(goal):
    goal.component_goal_tolerance = [tolerance(9, 0.1)]


def not_finite(goal):
    goal.multi_dof_trajectory.points[0].transforms[0].translation.x = float("nan")


def no_points(goal):
    goal.multi_dof_trajectory.points = []


@pytest.mark.parametrize(
    "spoil, code, reason",
    [
        (names, RESULT.INVALID_JOINTS, "valid is one of tool, or none"),
        (joints, RESULT.INVALID_GOAL, "multi_dof_trajectory"),
        (speed, RESULT.INVALID_GOAL, "positions are judged"),
        (component, RESULT.INVALID_GOAL, "no component 9; valid are 1 to 5"),
        (not_finite, RESULT.INVALID_GOAL, "not finite"),
        (no_points, RESULT.INVALID_GOAL, "1 to 10000 points"),
    ],
)
def test_a_goal_that_cannot_be_is_aborted_with_the_reason(graph, client, pose, spoil, code, reason):
    goal = way(pose, (1.0, 0.0, 0.0, 0.01))
    spoil(goal)
    status, result = Sent(graph, client, goal).result()
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, code)
    assert reason in result.error_string


def test_a_path_tolerance_that_is_violated_aborts(graph, client, pose):
    goal = way(pose, (1.0, 0.0, 0.05, 0.0))
    goal.component_path_tolerance = [tolerance(JointComponentTolerance.Y_AXIS, 1e-7)]
    status, result = Sent(graph, client, goal).result()
    assert (status, result.error_code) == (
        GoalStatus.STATUS_ABORTED,
        RESULT.PATH_TOLERANCE_VIOLATED,
    )
    assert "Y_AXIS: the error is" in result.error_string


def test_a_goal_tolerance_that_is_not_met_in_time_aborts(graph, client, pose):
    goal = way(pose, (0.5, 0.0, -0.03, 0.0))
    goal.component_goal_tolerance = [tolerance(JointComponentTolerance.TRANSLATION, 1e-9)]
    goal.goal_time_tolerance = Duration(nanosec=200_000_000)
    status, result = Sent(graph, client, goal).result()
    assert result.error_code == RESULT.GOAL_TOLERANCE_VIOLATED, result.error_string
    assert status == GoalStatus.STATUS_ABORTED and "after the end" in result.error_string


def test_the_newest_target_counts(graph, client, pose):
    """Another goal, and a target of the topic, each end the goal before them."""
    first = Sent(graph, client, way(pose, (30.0, 0.0, 0.05, 0.0)))
    second = Sent(graph, client, way(pose, (30.0, 0.0, 0.05, 0.0), names=()))
    assert first.result()[1].error_string == "another goal has come"
    publisher = graph.publisher(PoseStamped, f"{NODE}/tool/target_pose")
    graph.publish_until(
        publisher, PoseStamped(pose=pose.last.pose), second.ended.done, "the second goal ends"
    )
    status, result = second.result()
    assert status == GoalStatus.STATUS_ABORTED and "another target" in result.error_string


def test_a_closed_gate_aborts_and_is_named(graph, client, pose):
    sent = Sent(graph, client, way(pose, (30.0, 0.0, 0.05, 0.0)))
    assert graph.call(Trigger, f"{NODE}/emergency_stop").success
    assert "stop: emergency stop" in sent.result()[1].error_string
    refused = Sent(graph, client, way(pose, (1.0, 0.0, 0.0, 0.0))).result()[1]
    assert refused.error_code == RESULT.INVALID_GOAL
    assert "stop: emergency stop" in refused.error_string
    held = graph.call(Trigger, f"{NODE}/hold")
    assert not held.success and "stop: emergency stop" in held.message
    assert graph.call(Trigger, f"{NODE}/reset").success
    graph.wait_for(lambda: graph.call(Trigger, f"{NODE}/hold").success, "it is controlled again")


@pytest.mark.parametrize("name", ["opspace_controller", "opspace_simulator"])
def test_a_manager_has_a_bond_with_an_active_node(graph, name):
    """As Nav2's manager makes it, by bondpy: formed while the node is active, broken when it is not."""
    manager = rclpy.create_node("manager", context=graph.context)
    executor = SingleThreadedExecutor(context=graph.context)
    executor.add_node(manager)
    bond = Bond(manager, "bond", name)
    bond.set_heartbeat_timeout(ros.LONG)
    bond.set_connect_timeout(ros.PATIENCE)
    bond.start()

    def is_in(state):
        executor.spin_once(timeout_sec=0.01)
        return bond.sm.getState().getName() == state

    try:
        graph.wait_for(lambda: is_in("SM.Alive"), "the bond is formed")
        assert graph.transition(f"/{name}", "deactivate")
        graph.wait_for(lambda: is_in("SM.Dead"), "the bond is broken")
        assert bond.sister_died_first
    finally:
        executor.shutdown(timeout_sec=1.0)
        bond.shutdown()  # it takes its subscription from under an executor
        manager.destroy_node()
    assert graph.transition(f"/{name}", "activate")
