# SPDX-License-Identifier: Apache-2.0
"""The frames that messages name: the world, or a frame of the robot through our own kinematics."""

from collections.abc import Callable

import numpy as np

from opspace_ctrl import frame_pose

from ..errors import TargetError, listed, quoted
from ..model import Model
from ..model.rotations import from_quaternion, quaternion_conjugate, quaternion_product

__all__ = ["Frames", "Placement"]

IDENTITY = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])


class Placement:
    """Where one frame is in another: takes what is given in the first into the second.

    Attributes:
        position, quaternion: (3,), (4,) xyzw of the first frame in the second.
        rotation: (3, 3).
    """

    def __init__(self, position: np.ndarray, quaternion: np.ndarray):
        self.position, self.quaternion, self.rotation = (
            position,
            quaternion,
            from_quaternion(quaternion),
        )

    def pose(self, position: np.ndarray, quaternion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A pose (3,), (4,), both of the first frame, in the second."""
        return self.position + self.rotation @ position, quaternion_product(
            self.quaternion, quaternion
        )

    def poses(
        self, positions: np.ndarray, quaternions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same of many poses (n, 3), (n, 4) at once."""
        # linear in the second
        product = np.array([quaternion_product(self.quaternion, unit) for unit in np.eye(4)])
        return self.position + positions @ self.rotation.T, quaternions @ product

    def turned(self, value: np.ndarray) -> np.ndarray:
        """A six-vector (linear, angular), or force and torque, in the axes of the second frame."""
        return (self.rotation @ value.reshape(2, 3).T).T.ravel()


class Frames:
    """Finds the frames of messages.

    A task is controlled in the world's axes, or, if it is relative to a frame, in that frame's. An empty frame_id means
    these.
    """

    def __init__(
        self,
        model: Model,
        configuration: Callable[[], np.ndarray],
        world: Callable[[], str],
        prefix: str = "",
    ):
        """Configuration: returns a copy of the present q (nq,); world: returns the world's name in messages.

        Prefix: what may stand before the robot's frames.
        """
        self._model, self._configuration, self._world = model, configuration, world
        self._prefix = prefix

    def placement(self, frame_id: str, reference: str = "") -> Placement:
        """Where `frame_id` is in the frame `reference` ("": the world), now.

        Raises:
            TargetError: frame_id is neither the world nor a frame of the robot.
        """
        if frame_id in ("", reference, self._prefix + reference if reference else ""):
            return Placement(*IDENTITY)
        q = self._configuration()
        position, quaternion = self._in_world(frame_id, q)
        if not reference:
            return Placement(position, quaternion)
        origin, turn = frame_pose(self._model, q, reference)
        back = quaternion_conjugate(turn)
        return Placement(
            from_quaternion(back) @ (position - origin), quaternion_product(back, quaternion)
        )

    def _in_world(self, frame_id: str, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        world = self._world()
        if frame_id == world:
            return IDENTITY
        frame = frame_id.removeprefix(self._prefix)
        if frame not in self._model.frame_names:
            raise TargetError(
                f"frame_id {quoted(frame_id)} is neither the world nor a frame of the robot; valid are "
                f"{listed(dict.fromkeys((world, *self._model.frame_names)))}"
            )
        return frame_pose(self._model, q, frame)
