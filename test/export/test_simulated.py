# SPDX-License-Identifier: Apache-2.0
"""A simulated robot in C is the `Simulator`: every step, hold, push and reset in every bit."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.exported import shipped, shipped_simulator

from opspace_ctrl import Simulator
from opspace_ctrl.errors import ExportError
from opspace_ctrl.export import library_path
from opspace_ctrl.export.controller import image_of
from opspace_ctrl.export.native import Library, Robot, SimulatedRobot
from opspace_ctrl.export.simulator import simulator_image, with_reference_steps


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(library_path())


def same(python: Simulator, in_c: SimulatedRobot) -> bool:
    """Are states and efforts equal in every bit?"""
    pairs = ((python.q, in_c.q), (python.v, in_c.v), (python.tau, in_c.tau))
    return all(x.tobytes() == y.tobytes() for x, y in pairs)


@pytest.mark.parametrize("name", ["arm7", "asimo", "free_flyer"])
def test_steps_holds_pushes_and_resets_are_those_of_python(library, name):
    """asimo stands on its feet: contacts and friction, too."""
    python = shipped_simulator(name)
    in_c, rng = SimulatedRobot(library, simulator_image(python).packed()), np.random.default_rng(4)
    frame = python.model.frame_names[-1]
    for i in range(600):
        if i == 400:
            python.reset()
            in_c.reset()
        if i % 100 == 50:
            wrench = rng.uniform(-20.0, 20.0, 6)
            python.push(frame, wrench, 20 * python.settings.step)
            assert in_c.call("sim_push", frame, wrench, 20) == 0
        if i % 3 == 0:
            tau = rng.uniform(-5.0, 5.0, len(python.tau))
        else:
            tau = np.array(python.hold())
            assert in_c.hold().tobytes() == tau.tobytes()
            if i % 3 == 1:
                tau = python.hold()  # the very efforts: it goes on to hold the same position
        python.step(tau)
        in_c.step(np.array(tau))
        assert same(python, in_c), i


@pytest.mark.parametrize("name", ["arm7", "asimo", "free_flyer"])
def test_reference_steps_are_replayed(library, name):
    simulator = shipped_simulator(name)
    by_c = with_reference_steps(simulator_image(simulator), simulator, library.record, "here")
    by_python = with_reference_steps(simulator_image(simulator), simulator, None, "here")
    assert by_c.ticks.tobytes() == by_python.ticks.tobytes()
    assert library.replay(by_c.packed()) == (200, 200, 0.0)
    other = by_c.ticks.copy()
    other[150, 3] += 1e-9 * np.abs(other).max()
    with pytest.raises(ExportError, match="do not come out as they were recorded"):
        library.replay(by_c.with_ticks(other, "").packed())


def test_what_cannot_be_stepped_is_refused_and_nothing_moves(library):
    simulator = shipped_simulator("arm7")
    robot = SimulatedRobot(library, simulator_image(simulator).packed())
    before = robot.q.copy()
    for tau, status in ((np.full(7, np.nan), 1), (np.full(7, 1e300), 1), (None, 2)):
        assert robot.call("sim_step", tau) == status
    assert robot.call("sim_push", "nobody", np.zeros(6), 1) == 3
    assert robot.call("sim_push", "tool", np.full(6, np.inf), 1) == 1
    assert robot.call("sim_reset", np.full(7, np.nan), None) == 1
    robot._look()
    assert (robot.q == before).all()
    assert robot.call("tick", before, before, 0.0, robot.tau) == 6  # it has no controller
    assert robot.call("activate", before, before, 0.0) == 15
    assert robot.call("command", 1, 1, robot.tau) == 15


def test_a_controller_has_no_steps_and_other_engines_no_image(library):
    assert Robot(library, image_of(shipped("arm7")).packed()).call("sim_step", np.zeros(7)) == 15
    with pytest.raises(ExportError, match="'mujoco' cannot be exported; valid is 'native'"):
        simulator_image(Simulator("arm7", engine="mujoco"))
