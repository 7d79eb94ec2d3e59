# SPDX-License-Identifier: Apache-2.0
"""Dynamics against Pinocchio on the robots of the example-robot-data wheel, at random states."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from helpers.support import BASES, PinTwin, load_pair, robots
from oracles.random_trees import random_motion
from oracles.reference import Reference, assert_close, derived_tolerance
from scipy.spatial.transform import Rotation

from opspace_ctrl import dynamics
from opspace_ctrl.errors import SingularInertiaError
from opspace_ctrl.model import Model

WORLD_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
ARMATURE_ROBOTS = ("ur5_robot", "panda", "solo12", "talos_full_v2")
every_robot = pytest.mark.parametrize(
    "name, base", [(name, base) for name in robots() for base in BASES]
)


@dataclass
class Case:
    """A robot, Pinocchio's twin of it, and a state with wrenches on three of its links."""

    model: Model
    twin: PinTwin
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    external: dict[str, np.ndarray]

    def __post_init__(self):
        self.pin, self.data = self.twin.model, self.twin.data
        self.q_pin, self.v_pin, self.a_pin = (
            self.twin.q(self.q),
            self.twin.v(self.v),
            self.twin.v(self.a),
        )
        self.reference = Reference(self.model, self.q, self.v)

    def mass_matrix(self):
        free = np.triu(pin.crba(self.pin, self.data, self.q_pin))
        free += np.triu(free, 1).T
        return self.twin.G.T @ free @ self.twin.G

    def frame_id(self, name):
        return self.pin.getFrameId(name, pin.FrameType.BODY)

    def joint_wrenches(self):
        """The wrenches as Pinocchio wants them: summed by joint, at the joint and in its axes."""
        pin.framesForwardKinematics(self.pin, self.data, self.q_pin)
        wrenches = [pin.Force.Zero() for _ in self.pin.joints]
        for name, wrench in self.external.items():
            frame = self.pin.frames[self.frame_id(name)]
            placement = pin.SE3(self.data.oMf[self.frame_id(name)].rotation.T, np.zeros(3))
            wrenches[frame.parentJoint] += frame.placement.act(placement.act(pin.Force(wrench)))
        return wrenches


@cache
def case(name, base, armature=None):
    model, twin = load_pair(name, base, armature=armature)
    rng = np.random.default_rng(len(name))
    frames = rng.choice(model.frame_names, min(3, len(model.frame_names)), replace=False)
    return Case(
        model, twin, *random_motion(model, 1), {str(f): rng.normal(0.0, 20.0, 6) for f in frames}
    )


def check_forces(c):
    """H, h and inverse dynamics with external wrenches."""
    H = dynamics.mass_matrix(c.model, c.q)
    assert_close(H, c.mass_matrix(), c.reference.mass_matrix_scale())
    np.testing.assert_array_equal(H, H.T)
    h = c.twin.G.T @ pin.nonLinearEffects(c.pin, c.data, c.q_pin, c.v_pin)
    assert_close(dynamics.bias_forces(c.model, c.q, c.v), h, c.reference.inverse_dynamics()[1])
    g = c.twin.G.T @ pin.computeGeneralizedGravity(c.pin, c.data, c.q_pin)
    assert_close(dynamics.gravity_forces(c.model, c.q), g, c.reference.inverse_dynamics()[1])
    free = pin.rnea(c.pin, c.data, c.q_pin, c.v_pin, c.a_pin, c.joint_wrenches())
    tau = dynamics.inverse_dynamics(c.model, c.q, c.v, c.a, c.external)
    assert_close(tau, c.twin.G.T @ free, c.reference.inverse_dynamics(c.a, c.external)[1])


def check_accelerations(c):
    """Forward dynamics by every method that carries the robot: accelerations and the forces they leave over."""
    H, tau = c.mass_matrix(), c.a * 10.0
    h = c.twin.G.T @ pin.rnea(c.pin, c.data, c.q_pin, c.v_pin, 0.0 * c.a_pin, c.joint_wrenches())
    if c.model.is_mimic.any():
        expected = np.linalg.solve(H, tau - h)
    else:
        free = np.linalg.solve(c.twin.G.T, tau)
        expected = c.twin.G.T @ pin.aba(c.pin, c.data, c.q_pin, c.v_pin, free, c.joint_wrenches())
    size = np.abs(expected).max(initial=1.0)
    for method in dynamics.forward_methods(c.model):
        found = dynamics.forward_dynamics(c.model, c.q, c.v, tau, c.external, method)
        assert_close(found, expected, size, derived_tolerance(H))
        force_size = np.abs(H).max(initial=0.0) * size + np.abs(h).max(initial=0.0)
        assert_close(H @ found, tau - h, force_size)


