# SPDX-License-Identifier: Apache-2.0
"""Motion and squeeze of a held object in closed loop ([Rodriguez1991] section 6): `grasp_torque` with feedback.

The object follows a reference of its centre of mass with a spring and a damper, and keeps its orientation; how hard it
is squeezed is measured, and what is missing is integrated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import frame_pose, frame_velocity
from ...model.configuration import check_vector
from ...model.rotations import from_quaternion, skew
from .grasp import Grasp
from .grasp_control import grasp_torque, squeeze

__all__ = ["GraspController", "squeezing"]


def squeezing(grasp: Grasp, wrenches: ArrayLike, first: int = 0, second: int = 1) -> float:
    """How hard two arms press an object between them [N], found from the wrenches (l, 6) of all arms on it.

    It is the internal part of the first arm's force along the line to the second; positive presses.
    """
    line = squeeze(grasp, first, second, 1.0)[first, :3]
    return float(grasp.internal_wrenches(wrenches)[first, :3] @ line)


class GraspController:
    """Joint forces that move a held object as told and squeeze it as told, from measured states and forces.

    Args:
        grasp: The arms and the object as they are known.
        q: (nq,) where it begins: the orientation of the first frame there is kept.
        stiffness, damping: Of the object's error [1/s^2], [1/s].
        calm: Damping of what the robot may do without moving the object [1/s].
        force_integral: Of the missing squeeze [1/s].
        most: [N] that the integral supplies at most.
    """

    def __init__(
        self,
        grasp: Grasp,
        q: ArrayLike,
        *,
        stiffness: float = 100.0,
        damping: float = 20.0,
        calm: float = 5.0,
        force_integral: float = 10.0,
        most: float = 50.0,
    ):
        self.grasp, self.stiffness, self.damping, self.calm = grasp, stiffness, damping, calm
        self.force_integral, self.most, self._supplied = force_integral, most, 0.0
        self._turn = from_quaternion(frame_pose(grasp.model, q, grasp.frames[0])[1])

    def center(self, q: ArrayLike) -> np.ndarray:
        """Where the object's centre of mass is (3,), held by the first frame."""
        position, quaternion = frame_pose(self.grasp.model, q, self.grasp.frames[0])
        return np.asarray(position + from_quaternion(quaternion) @ self.grasp.held.com)

    def torque(
        self,
        q: ArrayLike,
        v: ArrayLike,
        motion: ArrayLike,
        force: float,
        measured: float | None = None,
        dt: float = 1e-3,
    ) -> np.ndarray:
        """Joint forces (nv,) for a state; zero at bases that float.

        Args:
            q, v: Measured.
            motion: (3, 3) position, velocity and acceleration that the object's centre of mass shall have.
            force: [N] to squeeze with.
            measured: [N] how hard it is squeezed, `squeezing` of measured wrenches; None: as commanded.
            dt: [s] since the last call.

        Raises:
            IllPosedError: An arm is singular here.
            ConfigurationError: An argument is unusable.
        """
        grasp, wanted = self.grasp.update(q, v), np.asarray(motion, float)
        p, rate, a = (check_vector(each, 3, "motion of the object") for each in wanted)
        if measured is not None:
            grown = self._supplied + dt * self.force_integral * (force - measured)
            self._supplied = min(max(grown, -self.most), self.most)
        turn = from_quaternion(frame_pose(grasp.model, q, grasp.frames[0])[1])
        twist = frame_velocity(grasp.model, q, v, grasp.frames[0])
        arm = turn @ grasp.held.com
        speed = np.append(twist[:3] + skew(twist[3:]) @ arm, twist[3:])
        back = self._turn @ turn.T
        tilt = 0.5 * np.array(
            [back[2, 1] - back[1, 2], back[0, 2] - back[2, 0], back[1, 0] - back[0, 1]]
        )
        error, slip = np.append(p - self.center(q), tilt), np.append(rate, np.zeros(3)) - speed
        acceleration = np.append(a, np.zeros(3)) + self.stiffness * error + self.damping * slip
        pressed = squeeze(grasp, 0, 1, force + self._supplied)
        return grasp_torque(grasp, acceleration, pressed, -self.calm * np.asarray(v, float))
