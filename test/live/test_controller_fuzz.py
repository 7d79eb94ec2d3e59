# SPDX-License-Identifier: Apache-2.0
"""Nothing that a publisher or a client can send makes opspace_controller crash, hang or send an impossible effort."""

import signal

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, Transform, Twist, TwistStamped, WrenchStamped
from helpers import ros
from oracles.robot_peer import RobotPeer
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParametersAtomically
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from opspace_ctrl import load_robot

NODE = "/opspace_controller"
MESSAGES = 600
NUMBERS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-308,
    1e-3,
    100.0,
    1e9,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    -float("inf"),
]


class Rubbish:
    """Random messages: some of the fields valid, some absurd."""

    def __init__(self, rng, model):
        self.rng, self.model = rng, model
        self.words = [
            "",
            "tool",
            "base_link",
            "moon",
            "/",
            "a" * 5000,
            "\u263a\n",
            *model.joint_names,
        ]
        self.makers = {
            "joint_states": self.states,
            "opspace_controller/hand/target_pose": self.pose,
            "opspace_controller/hand/target_twist": lambda: self.stamped(TwistStamped, "twist"),
            "opspace_controller/hand/target_wrench": lambda: self.stamped(WrenchStamped, "wrench"),
            "opspace_controller/hand/measured_wrench": lambda: self.stamped(
                WrenchStamped, "wrench"
            ),
            "opspace_controller/hand/trajectory": self.trajectory,
            "opspace_controller/posture": self.states,
            "opspace_controller/force": self.array,
            "opspace_controller/tau0": self.array,
            "robot_description": lambda: String(data=self.word()),
        }

    def number(self) -> float:
        return float(self.rng.choice(NUMBERS) if self.rng.random() < 0.4 else self.rng.normal())

    def numbers(self, n: int) -> list[float]:
        return (
            [self.number() for _ in range(n)]
            if self.rng.random() < 0.5
            else self.rng.normal(size=n).tolist()
        )

    def size(self) -> int:
        return int(self.rng.choice([0, 1, 6, 7, 7, 7, 8, 50]))

    def word(self) -> str:
        return self.words[self.rng.integers(len(self.words))]

    def fill(self, message) -> None:
        """Numbers into all the fields that are numbers."""
        for name in message.get_fields_and_field_types():
            value = getattr(message, name)
            if isinstance(value, float):
                setattr(message, name, self.number())
            elif hasattr(value, "get_fields_and_field_types"):
                self.fill(value)

    def head(self, message):
        message.header.frame_id = self.word()
        message.header.stamp.sec = int(self.rng.choice([0, 1, 5, 2**31 - 1, -(2**31)]))
        message.header.stamp.nanosec = int(self.rng.choice([0, 1, 10**9 - 1, 2**32 - 1]))
        return message

    def states(self) -> JointState:
        is_known = self.rng.random() < 0.7
        names = (
            list(self.model.joint_names) if is_known else [self.word() for _ in range(self.size())]
        )
        return self.head(
            JointState(
                name=names,
                position=self.numbers(self.size()),
                velocity=self.numbers(self.size()),
                effort=self.numbers(self.size()),
            )
        )

    def pose(self) -> PoseStamped:
        message = self.head(PoseStamped())
        self.fill(message.pose)
        if self.rng.random() < 0.5:
            message.pose.orientation = PoseStamped().pose.orientation
            message.pose.orientation.w = 1.0
        return message

    def stamped(self, kind, field: str):
        message = self.head(kind())
        self.fill(getattr(message, field))
        return message

    def trajectory(self) -> MultiDOFJointTrajectory:
        message = self.head(MultiDOFJointTrajectory(joint_names=[self.word()]))
        for at in range(self.size()):
            point = MultiDOFJointTrajectoryPoint(
                transforms=[Transform()] * int(self.rng.integers(3)),
                velocities=[Twist()] * int(self.rng.integers(2)),
            )
            for part in (*point.transforms, *point.velocities):
                self.fill(part)
            point.time_from_start.sec = (
                at if self.rng.random() < 0.8 else int(self.rng.integers(-(2**31), 2**31))
            )
            message.points.append(point)
        return message

    def array(self) -> Float64MultiArray:
        message = Float64MultiArray(data=self.numbers(self.size()))
        message.layout.data_offset = int(self.rng.choice([0, 2**32 - 1]))
        message.layout.dim = [MultiArrayDimension(label=self.word(), size=2**31, stride=0)]
        return message

    def parameters(self) -> SetParametersAtomically.Request:
        names = [
            "hand.stiffness",
            "method",
            "ramp",
            "tasks",
            "payload.mass",
            "safe_command",
            self.word(),
        ]
        return SetParametersAtomically.Request(
            parameters=[
                Parameter(
                    name=names[self.rng.integers(len(names))],
                    value=ParameterValue(
                        type=int(self.rng.choice([0, 1, 2, 3, 4, 7, 8, 99])),
                        double_value=self.number(),
                        integer_value=int(self.rng.integers(-(2**62), 2**62)),
                        string_value=self.word(),
                        double_array_value=self.numbers(self.size()),
                    ),
                )
                for _ in range(3)
            ]
        )


@pytest.mark.parametrize("mode", ["tasks", "raw"])
def test_random_and_malicious_messages_are_survived(tmp_path, mode):
    model = load_robot("arm7")
    rubbish = Rubbish(np.random.default_rng(11), model)
    with ros.Graph(tmp_path) as graph:
        process = graph.start(
            "controller",
            parameters={
                "robot": "arm7",
                "mode": mode,
                "tasks": ["hand"],
                "hand.frame": "tool",
                "state_timeout": ros.LONG,
                "hand.force_axes": ["z"],
                "overrun_count": 0,
            },
        )
        assert graph.transition(NODE, "configure")
        peer = RobotPeer(graph, model, NODE)
        peer.q = model.random_configuration(np.random.default_rng(5)) * 0.5
        assert graph.transition(NODE, "activate")
        peer.first_answer()
        publishers = {
            topic: graph.node.create_publisher(type(make()), topic, 10)
            for topic, make in rubbish.makers.items()
        }
        graph.wait_for(
            lambda: all(
                publisher.get_subscription_count()
                for topic, publisher in publishers.items()
                if topic != "robot_description"
            ),
            "the subscriptions",
        )
        client = graph.node.create_client(
            SetParametersAtomically, f"{NODE}/set_parameters_atomically"
        )
        graph.wait_for(client.service_is_ready, "the parameters")
        for _ in range(MESSAGES):
            topic = list(publishers)[rubbish.rng.integers(len(publishers))]
            publishers[topic].publish(rubbish.makers[topic]())
            if rubbish.rng.random() < 0.1:
                client.call_async(rubbish.parameters())
            peer.send()
            graph.spin(0.01)
        assert graph.call(Trigger, f"{NODE}/reset").success
        peer.status(
            "gates",
            lambda text, values: values["active"] == "True" and values["gate"] == "",
            "open gates",
            each=peer.send,
        )
        assert graph.call(Trigger, f"{NODE}/hold").success
        assert peer.answer() is not None and process.code is None
        process.send(signal.SIGTERM)
        assert process.wait() == 0
        graph.wait_for(lambda: not peer.effort().any(), "the last command")
        efforts = np.array([message.data for message in peer.answers.messages])
        assert (
            np.isfinite(efforts).all()
            and (abs(efforts) <= model.effort_limits).all()
            and len(efforts) > 100
        )
