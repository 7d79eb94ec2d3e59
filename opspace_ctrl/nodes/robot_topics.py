# SPDX-License-Identifier: Apache-2.0
"""The topics of a robot, as the simulator offers them: states out, commands and pushes in."""

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from ..command_kind import command_topic
from ..dynamics import frame_pose
from ..errors import ConfigurationError, OpspaceError, listed, quoted
from ..model import Model
from ..model.joints import NV
from ..model.rotations import from_quaternion
from ..sim.joint_index import base_index
from ..sim.plant.plant import Measurement
from . import qos
from .messages import stamp_of, wrench_of
from .names import ros_name
from .sending import send
from .waiting import make_waiter

__all__ = ["RobotTopics", "joint_order"]

QUEUE = qos.profile(10)  # commands beyond the first are to be counted, not overwritten


def joint_order(model: Model, joints: list[str]) -> np.ndarray:
    """The joints of the messages as indices (k,) of the model's joint coordinates; empty: the model's own order.

    Raises:
        ConfigurationError: the names are not those of the model, or a joint has several coordinates.
    """
    own = list(model.joint_names)
    for name, kind in zip(model.body_joint_names, model.joint_type):
        if name in own and NV[kind] != 1:
            raise ConfigurationError(
                f"joint {quoted(name)} has {NV[kind]} coordinates; joint_states and commands "
                "carry one for each joint"
            )
    if joints and sorted(joints) != sorted(own):
        raise ConfigurationError(
            f"joints: {listed(joints)} are not the joints of {model.name}, each once: {listed(own)}"
        )
    return np.array([own.index(name) for name in joints or own], dtype=np.int64)


class RobotTopics:
    """Publishers and inlets of one robot; everything but the constructor and `close` belongs to the loop's thread.

    Attributes:
        waiter: waits for whatever comes.
        refused_wrenches: how many pushes were refused, and `reason`, why the last one was.
    """

    def __init__(
        self, node: Node, model: Model, values: Mapping[str, Any], has_clock: bool
    ) -> None:
        self._node, self._model = node, model
        self._order = joint_order(model, values["joints"])
        for frame in values["wrench_frames"]:
            model.frame_index(frame)
        self.refused_wrenches, self.reason = 0, ""
        self.waiter = make_waiter(node)
        self._command_inlet = self.waiter.subscribe(
            Float64MultiArray, command_topic(values["commands"]), QUEUE
        )
        self._wrench_inlet = self.waiter.subscribe(WrenchStamped, "~/wrench", QUEUE)
        self._make_messages(values)
        publish = node.create_publisher
        self._states = publish(JointState, "joint_states", qos.STATES)
        self._odometry = publish(Odometry, "odom", qos.STATES) if base_index(model) else None
        self._clock = publish(Clock, "/clock", qos.STATES) if has_clock else None
        self._sensors = {
            frame: publish(WrenchStamped, f"~/{ros_name(frame)}/wrench", qos.OUTPUTS)
            for frame in values["wrench_frames"]
        }
        self._description = None
        if values["publish_robot_description"]:
            self._description = publish(String, "robot_description", qos.DESCRIPTION)
            send(self._node, self._description, String(data=model.source))

    def _make_messages(self, values: Mapping[str, Any]) -> None:
        """Messages that are filled again and again: their arrays are written in place."""
        count = len(self._order)
        names = [self._model.joint_names[j] for j in self._order]
        self._state = JointState(
            name=names,
            **{part: array("d", bytes(8 * count)) for part in ("position", "velocity", "effort")},
        )
        self._position, self._velocity, self._effort = (
            np.frombuffer(part)
            for part in (self._state.position, self._state.velocity, self._state.effort)
        )
        self._base = Odometry(child_frame_id=self._model.body_names[0])
        self._base.header.frame_id = values["odom_frame"]
        self._time = Clock()

    def close(self) -> None:
        """Destroy everything."""
        self.waiter.close()
        for publisher in (
            self._states,
            self._odometry,
            self._clock,
            self._description,
            *self._sensors.values(),
        ):
            if publisher is not None:
                self._node.destroy_publisher(publisher)

    # What comes in.

    def command(self) -> np.ndarray | None:
        """The next command, in the order of the model if it has its size; None if there is none."""
        message = self.waiter.take(self._command_inlet)
        if message is None:
            return None
        values = np.array(message.data)
        if len(values) != len(self._order):
            return values  # whoever judges commands says what is wrong
        ordered = np.empty_like(values)
        ordered[self._order] = values
        return ordered

    def push(self, simulator, hold: float) -> bool:
        """Let the next push act on the simulator for `hold` seconds; False if there is none.

        A WrenchStamped acts at the origin of its frame_id and is given in that frame's axes at this instant.
        """
        message = self.waiter.take(self._wrench_inlet)
        if message is None:
            return False
        try:
            frame, wrench = message.header.frame_id, wrench_of(message.wrench)
            self._model.frame_index(frame)
            rotation = from_quaternion(frame_pose(self._model, simulator.q, frame)[1])
            world = np.concatenate((rotation @ wrench[:3], rotation @ wrench[3:]))
            simulator.push(frame, world, max(hold, simulator.settings.step))
        except OpspaceError as error:
            self.refused_wrenches += 1
            self.reason = str(error)
        return True

    # What goes out.

    def unheard(self) -> str:
        """A sentence on a publisher of commands or wrenches that is not heard, "" if all are."""
        return self.waiter.advice(self._command_inlet, self._wrench_inlet)

    def other_clocks(self) -> int:
        """How many others publish the clock that this simulator owns."""
        if self._clock is None:
            return 0
        return self._node.count_publishers(self._clock.topic_name) - 1

    def publish_clock(self, time: int) -> None:
        """The time [ns] on /clock."""
        if self._clock is not None:
            self._time.clock = stamp_of(time)
            send(self._node, self._clock, self._time)

    def publish(self, measurement: Measurement, time: int) -> None:
        """A state under the stamp `time` [ns], the odometry first."""
        self._state.header.stamp = stamp_of(time)
        order = self._order
        self._position[:] = measurement.positions[order]
        self._velocity[:] = measurement.velocities[order]
        self._effort[:] = measurement.efforts[order]
        pose, twist = measurement.base_pose, measurement.base_twist
        if self._odometry is not None and pose is not None and twist is not None:
            self._base.header.stamp = self._state.header.stamp
            _fill(self._base, pose.tolist(), twist.tolist())
            send(self._node, self._odometry, self._base)
        send(self._node, self._states, self._state)

    def publish_wrenches(self, simulator, time: int) -> None:
        """What the force-torque sensors read, each in the axes of its frame."""
        for frame, publisher in self._sensors.items():
            rotation = from_quaternion(frame_pose(self._model, simulator.q, frame)[1])
            wrench = simulator.frame_wrench(frame)
            message = WrenchStamped()
            message.header.stamp, message.header.frame_id = stamp_of(time), frame
            force, torque = message.wrench.force, message.wrench.torque
            force.x, force.y, force.z = (wrench[:3] @ rotation).tolist()
            torque.x, torque.y, torque.z = (wrench[3:] @ rotation).tolist()
            send(self._node, publisher, message)


def _fill(message: Odometry, pose: list[float], twist: list[float]) -> None:
    at, turn = message.pose.pose.position, message.pose.pose.orientation
    at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w = pose
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = twist
