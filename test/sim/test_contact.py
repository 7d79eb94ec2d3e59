# SPDX-License-Identifier: Apache-2.0
"""Contact with the ground: the conditions themselves, friction on slopes, energy, and a humanoid that comes to rest."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.sim_cases import SOLES, box, point_rows, posture_controller, standing

from opspace_ctrl import load_urdf, mass_matrix
from opspace_ctrl.sim.settings import SimulatorSettings
from opspace_ctrl.sim.simulator import Simulator

G = 9.81
NONE = np.zeros(0)
every_integrator = pytest.mark.parametrize("integrator", ["semi_implicit", "explicit", "rkmk4"])


def box_on(slope=0.0, friction=0.8, points="sole 0.1 0.05", **options):
    """A box on ground that falls towards +x by an angle [rad], aligned with it."""
    model = load_urdf(box(), "floating")
    turn = [0.0, np.sin(0.5 * slope), 0.0, np.cos(0.5 * slope)]
    normal = np.array([np.sin(slope), 0.0, np.cos(slope)])
    settings = SimulatorSettings(
        contacts=(points,),
        ground_normal=normal,
        ground_friction=friction,
        initial_pose=[*(0.05 * normal), *turn],
        **options,
    )
    return (
        Simulator.from_settings(model, settings),
        np.array([np.cos(slope), 0.0, -np.sin(slope)]),
        normal,
    )


def run(sim, steps):
    tau = np.zeros(len(sim.tau))
    for _ in range(steps):
        sim.step(tau)
    return sim


@every_integrator
@pytest.mark.parametrize("friction", [0.3, 0.8])
def test_a_foot_on_a_slope_sticks_below_the_friction_angle(friction, integrator):
    sim, _, _ = box_on(np.arctan(friction) - 0.01, friction, integrator=integrator)
    start = sim.q.copy()
    run(sim, 3000)
    np.testing.assert_allclose(sim.q, start, atol=1e-6)
    assert np.abs(sim.v).max() < 1e-6


@every_integrator
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_foot_on_a_slope_slides_above_the_friction_angle(friction, integrator):
    slope = np.arctan(friction) + 0.1
    sim, down, normal = box_on(slope, friction, integrator=integrator)
    start = sim.q[:3].copy()
    run(sim, 500)
    a = G * (np.sin(slope) - friction * np.cos(slope))
    moved = sim.q[:3] - start
    np.testing.assert_allclose(moved @ down, 0.5 * a * 0.25, rtol=3e-3)
    assert abs(moved @ normal) < 1e-6 and abs(moved[1]) < 1e-9


def test_sliding_friction_points_against_the_motion_of_each_point():
    """A box that slides and spins: every point has its own direction, found in the step."""
    sim, _, _ = box_on(0.0, 0.4)
    sim.reset(sim.q, [0.5, 0.2, 0.0, 0.0, 0.0, 6.0])
    for _ in range(100):
        q = sim.q.copy()
        sim.step(NONE)
        assert conditions(sim, q) < 2e-5
    run(sim, 1500)
    assert np.abs(sim.v).max() < 1e-8


def conditions(sim, q):
    """The largest violation [m/s, and relative] of the contact conditions in the step from q, from dense algebra."""
    dt, mu = sim.settings.step, sim.settings.ground_friction
    ground, worst = sim._engine.ground_axes, 0.0
    impulses = sim._engine.impulse[: sim._engine.gap.size * 3].reshape(-1, 3)
    J, gaps = point_rows(sim, q)
    u = (J @ sim.v).reshape(-1, 3) @ ground.T
    scale = np.abs(impulses).max() or 1.0
    for f, velocity, gap in zip(impulses, u, gaps):
        reach = velocity[0] + max(gap, 0.0) / dt
        worst = max(worst, -f[0] / scale, -reach, min(f[0] / scale, reach))
        size, limit = np.hypot(*f[1:]), mu * f[0]
        worst = max(worst, (size - limit) / scale)
        slip = np.hypot(*velocity[1:])
        if slip > 1e-4:
            worst = max(worst, np.abs(f[1:] + limit * velocity[1:] / slip).max() / scale)
    return worst


def test_a_landing_humanoid_meets_the_contact_conditions_in_every_step():
    sim = standing(0.02, joint_friction=False, solver_sweeps=20000)
    control, touched = posture_controller(sim), 0
    for k in range(400):
        q = sim.q.copy()
        sim.step(control())
        if sim._engine.is_solved and k % 5 == 0:
            touched += 1
            assert conditions(sim, q) < 2e-5
    assert touched > 30


def test_a_dropped_humanoid_comes_to_rest_on_its_feet():
    sim = standing(0.05)
    control = posture_controller(sim)
    for _ in range(6000):
        sim.step(control())
    rest = sim.q.copy()
    for _ in range(10000):
        sim.step(control())
    assert np.abs(sim.q[:3] - rest[:3]).max() < 1e-6  # asked for is 1e-3
    assert np.abs(sim.v).max() < 1e-6
    forces = sim.contact_forces()
    assert set(forces) == set(SOLES)
    np.testing.assert_allclose(sum(forces.values()), [0, 0, sim.model.total_mass * G], atol=1e-4)
    assert all(force[2] > 0.0 for force in forces.values())


def contact_work(sim, q):
    """Energy [J] that the contact impulses of the last step, which began at q, have put into the robot."""
    J, dt = point_rows(sim, q)[0], sim.settings.step
    pushed = J.T @ (sim._engine.impulse[: len(J)].reshape(-1, 3) @ sim._engine.ground_axes).ravel()
    H = mass_matrix(sim.model, q) + dt * np.diag(sim.model.damping)
    return pushed @ (sim.v - 0.5 * np.linalg.solve(H, pushed))  # f . (u before + u after) / 2


@pytest.mark.parametrize("points", ["sole", "sole 0.1 0.05"])
@pytest.mark.parametrize("friction", [0.0, 0.6])
def test_a_passive_drop_never_gains_energy(points, friction):
    rng = np.random.default_rng(4)
    for _ in range(4):
        sim, _, _ = box_on(0.2, friction, points)
        q = sim.q.copy()
        q[:3] += [0.0, 0.0, 0.2]
        q[3:7] = rng.normal(size=4)
        sim.reset(sim.model.check_configuration(q), [*rng.normal(size=3), 0.0, 0.0, 0.0])
        energy = sim.energy()
        for _ in range(600):
            q = sim.q.copy()
            sim.step(NONE)
            assert contact_work(sim, q) < 1e-9
            # what semi-implicit Euler itself makes of weight, m (g step)^2, and of the spin that the impact leaves
            spin = np.linalg.norm(sim.v[3:])
            assert sim.energy() < energy + 2e-4 + 2e-6 * spin**3
            energy = sim.energy()


def test_a_humanoid_that_collapses_never_gains_energy_from_the_ground():
    sim = standing(0.05)
    none, top = np.zeros(len(sim.tau)), sim.energy()
    for k in range(400):
        q = sim.q.copy()
        sim.step(none)
        assert sim.energy() < top + 1e-3
        if k % 5 == 0:
            assert contact_work(sim, q) < 1e-8


@every_integrator
def test_correction_of_depth_adds_no_velocity(integrator):
    sim, _, normal = box_on(0.1, 0.8, integrator=integrator)
    q = sim.q.copy()
    q[:3] -= 0.01 * normal
    sim.reset(q)
    for _ in range(200):
        sim.step(NONE)
        assert np.abs(sim.v).max() < 1e-8
    np.testing.assert_allclose(sim.q[:3] - q[:3], 0.01 * normal, atol=1e-5)


def test_nothing_falls_through_the_ground_and_nothing_bounces():
    sim, _, _ = box_on(points="sole 0.1 0.05")
    q = sim.q.copy()
    q[2] += 2.0
    sim.reset(q)
    lowest, highest = np.inf, -np.inf
    for _ in range(1500):
        sim.step(NONE)
        lowest = min(lowest, sim.q[2])
        highest = max(highest, sim.v[2])
    assert lowest > 0.05 - 1e-9 and highest < 1e-9
    assert sim.q[2] == pytest.approx(0.05, abs=1e-9)


def test_a_patch_gives_a_wrench_and_a_point_a_force():
    sim, _, _ = box_on()
    sim.push("body", [0, 0, 0, 0, 0.4, 0], 1.0)
    run(sim, 200)
    wrench = sim.contact_forces()["sole"]
    np.testing.assert_allclose(wrench, [0, 0, 2.0 * G, 0, -0.4, 0], atol=1e-6)
    sensor = sim.frame_wrench("sole")
    np.testing.assert_allclose(sensor, wrench + [0, 0, 0, 0, 0.4, 0], atol=1e-6)
    point, _, _ = box_on(points="sole")
    run(point, 10)
    assert point.contact_forces()["sole"].shape == (3,)


def test_a_higher_ground_and_a_faster_clock_change_nothing_but_their_part():
    high = Simulator(
        load_urdf(box(), "floating"),
        contacts=("sole 0.1 0.05",),
        ground_height=3.0,
        step=0.005,
    )
    assert high.q[2] == pytest.approx(3.05)
    run(high, 200)
    assert high.q[2] == pytest.approx(3.05, abs=1e-9)
