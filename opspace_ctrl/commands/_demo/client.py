"""The demo's own ROS node: asks for the time, sends the trajectory, sets parameters."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import rclpy
import rclpy.client
from geometry_msgs.msg import Transform, Twist, Vector3
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from ...nodes.messages import nanoseconds, stamp_of
from .. import CommandError

__all__ = ["CONTROLLER", "SIMULATOR", "Client", "trajectory_message"]

CONTROLLER, SIMULATOR = "opspace_controller", "opspace_simulator"
PATIENCE = 60.0  # [s] for the two to find each other


class Client:
    """A context manager around a node of its own context."""

    def __init__(self, environment: dict[str, str]):
        self._context = rclpy.Context()
        self._domain = int(environment["ROS_DOMAIN_ID"])

    def __enter__(self) -> Client:
        self._context.init(args=[], domain_id=self._domain)
        self._node = rclpy.create_node("opspace_demo", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._parameters: dict[str, rclpy.client.Client] = {
            node: self._node.create_client(SetParameters, f"{node}/set_parameters")
            for node in (CONTROLLER, SIMULATOR)
        }
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

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Serve until the condition holds; CommandError if it does not in time."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise CommandError(f"{what}: not within {PATIENCE:g} s")
            self._executor.spin_once(timeout_sec=0.02)

    def trajectory_publisher(self, task: str) -> Publisher:
        """A publisher to which the controller listens."""
        publisher = self._node.create_publisher(
            MultiDOFJointTrajectory, f"{CONTROLLER}/{task}/trajectory", 1
        )
        self.wait_for(
            publisher.get_subscription_count, f"a {CONTROLLER} that takes a trajectory of {task}"
        )
        return publisher

    def clock(self) -> float:
        """The simulated time [s], as the newest joint states say."""
        stamps: list[int] = []
        heard = self._node.create_subscription(
            JointState,
            "joint_states",
            lambda message: stamps.append(nanoseconds(message.header.stamp)),
            1,
        )
        self.wait_for(lambda: stamps, "joint states")
        self._node.destroy_subscription(heard)
        return 1e-9 * stamps[-1]

    def set_parameter(self, node: str, name: str, value: str) -> None:
        """Set a parameter; CommandError if it is refused."""
        client, text = (
            self._parameters[node],
            ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value),
        )
        self.wait_for(client.service_is_ready, f"the parameters of {node}")
        answer = client.call_async(
            SetParameters.Request(parameters=[Parameter(name=name, value=text)])
        )
        self.wait_for(answer.done, f"an answer of {node} on {name}")
        response = answer.result()
        if response is None or not response.results[0].successful:
            why = f": {response.results[0].reason}" if response else ""
            raise CommandError(f"{node} refused {name} = {value}{why}")


def trajectory_message(
    task: str,
    begin: float,
    quaternion: np.ndarray,
    times: np.ndarray,
    positions: np.ndarray,
    velocities: np.ndarray,
) -> MultiDOFJointTrajectory:
    """The way points of a task, from `begin` of the simulated clock on [s]."""
    message = MultiDOFJointTrajectory(joint_names=[task])
    message.header.stamp = stamp_of(round(1e9 * begin))
    message.points = [_point(*row, quaternion) for row in zip(times, positions, velocities)]
    return message


def _point(
    time_from_start: float, position: np.ndarray, velocity: np.ndarray, quaternion: np.ndarray
) -> MultiDOFJointTrajectoryPoint:
    place = Transform(translation=_vector(position))
    turn = place.rotation
    turn.x, turn.y, turn.z, turn.w = map(float, quaternion)
    point = MultiDOFJointTrajectoryPoint(
        transforms=[place], velocities=[Twist(linear=_vector(velocity))]
    )
    time_stamp = stamp_of(round(1e9 * time_from_start))
    point.time_from_start.sec, point.time_from_start.nanosec = time_stamp.sec, time_stamp.nanosec
    return point


def _vector(numbers: np.ndarray) -> Vector3:
    return Vector3(x=float(numbers[0]), y=float(numbers[1]), z=float(numbers[2]))
