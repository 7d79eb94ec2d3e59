"""The demo's own ROS node: sends the trajectory, changes the method."""
from __future__ import annotations

import time

import numpy as np
import rclpy
import rclpy.client
from geometry_msgs.msg import Transform, Twist, Vector3
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from opspace_ctrl.commands import CommandError
from opspace_ctrl.nodes.messages import stamp_of

__all__ = ["Client"]

CONTROLLER = "opspace_controller"
PATIENCE = 60.0  # [s] for the two to find each other


class Client:
    """A context manager around a node of its own context."""

    def __init__(self, environment: dict[str, str]):
        self._context = rclpy.Context()
        self._domain = int(environment["ROS_DOMAIN_ID"])

    def __enter__(self) -> Client:
        self._context.init(domain_id=self._domain)
        self._node = rclpy.create_node("opspace_demo", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._parameters: rclpy.client.Client = self._node.create_client(SetParameters, f"{CONTROLLER}/set_parameters")
        return self

    def __exit__(self, *exception) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()

    def spin(self, seconds: float) -> None:
        """Serve what comes for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def send_trajectory(self, task: str, begin: float, quaternion, times, positions, velocities) -> None:
        """Send the way points of a task, from `begin` of the simulated clock on [s], once the controller listens."""
        publisher = self._node.create_publisher(MultiDOFJointTrajectory, f"{CONTROLLER}/{task}/trajectory", 1)
        end = time.monotonic() + PATIENCE
        while not (publisher.get_subscription_count() and self._parameters.service_is_ready()):
            if time.monotonic() > end:
                raise CommandError(f"no {CONTROLLER} takes a trajectory of {task} within {PATIENCE:g} s")
            self.spin(0.02)
        message = MultiDOFJointTrajectory(joint_names=[task])
        message.header.stamp = stamp_of(round(1e9 * begin))
        message.points = [_point(*row, quaternion) for row in zip(times, positions, velocities)]
        publisher.publish(message)

    def set_method(self, name: str) -> None:
        """Ask the controller for another method; the answer is not waited for."""
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=name)
        self._parameters.call_async(SetParameters.Request(parameters=[Parameter(name="method", value=value)]))


def _point(time_from_start: float, position, velocity, quaternion) -> MultiDOFJointTrajectoryPoint:
    place = Transform(translation=_vector(position))
    turn = place.rotation
    turn.x, turn.y, turn.z, turn.w = map(float, quaternion)
    point = MultiDOFJointTrajectoryPoint(transforms=[place], velocities=[Twist(linear=_vector(velocity))])
    time_stamp = stamp_of(round(1e9 * time_from_start))
    point.time_from_start.sec, point.time_from_start.nanosec = time_stamp.sec, time_stamp.nanosec
    return point


def _vector(numbers: np.ndarray) -> Vector3:
    return Vector3(x=float(numbers[0]), y=float(numbers[1]), z=float(numbers[2]))
