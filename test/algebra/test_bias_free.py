# SPDX-License-Identifier: Apache-2.0
"""Paper 000: what algorithm 1 and the inward sweep of forces find, each as a result of its own."""

import numpy as np
import pinocchio as pin
import pytest
from helpers.recursion_cases import FLOATING, NAMES, Case, assert_near
from helpers.support import urdf_path

from opspace_ctrl import dynamics, forward_dynamics, inverse_dynamics, load_urdf
from opspace_ctrl.algebra.operators import SpatialOperators
from opspace_ctrl.algebra.recursions.bias_free import bias_free_dynamics
from opspace_ctrl.algebra.recursions.mixed_velocities import coriolis_product, passivity_torque
from opspace_ctrl.algebra.recursions.polynomial_sweep import two_sweeps
from opspace_ctrl.algebra.recursions.reactions import joint_reactions
from opspace_ctrl.algebra.recursions.underactuated import free_flyer_inverse_dynamics
from opspace_ctrl.errors import ConfigurationError, MethodError, UnknownFrameError

everywhere = pytest.mark.parametrize("name", NAMES)


@everywhere
def test_000_47_54_algorithm_1_innovations_residuals_and_costates_by_themselves(name):
    """eps whitens T' (its covariance is D), lambda carries the joints' accelerations, qdd solves the equations."""
    case = Case(name)
    found = bias_free_dynamics(case.model, case.q, case.v, case.tau, case.external)
    size = max(1.0, np.abs(found.T).max())
    assert_near(found.T, case.tau - case.h, case.tolerance, size)
    assert_near(found.qdd, case.a, case.tolerance)
    o = SpatialOperators(case.model, case.q)
    L = np.eye(case.model.nv) + (o.H @ o.Phi @ o.G).dense()
    assert_near(L @ found.eps, found.T, case.tolerance, size)
    assert_near(L.T @ case.a, found.nu, case.tolerance)
    assert_near(found.lambda_.ravel(), o.phi.T @ (o.H.T @ case.a), case.tolerance)


@pytest.mark.parametrize(("source", "base"), [("panda", "fixed"), ("ur5_robot", "fixed")])
def test_000_10_12_joint_reactions_are_pinocchios(source, base):
    """f(k) of every joint beside data.f of Pinocchio's recursive Newton-Euler algorithm, with armature apart."""
    path = urdf_path(source)
    model, theirs = load_urdf(path, base=base), pin.buildModelFromUrdf(str(path))
    if model.is_mimic.any():
        model = load_urdf(path, base=base, locked=dict.fromkeys(FINGERS, 0.02))
        theirs = pin.buildReducedModel(
            theirs, [theirs.getJointId(name) for name in FINGERS], np.full(theirs.nq, 0.02)
        )
    rng = np.random.default_rng(3)
    q, (v, a) = model.random_configuration(rng), rng.normal(size=(2, model.nv))
    data = theirs.createData()
    pin.forwardKinematics(theirs, data, q)
    pin.rnea(theirs, data, q, v, a)
    found = joint_reactions(model, q, v, a)
    for joint, name in enumerate(theirs.names):
        if joint == 0:
            continue
        k = list(model.body_joint_names).index(name)
        R = data.oMi[joint].rotation
        expected = np.concatenate([R @ data.f[joint].linear, R @ data.f[joint].angular])
        np.testing.assert_allclose(found[k], expected, rtol=0.0, atol=1e-9)


FINGERS = ("panda_finger_joint1", "panda_finger_joint2")


@everywhere
def test_000_10_12_joint_reactions_do_the_joints_work_and_carry_wrenches(name):
    """H f is the motor's force less what the armature takes, whatever pushes on the robot."""
    case = Case(name)
    found = joint_reactions(case.model, case.q, case.v, case.a, case.external)
    o = SpatialOperators(case.model, case.q)
    motors = o.H @ np.roll(found, 3, axis=1).ravel()
    size = max(1.0, np.abs(found).max())
    assert_near(motors, case.tau - case.model.armature * case.a, case.tolerance, size)


def test_joint_reactions_refuse_by_name():
    case = Case("chain")
    with pytest.raises(UnknownFrameError, match="nowhere"):
        joint_reactions(case.model, case.q, case.v, case.a, {"nowhere": np.zeros(6)})
    with pytest.raises(ConfigurationError):
        joint_reactions(case.model, case.q, case.v, case.a[:-1])


@everywhere
def test_000_VII_D_variant_a_two_exact_sweeps(name):
    """000 VII.D (a): the filter runs before any link's velocity is known, and the accelerations are exact."""
    case = Case(name)
    found = two_sweeps(case.model, case.q, case.v, case.tau)
    expected = np.linalg.solve(case.H, case.tau - dynamics.bias_forces(case.model, case.q, case.v))
    assert_near(found, expected, case.tolerance)


@pytest.mark.parametrize("name", FLOATING)
def test_004_section_1_inverse_dynamics_of_an_under_actuated_free_flyer(name):
    """The base follows: forward dynamics of the forces gives back the joints' accelerations, without a base force."""
    case = Case(name)
    roots = [k for k, p in enumerate(case.model.parent) if p < 0]
    base = np.concatenate([case.model.v_index[k] + np.arange(6) for k in roots])
    joints = np.setdiff1d(np.arange(case.model.nv), base)
    wanted = np.random.default_rng(1).normal(size=len(joints))
    found = free_flyer_inverse_dynamics(case.model, case.q, case.v, wanted, case.external)
    assert not found.tau[base].any()
    a = forward_dynamics(case.model, case.q, case.v, found.tau, case.external)
    assert_near(a, found.a, case.tolerance)
    assert_near(a[joints], wanted, case.tolerance, max(1.0, np.abs(a).max()))


def test_004_section_1_a_fixed_arm_is_refused_by_name():
    case = Case("chain")
    with pytest.raises(MethodError, match="fixed base"):
        free_flyer_inverse_dynamics(case.model, case.q, case.v, case.a)


@everywhere
def test_003_section_6_coriolis_product_with_mixed_velocities(name):
    """C(q, v) v_d by two sweeps is that of the matrix, which has C v = h - gravity and dH/dt = C + C^T."""
    case = Case(name)
    v_d = np.random.default_rng(2).normal(size=case.model.nv)
    C = dynamics.coriolis_matrix(case.model, case.q, case.v)
    size = max(1.0, np.abs(C).max())
    assert_near(coriolis_product(case.model, case.q, case.v, v_d), C @ v_d, 1e-11, size)


def test_003_section_6_energy_falls_under_the_passivity_based_law():
    """d/dt of 1/2 s^T H s is -s^T gain s, for any s: v and v_r stand in one recursion."""
    case = Case("ur5 with armature")
    model, q, v = case.model, case.q, case.v
    v_r, a_r = np.random.default_rng(5).normal(size=(2, model.nv))
    tau = passivity_torque(model, q, v, v_r, a_r, 3.0)
    a, s, dt = forward_dynamics(model, q, v, tau), v - v_r, 1e-6
    rate = 2.0 * s @ case.H @ (a - a_r) / 2.0
    turning = [dynamics.mass_matrix(model, model.integrate(q, v, d)) for d in (-dt, dt)]
    rate += 0.5 * s @ (turning[1] - turning[0]) @ s / (2.0 * dt)
    assert rate == pytest.approx(-3.0 * s @ s, rel=1e-6)
    plain = inverse_dynamics(model, q, v, a_r) - 3.0 * s
    assert abs(tau - plain).max() > 1e-3  # it is not the computed torque
