# SPDX-License-Identifier: Apache-2.0
"""The task `tool` of a running controller, as a user has it: by topics and services."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import PoseStamped
from helpers.ros import Graph
from manager import OURS
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from std_srvs.srv import Trigger

ARRIVED = 2e-3  # [m]
TURN = {"x": 0.0, "y": 1.0, "z": 0.0, "w": 0.0}
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Tool:
    """The task `tool` of a running controller: where it is, its gates, and targets for it."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.poses = graph.listen(PoseStamped, f"{OURS}/tool/pose")
        self.answers = graph.listen(String, f"{OURS}/answers", qos=100)
        self.safety = graph.listen(String, f"{OURS}/safety", qos=LATCHED)
        self._targets = graph.publisher(PoseStamped, f"{OURS}/tool/target_pose")

    def send(self, x: float, y: float, z: float, frame: str = "") -> str:
        """A target; what became of it."""
        message, before = PoseStamped(), self.answers.count
        message.header.frame_id = frame
        position, turn = message.pose.position, message.pose.orientation
        position.x, position.y, position.z = x, y, z
        turn.x, turn.y, turn.z, turn.w = TURN["x"], TURN["y"], TURN["z"], TURN["w"]
        self._targets.publish(message)
        self.graph.wait_for(lambda: self.answers.count > before, "an answer to a target")
        return self.answers.last.data

    def position(self) -> np.ndarray:
        """A new one."""
        before = self.poses.count
        self.graph.wait_for(lambda: self.poses.count > before, "a pose")
        at = self.poses.last.pose.position
        return np.array([at.x, at.y, at.z])

    def wait_until_at(self, *goal: float) -> None:
        self.graph.wait_for(
            lambda: np.linalg.norm(self.position() - goal) < ARRIVED, f"the tool at {goal}"
        )

    def wait_until(self, said: str) -> None:
        self.graph.wait_for(
            lambda: self.safety.count and self.safety.last.data == said, f"safety {said}"
        )

    def trigger(self, name: str) -> None:
        assert self.graph.call(Trigger, f"{OURS}/{name}").success
