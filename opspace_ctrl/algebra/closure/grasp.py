# SPDX-License-Identifier: Apache-2.0
"""Several arms holding one rigid object ([Rodriguez1991] sections 5.3 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import forward_dynamics, frame_pose, frame_velocity, link_accelerations
from ...errors import ConfigurationError, InertiaError, quoted
from ...model import Model
from ...model.configuration import check_vector
from ...model.rotations import from_quaternion, skew
from ...osim import OperationalSpace
from .incremental import Contact, add_object, solve_well_posed


@dataclass(frozen=True)
class RigidObject:
    """The rigid body that the arms hold.

    Attributes:
        mass: [kg], positive.
        com: (3,) centre of mass in the axes of the first frame that holds it, from that frame's origin [m].
        inertia: (3, 3) about the centre of mass in those axes [kg m^2], positive definite.
    """

    mass: float
    com: np.ndarray
    inertia: np.ndarray

    def __post_init__(self):
        inertia = np.asarray(self.inertia, dtype=float)
        if inertia.shape != (3, 3) or not (
            self.mass > 0.0 and np.linalg.eigvalsh(inertia)[0] > 0.0
        ):
            raise InertiaError(
                "an object that is held needs a positive mass and a positive definite (3, 3) inertia"
            )
        object.__setattr__(self, "inertia", inertia)
        object.__setattr__(self, "com", check_vector(self.com, 3, "com of the object"))


@dataclass(frozen=True)
class GraspMotion:
    """The accelerations of arms and object, and the wrenches between them.

    Attributes:
        qdd: (nv,) of the robot.
        object: (6,) acceleration of the object's centre of mass, linear first, world axes.
        wrenches: (l, 6) of each frame on the object, at the frame's origin.
    """

    qdd: np.ndarray
    object: np.ndarray
    wrenches: np.ndarray


class Grasp:
    """Arms of one robot, or of a forest, that hold an object rigidly at frames.

    With A (6 l, 6) the motion of the frames from the object's, and Omega (6 l, 6 l) = J H^-1 J^T of all frames:
        effective inertia at the object's centre of mass    M_obj + A^T Omega^-1 A
    which is M_obj + sum A_i^T Lambda_i A_i where the arms share nothing.

    Attributes:
        A: (6 l, 6) motion of the frames from the object's; bias: (6 l,) their acceleration while the object's is zero.
        object_inertia: (6, 6) at its centre of mass, linear first.

    Args:
        frames: Names of the frames, all different.
        method: How Omega is computed, one of `osim.methods(model)`.
    """

    def __init__(
        self, model: Model, frames: Sequence[str], held: RigidObject, method: str = "auto"
    ):
        if len(set(frames)) != len(frames) or not frames:
            raise ConfigurationError(
                f"{model.name}: an object is held by one or more different frames, not {frames}"
            )
        if not isinstance(held, RigidObject):
            raise ConfigurationError(f"{quoted(held)} is not held; valid is a RigidObject")
        self.model, self.frames, self.held = model, tuple(frames), held
        self._ospace = OperationalSpace(model, list(frames), method=method)

    def update(self, q: ArrayLike, v: ArrayLike | None = None) -> Grasp:
        """Take a state of the robot; the object moves with the first frame."""
        v = np.zeros(self.model.nv) if v is None else v
        self._ospace.update(q, v)
        self._q, self._v = self.model.check_configuration(q), self.model.check_velocity(v)
        poses = [frame_pose(self.model, q, frame) for frame in self.frames]
        R, held = from_quaternion(poses[0][1]), self.held
        center = poses[0][0] + R @ held.com
        arms = [position - center for position, _ in poses]
        inertia, self._turn = (
            R @ held.inertia @ R.T,
            frame_velocity(self.model, q, v, self.frames[0])[3:],
        )
        self.A = np.vstack(
            [np.block([[np.eye(3), -skew(r)], [np.zeros((3, 3)), np.eye(3)]]) for r in arms]
        )
        self.object_inertia = np.block(
            [[held.mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), inertia]]
        )
        w = skew(self._turn)
        self.bias = np.concatenate([np.append(w @ w @ r, np.zeros(3)) for r in arms])
        self._forces = np.append(held.mass * self.model.gravity, -w @ inertia @ self._turn)
        return self

    @property
    def omega(self) -> np.ndarray:
        """Omega (6 l, 6 l) of the frames that hold."""
        return self._ospace.inertia_inv

    @property
    def effective_inertia(self) -> np.ndarray:
        """M_obj + A^T Omega^-1 A (6, 6) at the object's centre of mass; IllPosedError where an arm is singular."""
        return self.object_inertia + self.A.T @ self._rigid_response

    @property
    def _rigid_response(self) -> np.ndarray:
        """Omega^-1 A: the forces at the frames for an acceleration of the object without mass."""
        return solve_well_posed(self.omega, self.A, f"Omega of the frames {', '.join(self.frames)}")

    def forward(self, tau: ArrayLike, wrench: ArrayLike | None = None) -> GraspMotion:
        """Accelerations and contact wrenches for joint forces tau and a wrench (6,) at the object's centre of mass.

        Raises:
            IllPosedError: Omega + A M_obj^-1 A^T is not of full rank: contact forces are not unique.
        """
        pushed = self.object_forces(wrench)
        free = link_accelerations(
            self.model, self._q, self._v, tau, method="kalman", frames=self.frames
        )
        contact = Contact(self.omega, free.ravel())
        _, F = add_object(contact, self.A, self.object_inertia, pushed, self.bias)
        acceleration = np.linalg.solve(self.object_inertia, pushed + self.A.T @ F)
        wrenches = F.reshape(-1, 6)
        qdd = forward_dynamics(self.model, self._q, self._v, tau, dict(zip(self.frames, -wrenches)))
        return GraspMotion(qdd, acceleration, wrenches)

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """q (nq,) and v (nv,) of the last update."""
        return self._q, self._v

    @property
    def frames_motion(self) -> tuple[np.ndarray, np.ndarray]:
        """J (6 l, nv) of the frames that hold, and Jdot v (6 l,)."""
        return self._ospace.jacobian, self._ospace.bias_acceleration

    def object_forces(self, wrench: ArrayLike | None = None) -> np.ndarray:
        """What acts on the object beside the arms (6,): weight, gyroscopic torque, a wrench at its centre of mass."""
        if wrench is None:
            return np.array(self._forces)
        return self._forces + check_vector(wrench, 6, "wrench on the object")

    def shared(self, wrench: np.ndarray) -> np.ndarray:
        """A wrench (6,) on the object shared between the arms (l, 6) as their inertias would share it."""
        response = self._rigid_response
        return (response @ np.linalg.solve(self.A.T @ response, wrench)).reshape(-1, 6)

    def internal_wrenches(self, wrenches: ArrayLike) -> np.ndarray:
        """The part (l, 6) of contact wrenches that squeezes the object and does not move it, A^T F = 0.

            F_int = F - Omega^-1 A (A^T Omega^-1 A)^-1 A^T F
        What moves the object is shared between the arms as their inertias would share it, which is free of units.
        """
        F = check_vector(np.ravel(wrenches), len(self.A), "wrenches of all arms")
        return np.asarray(F.reshape(-1, 6) - self.shared(self.A.T @ F))
