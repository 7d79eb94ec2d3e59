# SPDX-License-Identifier: Apache-2.0
"""The engine mujoco beside the native one: the same accelerations to rounding, the same motion to the step's order."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from helpers.sim_cases import FREE, PASSIVE, pendulum
from helpers.support import load_quietly, urdf_path

from opspace_ctrl import load_mjcf, load_robot, load_urdf, mass_matrix
from opspace_ctrl.dynamics import forward_dynamics
from opspace_ctrl.errors import ConfigurationError, MethodError, ParameterError, SimulationError
from opspace_ctrl.model.rotations import from_quaternion
from opspace_ctrl.sim.simulator import Simulator

SHIPPED = ("arm7", "asimo", "free_flyer")
WHEEL = ("ur5_robot", "ur10_robot", "kinova", "go2", "g1_29dof_rev_1_0")
INTEGRATORS = ("semi_implicit", "explicit", "rkmk4")
BALL = """<mujoco><worldbody><body name="arm" pos="0 0 1"><joint name="ball" type="ball" armature="0.02" damping="0.1"/>
  <inertial mass="2" pos="0.1 0.2 -0.3" fullinertia="0.05 0.06 0.07 0.01 0.002 0.003"/>
  <body name="slider" pos="0 0 -0.5"><joint name="slide" type="slide" axis="1 0 1" damping="0.3"/>
  <inertial mass="1" pos="0 0.1 0" diaginertia="0.02 0.03 0.04"/></body></body></worldbody></mujoco>"""


def load(name, base="fixed", **options):
    if name in SHIPPED:
        return load_robot(name, base=base, **options)
    return load_quietly(urdf_path(name), base, **options)


def pair(model, speed=0.2, **options):
    """The native engine and MuJoCo in the same random state."""
    rng = np.random.default_rng(5)
    q, v = model.random_configuration(rng), speed * rng.normal(size=model.nv)
    sims = [Simulator(model, engine=engine, **options) for engine in ("native", "mujoco")]
    for sim in sims:
        sim.reset(q, v)
    return sims


def swing(sims, duration, size):
    """Step all of them with the same waves of effort; the largest difference in q on the way."""
    step, apart = sims[0].settings.step, 0.0
    for k in range(round(duration / step)):
        for sim in sims:
            sim.step(size * np.sin(10.0 * k * step + np.arange(len(sim.tau))))
        apart = max(apart, np.abs(sims[0].model.difference(sims[0].q, sims[-1].q)).max())
    return apart


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", SHIPPED + WHEEL)
def test_accelerations_with_a_wrench_and_armature_are_ours_to_rounding(name, base):
    """In an Euler step; a free base gains R (a + w x v) in world axes."""
    model, dt = load(name, base, armature=0.02), 1e-3
    sim, rng = Simulator(model, engine="mujoco", step=dt, **PASSIVE), np.random.default_rng(3)
    q, v = model.random_configuration(rng), 0.3 * rng.normal(size=model.nv)
    tau, wrench, frame = (
        rng.normal(size=len(sim.tau)),
        10.0 * rng.normal(size=6),
        model.frame_names[-1],
    )
    sim.reset(q, v)
    sim.push(frame, wrench, dt)
    sim.step(tau)
    force = np.zeros(model.nv)
    force[~model.is_base_coordinate] = tau
    expected = forward_dynamics(model, q, v, force, {frame: wrench})
    found = (sim.v - v) / dt
    if base == "floating":
        before, after = from_quaternion(q[3:7]), from_quaternion(sim.q[3:7])
        gain = (after @ sim.v[:3] - before @ v[:3]) / dt
        found[:3] = before.T @ gain - np.cross(v[3:6], v[:3])
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", [*SHIPPED, "ur5_robot"])
def test_fixed_bases_move_as_in_the_native_engine(name, integrator):
    sims = pair(load(name), integrator=integrator, **FREE)
    assert swing(sims, 0.3, 0.5 if name == "arm7" else 0.02) < 1e-11
    assert np.abs(sims[0].v).max() > 0.05


@pytest.mark.parametrize("integrator, order", [("semi_implicit", 1), ("explicit", 1), ("rkmk4", 4)])
@pytest.mark.parametrize("name, frame", [("free_flyer", "left_tool"), ("asimo", "left_hand")])
def test_floating_bases_differ_by_the_order_of_the_integrator(name, frame, integrator, order):
    apart, model = [], load(name, "floating")
    for step in (0.004, 0.002):
        sims = pair(model, speed=1.0, step=step, integrator=integrator, **FREE)
        for sim in sims:
            sim.push(frame, [4.0, 2.0, -2.0, 0.1, 0.0, 0.2], 0.1)
        apart.append(swing(sims, 0.2, 0.05))
    assert apart[1] < 1.25 * 0.5**order * apart[0]
    assert apart[1] < (1e-2 if order == 1 else 1e-8)


def test_ball_joints_move_as_in_the_native_engine():
    sims = pair(load_mjcf(BALL), speed=2.0, **FREE)
    assert swing(sims, 0.3, 1.0) < 1e-11


def test_energy_is_kept_to_fourth_order_and_is_ours():
    for name in SHIPPED:
        sim = pair(load(name, "floating"), integrator="rkmk4", **PASSIVE)[1]
        before = sim.energy()
        swing([sim], 0.3, 0.0)
        assert sim.energy() == pytest.approx(before, abs=1e-7)


def test_dry_friction_is_ours():
    model = load("arm7")
    options = {"joint_limits": False, "velocity_limits": False, "joint_damping": False}
    assert swing(pair(model, **options), 0.1, 3.0) < 1e-7


def test_a_joint_that_sticks_creeps_and_one_at_its_stop_sinks_in_by_what_the_page_says():
    sticking = Simulator(load_urdf(pendulum(friction=6.0)), engine="mujoco")
    for _ in range(1000):
        sticking.step([0.0])
    assert -1e-5 < sticking.q[0] < 0.0
    deepest = []
    for step in (0.002, 0.001):
        falling = Simulator(load_urdf(pendulum(lower=-0.5)), engine="mujoco", step=step)
        lowest = 0.0
        for _ in range(round(1.0 / step)):
            falling.step([0.0])
            lowest = min(lowest, falling.q[0])
        deepest.append(-0.5 - lowest)
        assert falling.q[0] == pytest.approx(-0.5, abs=1e-6) and abs(falling.v[0]) < 1e-6
    assert 0.0 < deepest[1] < 0.6 * deepest[0] < 0.006


@pytest.mark.parametrize("integrator, gap", [("semi_implicit", 1e-6), ("rkmk4", 1e-4)])
def test_velocity_limits_are_kept_as_in_the_native_engine(integrator, gap):
    model = load_robot("arm7", gravity=(0, 0, 0))
    options = {"joint_limits": False, "joint_friction": False, "effort_limits": False}
    sims = pair(model, integrator=integrator, **options)
    size = 30.0 * np.diag(mass_matrix(model, sims[0].q))
    for sim in sims:
        sim.reset(model.neutral() + 0.3)
    assert swing(sims, 0.6, size) < gap
    fastest = 0.0
    for k in range(200):
        sims[1].step(size * np.sin(8e-3 * k + np.arange(7)))
        fastest = max(fastest, np.abs(sims[1].v / model.velocity_limits).max())
    assert fastest == 1.0


def test_efforts_are_checked_and_a_motion_out_of_range_keeps_the_state(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sim = Simulator("arm7", engine="mujoco", effort_limits=False)
    with pytest.raises(ConfigurationError, match="tau"):
        sim.step(np.zeros(6))
    sim.step(np.ones(7))
    q, v = sim.q.copy(), sim.v.copy()
    with pytest.raises(SimulationError, match="range of numbers"):
        sim.step(np.full(7, 1e308))
    assert (sim.q == q).all() and (sim.v == v).all() and sim.time == 1e-3
    sim.step(np.ones(7))
    assert np.isfinite(sim.q).all() and not list(tmp_path.iterdir())  # no log of MuJoCo's either


@pytest.mark.parametrize(
    "options, word",
    [({"contacts": ("tool",)}, "contacts"), ({"closures": ("tool link1 position",)}, "closures")],
)
def test_it_refuses_by_name_what_it_does_not_carry(options, word):
    with pytest.raises(MethodError, match=f"'mujoco' cannot carry {word}"):
        Simulator("arm7", engine="mujoco", **options)


def test_it_refuses_mimic_joints_by_name_and_carries_the_robot_with_them_locked():
    with pytest.raises(MethodError, match="panda_finger_joint2"):
        Simulator(load("panda"), engine="mujoco")
    model = load("panda", locked={"panda_finger_joint1": 0.02, "panda_finger_joint2": 0.02})
    assert swing(pair(model, **FREE), 0.2, 0.5) < 1e-11


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "opspace_ctrl.sim.engine.mujoco", raising=False)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MethodError, match=r"opspace_ctrl\[mujoco\]"):
        Simulator("arm7", engine="mujoco")
    with pytest.raises(ParameterError, match="mujoco"):
        Simulator("arm7", engine="bullet")
