# SPDX-License-Identifier: Apache-2.0
"""What the simulator refuses, by name, and that a refusal changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.sim_cases import FREE, box, pendulum

from opspace_ctrl import load_robot, load_urdf
from opspace_ctrl.errors import (
    ConfigurationError,
    MethodError,
    OpspaceError,
    ParameterError,
    SimulationError,
    UnknownFrameError,
    UnknownJointError,
)
from opspace_ctrl.sim.settings import SIMULATOR_TABLE, SimulatorSettings, simulator_settings
from opspace_ctrl.sim.simulator import Simulator


@pytest.fixture(scope="module")
def arm():
    return Simulator("arm7")


@pytest.mark.parametrize(
    "tau",
    [
        np.zeros(6),
        np.zeros((7, 1)),
        [0.0] * 8,
        np.full(7, np.nan),
        [np.inf] + 6 * [0.0],
        "zeros",
        None,
        7 * ["x"],
        [],
        (),
        set(),
        {1.0},
        np.full(7, 1e300),
    ],
)
def test_efforts_that_are_none_are_refused_and_nothing_moves(arm, tau):
    arm.reset()
    before = arm.q.copy()
    with pytest.raises(ConfigurationError):
        arm.step(tau)
    assert arm.time == 0.0
    np.testing.assert_array_equal(arm.q, before)


def test_efforts_are_converted_where_that_is_safe(arm):
    arm.reset()
    arm.step([0, 1, 0, 0, 0, 0, 0])
    arm.step(np.ones(7, np.float32))
    arm.step(np.ones(14)[::2])
    assert arm.time == pytest.approx(0.003)


def test_a_robot_without_joints_takes_an_empty_list():
    sim = Simulator(load_urdf(box(), base="floating"))
    sim.step([])
    assert sim.time == pytest.approx(0.001) and sim.v[2] < 0.0


def test_states_and_results_cannot_be_written(arm):
    for view in (arm.q, arm.v, arm.tau, arm.hold()):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1.0


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda s: s.push("hand", np.zeros(6), 1.0), UnknownFrameError),
        (lambda s: s.push("tool", np.zeros(5), 1.0), ConfigurationError),
        (lambda s: s.push("tool", [np.nan] * 6, 1.0), ConfigurationError),
        (lambda s: s.push("tool", np.zeros(6), 0.0), ConfigurationError),
        (lambda s: s.push("tool", np.zeros(6), np.nan), ConfigurationError),
        (lambda s: s.push("tool", np.zeros(6), "long"), ConfigurationError),
        (lambda s: s.frame_wrench("hand"), UnknownFrameError),
        (lambda s: s.reset(np.zeros(3)), ConfigurationError),
        (lambda s: s.reset(v=np.full(7, np.inf)), ConfigurationError),
        (lambda s: s.restore({}), SimulationError),
        (lambda s: s.restore(None), SimulationError),
        (lambda s: s.restore({**s.save(), "q": np.zeros(3)}), SimulationError),
        (lambda s: s.restore({**s.save(), "more": np.zeros(3)}), SimulationError),
        (lambda s: s.restore({**s.save(), "v_start": np.full(7, "x")}), SimulationError),
        (lambda s: s.restore({**s.save(), "push_frame": np.full(32, 10**9)}), SimulationError),
    ],
)
def test_calls_are_refused_by_name(arm, call, error):
    with pytest.raises(error):
        call(arm)


def test_only_so_many_frames_are_pushed_at_once():
    model = load_robot("asimo")
    sim = Simulator(model)
    with pytest.raises(ConfigurationError, match="pushed"):
        for frame in model.frame_names:
            sim.push(frame, np.zeros(6), 1.0)


@pytest.mark.parametrize(
    "options, error, word",
    [
        ({"engine": "ode"}, ParameterError, "engine"),
        ({"integrator": "rk4"}, ParameterError, "integrator"),
        ({"step": 0.0}, ParameterError, "step"),
        ({"step": "fast"}, ParameterError, "step"),
        ({"forward_method": "magic"}, ParameterError, "forward_method"),
        ({"contacts": ("hand",)}, UnknownFrameError, "hand"),
        ({"contacts": ("tool 0.1",)}, ConfigurationError, "tool 0.1"),
        ({"contacts": ("tool 0.1 -1",)}, ConfigurationError, "half"),
        ({"contacts": ("",)}, UnknownFrameError, "frame"),
        ({"contacts": ("tool", "tool")}, ConfigurationError, "already"),
        ({"contacts": ("base_link",)}, ConfigurationError, "world"),
        ({"closures": ("tool",)}, ConfigurationError, "first second"),
        ({"closures": ("tool link1 screw",)}, ConfigurationError, "rows"),
        ({"closures": ("tool tool",)}, ConfigurationError, "same body"),
        ({"ground_normal": (0.0, 0.0, 0.0)}, ConfigurationError, "normal"),
        ({"ground_friction": -1.0}, ParameterError, "friction"),
        ({"initial_positions": [0.0] * 3}, ConfigurationError, "initial_positions"),
        ({"initial_positions": {"elbow": 1.0}}, UnknownJointError, "elbow"),
        ({"initial_positions": {"joint1": 99.0}}, ConfigurationError, "joint1"),
        ({"initial_positions": {"joint1": np.nan}}, ConfigurationError, "initial_positions"),
        ({"initial_pose": [0.0] * 7}, ConfigurationError, "initial_pose"),
    ],
)
def test_settings_are_refused_by_name(options, error, word):
    with pytest.raises(error, match=word):
        Simulator("arm7", **options)


def test_methods_that_cannot_carry_the_robot_are_refused():
    with pytest.raises(MethodError, match="decoupled"):
        Simulator("arm7", forward_method="decoupled")
    with pytest.raises(OpspaceError):
        Simulator("no_such_robot.urdf")


def test_a_motion_that_leaves_the_numbers_is_named_and_the_state_kept():
    model = load_urdf(pendulum(damping=1e9), gravity=(0, 0, 0))
    sim = Simulator(model, integrator="explicit", **FREE)
    sim.reset(v=[1.0])
    with pytest.raises(SimulationError, match="range of numbers"):
        for _ in range(200):
            before = sim.q.copy(), sim.v.copy()
            sim.step(np.zeros(1))
    np.testing.assert_array_equal(sim.q, before[0])
    np.testing.assert_array_equal(sim.v, before[1])


def test_the_table_makes_settings_and_knows_its_names():
    assert simulator_settings({}) == SimulatorSettings()
    changed = simulator_settings(
        {"ground.friction": 0.3, "step": 0.002, "rate": 500.0, "contacts": ["tool"]}
    )
    assert (
        changed.ground_friction == 0.3 and changed.contacts == ("tool",) and changed.step == 0.002
    )
    with pytest.raises(ParameterError, match="stepp"):
        simulator_settings({"stepp": 0.1})
    names = [parameter.name for parameter in SIMULATOR_TABLE]
    assert len(set(names)) == len(names)
    assert {
        "robot",
        "base",
        "joints",
        "step",
        "rate",
        "mode",
        "real_time_factor",
        "engine",
        "integrator",
        "forward_method",
        "initial_positions",
        "initial_pose",
        "contacts",
        "command_timeout",
        "timeout_action",
        "faults",
        "seed",
        "publish_robot_description",
    } <= set(names)
