# SPDX-License-Identifier: Apache-2.0
"""The simulator beside other engines: DART behind the same interface, MuJoCo's mj_step."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from helpers.shipped_robots import HOME
from helpers.sim_cases import FREE, box

from opspace_ctrl import load_robot, load_urdf, mass_matrix
from opspace_ctrl.bench.mujoco_peer import converted
from opspace_ctrl.errors import MethodError, SimulationError
from opspace_ctrl.sim.simulator import Simulator

FIXED = ("arm7", "asimo", "free_flyer")


def pair(name, base, **options):
    """The native engine and DART in the same state."""
    model, rng = load_robot(name, base=base), np.random.default_rng(5)
    sims = [Simulator(model, engine=engine, **options) for engine in ("native", "dart")]
    q = (
        model.random_configuration(rng)
        if base == "floating"
        else model.neutral() + 0.3 * rng.uniform(-1, 1, model.nq)
    )
    for sim in sims:
        sim.reset(q, 0.2 * rng.normal(size=model.nv) if sim is sims[0] else sims[0].v)
    return sims


def swing(sims, steps, size):
    for k in range(steps):
        tau = size * np.sin(0.01 * k + np.arange(len(sims[0].tau)))
        for sim in sims:
            sim.step(tau)


@pytest.mark.parametrize("name", FIXED)
def test_dart_agrees_on_a_fixed_base_for_a_second(name):
    ours, dart = sims = pair(name, "fixed", **FREE)
    swing(sims, 1000, 0.5 if name == "arm7" else 0.02)
    assert np.abs(ours.v).max() > 0.05
    np.testing.assert_allclose(ours.q, dart.q, atol=1e-9)
    np.testing.assert_allclose(ours.v, dart.v, atol=1e-8)


def test_dart_agrees_on_coulomb_friction():
    ours, dart = sims = pair(
        "arm7", "fixed", joint_limits=False, velocity_limits=False, joint_damping=False
    )
    swing(sims, 100, 3.0)
    np.testing.assert_allclose(ours.q, dart.q, atol=1e-7)


def test_dart_agrees_on_a_floating_base_to_first_order():
    errors = []
    for step in (0.002, 0.001):
        ours, dart = sims = pair("free_flyer", "floating", step=step, **FREE)
        for sim in sims:
            sim.push("left_tool", [2.0, 1.0, -1.0, 0.1, 0.0, 0.2], 0.1)
        swing(sims, round(0.2 / step), 0.05)
        errors.append(np.abs(ours.model.difference(ours.q, dart.q)).max())
        np.testing.assert_allclose(ours.v[6:], dart.v[6:], atol=1e-3)
    assert errors[1] < 0.6 * errors[0] < 1e-4


@pytest.mark.parametrize("engine", ["dart", "mujoco"])
def test_other_engines_save_restore_hold_and_measure(engine):
    model = load_robot("arm7")
    sim = Simulator(model, engine=engine, initial_positions=HOME["arm7"])
    start = sim.q.copy()
    for _ in range(200):
        sim.step(sim.hold())
    np.testing.assert_allclose(sim.q, start, atol=1e-6)
    sim.push("tool", [0.0, 0, -5.0, 0, 0, 0], 0.05)
    sim.step(np.zeros(7))
    np.testing.assert_allclose(sim.frame_wrench("tool"), [0, 0, -5.0, 0, 0, 0])
    state = sim.save()
    ends = []
    for _ in range(2):
        sim.restore(state)
        swing([sim], 100, 1.0)
        ends.append((*sim.q, *sim.v, sim.time))
    assert ends[0] == ends[1] and ends[0][-1] == pytest.approx(0.301)
    assert sim.contact_forces() == sim.constraint_forces() == {}
    sim.reset()
    assert sim.time == 0.0 and not sim.v.any() and not sim.tau.any()
    np.testing.assert_array_equal(sim.q, start)
    with pytest.raises(SimulationError, match="saved"):
        sim.restore({"q": np.zeros(3)})


@pytest.mark.parametrize(
    "options, word",
    [
        ({"contacts": ("tool",)}, "contacts"),
        ({"integrator": "rkmk4"}, "rkmk4"),
        ({"closures": ("tool link1 position",)}, "closures"),
    ],
)
def test_dart_refuses_by_name_what_it_does_not_carry(options, word):
    with pytest.raises(MethodError, match=word):
        Simulator("arm7", engine="dart", **options)


def test_dart_refuses_a_model_that_is_not_its_urdf():
    with pytest.raises(MethodError, match="armature"):
        Simulator(load_robot("arm7", armature=0.1), engine="dart")
    with pytest.raises(MethodError, match="joint3"):
        Simulator(load_robot("arm7", locked={"joint3": 0.0}), engine="dart")


def mujoco_twin(model, damping=True):
    """mj_step on the same bodies: semi-implicit Euler with implicit damping, as ours."""
    twin = converted(model, [])
    twin.opt.timestep = 1e-3
    twin.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    if damping:
        twin.dof_damping[:] = model.damping
    return twin, mujoco.MjData(twin)


@pytest.mark.parametrize("damping", [False, True])
@pytest.mark.parametrize("name", FIXED)
def test_mujoco_agrees_on_a_fixed_base(name, damping):
    model = load_robot(name, base="fixed")
    sim = Simulator(model, joint_damping=damping, **FREE)
    twin, data = mujoco_twin(model, damping)
    rng = np.random.default_rng(0)
    sim.reset(0.3 * rng.uniform(-1, 1, model.nq), 0.2 * rng.normal(size=model.nv))
    data.qpos[:], data.qvel[:] = sim.q, sim.v
    for k in range(500):
        tau = 0.02 * np.sin(0.01 * k + np.arange(model.nv))
        sim.step(tau)
        data.qfrc_applied[:] = tau
        mujoco.mj_step(twin, data)
    np.testing.assert_allclose(sim.q, data.qpos, atol=1e-9)
    np.testing.assert_allclose(sim.v, data.qvel, atol=1e-8)


def test_mujoco_agrees_on_where_a_dropped_box_comes_to_rest():
    """MuJoCo's soft contact sinks in by a fraction of a millimetre; the rest is the same box on the same ground."""
    model = load_urdf(box(), "floating")
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2, 2, 0.1], friction=[0.6, 0.0, 0.0]
    )
    body = spec.worldbody.add_body(pos=[0, 0, 0.15])
    body.add_freejoint()
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.05, 0.05], mass=2.0, friction=[0.6, 0.0, 0.0]
    )
    twin = spec.compile()
    twin.opt.timestep = 1e-3
    data = mujoco.MjData(twin)
    data.qvel[0] = 1.0
    sim = Simulator(model, contacts=("sole 0.1 0.05",), ground_friction=0.6)
    start = sim.q.copy()
    start[2] = 0.15
    sim.reset(start, [1.0, 0, 0, 0, 0, 0])
    for _ in range(1500):
        sim.step(np.zeros(0))
        mujoco.mj_step(twin, data)
    np.testing.assert_allclose(sim.q[:3], data.qpos[:3], atol=0.02)
    assert sim.q[2] == pytest.approx(0.05, abs=1e-8) and np.abs(sim.v).max() < 1e-8


