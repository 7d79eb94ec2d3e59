# SPDX-License-Identifier: Apache-2.0
"""`opspace record` on a live graph: every message, as it was sent, whatever its publisher offers."""

import signal
import sys

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import WrenchStamped
from helpers.ros import Graph, latched
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import String
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from opspace_ctrl.nodes.messages import pose_message, twist_message


def odometry():
    message = Odometry(child_frame_id="torso")
    message.pose.pose = pose_message([1, 2, 3], [0, 0, 0, 1])
    message.pose.covariance[7] = 0.5
    return message


SENT = {
    "joint_states": JointState(name=["a", "b"], position=[1.0, 2.0], velocity=[0.5, -0.5]),
    "odom": odometry(),
    "/diagnostics": DiagnosticArray(
        status=[DiagnosticStatus(level=b"\x01", name="n", values=[KeyValue(key="k", value="v")])]
    ),
    "trajectory": MultiDOFJointTrajectory(
        joint_names=["tool"],
        points=[MultiDOFJointTrajectoryPoint(velocities=[twist_message([1, 2, 3, 4, 5, 6])])],
    ),
    "shape": SolidPrimitive(type=1, dimensions=[0.1, 0.2, 0.3]),
}


def agrees(decoded, message):
    """Has a decoded message every field of what was sent?"""
    if hasattr(message, "get_fields_and_field_types"):
        fields = message.get_fields_and_field_types()
        return all(agrees(getattr(decoded, name), getattr(message, name)) for name in fields)
    if isinstance(message, bytes):  # an octet
        return decoded == message[0]
    if isinstance(message, str) or not hasattr(message, "__len__"):
        return decoded == message
    return len(decoded) == len(message) and all(map(agrees, decoded, message))


def test_everything_is_recorded_as_it_was_sent(tmp_path):
    path = tmp_path / "run.mcap"
    with Graph(tmp_path, namespace="/lab") as graph:
        description = graph.node.create_publisher(String, "robot_description", latched())
        description.publish(String(data="<robot/>"))  # before anybody listens
        command = [sys.executable, "-m", "opspace_ctrl.cli", "record", str(path)]
        record = graph.run(command, "record")
        publishers = {
            topic: graph.publisher(type(message), topic) for topic, message in SENT.items()
        }
        sensor = graph.publisher(WrenchStamped, "wrench", qos_profile_sensor_data)
        for _ in range(20):
            for topic, message in SENT.items():
                publishers[topic].publish(message)
            sensor.publish(WrenchStamped())
            graph.spin(0.02)
        for publisher in publishers.values():
            graph.wait_for(publisher.wait_for_all_acked, "all to be taken")
        record.send(signal.SIGINT)
        assert record.wait() == 0, record.tail()
    found = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, _, message in reader.iter_decoded_messages():
            found.setdefault(channel.topic, []).append(message)
    assert [text.data for text in found["/lab/robot_description"]] == ["<robot/>"]
    assert found["/lab/wrench"]  # best effort: some may be lost, and the publisher is heard
    for topic, message in SENT.items():
        name = topic if topic.startswith("/") else f"/lab/{topic}"
        assert len(found[name]) == 20
        assert all(agrees(decoded, message) for decoded in found[name])
    assert "recorded: " in record.output()


@pytest.mark.parametrize("given, words", [(["--seconds", "0"], "positive"), ([], "exists")])
def test_what_cannot_be_recorded_is_said_before_anything_is_written(given, words, tmp_path):
    path = tmp_path / "kept.mcap"
    path.write_text("kept")
    with Graph(tmp_path) as graph:
        command = [sys.executable, "-m", "opspace_ctrl.cli", "record", str(path), *given]
        process = graph.run(command, "record")
        assert process.wait() == 2
        assert words in process.output() and path.read_text() == "kept"


def test_a_topic_that_nobody_publishes_is_said_with_exit_code_1(tmp_path):
    with Graph(tmp_path) as graph:
        command = [sys.executable, "-m", "opspace_ctrl.cli", "record", str(tmp_path / "a.mcap")]
        process = graph.run([*command, "/nowhere", "/rosout", "--seconds", "1"], "record")
        assert process.wait() == 1
        assert "/nowhere: nobody has published there" in process.output()
        assert "/rosout: nobody" not in process.output()
