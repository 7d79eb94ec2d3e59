# SPDX-License-Identifier: Apache-2.0
"""The simulator in free motion: against dense algebra and conservation laws, deterministic, saved and restored."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.allocation import SMALL, compiled_allocations, traced
from helpers.shipped_robots import HOME
from helpers.sim_cases import FREE, PASSIVE, SOLES, standing
from helpers.support import load_quietly, urdf_path

from opspace_ctrl import dynamics, inverse_dynamics, load_robot, load_urdf, mass_matrix
from opspace_ctrl.sim.engine.integrators import STAGES as INTEGRATORS
from opspace_ctrl.sim.simulator import Simulator

ROBOTS = [("arm7", "fixed"), ("asimo", "fixed"), ("asimo", "floating"), ("free_flyer", "floating")]


def moving(name, base="fixed", speed=0.5, seed=0, **options):
    """A simulator in a random state."""
    model, rng = load_robot(name, base=base), np.random.default_rng(seed)
    sim = Simulator(model, **{**PASSIVE, **options})
    sim.reset(model.random_configuration(rng), speed * rng.normal(size=model.nv))
    return sim


def run(sim, steps, tau=None):
    tau = np.zeros(len(sim.tau)) if tau is None else tau
    for _ in range(steps):
        sim.step(tau)
    return sim


@pytest.mark.parametrize("name, base", ROBOTS)
def test_a_step_is_the_dense_formula_of_semi_implicit_euler(name, base):
    sim = moving(name, base, joint_damping=True)
    model, q, v = sim.model, sim.q.copy(), sim.v.copy()
    rng, tau, wrench = np.random.default_rng(1), np.zeros(model.nv), np.arange(1.0, 7.0)
    tau[~model.is_base_coordinate] = rng.normal(size=len(sim.tau))
    frame, dt = model.frame_names[-1], sim.settings.step
    sim.push(frame, wrench, dt)
    sim.step(tau[~model.is_base_coordinate])
    h = inverse_dynamics(model, q, v, np.zeros(model.nv), {frame: wrench})
    dv = np.linalg.solve(
        mass_matrix(model, q) + dt * np.diag(model.damping), dt * (tau - h - model.damping * v)
    )
    np.testing.assert_allclose(sim.v, v + dv, rtol=1e-11, atol=1e-11 * np.abs(dv).max())
    np.testing.assert_allclose(sim.q, model.integrate(q, sim.v, dt), atol=1e-13)


@pytest.mark.parametrize("name, limit", [("arm7", 1e-5), ("asimo", 1e-3)])
def test_the_runge_kutta_method_keeps_energy(name, limit):
    sim = moving(name, integrator="rkmk4")
    sim.reset(sim.model.random_configuration(np.random.default_rng(3)))
    start, none, worst, largest = sim.energy(), np.zeros(len(sim.tau)), 0.0, 0.0
    for k in range(10000):
        sim.step(none)
        if k % 10 == 0:
            worst = max(worst, abs(sim.energy() - start))
            largest = max(largest, dynamics.kinetic_energy(sim.model, sim.q, sim.v))
    assert worst < limit * largest


def test_a_free_flyer_keeps_its_momentum():
    sim = moving("free_flyer", "floating", integrator="rkmk4")
    before = momentum(sim)
    run(sim, 10000)
    np.testing.assert_allclose(momentum(sim), before, atol=1e-9 * np.abs(before).max())


def momentum(sim):
    """Linear and angular momentum (6,) about the world's origin: the base coordinates of H v, turned."""
    p = (mass_matrix(sim.model, sim.q) @ sim.v)[:6]
    position, quaternion = dynamics.frame_pose(sim.model, sim.q, "bus")
    R = rotation(quaternion)
    linear, angular = R @ p[:3], R @ p[3:]
    return np.concatenate([linear, angular + np.cross(position, linear)])


def rotation(quaternion):
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(quaternion).as_matrix()


