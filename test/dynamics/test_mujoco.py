# SPDX-License-Identifier: Apache-2.0
"""Dynamics against MuJoCo, which reads the same URDFs with its own parser and keeps a free base in other axes."""

from functools import cache
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from helpers.support import BASES, load_quietly, urdf_path
from oracles.random_trees import random_motion
from oracles.reference import Reference, assert_close, derived_tolerance
from scipy.spatial.transform import Rotation

from opspace_ctrl import dynamics, load_robot
from opspace_ctrl.model import JointType

SHIPPED = ("arm7", "asimo", "free_flyer")
WHEEL = ("panda", "g1_29dof_rev_1_0", "talos_full_v2", "go2", "tiago_pro", "kinova")
every_robot = pytest.mark.parametrize(
    "name, base", [(name, base) for name in SHIPPED + WHEEL for base in BASES]
)


class MujocoTwin:
    """MuJoCo's model of the same robot at the same state.

    A free base of MuJoCo moves with [linear in world axes, angular in base axes], and mimic joints are free
    there. So v_mj = G v with G of R and of the multipliers, H = G^T M G, and h = G^T (bias + M dG/dt v).
    """

    def __init__(self, model, q, v):
        self.model = _compile(model)
        self.data = mujoco.MjData(self.model)
        self.G, G_rate = np.zeros((2, self.model.nv, model.nv))
        for body, name in enumerate(model.body_joint_names):
            joint = self.model.joint(name)
            row, column, at = joint.dofadr[0], model.v_index[body], model.q_index[body]
            if model.joint_type[body] == JointType.FLOATING:
                R = Rotation.from_quat(q[at + 3 : at + 7]).as_matrix()
                self.data.qpos[joint.qposadr[0] :][:7] = (
                    *q[at : at + 3],
                    q[at + 6],
                    *q[at + 3 : at + 6],
                )
                self.G[row : row + 3, column : column + 3] = R
                self.G[row + 3 : row + 6, column + 3 : column + 6] = np.eye(3)
                G_rate[row : row + 3, column : column + 3] = (
                    R @ np.cross(v[column + 3 : column + 6], np.eye(3)).T
                )
            else:
                self.data.qpos[joint.qposadr[0]] = (
                    model.multiplier[body] * q[at] + model.offset[body]
                )
                self.G[row, column] = model.multiplier[body]
        self.data.qvel[:] = self.G @ v
        self.excess = G_rate @ v  # dv_mj/dt = G dv/dt + excess
        mujoco.mj_forward(self.model, self.data)

    def free_mass_matrix(self):
        M = np.zeros((self.model.nv, self.model.nv))
        for row, unit in zip(M, np.eye(self.model.nv)):
            mujoco.mj_mulM(self.model, self.data, row, unit)
        return M

    def push(self, name, wrench):
        """Put a wrench at a body's origin: MuJoCo wants it at the body's centre of mass."""
        lever = self.data.body(name).xpos - self.data.body(name).xipos
        torque = wrench[3:] + np.cross(lever, wrench[:3])
        self.data.body(name).xfrc_applied[:] = np.concatenate([wrench[:3], torque])


def _compile(model):
    """A compiled MuJoCo model of a URDF without its meshes, which no dynamics needs."""
    root = ElementTree.fromstring(model.source)
    for link in root.iter("link"):
        for shape in link.findall("visual") + link.findall("collision"):
            link.remove(shape)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"))
    if JointType.FLOATING in model.joint_type:
        spec.worldbody.first_body().add_freejoint(name="root_joint")
    spec.option.gravity = model.gravity
    return spec.compile()


@cache
def case(name, base):
    model = load_robot(name, base=base) if name in SHIPPED else load_quietly(urdf_path(name), base)
    q, v, tau = random_motion(model, 2)
    return model, q, v, tau, MujocoTwin(model, q, v), Reference(model, q, v)


@every_robot
def test_mass_matrix_agrees(name, base):
    model, q, _, _, twin, reference = case(name, base)
    expected = twin.G.T @ twin.free_mass_matrix() @ twin.G
    assert_close(dynamics.mass_matrix(model, q), expected, reference.mass_matrix_scale())


@every_robot
def test_bias_forces_agree(name, base):
    model, q, v, _, twin, reference = case(name, base)
    expected = twin.G.T @ (twin.data.qfrc_bias + twin.free_mass_matrix() @ twin.excess)
    assert_close(dynamics.bias_forces(model, q, v), expected, reference.inverse_dynamics()[1])


@every_robot
def test_forward_dynamics_with_damping_and_a_wrench_agrees(name, base):
    model, q, v, tau, twin, _ = case(name, base)
    wrench = np.array([3.0, -2.0, 5.0, 0.5, 0.3, -0.4])
    M = twin.free_mass_matrix()
    twin.push(model.body_names[-1], wrench)
    twin.data.qfrc_applied[:] = np.linalg.pinv(twin.G).T @ tau
    mujoco.mj_forward(twin.model, twin.data)
    force = twin.data.qfrc_smooth - M @ twin.excess
    H = twin.G.T @ M @ twin.G
    expected = np.linalg.solve(H, twin.G.T @ force)
    if not model.is_mimic.any():
        assert_close(
            twin.G @ expected + twin.excess,
            twin.data.qacc_smooth,
            np.abs(expected).max(),
            derived_tolerance(M),
        )
    for method in dynamics.forward_methods(model):
        found = dynamics.forward_dynamics(
            model, q, v, tau, {model.body_names[-1]: wrench}, method, damping=True
        )
        assert_close(found, expected, np.abs(expected).max(), derived_tolerance(H))


@every_robot
def test_body_poses_agree(name, base):
    model, q, _, _, twin, _ = case(name, base)
    for body in model.body_names:
        position, quaternion = dynamics.frame_pose(model, q, body)
        assert_close(position, twin.data.body(body).xpos, 1.0)
        assert_close(
            Rotation.from_quat(quaternion).as_matrix(), twin.data.body(body).xmat.reshape(3, 3), 1.0
        )


@every_robot
def test_center_of_mass_agrees(name, base):
    model, q, _, _, twin, _ = case(name, base)
    moving = [twin.model.body(body).id for body in model.body_names]
    mass = twin.model.body_mass[moving]
    assert_close(
        dynamics.center_of_mass(model, q), mass @ twin.data.xipos[moving] / mass.sum(), 1.0
    )
