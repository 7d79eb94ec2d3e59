# SPDX-License-Identifier: Apache-2.0
"""Messages that are cut anywhere, or made up, on every topic that the nodes read: they go on, and take good ones."""

from contextlib import suppress

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from helpers import ros
from oracles.robot_peer import RobotPeer
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import (
    MultiDOFJointTrajectory,
    MultiDOFJointTrajectoryPoint,
)

from opspace_ctrl import load_robot
from opspace_ctrl.data import shipped_path
from opspace_ctrl.nodes import qos

CONTROLLER, SIMULATOR = "/opspace_controller", "/opspace_simulator"
LONGEST = 200  # [bytes]


def broken(message, rng):
    """The message, cut after any number of bytes, and as many bytes of nothing."""
    data = bytes(serialize_message(message))
    for length in range(LONGEST + 1):
        yield data[: min(length, len(data) - 1)]
        yield rng.bytes(length)
        # a good beginning, and then what may be a huge count
        yield data[: length % 24] + b"\xff" * (length - length % 24)


def send_all(graph, messages, between, policy=None):
    rng, sent = np.random.default_rng(3), 0
    for topic, message in messages.items():
        publisher = graph.publisher(type(message), topic, (policy or {}).get(topic, 10))
        for data in broken(message, rng):
            with suppress(_rclpy.RCLError):  # longer than the type can be: it never leaves
                publisher.publish(data)
                sent += 1
            between()
        graph.node.destroy_publisher(publisher)
    return sent


@pytest.mark.parametrize("robot", ["arm7", "asimo"])
def test_a_controller_survives_messages_that_are_cut_anywhere(tmp_path, robot):
    model = load_robot(robot)
    with ros.Graph(tmp_path) as graph:
        frame = "tool" if robot == "arm7" else "left_hand"
        values = {"robot": robot, "tasks": ["hand"], "hand.frame": frame, "overrun_count": 0}
        values |= {"state_timeout": ros.LONG, "odom_timeout": ros.LONG, "gravity_time": 60.0}
        graph.start("controller", parameters=values)
        assert graph.transition(CONTROLLER, "configure")
        peer = RobotPeer(graph, model, CONTROLLER)
        assert graph.transition(CONTROLLER, "activate")
        peer.first_answer()
        point = MultiDOFJointTrajectoryPoint()
        messages = {
            "joint_states": peer.message(),
            f"{CONTROLLER}/hand/target_pose": PoseStamped(),
            f"{CONTROLLER}/hand/target_twist": TwistStamped(),
            f"{CONTROLLER}/hand/target_wrench": WrenchStamped(),
            f"{CONTROLLER}/hand/measured_wrench": WrenchStamped(),
            f"{CONTROLLER}/hand/trajectory": MultiDOFJointTrajectory(points=[point]),
            f"{CONTROLLER}/posture": peer.message(),
            f"{CONTROLLER}/force": Float64MultiArray(data=[0.0] * 6),
            f"{CONTROLLER}/tau0": Float64MultiArray(data=[0.0] * 7),
            f"{CONTROLLER}/enable": Bool(data=True),
        }
        policy = {"joint_states": qos.STATES, "odom": qos.STATES}
        if peer.floating:
            messages["odom"] = peer.odometry()

        def between():
            peer.send()
            graph.spin(0.0)

        sent = send_all(graph, messages, between, policy)
        assert sent > 3 * LONGEST * (len(messages) - 1)

        def is_open(text, values):
            return values["gate"] == "" and values["active"] == "True"

        values = peer.status("gates", is_open, "open gates", each=peer.send)
        assert int(values["targets_refused"]) > 100 and int(values["closings.size"]) > 0
        assert graph.call(Trigger, f"{CONTROLLER}/emergency_stop").success
        assert graph.call(Trigger, f"{CONTROLLER}/reset").success
        peer.status("gates", is_open, "open gates after a stop", each=peer.send)
        efforts = np.array([message.data for message in peer.answers.messages])
        assert np.isfinite(efforts).all() and (abs(efforts) <= model.effort_limits).all()


def test_a_simulator_survives_messages_that_are_cut_anywhere(tmp_path):
    with ros.Graph(tmp_path) as graph:
        graph.start("simulator", parameters={"robot": "arm7", "autostart": True})
        states = graph.listen(JointState, "joint_states", qos.STATES)
        graph.wait_for(lambda: states.count, "states", patience=ros.COMPILING)
        messages = {
            "effort_controller/commands": Float64MultiArray(data=[0.0] * 7),
            f"{SIMULATOR}/wrench": WrenchStamped(),
        }
        send_all(graph, messages, lambda: graph.spin(0.002))
        assert graph.call(Trigger, f"{SIMULATOR}/reset").success
        before = states.count
        graph.wait_for(lambda: states.count > before + 10, "further states")
        assert np.isfinite(states.last.position).all()


def test_a_description_that_is_cut_is_survived_and_a_good_one_taken(tmp_path):
    with ros.Graph(tmp_path) as graph:
        values = {"tasks": ["hand"], "hand.frame": "tool"}
        graph.start("controller", parameters=values)
        rng = np.random.default_rng(4)
        publisher = graph.publisher(String, "robot_description", ros.latched())
        for data in broken(String(data="<robot name='r'>"), rng):
            publisher.publish(data)
            graph.spin(0.0)
        publisher.publish(String(data=shipped_path("urdf", "arm7.urdf").read_text()))
        graph.wait_for(lambda: graph.state(CONTROLLER) == "unconfigured", "the node")
        assert graph.transition(CONTROLLER, "configure")