@pytest.mark.parametrize("integrator, order", [("semi_implicit", 1), ("explicit", 1), ("rkmk4", 4)])
@pytest.mark.parametrize("name, base", [("arm7", "fixed"), ("free_flyer", "floating")])
def test_the_error_falls_with_the_order_of_the_integrator(integrator, order, name, base):
    duration, steps = 0.2, (0.01, 0.005, 0.0025)

    def end(step, integrator):
        sim = moving(name, base, integrator=integrator, step=step, joint_damping=True)
        return run(sim, round(duration / step), np.full(len(sim.tau), 0.5))

    exact = end(2.5e-4, "rkmk4")
    errors = [
        np.abs(np.concatenate([exact.model.difference(exact.q, sim.q), sim.v - exact.v])).max()
        for sim in (end(step, integrator) for step in steps)
    ]
    found = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(found > order - 0.25), (errors, found)


def test_every_forward_dynamics_gives_the_same_motion():
    for name, base in (("arm7", "fixed"), ("free_flyer", "floating")):
        model, ends = load_robot(name, base=base), {}
        for method in dynamics.forward_methods(model):
            sim = Simulator(model, forward_method=method)
            ends[method] = run(sim, 500, np.sin(np.arange(len(sim.tau)))).q.copy()
        for method, q in ends.items():
            np.testing.assert_allclose(q, ends["aba"], atol=1e-9, err_msg=f"{name} {method}")


def test_forward_dynamics_other_than_the_default_carry_contacts():
    ends = []
    for method in ("crba_ltdl", "aba"):
        sim = standing(0.01, forward_method=method)
        ends.append(run(sim, 300).q.copy())
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-7)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_two_runs_are_equal_to_the_last_bit(integrator):
    ends = []
    for _ in range(2):
        sim = standing(0.02, integrator=integrator)
        run(sim, 200, 0.1 * np.sin(np.arange(len(sim.tau))))
        ends.append((sim.q.copy(), sim.v.copy()))
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[0][1], ends[1][1])


def test_a_restored_state_goes_on_to_the_last_bit():
    sim, tau = standing(0.01), None
    tau = 0.2 * np.cos(np.arange(len(sim.tau)))
    sim.push("torso", [5.0, 3.0, 0, 0, 0, 1.0], 0.08)
    run(sim, 60, tau)  # the push acts, the feet have touched
    state = sim.save()
    first = run(sim, 60, tau).q.copy(), sim.v.copy(), sim.time, sim.contact_forces()
    sim.push("torso", np.ones(6), 1.0)
    run(sim, 30)
    sim.restore(state)
    run(sim, 60, tau)
    np.testing.assert_array_equal(sim.q, first[0])
    np.testing.assert_array_equal(sim.v, first[1])
    assert sim.time == first[2] == pytest.approx(0.12)
    for frame, force in sim.contact_forces().items():
        np.testing.assert_array_equal(force, first[3][frame])
    twin = standing(0.01)  # a state belongs to the robot and settings, not to the object
    twin.restore(state)
    run(twin, 60, tau)
    np.testing.assert_array_equal(twin.q, first[0])


def test_asking_for_forces_or_hold_does_not_change_the_motion():
    ends = []
    for curious in (False, True):
        sim = standing(0.01)
        for _ in range(100):
            sim.step(np.zeros(len(sim.tau)))
            if curious:
                (
                    sim.hold(),
                    sim.contact_forces(),
                    sim.frame_wrench("torso", False),
                    sim.energy(),
                    sim.save(),
                )
        ends.append(sim.q.copy())
    np.testing.assert_array_equal(ends[0], ends[1])


