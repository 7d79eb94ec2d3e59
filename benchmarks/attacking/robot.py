# SPDX-License-Identifier: Apache-2.0
"""A robot that stands still and says so."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable


def run_robot(robot: str, rate: float, note: Callable[[], None] = lambda: None) -> int:
    """A robot at rest: joint states at this rate [Hz], odometry where its base floats; each is noted."""
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState

    from opspace_ctrl.model import load_robot
    from opspace_ctrl.nodes import qos

    model = load_robot(robot)
    rclpy.init()
    node = rclpy.create_node("robot")
    names, q = list(model.joint_names), model.neutral()
    state = JointState(name=names, position=q[-len(names) :].tolist(), velocity=[0.0] * len(names))
    odom = Odometry(child_frame_id=model.frame_names[0])
    odom.pose.pose.orientation.w = 1.0
    pairs = [(JointState, "joint_states", state)]
    if model.is_base_coordinate.any():
        pairs.insert(0, (Odometry, "odom", odom))
    outlets = [
        (node.create_publisher(kind, topic, qos.STATES), bytearray(serialize_message(message)))
        for kind, topic, message in pairs
    ]
    due = time.monotonic()
    while True:
        stamp = time.time_ns()
        for publisher, data in outlets:
            struct.pack_into("<iI", data, 4, *divmod(stamp, 10**9))
            publisher.publish(bytes(data))
        note()
        due = max(due + 1.0 / rate, time.monotonic() - 0.1)
        time.sleep(max(0.0, due - time.monotonic()))
