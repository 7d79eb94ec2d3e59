# SPDX-License-Identifier: Apache-2.0
"""What RViz shows: frames of the tasks, their targets and errors, contact forces, operational-space inertia."""

from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import Point
from scipy.spatial.transform import Rotation
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from opspace_ctrl import frame_pose

from ..control.controller import Controller
from .messages import pose_message, vector_message

__all__ = ["Markers"]

AXIS = 0.1  # [m] of a frame
WIDTH = 0.008  # [m] of a line
LARGEST = 0.15  # [m] half axis of an ellipsoid
FORCE = 0.3  # [m] that the robot's weight is long (or FORCELESS without gravity)
FORCELESS = 100.0  # [N]
RED, GREEN, BLUE = (0.9, 0.2, 0.2), (0.2, 0.8, 0.2), (0.2, 0.4, 0.9)
YELLOW, GREY, ORANGE = (0.9, 0.8, 0.1), (0.6, 0.6, 0.7), (1.0, 0.5, 0.0)


class Markers:
    """Makes the markers of the newest tick."""

    def __init__(
        self, controller: Controller, configuration: Callable[[], np.ndarray], prefix: str = ""
    ):
        """Configuration: returns a copy of the present q (nq,); prefix: of the robot's frames."""
        self._prefix = prefix
        self._controller, self._configuration, self._model = (
            controller,
            configuration,
            controller.model,
        )
        self._shown: tuple[str, ...] = ()  # tasks that there are markers of
        weight = float(np.linalg.norm(self._model.gravity)) * self._model.total_mass
        self._newton = FORCE / (weight or FORCELESS)

    def message(self, header: Header) -> MarkerArray:
        """All markers; header: stamp, and the world's name."""
        markers: list[Marker] = []
        controller, row = self._controller, 0
        tasks, osim = controller.tasks, np.array(controller.osim)
        if controller.task_names != self._shown:
            self._shown = controller.task_names
            markers.append(Marker(header=header, action=Marker.DELETEALL))
        for number, task in enumerate(tasks):
            reference = task.reference_frame
            frame = self._prefix + reference if reference else header.frame_id
            of_task = Header(stamp=header.stamp, frame_id=frame)
            pose, target = self._controller.pose(task.name), self._controller.target(task.name)
            markers += [
                _axes(of_task, "frames", number, pose, 1.0),
                _axes(of_task, "targets", number, target, 0.4),
                _arrow(of_task, "errors", number, pose[0], target[0], YELLOW),
            ]
            if task.rows != "orientation":
                markers.append(
                    _ellipsoid(of_task, number, pose[0], osim[row : row + 3, row : row + 3])
                )
            row += len(task.task().selection())
        q, report = self._configuration(), self._controller.report
        for number, contact in enumerate(self._controller.settings.contacts):
            origin, _ = frame_pose(self._model, q, contact.held_frame)
            tip = origin + report.contact_wrench[number, :3] * self._newton
            markers.append(_arrow(header, "forces", number, origin, tip, ORANGE))
        return MarkerArray(markers=markers)


def _marker(
    header: Header, namespace: str, number: int, kind: int, colour, opacity: float
) -> Marker:
    red, green, blue = colour
    marker = Marker(
        header=header,
        ns=namespace,
        id=number,
        type=kind,
        action=Marker.ADD,
        color=ColorRGBA(r=red, g=green, b=blue, a=opacity),
    )
    marker.pose.orientation.w = 1.0
    return marker


def _point(position) -> Point:
    x, y, z = map(float, position)
    return Point(x=x, y=y, z=z)


def _axes(header: Header, namespace: str, number: int, pose, opacity: float) -> Marker:
    """Three lines: x red, y green, z blue."""
    marker = _marker(header, namespace, number, Marker.LINE_LIST, GREY, opacity)
    marker.pose = pose_message(*pose)
    marker.scale.x = WIDTH
    for axis, (red, green, blue) in zip(np.eye(3) * AXIS, (RED, GREEN, BLUE)):
        marker.points += [_point(np.zeros(3)), _point(axis)]
        marker.colors += [ColorRGBA(r=red, g=green, b=blue, a=opacity)] * 2
    return marker


def _arrow(header: Header, namespace: str, number: int, start, end, colour) -> Marker:
    marker = _marker(header, namespace, number, Marker.ARROW, colour, 1.0)
    marker.points = [_point(start), _point(end)]
    marker.scale.x, marker.scale.y, marker.scale.z = WIDTH, 2.0 * WIDTH, 0.0
    return marker


def _ellipsoid(header: Header, number: int, position, block: np.ndarray) -> Marker:
    """The accelerations that forces of one size cause: axes along the eigenvectors of Lambda^-1, the root as length."""
    marker = _marker(header, "inertia", number, Marker.SPHERE, GREY, 0.35)
    symmetric = np.nan_to_num(0.5 * (block + block.T))
    values, vectors = np.linalg.eigh(symmetric)
    lengths = np.sqrt(np.maximum(values, 0.0))
    largest = float(lengths.max())
    if np.linalg.det(vectors) < 0.0:
        vectors[:, 0] = -vectors[:, 0]
    marker.pose = pose_message(position, Rotation.from_matrix(vectors).as_quat())
    scale = 2.0 * LARGEST / largest if largest > 0.0 else 0.0
    marker.scale = vector_message(np.maximum(lengths * scale, 1e-3))
    return marker
