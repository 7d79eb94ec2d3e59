# SPDX-License-Identifier: Apache-2.0
"""Motion and squeeze of a held object in closed loop ([Rodriguez1991] section 6): `grasp_torque` with feedback.

The object follows a reference of its centre of mass with a spring and a damper, and keeps its orientation; how hard it
is squeezed is measured, and what is missing is integrated.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import frame_pose, frame_velocity
from ...errors import ConfigurationError, quoted
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

    Raises:
        ConfigurationError: A gain is below zero or not finite, q is unusable, or fewer than two arms hold the object.
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
        if not isinstance(grasp, Grasp) or len(grasp.frames) < 2:
            raise ConfigurationError(
                "two arms squeeze an object: valid is a Grasp of two frames or more"
            )
        self.grasp, self._supplied = grasp, 0.0
        self.stiffness, self.damping = _gain(stiffness, "stiffness"), _gain(damping, "damping")
        self.calm, self.most = _gain(calm, "calm"), _gain(most, "most")
        self.force_integral = _gain(force_integral, "force_integral")
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
        p, rate, a = _rows(motion)
        force, grasp = _number(force, "force"), self.grasp.update(q, v)
        if measured is not None:
            missing = force - _number(measured, "measured")
            grown = self._supplied + _gain(dt, "dt") * self.force_integral * missing
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


def _number(value: Any, name: str) -> float:
    """A finite number; ConfigurationError says which one is none."""
    if not isinstance(value, Real) or not np.isfinite(float(value)):
        raise ConfigurationError(f"{name} = {quoted(value)}: a finite number is valid")
    return float(value)


def _gain(value: Any, name: str) -> float:
    """Likewise one that is not below zero."""
    if _number(value, name) < 0.0:
        raise ConfigurationError(f"{name} = {quoted(value)}: 0 and above is valid")
    return float(value)


def _rows(motion: Any) -> list[np.ndarray]:
    """Position, velocity and acceleration of the object, each (3,); ConfigurationError says which one is none."""
    names = [f"{name} of the object" for name in ("position", "velocity", "acceleration")]
    is_list = isinstance(motion, Sequence) or (isinstance(motion, np.ndarray) and motion.ndim > 0)
    if not is_list or len(motion) != len(names):
        raise ConfigurationError(f"motion = {quoted(motion)}: {', '.join(names)} are valid, (3, 3)")
    return [check_vector(each, 3, name) for each, name in zip(motion, names)]