def test_reset_goes_back_to_the_start():
    sim = standing()
    start = sim.q.copy()
    sim.push("torso", np.ones(6), 1.0)
    first = run(sim, 50).q.copy()
    sim.reset()
    assert (
        sim.time == 0.0
        and not sim.v.any()
        and not sim.contact_forces()["left_foot_front_left"].any()
    )
    np.testing.assert_array_equal(sim.q, start)
    sim.push("torso", np.ones(6), 1.0)
    np.testing.assert_array_equal(run(sim, 50).q, first)


def test_a_push_acts_for_its_duration_and_another_replaces_it():
    model = load_robot("free_flyer")
    sim = Simulator(model, **PASSIVE)
    mass = model.total_mass
    sim.push("bus", [10.0, 0, 0, 0, 0, 0], 0.010)
    run(sim, 5)
    sim.push("bus", [0.0, 20.0, 0, 0, 0, 0], 0.003)
    run(sim, 20)
    velocity = dynamics.center_of_mass_jacobian(model, sim.q) @ sim.v
    np.testing.assert_allclose(mass * velocity, [0.05, 0.06, 0.0], atol=1e-4)


def test_locked_and_mimic_joints_are_carried():
    model = load_quietly(urdf_path("panda"))
    assert model.is_mimic.any()
    sim = Simulator(model, **PASSIVE, integrator="rkmk4")
    sim.reset(model.random_configuration(np.random.default_rng(0)))
    before = sim.energy()
    run(sim, 1000)
    assert abs(sim.energy() - before) < 1e-6 * dynamics.kinetic_energy(model, sim.q, sim.v)
    locked = load_robot("arm7", locked={"joint3": 0.4})
    assert len(Simulator(locked).tau) == 6


def test_armature_slows_a_joint():
    model = load_robot("arm7", armature=2.0, gravity=(0, 0, 0))
    sim = Simulator(model, **FREE)
    tau = np.zeros(7)
    tau[6] = 3.0
    sim.step(tau)
    light = Simulator(load_robot("arm7", gravity=(0, 0, 0)), **FREE)
    light.step(tau)
    assert 0 < sim.v[6] < 0.1 * light.v[6]


def test_planar_joints_move_by_the_exponential():
    urdf = """<robot name="cart"><link name="floor"/><link name="cart"><inertial><mass value="3"/>
      <inertia ixx="1" iyy="1" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="wheels" type="planar"><parent link="floor"/><child link="cart"/><axis xyz="0 0 1"/></joint>
      </robot>"""
    model = load_urdf(urdf)
    sim = Simulator(model, integrator="rkmk4")
    v = np.array([0.4, -0.2, 3.0])
    sim.reset([1.0, 2.0, 0.3], v)
    run(sim, 500)
    np.testing.assert_allclose(sim.q[2], 0.3 + 1.5, atol=1e-12)
    c, s = np.cos(0.3), np.sin(0.3)
    # nothing pushes the centre of mass
    straight = np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])
    np.testing.assert_allclose(sim.q[:2], [1.0, 2.0] + 0.5 * straight, atol=1e-9)


def test_a_step_allocates_nothing():
    for sim in (standing(), moving("arm7", integrator="rkmk4")):
        tau = np.zeros(len(sim.tau))
        growth, peak = traced(lambda sim=sim, tau=tau: sim.step(tau), 300)
        assert growth < SMALL and peak < SMALL
        assert compiled_allocations(lambda sim=sim, tau=tau: sim.step(tau)) == 0


def test_it_starts_on_the_ground_and_where_it_is_told():
    sim = standing()
    lowest = min(dynamics.frame_pose(sim.model, sim.q, frame)[0][2] for frame in SOLES)
    assert abs(lowest) < 1e-12
    names = sim.model.joint_names
    assert sim.q[7 + names.index("left_knee_pitch")] == HOME["asimo"]["left_knee_pitch"]
    at = Simulator("free_flyer", initial_pose=[1, 2, 3, 0, 0, 0.6, 0.8])
    np.testing.assert_allclose(at.q[:7], [1, 2, 3, 0, 0, 0.6, 0.8])