@every_robot
def test_mass_matrix_bias_forces_and_inverse_dynamics_agree(name, base):
    check_forces(case(name, base))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", ARMATURE_ROBOTS)
def test_forces_and_accelerations_agree_with_armature(name, base):
    c = case(name, base, 0.03)
    assert c.model.armature[-1] > 0.0
    check_forces(c)
    check_accelerations(c)


@every_robot
def test_forward_dynamics_agrees_by_every_method(name, base):
    check_accelerations(case(name, base))


@every_robot
def test_poses_velocities_and_accelerations_of_all_frames_agree(name, base):
    c = case(name, base)
    pin.forwardKinematics(c.pin, c.data, c.q_pin, c.v_pin, c.a_pin)
    pin.updateFramePlacements(c.pin, c.data)
    for frame in c.model.frame_names:
        f = c.frame_id(frame)
        position, quaternion = dynamics.frame_pose(c.model, c.q, frame)
        assert_close(position, c.data.oMf[f].translation, 1.0)
        assert_close(Rotation.from_quat(quaternion).as_matrix(), c.data.oMf[f].rotation, 1.0)
        velocity = pin.getFrameVelocity(c.pin, c.data, f, WORLD_AXES).vector
        assert_close(dynamics.frame_velocity(c.model, c.q, c.v, frame), velocity, 1.0)
        acceleration = pin.getFrameClassicalAcceleration(c.pin, c.data, f, WORLD_AXES).vector
        size = np.abs(acceleration).max(initial=1.0)
        assert_close(dynamics.frame_acceleration(c.model, c.q, c.v, c.a, frame), acceleration, size)


@every_robot
def test_jacobian_and_bias_acceleration_of_all_frames_agree(name, base):
    c = case(name, base)
    pin.computeJointJacobians(c.pin, c.data, c.q_pin)
    pin.forwardKinematics(c.pin, c.data, c.q_pin, c.v_pin, 0.0 * c.a_pin)
    pin.updateFramePlacements(c.pin, c.data)
    for frame in c.model.frame_names:
        f = c.frame_id(frame)
        if c.model.nv > 0:  # Pinocchio's crashes otherwise
            J = pin.getFrameJacobian(c.pin, c.data, f, WORLD_AXES) @ c.twin.G
            assert_close(dynamics.frame_jacobian(c.model, c.q, frame), J, 1.0)
        bias = pin.getFrameClassicalAcceleration(c.pin, c.data, f, WORLD_AXES).vector
        size = np.abs(bias).max(initial=1.0)
        found = dynamics.frame_acceleration(c.model, c.q, c.v, np.zeros(c.model.nv), frame)
        assert_close(found, bias, size)


@every_robot
def test_center_of_mass_its_jacobian_and_bias_agree(name, base):
    c = case(name, base)
    if not c.model.mass.any():
        with pytest.raises(SingularInertiaError, match="no mass moves"):
            dynamics.center_of_mass(c.model, c.q)
        return
    expected = pin.centerOfMass(c.pin, c.data, c.q_pin, c.v_pin, 0.0 * c.a_pin).copy()
    bias = c.data.acom[0].copy()
    assert_close(dynamics.center_of_mass(c.model, c.q), expected, 1.0)
    assert_close(
        dynamics.center_of_mass_bias(c.model, c.q, c.v), bias, np.abs(bias).max(initial=1.0)
    )
    J = pin.jacobianCenterOfMass(c.pin, c.data, c.q_pin) @ c.twin.G
    assert_close(dynamics.center_of_mass_jacobian(c.model, c.q), J, 1.0)


@every_robot
def test_energies_agree(name, base):
    c = case(name, base)
    kinetic = pin.computeKineticEnergy(c.pin, c.data, c.q_pin, c.v_pin)
    potential = pin.computePotentialEnergy(c.pin, c.data, c.q_pin)
    assert_close(dynamics.kinetic_energy(c.model, c.q, c.v), kinetic, kinetic)
    assert_close(dynamics.potential_energy(c.model, c.q), potential, 9.81 * c.model.total_mass)
