"""A process that looks like Gazebo behind ros_gz_bridge: a DART world under the very topics that the bridge uses.

    python test/gazebo_stand_in.py ROBOT [--paused] [--factor F]

As observed on Gazebo: forces stay until replaced; a paused world repeats its stamp; joints come in an order and under
names of its own; the twist of the odometry is not that of the last step (here: zero). ros_gz_interfaces is no wheel, so
a message with a number of steps stands for a request to the world's control, -1 for running on.
"""
import argparse
import sys
import time
from array import array

import rclpy
from dart_world import DartWorld
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from shipped_robots import HOME, home, ours
from std_msgs.msg import Float64, Int32

from opspace_ctrl.nodes import qos
from opspace_ctrl.nodes.gazebo_table import ODOMETRY, STATES, force_topic
from opspace_ctrl.nodes.waiting import make_waiter

REQUESTS = "gazebo/requests"
RUN = -1
REPEAT = 0.01  # [s] between two messages of a paused world
STEP = 0.001  # [s]


def gazebo_name(joint):
    """What the stand-in calls a joint."""
    return f"{joint}.axis"


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


class StandIn:
    def __init__(self, node, robot, is_paused, factor):
        model = ours(robot)
        floating = bool(model.is_base_coordinate.any())
        self.world = DartWorld(model.source, floating, STEP, model.gravity)
        self.world.place(HOME[robot], home(robot)[:3] if floating else (0.0, 0.0, 0.0))
        self.forces = dict.fromkeys(self.world.joints, 0.0)
        self.steps_left = 0 if is_paused else RUN
        self.factor = factor
        self.root = model.body_names[0]
        self.waiter = make_waiter(node)
        self.requests = self.waiter.subscribe(Int32, REQUESTS, qos.profile(10))
        self.inlets = {joint: self.waiter.subscribe(Float64, force_topic(robot, gazebo_name(joint)), qos.profile(1))
                       for joint in self.world.joints}
        self.clock = node.create_publisher(Clock, "/clock", qos.profile(1))
        self.states = node.create_publisher(JointState, STATES, qos.profile(10))
        self.odometry = node.create_publisher(Odometry, ODOMETRY, qos.profile(10)) if floating else None
        self.names = [gazebo_name(joint) for joint in reversed(self.world.joints)] + ["a_fixed_joint"]

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
        state.position = array("d", [*self.world.positions[::-1], 0.0])
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
    parser.add_argument("--paused", action="store_true")
    parser.add_argument("--factor", type=float, default=1.0)
    args = parser.parse_args()
    rclpy.init(args=[])
    StandIn(rclpy.create_node("gazebo_stand_in"), args.robot, args.paused, args.factor).serve()


if __name__ == "__main__":
    sys.exit(main())
