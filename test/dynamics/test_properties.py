# SPDX-License-Identifier: Apache-2.0
"""What mechanics demands of the dynamics: derivatives, energy, closed forms."""

import numpy as np
import pytest
from helpers.urdf_text import joint, link, robot
from hypothesis import given, settings
from oracles.random_trees import random_model, random_motion, seeds, trees
from oracles.reference import assert_close
from scipy.spatial.transform import Rotation

from opspace_ctrl import dynamics, load_urdf

STEP = 1e-5  # of central differences, whose error is then about 1e-10 of the third derivative
DIFFERENCE = 1e-8
some = settings(max_examples=20)
small_trees = trees(max_bodies=12)


def slope(function, model, q, v):
    """d/dt of function(q(t)) while q moves with the constant velocity v."""
    forward, backward = model.integrate(q, v, STEP), model.integrate(q, v, -STEP)
    return (function(forward) - function(backward)) / (2.0 * STEP)


def jacobian(function, model, q):
    """d function / dq, column by column."""
    return np.stack([slope(function, model, q, unit) for unit in np.eye(model.nv)], axis=-1)


def size_of(x):
    return np.abs(x).max(initial=1.0)


# ---- derivatives ----


@some
@given(small_trees, seeds())
def test_frame_jacobian_is_the_derivative_of_the_pose(model, seed):
    q, _, _ = random_motion(model, seed)
    frame = model.frame_names[seed % len(model.frame_names)]
    J = dynamics.frame_jacobian(model, q, frame)
    R = Rotation.from_quat(dynamics.frame_pose(model, q, frame)[1])
    position = jacobian(lambda q: dynamics.frame_pose(model, q, frame)[0], model, q)
    rotation = jacobian(
        lambda q: (
            Rotation.from_quat(dynamics.frame_pose(model, q, frame)[1]) * R.inv()
        ).as_rotvec(),
        model,
        q,
    )
    assert_close(J, np.vstack([position, rotation]), size_of(J), DIFFERENCE)


@some
@given(small_trees, seeds())
def test_frame_acceleration_is_the_derivative_of_the_velocity(model, seed):
    q, v, a = random_motion(model, seed)
    frame = model.frame_names[seed % len(model.frame_names)]
    bias = slope(lambda q: dynamics.frame_velocity(model, q, v, frame), model, q, v)
    expected = bias + dynamics.frame_jacobian(model, q, frame) @ a
    assert_close(
        dynamics.frame_acceleration(model, q, v, a, frame), expected, size_of(expected), DIFFERENCE
    )


@some
@given(small_trees, seeds())
def test_center_of_mass_jacobian_and_bias_are_derivatives(model, seed):
    q, v, _ = random_motion(model, seed)
    J = dynamics.center_of_mass_jacobian(model, q)
    assert_close(
        J, jacobian(lambda q: dynamics.center_of_mass(model, q), model, q), size_of(J), DIFFERENCE
    )
    bias = slope(lambda q: dynamics.center_of_mass_jacobian(model, q) @ v, model, q, v)
    assert_close(dynamics.center_of_mass_bias(model, q, v), bias, size_of(bias), DIFFERENCE)


@some
@given(small_trees, seeds())
def test_gravity_forces_are_the_gradient_of_the_potential_energy(model, seed):
    q, _, _ = random_motion(model, seed)
    g = dynamics.gravity_forces(model, q)
    potential = dynamics.potential_energy(model, q)
    expected = jacobian(lambda q: np.array(dynamics.potential_energy(model, q)), model, q)
    assert_close(g, expected, size_of([potential, *g]), DIFFERENCE)


@some
@given(small_trees, seeds())
def test_rate_of_the_mass_matrix_is_the_coriolis_matrix_and_its_transpose(model, seed):
    q, v, _ = random_motion(model, seed)
    C = dynamics.coriolis_matrix(model, q, v)
    rate = slope(lambda q: dynamics.mass_matrix(model, q), model, q, v)
    assert_close(
        C + C.T, rate, size_of([*C.ravel(), *dynamics.mass_matrix(model, q).ravel()]), DIFFERENCE
    )
    expected = dynamics.bias_forces(model, q, v) - dynamics.gravity_forces(model, q)
    size = size_of(dynamics.bias_forces(model, q, v)) + np.abs(C).max(initial=0.0) * np.abs(v).sum()
    assert_close(C @ v, expected, size)


@some
@given(small_trees, seeds())
def test_energy_changes_by_the_power_of_the_joint_forces(model, seed):
    q, v, tau = random_motion(model, seed)
    a = dynamics.forward_dynamics(model, q, v, tau, method="crba_ltdl")

    def energy(t):
        at_t = model.integrate(q, v + 0.5 * a * t, t)
        return dynamics.kinetic_energy(model, at_t, v + a * t) + dynamics.potential_energy(
            model, at_t
        )

    step = STEP / size_of(a)
    power = (energy(step) - energy(-step)) / (2.0 * step)
    assert_close(power, v @ tau, size_of(a) * (abs(energy(0.0)) + size_of(v) * size_of(tau)), 1e-9)


@some
@given(trees(max_bodies=30), seeds())
def test_inverse_dynamics_returns_the_forces_that_forward_dynamics_was_given(model, seed):
    q, v, tau = random_motion(model, seed)
    external = {model.frame_names[-1]: np.array([10.0, -5.0, 3.0, 1.0, 2.0, -1.0])}
    H = dynamics.mass_matrix(model, q)
    for method in dynamics.forward_methods(model):
        a = dynamics.forward_dynamics(model, q, v, tau, external, method)
        size = np.abs(H).max() * np.abs(a).max() + size_of(dynamics.bias_forces(model, q, v))
        assert_close(dynamics.inverse_dynamics(model, q, v, a, external), tau, size)


