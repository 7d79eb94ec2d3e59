# SPDX-License-Identifier: Apache-2.0
"""The list of tasks changed over ROS while a humanoid stands: parameters and topics come and go, no tick is missed."""

from copy import deepcopy

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from helpers import ros
from helpers.compiled_nodes import parameters
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

NODE = "/opspace_controller"
PATIENT = {"state_timeout": ros.LONG, "odom_timeout": ros.LONG, "overrun_count": 0}
FOUR = ["com", "trunk", "left_hand", "right_hand"]


def topics(graph):
    return {name for name, _ in graph.node.get_topic_names_and_types()}


def check_pace(efforts, states, before, rate):
    """Every state is answered by one command, none of which is further from the last than the rate allows."""
    torques = np.array([message.data for message in efforts.messages])
    assert np.isfinite(torques).all()
    assert np.abs(np.diff(torques, axis=0)).max() <= rate * 1e-3 * (1.0 + 1e-6)
    assert abs(efforts.count - states.count - before) <= 4  # some may be on their way


def test_tasks_of_a_standing_humanoid_change_over_ros(tmp_path):
    plant = parameters("asimo", "opspace_simulator") | {"mode": "lockstep"}
    law = parameters("asimo", "opspace_controller") | PATIENT
    with ros.Graph(tmp_path) as graph:
        graph.start("simulator", parameters=plant)
        graph.start("controller", parameters=law)
        for node in ("/opspace_simulator", NODE):
            assert graph.transition(node, "configure") and graph.transition(node, "activate")
        deep = ros.QoSProfile(depth=10_000)
        efforts = graph.listen(Float64MultiArray, "effort_controller/commands", deep)
        states = graph.listen(JointState, "joint_states", deep)
        base = graph.listen(Odometry, "odom")
        hand = graph.listen(PoseStamped, "opspace_controller/right_hand/pose")
        graph.wait_for(lambda: efforts.count > 500 and hand.count, "the robot stands")
        height, before = base.last.pose.pose.position.z, efforts.count - states.count
        rate = graph.get_parameter(NODE, "torque_rate_limit")

        def goes_on(what):
            sent = efforts.count
            graph.wait_for(lambda: efforts.count > sent + 600, what)
            assert base.last.pose.pose.position.z == pytest.approx(height, abs=0.03)

        # the right hand moves on to its target while others come and go
        target = graph.publisher(PoseStamped, "opspace_controller/right_hand/target_pose")
        goal = PoseStamped(pose=deepcopy(hand.last.pose))
        goal.pose.position.z += 0.06
        moved, sent = hand.count, efforts.count
        graph.publish_until(
            target,
            goal,
            lambda: hand.last.pose.position.z > goal.pose.position.z - 0.055,
            "the hand is on its way",
        )
        assert graph.set_parameters(
            NODE,
            tasks=["com", "trunk", "right_hand", "look"],
            look__frame="head",
            look__rows="orientation",
            look__level=3,
            look__stiffness=[100],
        ) == (True, "")
        graph.wait_for(
            lambda: abs(hand.last.pose.position.z - goal.pose.position.z) < 0.01,
            "the hand arrives, without being told again",
        )
        assert hand.count > moved and efforts.count > sent
        check_pace(efforts, states, before, rate)
        goes_on("the robot stands with other tasks")

        # its parameters and topics are those of a task, the other's are gone
        assert graph.get_parameter(NODE, "look.stiffness") == [100.0]
        assert graph.get_parameter(NODE, "look.damping_ratio") == 1.0
        assert "frame" in graph.describe_parameter(NODE, "look.frame").description.lower()
        assert graph.get_parameter(NODE, "left_hand.level") is None
        graph.wait_for(
            lambda: (
                {f"{NODE}/look/pose", f"{NODE}/look/target_pose"} <= topics(graph)
                and f"{NODE}/left_hand/pose" not in topics(graph)
            ),
            "topics come and go",
        )
        look = graph.listen(PoseStamped, "opspace_controller/look/pose")
        graph.wait_for(lambda: look.count > 3, "the new task tells its pose")

        # what is refused is said in words and changes nothing
        for changes, words in (
            ({"tasks": ["com", "nowhere"]}, "nowhere"),
            ({"tasks": ["com", "com"]}, "com"),
            ({"tasks": ["com"], "look__stiffness": [3.0]}, "look.stiffness"),
            ({"tasks": ["com", "new"], "new__frame": "head", "new__rows": "all"}, "new.rows"),
            ({"tasks": 3}, "tasks"),
            ({"tasks": ["x" * 300], "x" * 300 + "__frame": "head"}, "topics"),
            ({"tasks": ["look"], "mode": "raw"}, "read-only"),
            ({"look__frame": "tail"}, "tail"),
        ):
            done, reason = graph.set_parameters(NODE, **changes)
            assert not done and words in reason, (changes, reason)
        assert graph.get_parameter(NODE, "tasks") == ["com", "trunk", "right_hand", "look"]
        assert graph.get_parameter(NODE, "new.frame") is None

        # a task by itself, of a structural parameter, and back: what the file gave holds again
        assert graph.set_parameters(NODE, look__level=2) == (True, "")
        goes_on("the level of a task has changed")
        assert graph.set_parameters(NODE, tasks=FOUR) == (True, "")
        goes_on("the robot stands with the tasks of its file")
        stiffness = graph.get_parameter(NODE, "left_hand.stiffness")
        assert stiffness == law["left_hand.stiffness"]
        assert graph.get_parameter(NODE, "look.frame") is None
        check_pace(efforts, states, before, rate)

        # the gates have never closed
        told = graph.listen(DiagnosticArray, "/diagnostics")

        def gates():
            statuses = [each for message in told.messages for each in message.status]
            return [each for each in statuses if each.name.endswith("opspace_controller: gates")]

        graph.wait_for(gates, "diagnostics")
        closings = [pair.key for pair in gates()[-1].values if pair.key.startswith("closings.")]
        assert set(closings) <= {"closings.first"}