def test_dart_keeps_velocity_limits_too_one_step_late():
    """DART brakes a joint in the step after it was too fast, we in the step itself: the gap goes with the step."""
    model, apart, over = load_robot("arm7", gravity=(0, 0, 0)), [], []
    start = model.neutral() + 0.3
    size = 30.0 * np.diag(mass_matrix(model, start))
    options = {"joint_limits": False, "joint_friction": False, "effort_limits": False}
    for step in (2e-3, 1e-3, 5e-4):
        sims = [
            Simulator(model, engine=engine, step=step, **options) for engine in ("native", "dart")
        ]
        for sim in sims:
            sim.reset(start)
        shares, gap = np.zeros(2), 0.0
        for k in range(round(0.6 / step)):
            for sim in sims:
                sim.step(size * np.sin(8.0 * k * step + np.arange(7)))
            shares = np.maximum(
                shares, [np.abs(sim.v / model.velocity_limits).max() for sim in sims]
            )
            gap = max(gap, np.abs(sims[0].q - sims[1].q).max())
        apart.append(gap)
        over.append(shares - 1.0)
    ours, theirs = np.array(over).T
    assert (np.abs(ours) < 1e-6).all()
    assert (theirs > 0.05).all() and (theirs[:-1] / theirs[1:] > 1.7).all()
    assert apart[2] < 0.5 * apart[0]
