# SPDX-License-Identifier: Apache-2.0
"""A process that looks like Gazebo behind ros_gz_bridge: a DART world under the topics of a generated folder.

    python -m helpers.gazebo_stand_in ROBOT FOLDER [--paused] [--factor F] [--lose N] [--lag S]

The folder is what `opspace gazebo` writes: its ros_gz_bridge.yaml says which topics there are. As observed on Gazebo
Fortress and read in the sources of Harmonic and Ionic:

- Forces stay until replaced; joints come in an order of its own, fixed ones among them; positions count from where the
  robot starts.
- A paused world repeats its stamp in the joint states and says nothing about the base, nor does the first step.
- The base's twist is a mean over ten steps that begins at the world's origin: its first values are pose / step.
- A pose changes only when it has moved by 1e-6.
- Requests may be lost (--lose: every Nth), and forces may arrive later than a request that was sent after them (--lag).

ros_gz_interfaces is no wheel, so a message with a number of steps stands for a request to the world's control, -1 for
running on, 0 for the pause button.
"""

import argparse
import sys
import time
from array import array
from collections import deque
from pathlib import Path

import numpy as np
import rclpy
import yaml
from nav_msgs.msg import Odometry
from oracles.dart_world import DartWorld
from rclpy.executors import SingleThreadedExecutor
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Int32

from helpers.shipped_robots import ours, start_of
from opspace_ctrl.nodes import qos
from opspace_ctrl.nodes.waiting import make_waiter

REQUESTS = "gazebo/requests"
RUN, PAUSE = -1, 0
POSE_CHANGE = 1e-6  # [m], or of a quaternion's entry: less than that is not said
MEAN = 10  # steps of the twist's mean
REPEAT = 0.01  # [s] between two messages of a paused world
STEP = 0.001  # [s]


class TopicWorld:
    """The world's control for the bridge's process, by message instead of service."""

    def __init__(self, node):
        self._publisher = node.create_publisher(Int32, REQUESTS, qos.profile(10))

    def is_ready(self):
        return self._publisher.get_subscription_count() > 0

    def step(self, count):
        self._publisher.publish(Int32(data=count))

    def run(self):
        self._publisher.publish(Int32(data=RUN))


def make_world(robot):
    """The robot in DART where the shipped parameters let it start."""
    model = ours(robot)
    floating = bool(model.is_base_coordinate.any())
    world = DartWorld(model.source, floating, STEP, model.gravity)
    positions, base = start_of(robot)
    world.place(positions, base)
    return world


class StandIn:
    def __init__(self, node, robot, folder, is_paused, factor, lose, lag):
        self.world = make_world(robot)
        self.start = self.world.positions.copy()
        self.forces = dict.fromkeys(self.world.joints, 0.0)
        self.steps_left = 0 if is_paused else RUN
        self.factor, self.lose, self.lag = factor, lose, round(lag * 1e9)
        self.asked = 0
        self.waiter = make_waiter(node)
        self.requests = self.waiter.subscribe(Int32, REQUESTS, qos.profile(10))
        entries = yaml.safe_load(Path(folder, "ros_gz_bridge.yaml").read_text())
        topics = {entry["gz_topic_name"]: entry["ros_topic_name"] for entry in entries}
        self.coming = deque()  # (when it was sent [ns], joint, force)
        for joint in self.world.joints:
            node.create_subscription(
                Float64,
                topics[f"/model/{robot}/joint/{joint}/cmd_force"],
                lambda message, info, joint=joint: self.coming.append(
                    (info["source_timestamp"], joint, message.data)
                ),
                qos.profile(10),
            )
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(node)
        self.clock = node.create_publisher(Clock, topics["/clock"], qos.profile(1))
        self.states = node.create_publisher(
            JointState, topics[f"/world/opspace/model/{robot}/joint_state"], qos.profile(10)
        )
        self.odometry = (
            OdometrySystem(node, topics[f"/model/{robot}/odometry"])
            if self.world.floating
            else None
        )
        self.names = [*reversed(self.world.joints), "a_fixed_joint"]

    def serve(self):
        next_time = time.monotonic()
        while True:
            self.waiter.wait(max(0.0, min(next_time - time.monotonic(), REPEAT)))
            # the forces after the requests: what was sent before a request has then come
            while (request := self.waiter.take(self.requests)) is not None:
                self.obey(request.data)
            self.take_forces()
            if self.steps_left > 0:
                for _ in range(self.steps_left):
                    self.step()
                self.steps_left = 0
                next_time = time.monotonic() + REPEAT
            elif time.monotonic() >= next_time:
                if self.steps_left == RUN:
                    self.step()
                    next_time = max(next_time + STEP / self.factor, time.monotonic() - 0.01)
                else:
                    self.publish()
                    next_time = time.monotonic() + REPEAT

    def obey(self, request):
        self.asked += 1
        if request != PAUSE and self.lose and self.asked % self.lose == 0:
            return
        self.steps_left = request if request in (RUN, PAUSE) else max(self.steps_left, 0) + request

    def take_forces(self):
        """Let the forces act that were sent long enough ago."""
        while True:
            count = len(self.coming)
            self.executor.spin_once(timeout_sec=0.0)
            if len(self.coming) == count:
                break
        now = time.time_ns()
        while self.coming and self.coming[0][0] + self.lag <= now:
            _, joint, force = self.coming.popleft()
            self.forces[joint] = force

    def step(self):
        self.world.step(self.forces)
        self.publish()
        if self.odometry:
            self.odometry.step(self.world)

    def publish(self):
        clock = Clock()
        clock.clock.sec, clock.clock.nanosec = self.world.stamp
        self.clock.publish(clock)
        state = JointState(name=self.names)
        state.header.stamp = clock.clock
        state.position = array("d", [*(self.world.positions - self.start)[::-1], 0.0])
        state.velocity = array("d", [*self.world.velocities[::-1], 0.0])
        state.effort = array("d", bytes(8 * len(self.names)))
        self.states.publish(state)


class OdometrySystem:
    """Gazebo's OdometryPublisher, with its faults."""

    def __init__(self, node, topic):
        self.publisher = node.create_publisher(Odometry, topic, qos.profile(10))
        self.pose = None
        self.before = np.zeros(3)
        self.speeds = deque(maxlen=MEAN)

    def step(self, world):
        position, quaternion, _, _ = world.base()
        pose = np.concatenate((position, quaternion))
        if self.pose is None:  # it says nothing about the first step
            self.pose = pose
            return
        if np.abs(pose - self.pose).max() > POSE_CHANGE:
            self.pose = pose
        self.speeds.append((self.pose[:3] - self.before) / STEP)
        self.before = self.pose[:3]
        message = Odometry(child_frame_id="robot/base")
        message.header.stamp.sec, message.header.stamp.nanosec = world.stamp
        at, turn = message.pose.pose.position, message.pose.pose.orientation
        at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w = self.pose.tolist()
        mean = message.twist.twist.linear
        mean.x, mean.y, mean.z = np.mean(self.speeds, axis=0).tolist()
        self.publisher.publish(message)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("robot")
    parser.add_argument("folder")
    parser.add_argument("--paused", action="store_true")
    parser.add_argument("--factor", type=float, default=1.0)
    parser.add_argument("--lose", type=int, default=0)
    parser.add_argument("--lag", type=float, default=0.0)
    args = parser.parse_args()
    rclpy.init(args=[])
    node = rclpy.create_node("gazebo_stand_in")
    StandIn(node, args.robot, args.folder, args.paused, args.factor, args.lose, args.lag).serve()


if __name__ == "__main__":
    sys.exit(main())
