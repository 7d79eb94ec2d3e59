"""A process that looks like Gazebo behind ros_gz_bridge: a DART world under the topics of a generated folder.

    python -m helpers.gazebo_stand_in ROBOT FOLDER [--paused] [--factor F]

The folder is what `opspace gazebo` writes: its ros_gz_bridge.yaml says which topics there are. As observed on Gazebo,
forces stay until replaced; a paused world repeats its stamp; joints come in an order of its own, fixed ones among them;
positions count from where the robot starts; the twist of the odometry is not that of the last step (here: zero).
ros_gz_interfaces is no wheel, so a message with a number of steps stands for a request to the world's control, -1 for
running on.
"""

import argparse
import sys
import time
from array import array
from pathlib import Path

import rclpy
import yaml
from nav_msgs.msg import Odometry
from oracles.dart_world import DartWorld
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Int32

from helpers.shipped_robots import ours, start_of
from opspace_ctrl.nodes import qos
from opspace_ctrl.nodes.waiting import make_waiter

REQUESTS = "gazebo/requests"
RUN = -1
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
    def __init__(self, node, robot, folder, is_paused, factor):
        self.world = make_world(robot)
        self.start = self.world.positions.copy()
        self.forces = dict.fromkeys(self.world.joints, 0.0)
        self.steps_left = 0 if is_paused else RUN
        self.factor = factor
        self.waiter = make_waiter(node)
        self.requests = self.waiter.subscribe(Int32, REQUESTS, qos.profile(10))
        entries = yaml.safe_load(Path(folder, "ros_gz_bridge.yaml").read_text())
        topics = {entry["gz_topic_name"]: entry["ros_topic_name"] for entry in entries}
        self.inlets = {
            joint: self.waiter.subscribe(
                Float64, topics[f"/model/{robot}/joint/{joint}/cmd_force"], qos.profile(1)
            )
            for joint in self.world.joints
        }
        self.clock = node.create_publisher(Clock, topics["/clock"], qos.profile(1))
        self.states = node.create_publisher(
            JointState, topics[f"/world/opspace/model/{robot}/joint_state"], qos.profile(10)
        )
        self.odometry = (
            node.create_publisher(Odometry, topics[f"/model/{robot}/odometry"], qos.profile(10))
            if (self.world.floating)
            else None
        )
        self.names = [*reversed(self.world.joints), "a_fixed_joint"]

    def serve(self):
        next_time = time.monotonic()
        while True:
            self.waiter.wait(max(0.0, next_time - time.monotonic()))
            # the forces after the requests: what was sent before a request has then come
            while (request := self.waiter.take(self.requests)) is not None:
                self.steps_left = RUN if request.data == RUN else self.steps_left + request.data
            for joint, inlet in self.inlets.items():
                while (message := self.waiter.take(inlet)) is not None:
                    self.forces[joint] = message.data
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

    def step(self):
        self.world.step(self.forces)
        self.publish()

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
        if self.odometry:
            position, quaternion, _, _ = self.world.base()
            message = Odometry(child_frame_id="robot/base")
            message.header.stamp = clock.clock
            at, turn = message.pose.pose.position, message.pose.pose.orientation
            at.x, at.y, at.z = position.tolist()
            turn.x, turn.y, turn.z, turn.w = quaternion.tolist()
            self.odometry.publish(message)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("robot")
    parser.add_argument("folder")
    parser.add_argument("--paused", action="store_true")
    parser.add_argument("--factor", type=float, default=1.0)
    args = parser.parse_args()
    rclpy.init(args=[])
    StandIn(
        rclpy.create_node("gazebo_stand_in"), args.robot, args.folder, args.paused, args.factor
    ).serve()


if __name__ == "__main__":
    sys.exit(main())
