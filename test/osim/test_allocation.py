# SPDX-License-Identifier: Apache-2.0
"""The control tick takes no memory: not from Python, not from NumPy, not inside compiled code."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from helpers.allocation import SMALL, compiled_allocations, traced
from helpers.osim_cases import random_state

from opspace_ctrl import CenterOfMass, OperationalSpace, Task, load_robot, osim

TICKS = 1000


@pytest.fixture(autouse=True)
def no_garbage_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def tick_of(model, tasks, method, q=None):
    """A control tick as a call without arguments."""
    ospace = OperationalSpace(model, tasks, method)
    state, rng = random_state(model, 1), np.random.default_rng(0)
    q, v = (state[0] if q is None else q), state[1]
    force, tau0 = rng.normal(size=ospace.m), rng.normal(size=model.nv)
    ospace.control(q, v, force, tau0)
    return ospace, lambda: ospace.control(q, v, force, tau0)


HANDS_AND_FEET = ["left_hand", "right_hand", "left_foot", "right_foot"]


@pytest.mark.parametrize("method", osim.methods())
def test_a_regular_tick_allocates_nothing(method):
    ospace, tick = tick_of(load_robot("asimo"), HANDS_AND_FEET, method)
    assert not ospace.damped
    growth, peak = traced(tick, TICKS)
    assert peak < SMALL and growth < SMALL
    assert compiled_allocations(tick) == 0


@pytest.mark.parametrize(
    "tasks", [["tool", "tool"], ["tool", ("link5", "orientation"), CenterOfMass()]]
)
def test_a_singular_tick_allocates_nothing(tasks):
    """The eigenvalue path, with more rows than joints."""
    ospace, tick = tick_of(load_robot("arm7"), tasks, "sparse_ltdl")
    assert ospace.damped
    growth, peak = traced(tick, TICKS)
    assert peak < SMALL and growth < SMALL
    assert compiled_allocations(tick) == 0


def test_a_tick_with_relative_and_centre_of_mass_tasks_allocates_nothing():
    tasks = [Task("left_hand", relative_to="right_hand"), CenterOfMass(), "left_foot"]
    _, tick = tick_of(load_robot("asimo"), tasks, "pv_osim")
    growth, peak = traced(tick, TICKS)
    assert peak < SMALL and growth < SMALL
    assert compiled_allocations(tick) == 0


def test_memory_does_not_grow_with_the_number_of_ticks_or_of_switches():
    ospace, tick = tick_of(load_robot("asimo"), HANDS_AND_FEET, "sparse_ltdl")
    ospace.prepare()
    names = osim.methods(ospace.model)

    def tick_and_switch():
        for name in names:
            ospace.method = name
            tick()

    tick_and_switch()
    few, many = traced(tick_and_switch, 10)[0], traced(tick_and_switch, 200)[0]
    assert many - few < SMALL


def test_reading_every_result_allocates_no_array():
    """Views are made once: what is left are sets of small strings."""
    model = load_robot("asimo")
    ospace, (q, v) = OperationalSpace(model, HANDS_AND_FEET, "sparse_ltdl"), random_state(model, 1)

    def read():
        ospace.update(q, v)
        return (
            ospace.jacobian,
            ospace.bias_acceleration,
            ospace.bias_forces,
            ospace.inertia_inv,
            ospace.inertia,
            ospace.jbar,
            ospace.null_space,
            ospace.rank,
            ospace.damped,
        )

    growth, peak = traced(read, TICKS)
    assert growth < 2 * SMALL and peak < 2 * SMALL
    assert compiled_allocations(read) == 0
