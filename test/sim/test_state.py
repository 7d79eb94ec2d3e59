# SPDX-License-Identifier: Apache-2.0
"""The state of a simulator is its fields of role `state`, tree.q and tree.v: what is refused changes none of them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.sim_cases import box, standing

from opspace_ctrl import load_urdf
from opspace_ctrl.compiled.workspace import Workspace, constant, count, scratch, state
from opspace_ctrl.errors import ConfigurationError, ParameterError, SimulationError
from opspace_ctrl.sim.engine.fields import Engine
from opspace_ctrl.sim.engine.integrators import STAGES as INTEGRATORS
from opspace_ctrl.sim.simulator import Simulator

STATE = [name for name, field in Engine.fields.items() if field.role == "state"]


def assert_same(before, after):
    assert before.keys() == after.keys()
    for name in before:
        np.testing.assert_array_equal(before[name], after[name], name)


def landed(integrator="semi_implicit"):
    """asimo after a landing, pushed: nothing of its state is zero any more."""
    sim = standing(
        0.001,
        integrator=integrator,
        effort_limits=False,
        joint_limits=False,
        velocity_limits=False,
    )
    sim.push("left_hand", [1.0, 2.0, 3.0, 0.0, 0.0, 0.1], 1.0)
    for _ in range(30):
        sim.step(np.full(len(sim.tau), 0.5))
    return sim


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_step_that_leaves_the_range_changes_nothing(integrator):
    sim = landed(integrator)
    before = sim.save()
    with pytest.raises(SimulationError, match="range of numbers"):
        sim.step(np.full(len(sim.tau), 1.7e70))  # hardly less than what is refused at once
    assert_same(before, sim.save())
    twin = landed(integrator)
    for _ in range(5):
        sim.step(np.zeros(len(sim.tau)))
        twin.step(np.zeros(len(sim.tau)))
    assert_same(twin.save(), sim.save())


@pytest.mark.parametrize("tau", [1e71, np.nan, np.inf])
def test_efforts_that_are_refused_change_nothing(tau):
    sim = landed()
    before = sim.save()
    with pytest.raises(ConfigurationError):
        sim.step(np.full(len(sim.tau), tau))
    assert_same(before, sim.save())


def test_asking_for_holding_efforts_changes_nothing():
    sim = landed()
    before = sim.save()
    sim.hold()
    assert_same(before, sim.save())


def test_all_state_is_saved_and_nothing_else():
    sim = landed()
    assert sim.save().keys() == {"count", "q", "v", *STATE}
    changed = [name for name in STATE if np.any(getattr(sim._engine, name))]
    assert {"applied", "slide", "impulse", "mode", "push_wrench", "last_push_wrench"} <= {*changed}


def test_a_saved_state_goes_on_bit_for_bit():
    sim = landed()
    other = standing(effort_limits=False, joint_limits=False, velocity_limits=False)
    kept = sim.save()
    sim.step(np.zeros(len(sim.tau)))
    other.restore(kept)
    other.step(np.zeros(len(sim.tau)))
    assert_same(sim.save(), other.save())


def test_a_box_at_rest_needs_one_round_of_modes_a_step():
    sim = Simulator(load_urdf(box(), base="floating"), contacts=("sole 0.1 0.05",))
    for _ in range(200):
        sim.step(np.zeros(0))
    assert sim._engine.is_solved == 1 and sim._engine.mode_rounds == 1
    assert sim._engine.joint_rounds == 1


class _Mixed(Workspace):
    n = count("numbers")
    a = state("n", "")
    b = state("n, 3", "", int)
    c = scratch("n", "")
    copy = scratch("0", "", int)


class _Scattered(Workspace):
    a = state("2", "")
    b = constant("2", "")
    c = state("2", "")


def test_the_words_of_a_role_are_its_fields_and_no_others():
    work = _Mixed(n=5, a=1.5, b=7, c=2.0)
    words = work.words("state")
    work.lend("copy", words.copy())
    assert work.copy.shape == words.shape
    words[:] = 0
    assert not work.a.any() and not work.b.any() and (work.c == 2.0).all()
    words[:] = work.copy
    assert (work.a == 1.5).all() and (work.b == 7).all()
    with pytest.raises(TypeError, match="not neighbours"):
        _Scattered().words("state")


@pytest.mark.parametrize("engine", ["native", "dart", "mujoco"])
def test_a_misspelt_attribute_or_argument_is_refused(engine):
    simulator = Simulator("arm7", engine=engine)
    for name in ("foward_method", "step", "push"):  # nor may one hide a method
        with pytest.raises(AttributeError, match=name):
            setattr(simulator, name, "aba")
    with pytest.raises(ParameterError, match="no 'initial_position' .*mean 'initial_positions'"):
        Simulator("arm7", engine=engine, initial_position=[0.0] * 7)


def test_the_state_cannot_be_exchanged_under_the_simulator():
    simulator = Simulator("arm7")
    for name in ("q", "v", "tau"):
        with pytest.raises(AttributeError):
            setattr(simulator, name, np.zeros(7))
        with pytest.raises(ValueError, match="read-only"):
            getattr(simulator, name)[0] = 1.0
