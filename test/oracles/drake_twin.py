# SPDX-License-Identifier: Apache-2.0
"""Drake's model of an SDF file beside ours: libsdformat reads the file, Drake computes."""

from __future__ import annotations

import logging

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant

from opspace_ctrl import Model
from opspace_ctrl.model.rotations import from_quaternion

# Drake says of every Gazebo plugin that it ignores it.
logging.getLogger("drake").setLevel(logging.ERROR)


class DrakeTwin:
    """A robot read by Drake from an SDF text; Drake's joint positions are ours minus the start.

    Attributes:
        plant: Drake's, with our gravity.
    """

    def __init__(self, model: Model, sdf: str, start: np.ndarray) -> None:
        self.ours, self.start = model, start
        self.plant = MultibodyPlant(0.0)
        Parser(self.plant).AddModelsFromString(sdf, "sdf")
        self.plant.mutable_gravity_field().set_gravity_vector(model.gravity)
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.floating = bool(model.is_base_coordinate.any())
        self._base = (
            self.plant.get_body(next(iter(self.plant.GetFloatingBaseBodies())))
            if self.floating
            else None
        )

    def joint(self, name: str):
        return self.plant.GetJointByName(name)

    def _bases(self) -> int:
        return 7 if self.floating else 0

    def put(self, q: np.ndarray) -> None:
        """Move Drake's robot to our configuration (nq,)."""
        positions = np.zeros(self.plant.num_positions())
        for k, name in enumerate(self.ours.joint_names):
            positions[self.joint(name).position_start()] = (
                q[self._bases() + k] - self.start[self._bases() + k]
            )
        self.plant.SetPositions(self.context, positions)
        if self.floating:
            pose = RigidTransform(RotationMatrix(from_quaternion(q[3:7])), q[:3])
            self.plant.SetFreeBodyPose(self.context, self._base, pose)

    def velocity_map(self, q: np.ndarray) -> np.ndarray:
        """A (nv, nv): Drake's v = A v; its base velocity is [angular, linear] in world axes."""
        A = np.zeros((self.plant.num_velocities(), self.ours.nv))
        first = 6 if self.floating else 0
        for k, name in enumerate(self.ours.joint_names):
            A[self.joint(name).velocity_start(), first + k] = 1.0
        if self.floating:
            at, R = self._base.floating_velocities_start_in_v(), from_quaternion(q[3:7])
            A[at : at + 3, 3:6], A[at + 3 : at + 6, :3] = R, R
        return A

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """H (nv, nv) in our coordinates."""
        self.put(q)
        A = self.velocity_map(q)
        return A.T @ self.plant.CalcMassMatrix(self.context) @ A

    def gravity_forces(self, q: np.ndarray) -> np.ndarray:
        """The gravity part of our h (nv,)."""
        self.put(q)
        return -self.velocity_map(q).T @ self.plant.CalcGravityGeneralizedForces(self.context)

    def frame_pose(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Translation (3,) and rotation (3, 3) of a frame where the robot is now."""
        pose = self.plant.GetFrameByName(name).CalcPoseInWorld(self.context)
        return pose.translation(), pose.rotation().matrix()