# ---- closed forms ----


@pytest.mark.parametrize("angle", [0.0, 0.3, -2.0, np.pi, 40.0])
def test_a_pendulum_follows_its_closed_form(angle):
    """A rod of mass m, length 2 l, inertia I about its centre: (I + m l^2) q'' = -m g l sin q."""
    m, l, I, g = 1.5, 0.4, 0.2, 9.81
    rod = link(
        "rod", m, xyz=f"0 0 {-l}", inertia=f'ixx="{I}" ixy="0" ixz="0" iyy="{I}" iyz="0" izz="0.01"'
    )
    model = load_urdf(
        robot(link("base"), rod, joint("hinge", "base", "rod", axis="1 0 0", xyz="0 0 2"))
    )
    assert_close(dynamics.mass_matrix(model, [angle]), [[I + m * l**2]], 1.0, 1e-15)
    assert_close(
        dynamics.bias_forces(model, [angle], [3.0]), [m * g * l * np.sin(angle)], m * g * l, 1e-15
    )
    for method in dynamics.forward_methods(model):
        a = dynamics.forward_dynamics(model, [angle], [3.0], [0.0], method=method)
        assert_close(a, [-m * g * l * np.sin(angle) / (I + m * l**2)], 1.0, 1e-13)
    assert_close(
        dynamics.kinetic_energy(model, [angle], [3.0]), 0.5 * (I + m * l**2) * 9.0, 1.0, 1e-14
    )
    assert_close(
        dynamics.potential_energy(model, [angle]), m * g * (2.0 - l * np.cos(angle)), m * g, 1e-14
    )
    swing = dynamics.frame_acceleration(model, [angle], [3.0], [0.0], "rod")
    np.testing.assert_array_equal(swing, np.zeros(6))


def test_a_slider_on_a_slope_falls_with_gravity_along_it():
    slope_axis = np.array([0.6, 0.0, -0.8])
    model = load_urdf(
        robot(
            link("base"),
            link("cart", 4.0),
            joint("rail", "base", "cart", "prismatic", axis="3 0 -4"),
        )
    )
    np.testing.assert_allclose(dynamics.mass_matrix(model, [0.7]), [[4.0]], rtol=1e-15)
    for method in dynamics.forward_methods(model):
        a = dynamics.forward_dynamics(
            model, [0.7], [2.0], [1.0], {"cart": [1.0, 0, 0, 5, 5, 5]}, method
        )
        np.testing.assert_allclose(a, [9.81 * 0.8 + (1.0 + slope_axis[0]) / 4.0], rtol=1e-14)


def test_a_free_body_obeys_eulers_equations():
    inertia = np.diag([0.2, 0.3, 0.4])
    body = link(
        "body", 2.0, "0 0 0", inertia='ixx="0.2" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.4"'
    )
    model = load_urdf(robot(body), "floating")
    q = model.random_configuration(np.random.default_rng(0))
    velocity, omega = np.array([1.0, -2.0, 0.5]), np.array([0.7, -1.1, 0.4])
    a = dynamics.forward_dynamics(model, q, np.concatenate([velocity, omega]), np.zeros(6))
    gravity = Rotation.from_quat(q[3:]).inv().apply(np.array(model.gravity))
    assert_close(a[:3], gravity - np.cross(omega, velocity), 9.81, 1e-14)
    assert_close(a[3:], np.linalg.solve(inertia, -np.cross(omega, inertia @ omega)), 1.0, 1e-14)


# ---- what joints add ----


def test_armature_adds_to_the_diagonal_of_the_mass_matrix_alone():
    bare, geared = (
        random_model(4, 12, "floating", types=("revolute", "planar"), armature=on)
        for on in (False, True)
    )
    q, v, a = random_motion(bare, 4)
    assert geared.armature.any()
    assert_close(
        dynamics.mass_matrix(geared, q),
        dynamics.mass_matrix(bare, q) + np.diag(geared.armature),
        100.0,
    )
    np.testing.assert_array_equal(
        dynamics.bias_forces(geared, q, v), dynamics.bias_forces(bare, q, v)
    )
    tau = dynamics.inverse_dynamics(bare, q, v, a) + geared.armature * a
    assert_close(dynamics.inverse_dynamics(geared, q, v, a), tau, size_of(tau))
    energy = dynamics.kinetic_energy(bare, q, v) + 0.5 * geared.armature @ v**2
    assert_close(dynamics.kinetic_energy(geared, q, v), energy, energy)


@pytest.mark.parametrize("mimic", [0.0, 0.5])
def test_damping_and_friction_act_only_when_asked_for(mimic):
    model = random_model(5, 10, types=("revolute", "prismatic", "planar"), mimic=mimic)
    q, v, tau = random_motion(model, 5)
    viscous, dry = model.damping * v, model.friction * np.sign(v)
    assert viscous.all() and dry.all()
    for method in dynamics.forward_methods(model):

        def accelerate(tau, method=method, **switches):
            return dynamics.forward_dynamics(model, q, v, tau, method=method, **switches)

        np.testing.assert_array_equal(accelerate(tau, damping=True), accelerate(tau - viscous))
        np.testing.assert_array_equal(accelerate(tau, friction=True), accelerate(tau - dry))
        np.testing.assert_array_equal(
            accelerate(tau, damping=True, friction=True), accelerate(tau - (viscous + dry))
        )
        assert not np.allclose(accelerate(tau), accelerate(tau, damping=True))
    held = dynamics.inverse_dynamics(model, q, v, tau)
    for damping, friction in ((True, False), (False, True), (True, True)):
        expected = held + damping * viscous + friction * dry
        found = dynamics.inverse_dynamics(model, q, v, tau, damping=damping, friction=friction)
        assert_close(found, expected, size_of(held), 1e-15)
