# SPDX-License-Identifier: Apache-2.0
"""What leaves a controller behind its gates: gravity when nothing is believed, and no step beyond the rate limit.

Gravity is Pinocchio's; the rate limit is judged by the differences of the commands.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.closed_loop import ARM_START
from helpers.gate_cases import MS, Controlled
from helpers.support import PinTwin, pin_model

from opspace_ctrl import bias_forces, frame_jacobian, load_robot
from opspace_ctrl.control.safety.door import PERIODS
from opspace_ctrl.control.safety.fields import BIT
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.model.source import robot_text
from opspace_ctrl.parameter_file import node_parameters

ARM = load_robot("arm7")
TOOL = {"tasks": ["hand"], "hand.frame": "tool", "ramp": 0.0}
RATE = 1000.0  # [Nm/s] as is the default
ONE = RATE * 1e-3 * (1.0 + 1e-9)  # [Nm] in a period of 1 ms
NAN = float("nan")


def gravity(model, q):
    twin = PinTwin(model, pin_model(robot_text(model.name)))
    return pin.computeGeneralizedGravity(twin.model, twin.data, twin.q(q))


def running(**values):
    """arm7 at rest, controlled for a while."""
    robot = Controlled(ARM, **{**TOOL, **values})
    robot.q[:] = ARM_START
    robot.activate()
    for _ in range(50):
        robot.message()
    return robot


def close(a, b, tolerance=1e-6):
    return a == pytest.approx(b, abs=tolerance)


def test_the_first_command_after_activation_is_gravity_at_once():
    robot = running()
    assert close(robot.commands[0][1], gravity(ARM, ARM_START))
    assert (robot.steps() <= ONE).all()


@pytest.mark.parametrize("speed", [5.0, 40.0, 100.0, 1000.0])
def test_one_message_with_a_wild_velocity_and_then_silence_leaves_gravity(speed):
    """The cable breaks after a glitch: what stands is the gravity of the last state that was believed."""
    robot = running()
    robot.message(velocity=[0.0, speed, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert close(robot.silence(0.3), gravity(ARM, ARM_START), 1e-3)
    assert (robot.steps() <= PERIODS * ONE).all()
    assert not robot.silence(1.0).any()
    assert (robot.steps() <= PERIODS * ONE).all()


def test_what_is_held_has_no_coriolis_force_and_no_friction_of_the_last_velocity():
    robot = running(**{"compensation.friction": True})
    v = 0.9 * ARM.velocity_limits * [1, -1, 1, -1, 1, -1, 1]
    for _ in range(100):
        robot.q += 1e-3 * v
        robot.v[:] = v
        robot.message()
    assert robot.gate.closed == 0 and (robot.gate.v == v).all()
    assert close(robot.silence(0.4), gravity(ARM, robot.gate.q))


@pytest.mark.parametrize("is_simulated", [False, True])
def test_the_held_torque_of_a_standing_robot_is_what_its_contacts_leave_of_gravity(is_simulated):
    """Joint torques and some forces of the soles balance the weight, base included, at the state that was believed."""
    model = load_robot("asimo")
    values = node_parameters(shipped_path("config", "asimo.yaml"), "opspace_controller")
    robot = Controlled(model, is_simulated=is_simulated, **values)
    robot.activate()
    for _ in range(20):
        robot.message()
    for _ in range(300):
        tau = robot.message(position=[NAN] * len(model.joint_names))
    frames = [each.held_frame for each in robot.controller.settings.contacts]
    J = np.vstack([frame_jacobian(model, robot.q, frame) for frame in frames])
    weight = bias_forces(model, robot.q, np.zeros(model.nv))
    left = weight - np.concatenate([np.zeros(6), tau])
    forces, *_ = np.linalg.lstsq(J.T, left, rcond=None)
    assert len(frames) == 2 and np.abs(left).max() > 100.0
    np.testing.assert_allclose(J.T @ forces, left, atol=1e-6)


def test_safe_commands_are_rate_limited_while_a_gate_stays_closed():
    """Stop latched, velocities alternate at 500 Hz: braking follows them no faster than the limit."""
    robot = running(step=2 * MS)
    robot.gate.stop()
    for i in range(300):
        robot.message(velocity=[(-1) ** i * 1.0] * 7)
    assert robot.gate.closed == BIT["stop"] and (robot.steps() <= 2.0 * ONE).all()
    assert robot.steps().max() > 0.5  # there was something to limit


@pytest.mark.parametrize(
    "wrong",
    [
        {"position": [NAN] * 7},
        {"velocity": [NAN] * 7},
        {"position": [0.0] * 3},
        {"names": [ARM.joint_names[0]] * 7},
        {"position": [3.5] * 7},
    ],
)
def test_no_gate_steps_when_it_closes_nor_when_it_opens(wrong):
    robot = running()
    robot.controller.target_pose("hand", [0.3, 0.3, 0.6], [0.0, 0.0, 0.0, 1.0], robot.gate.time)
    for _ in range(60):
        robot.message(velocity=[0.1] * 7)
        robot.message(**wrong)
        robot.message(velocity=[-0.1] * 7)
    assert robot.gate.closings.sum() == 60 and (robot.steps() <= ONE).all()


def test_a_changed_effort_scale_is_approached_at_the_rate_limit():
    robot = running()
    limit = ARM.effort_limits
    before = len(robot.commands)
    robot.controller.apply(
        controller_settings({"method": "sparse_ltdl", **TOOL, "effort_scale": 0.05})
    )
    for _ in range(100):
        robot.message()
    assert (robot.steps() <= ONE).all()
    assert (np.abs(robot.commands[-1][1]) <= 0.05 * limit + 1e-9).all()
    assert (np.abs(robot.commands[before][1]) > 0.05 * limit).any()


def test_a_scale_that_changes_while_torques_are_saturated_is_kept_or_approached():
    """Far more is asked for than there is, now in this direction, now in that one, and the scale changes too."""
    values = {"method": "sparse_ltdl", **TOOL, "mode": "raw"}
    robot, rng, limit = running(mode="raw"), np.random.default_rng(2), ARM.effort_limits
    scale, last, saturated = 1.0, robot.commands[-1][1], 0
    for step in range(600):
        if step % 60 == 0:
            scale = float(rng.choice([0.05, 0.5, 1.0]))
            robot.controller.apply(controller_settings({**values, "effort_scale": scale}))
        if step % 100 == 0:
            wanted = 1e4 * rng.choice([-1.0, 1.0], 7)
        robot.controller.tau0(wanted, robot.gate.time)
        tau = robot.message().copy()
        assert (np.abs(tau - last) <= ONE).all()
        assert (np.abs(tau) <= np.maximum(scale * limit, np.abs(last) - 0.99 * ONE) + 1e-9).all()
        saturated += (np.abs(tau) > scale * limit - 1e-6).any()
        last = tau
    assert saturated > 100


def test_a_stamp_ahead_does_not_lift_the_rate_limit():
    robot = running(is_simulated=True)
    robot.gate.stop()
    for ahead in (0, 900 * MS, 0, 5_000 * MS, 0):
        robot.time += ahead
        robot.message(velocity=[1.5] * 7)
        assert robot.steps()[-1].max() <= PERIODS * ONE * 1.2


def test_a_process_that_was_stopped_goes_on_without_a_step():
    """SIGSTOP for 0.7 s, then the watchdog looks before the next state has come."""
    robot = running()
    robot.now += 700 * MS
    robot.time += 700 * MS
    robot.note(robot.guarded.watch(robot.time, robot.now))
    for _ in range(50):
        robot.message()
    assert (robot.steps() <= PERIODS * ONE).all()
    assert close(robot.commands[-1][1], gravity(ARM, ARM_START), 1.0)


def test_states_that_come_in_a_heap_share_the_time_in_which_they_came():
    """75 states in 4 ms, each stamped a millisecond after the other: by the wall clock too the rate is kept."""
    robot = running()
    robot.gate.stop()
    start, stamp = robot.commands[-1][1].copy(), robot.time
    for _ in range(75):
        stamp += MS
        robot.now += 53_000
        verdict = robot.joints(velocity=[1.0] * 7, stamp=stamp)
        robot.note(robot.guarded.answer(verdict, robot.now, robot.now))
    assert np.abs(robot.commands[-1][1] - start).max() <= (4.0 + PERIODS) * ONE


def test_in_simulated_time_the_wall_clock_does_not_count():
    """A lock-step run is the same however fast the machine is."""
    runs = []
    for pace in (10_000, 7 * MS):
        robot = Controlled(ARM, is_simulated=True, **TOOL)
        robot.q[:] = ARM_START
        robot.activate()
        robot.message()
        robot.controller.target_pose("hand", [0.3, 0.3, 0.6], [0.0, 0.0, 0.0, 1.0], 0.0)
        for i in range(200):
            robot.time += MS
            robot.now += pace
            wrong = {"position": [NAN] * 7} if i % 50 == 49 else {}
            verdict = robot.joints(**wrong)
            robot.note(robot.guarded.answer(verdict, robot.time, robot.now))
        runs.append(np.array([tau for _, tau in robot.commands]))
    np.testing.assert_array_equal(*runs)


def test_broken_bytes_close_a_gate_and_good_states_open_it():
    robot = running()
    robot.broken()
    assert robot.gate.closed == BIT["size"]
    assert close(robot.commands[-1][1], gravity(ARM, ARM_START), 1.0)
    robot.message()
    assert robot.gate.closed == 0 and (robot.steps() <= ONE).all()


def test_the_last_command_is_what_was_chosen_at_once_and_nothing_follows():
    for kind, expected in (("zero", np.zeros(7)), ("gravity", gravity(ARM, ARM_START))):
        robot = running(last_command=kind)
        robot.message(velocity=[0.5] * 7)
        assert close(robot.guarded.deactivate(), expected)
        assert robot.message() is None and robot.silence(1.0) is None


def test_nothing_is_sent_before_the_first_state():
    robot = Controlled(ARM, **TOOL)
    assert robot.activate() is None and robot.silence(2.0) is None
    robot.broken()
    robot.message(position=[NAN] * 7)
    assert not robot.commands
    robot.q[:] = ARM_START
    assert close(robot.message(), gravity(ARM, ARM_START))
