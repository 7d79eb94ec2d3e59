# SPDX-License-Identifier: Apache-2.0
"""Loop closures: against the closed chains of `algebra.closure`, a KKT system, and two arms that move a beam."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.beam import HELD, beam_carrier, closed_state
from helpers.shipped_robots import HOME
from helpers.sim_cases import FREE, box

from opspace_ctrl import (
    bias_forces,
    dynamics,
    frame_jacobian,
    frame_pose,
    load_robot,
    load_urdf,
    mass_matrix,
)
from opspace_ctrl.algebra.closure import ClosedChain, Closure
from opspace_ctrl.errors import IllPosedError
from opspace_ctrl.sim.simulator import Simulator


@pytest.mark.parametrize("rows", ["pose", "position"])
@pytest.mark.parametrize("method", ["crba_ltdl", "kalman"])
def test_a_step_has_the_acceleration_and_the_forces_of_the_closed_chain(rows, method):
    sim, chain = beam_carrier(rows, forward_method=method)
    v, rng = closed_state(sim, chain), np.random.default_rng(1)
    tau, q = 5.0 * rng.normal(size=14), sim.q.copy()
    full = np.concatenate([np.zeros(6), tau, np.zeros(6)])
    expected = chain.forward(q, v, full)
    sim.step(tau)
    np.testing.assert_allclose(
        (sim.v - v) / sim.settings.step, expected, atol=1e-6 * np.abs(expected).max()
    )
    for wrench, pair in zip(chain.wrenches, HELD):
        found = sim.constraint_forces()[tuple(pair.split())]
        np.testing.assert_allclose(found, wrench, atol=1e-5 * np.abs(chain.wrenches).max())


def test_a_step_solves_the_kkt_system():
    """A four-bar of two arms in the plane, closed by a ball joint, with joint damping."""
    model = load_robot("arm7")
    q0 = np.array([HOME["arm7"].get(f"joint{i}", 0.0) for i in range(1, 8)])
    sim = Simulator(
        model,
        closures=("tool base_link position",),
        initial_positions=q0,
        **FREE,
    )
    chain = ClosedChain(model, [Closure("tool", "base_link", "position")])
    q, v = sim.q.copy(), chain.close_velocity(sim.q, 0.3 * np.ones(7))
    assert np.abs(chain.error(q)).max() < 1e-9  # the start was assembled
    sim.reset(q, v)
    tau, dt = np.arange(7.0), sim.settings.step
    sim.step(tau)
    J = frame_jacobian(model, q, "tool")[:3]
    drift = dynamics.frame_acceleration(model, q, v, np.zeros(7), "tool")[:3]
    H = mass_matrix(model, q) + dt * np.diag(model.damping)
    kkt = np.block([[H, -J.T], [J, np.zeros((3, 3))]])
    forces = tau - bias_forces(model, q, v) - model.damping * v
    solution = np.linalg.solve(kkt, np.concatenate([H @ v + dt * forces, -dt * drift]))
    np.testing.assert_allclose(sim.v, solution[:7], atol=1e-9)
    found = sim.constraint_forces()["tool", "base_link"]
    np.testing.assert_allclose(
        found, [*solution[7:] / dt, 0, 0, 0], atol=1e-6 * np.abs(found).max()
    )
    np.testing.assert_allclose(sim.frame_wrench("tool"), found, atol=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rkmk4"])
def test_loops_stay_closed(integrator):
    sim, chain = beam_carrier(integrator=integrator)
    closed_state(sim, chain)
    worst = speed = 0.0
    for k in range(3000):
        sim.step(3.0 * np.sin(0.002 * k + np.arange(14)) - 2.0 * sim.v[6:20])
        if k % 10 == 0:
            worst = max(worst, np.abs(chain.error(sim.q)).max())
            speed = max(speed, np.abs(chain.relative_velocity(sim.q, sim.v)).max())
    assert worst < 2e-5 and speed < 1e-3


def test_an_open_loop_closes_without_speed():
    sim, chain = beam_carrier()
    q = sim.q.copy()
    q[-7:-4] += [0.002, -0.001, 0.003]
    sim.reset(q)
    for _ in range(100):
        sim.step(np.zeros(14))
        assert np.abs(sim.v).max() < 1e-8
    errors = np.abs(chain.error(sim.q)).reshape(2, 6)[:, :3]
    assert errors.max() < 1e-8


def test_two_arms_move_a_beam_and_keep_momentum():
    """Arms of one robot carry a common object: the beam goes where it is asked, the bus moves back."""
    sim, chain = beam_carrier(joint_damping=True)
    model, start = sim.model, frame_pose(sim.model, sim.q, "beam_middle")[0]
    goal, J_tools = start + [-0.05, 0.0, 0.03], np.zeros((12, model.nv))
    center = dynamics.center_of_mass(model, sim.q)
    for _ in range(4000):
        position = frame_pose(model, sim.q, "beam_middle")[0]
        velocity = dynamics.frame_velocity(model, sim.q, sim.v, "beam_middle")
        force = np.concatenate(
            [120.0 * (goal - position) - 60.0 * velocity[:3], -30.0 * velocity[3:]]
        )
        for k, side in enumerate(("left", "right")):
            J_tools[6 * k : 6 * k + 6] = frame_jacobian(model, sim.q, f"{side}_tool")
        tau = J_tools[:, 6:20].T @ np.tile(0.5 * force, 2) - 2.0 * sim.v[6:20]
        sim.step(tau)
    assert np.abs(frame_pose(model, sim.q, "beam_middle")[0] - goal).max() < 2e-3
    assert np.abs(chain.error(sim.q)).max() < 1e-6
    # nothing pushes the whole
    np.testing.assert_allclose(dynamics.center_of_mass(model, sim.q), center, atol=1e-4)


def test_a_closure_too_many_shares_its_force():
    """A box on the world by two rigid closures: twelve rows hold six motions."""
    pin = """<robot name="pins"><link name="ground"/><link name="one"/><link name="two"/>
      <joint name="a" type="fixed"><parent link="ground"/><child link="one"/><origin xyz="0.1 0 0"/></joint>
      <joint name="b" type="fixed"><parent link="ground"/><child link="two"/><origin xyz="-0.1 0 0"/></joint></robot>"""
    ends = """<link name="end_one"/><link name="end_two"/>
      <joint name="c" type="fixed"><parent link="body"/><child link="end_one"/><origin xyz="0.1 0 0"/></joint>
      <joint name="d" type="fixed"><parent link="body"/><child link="end_two"/><origin xyz="-0.1 0 0"/></joint>
      </robot>"""
    model = load_urdf(
        [pin, box().replace("</robot>", ends)], ["fixed", "floating"], prefixes=["", ""]
    )
    sim = Simulator(model, closures=("end_one one", "end_two two"))
    for _ in range(500):
        sim.step(np.zeros(0))
    assert np.abs(sim.v).max() < 1e-6 and np.abs(sim.q[:3]).max() < 1e-8
    forces = sim.constraint_forces()
    np.testing.assert_allclose(sum(w[:3] for w in forces.values()), [0, 0, 2.0 * 9.81], atol=1e-4)


def test_contact_and_closure_act_together():
    """A box hangs at one end from a ball joint and rests with the other on the ground: each carries half its weight."""
    hook = """<robot name="hook"><link name="ground"/><link name="peg"/><joint name="a" type="fixed">
      <parent link="ground"/><child link="peg"/><origin xyz="0.1 0 0.0"/></joint></robot>"""
    ends = """<link name="front"/><link name="rear"/>
      <joint name="c" type="fixed"><parent link="body"/><child link="front"/><origin xyz="0.1 0 -0.05"/></joint>
      <joint name="d" type="fixed"><parent link="body"/><child link="rear"/><origin xyz="-0.1 0 -0.05"/></joint>
      </robot>"""
    model = load_urdf(
        [hook, box().replace("</robot>", ends)], ["fixed", "floating"], prefixes=["", ""]
    )
    sim = Simulator(
        model,
        closures=("front peg position",),
        contacts=("rear",),
        ground_friction=0.0,
    )
    for _ in range(300):
        sim.step(np.zeros(0))
    np.testing.assert_allclose(sim.constraint_forces()["front", "peg"][2], 9.81, rtol=1e-6)
    np.testing.assert_allclose(sim.contact_forces()["rear"][2], 9.81, rtol=1e-6)


def test_a_loop_that_cannot_be_closed_is_named():
    with pytest.raises(IllPosedError, match="tool"):
        Simulator("arm7", closures=("tool base_link",))
