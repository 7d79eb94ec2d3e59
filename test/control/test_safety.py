# SPDX-License-Identifier: Apache-2.0
"""The gates: what closes each, what may be sent meanwhile, how it opens; driven with plain numbers."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from helpers.gate_cases import MS, Robot

from opspace_ctrl import load_robot
from opspace_ctrl.control.safety.fields import ADVISORY, BIT, DROPPED, READY, REFUSED
from opspace_ctrl.control.safety.settings import GATES
from opspace_ctrl.control.safety.state_gate import names_of, outside_limits

ARM, HUMANOID = load_robot("arm7"), load_robot("asimo")
NAN = float("nan")


def running(model=ARM, **values):
    robot = Robot(model, **values)
    assert robot.run(100) == 0
    robot.gate.must_restart = 0
    return robot, robot.gate


def test_before_the_first_message_only_zero_is_possible():
    for kind in ("zero", "gravity", "damping"):
        robot = Robot(ARM, safe_command=kind)
        assert robot.check() == BIT["first"] and robot.gate.gate == "first"
        assert robot.gate.permitted(robot.now) == robot.gate.last_permitted() == "zero"


def test_the_first_message_opens_the_gate_and_asks_for_a_start():
    robot = Robot(ARM)
    assert robot.message() == 0 and robot.gate.gate == "" and robot.gate.must_restart
    robot.gate.must_restart = 0
    assert robot.run() == 0 and not robot.gate.must_restart


@pytest.mark.parametrize("step, limit", [(MS, 0.02), (20 * MS, 0.06)])
def test_states_are_stale_after_the_time_out_or_three_periods(step, limit):
    robot = Robot(ARM, step)
    robot.run(200)
    assert robot.wait(limit - 1e-6) == 0
    assert robot.wait(2e-6) == BIT["state"]
    assert robot.gate.gate == "state" and robot.gate.must_restart == 1


@pytest.mark.parametrize("kind", ["gravity", "damping"])
def test_without_a_valid_state_gravity_is_held_for_a_bounded_time(kind):
    robot, gate = running(safe_command=kind, gravity_time=0.3)
    robot.wait(0.1)
    assert gate.permitted(robot.now) == "gravity" and gate.last_permitted() == "zero"
    robot.wait(0.3)
    assert gate.permitted(robot.now) == "zero"


def test_zero_as_safe_command_is_zero_in_every_gate():
    robot, gate = running(safe_command="zero")
    robot.wait(0.1)
    assert gate.permitted(robot.now) == "zero"
    gate.stop()
    assert robot.message() and gate.permitted(robot.now) == "zero"


@pytest.mark.parametrize(
    "name, wrong",
    [
        ("names", {"names": [ARM.joint_names[0]] * 7}),
        ("size", {"position": np.zeros(6)}),
        ("finite", {"position": [NAN] * 7}),
        ("velocity", {"velocity": [0.0, 40.0, 0.0, 0.0, 0.0, 0.0, 0.0]}),
    ],
)
def test_a_bad_message_leaves_no_state_until_a_good_one_comes(name, wrong):
    robot, gate = running()
    assert robot.message(**wrong) == BIT[name] and gate.gate == name
    assert gate.permitted(robot.now) == "gravity"
    assert robot.message() == 0 and gate.must_restart
    index = GATES.index(name)
    assert gate.closings[index] == gate.fault_counts[index] == 1


def test_a_bad_quaternion_leaves_no_state():
    robot, gate = running(HUMANOID)
    robot.tick()
    robot.odom(pose=[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert robot.joints() == REFUSED and robot.check() == BIT["quaternion"]
    assert robot.message() == 0


def test_a_position_beyond_the_limits_leaves_the_state_valid():
    robot, gate = running(safe_command="damping", last_command="gravity")
    top = ARM.position_limits[3, 1]
    robot.tick(3_000 * MS)  # time enough to have moved there
    assert robot.message(position=[0, 0, 0, top + 0.09, 0, 0, 0]) == 0
    assert robot.message(position=[0, 0, 0, top + 0.101, 0, 0, 0]) == BIT["position"]
    assert gate.permitted(robot.now) == "damping" and gate.last_permitted() == "gravity"
    assert gate.q[3] == top + 0.101
    gate.position_margin = 0.0
    assert robot.message(position=[0, 0, 0, top + 0.105, 0, 0, 0]) == 0


@pytest.mark.parametrize("jump", [-5.0, 1.5])
def test_stamps_that_jump_close_the_clock_gate_until_they_go_on(jump):
    robot, gate = running()
    robot.tick()
    assert robot.joints(stamp=robot.time + round(jump * 1e9)) == READY
    assert robot.check() == BIT["clock"] and gate.permitted(robot.now) == "damping"
    robot.tick()
    assert robot.joints(stamp=robot.time + round(jump * 1e9)) == READY
    assert robot.check() == 0 and gate.must_restart


def test_a_repeated_stamp_is_no_jump_and_no_new_state():
    robot, gate = running()
    robot.now += MS
    assert robot.joints(stamp=gate.last_stamp) == DROPPED and robot.check() == 0
    assert gate.repeated == 1


def test_a_driver_that_repeats_one_stamp_is_stale():
    robot, _ = running()
    assert robot.wait(0.021, repeats=True) == BIT["state"]


def test_odometry_that_is_missing_or_old_closes_its_gate_on_a_floating_base_only():
    robot, gate = running(HUMANOID)
    for _ in range(19):
        robot.tick()
        robot.joints()
        gate.give_up_odometry(robot.time)
        assert robot.check() == 0
    for _ in range(3):
        robot.tick()
        robot.joints()
        gate.give_up_odometry(robot.time)
    assert robot.check() == BIT["odom"] and gate.permitted(robot.now) == "gravity"
    assert robot.message() == 0
    fixed, _ = running()
    assert fixed.message(odom=False) == 0


def test_under_simulated_time_a_paused_world_that_repeats_is_not_stale_but_a_silent_one_is():
    robot = Robot(ARM, is_simulated=True, liveness_timeout=0.2)
    robot.run(100)
    assert robot.wait(10.0, paused=True, repeats=True) == 0
    assert robot.wait(0.19, paused=True) == 0
    assert robot.wait(0.02, paused=True) == BIT["state"]
    assert robot.message() == 0
    assert robot.wait(0.05) == BIT["state"]  # simulated time goes on, the robot does not
    for_ever = Robot(ARM, is_simulated=True, liveness_timeout=0.0)
    for_ever.run(100)
    assert for_ever.wait(1e6, paused=True) == 0


def test_under_simulated_time_a_slow_world_is_not_stale():
    """A world of a hundredth of real time: 1 ms of simulated time takes 100 ms."""
    robot = Robot(ARM, is_simulated=True, liveness_timeout=0.2)
    for _ in range(200):
        robot.now += 99 * MS
        assert robot.message() == 0
    assert robot.wait(0.5, paused=True) == 0
    assert robot.wait(0.6, paused=True) == BIT["state"]


def test_overruns_in_a_row_close_the_gate_and_single_ones_are_counted():
    robot, gate = running(overrun_count=3, overrun_time=0.002)
    for ms in (3, 3, 1, 3, 3):
        gate.computed(ms * MS)
    assert robot.message() == 0 and gate.overruns == 4
    gate.computed(3 * MS)
    assert robot.message() == BIT["overrun"] and gate.permitted(robot.now) == "damping"
    gate.computed(0)
    assert robot.message() == BIT["overrun"]
    assert robot.run(1001) == 0


def test_the_period_is_the_limit_of_a_tick_unless_given_and_simulated_time_has_none():
    robot, gate = running(overrun_count=1)
    gate.computed(900_000)
    assert robot.message() == 0
    gate.computed(1_100_000)
    assert robot.message() == BIT["overrun"]
    robot, gate = running(overrun_count=1, is_simulated=True)
    gate.computed(10**9)
    assert robot.message() == 0 and gate.overruns == 0


def test_targets_are_advice_the_control_runs_on():
    robot, gate = running()
    gate.advise(BIT["target"] | BIT["stop"])
    assert robot.message() == 0 and gate.gate == "target" and not gate.must_restart
    gate.advise(BIT["publishers"])
    assert robot.message() == 0 and gate.gate == "publishers"
    gate.advise(0)
    assert robot.message() == 0 and gate.gate == ""


def test_an_emergency_stop_is_latched_until_reset_also_over_a_new_beginning():
    robot, gate = running()
    gate.stop()
    assert robot.run() == BIT["stop"] and gate.permitted(robot.now) == "damping"
    gate.begin()
    assert gate.gate == "stop"
    assert robot.run() == BIT["stop"]
    gate.open_all()
    assert robot.message() == 0 and gate.must_restart


def test_motion_needs_a_permission_where_one_is_asked_for():
    robot = Robot(ARM, enable_timeout=0.1)
    gate = robot.gate
    assert robot.run() == BIT["enable"] and gate.permitted(robot.now) == "damping"
    gate.enable(True, robot.now)
    assert robot.run(100) == 0
    assert robot.message() == BIT["enable"]
    gate.enable(True, robot.now)
    assert robot.message() == 0
    gate.enable(False, robot.now)
    assert robot.message() == BIT["enable"]


def test_what_failed_closes_a_gate_for_a_second():
    robot, gate = running()
    gate.fail("error")
    assert robot.message() == BIT["error"] and gate.permitted(robot.now) == "damping"
    assert robot.run(998) == BIT["error"]
    assert robot.run(3) == 0 and gate.must_restart


def test_a_tick_without_a_finite_torque_closes_a_gate_until_the_next_state():
    robot, gate = running()
    gate.fail("finite")
    assert robot.check() == BIT["finite"] and gate.permitted(robot.now) == "gravity"
    assert robot.message() == 0 and gate.must_restart


def test_manual_gates_stay_closed_until_reset_and_only_if_the_fault_is_gone():
    robot, gate = running(manual_recovery=["state", "finite"])
    robot.wait(1.0)
    assert robot.run() == BIT["state"]
    gate.open_all()
    assert robot.run() == 0
    robot.message(position=[NAN] * 7)
    gate.open_all()
    assert gate.gate == "finite"
    assert robot.run() == BIT["finite"]
    gate.open_all()
    assert robot.run() == 0


def test_every_gate_that_waits_for_a_reset_opens_with_it_when_its_fault_is_gone():
    robot = Robot(ARM, manual_recovery=list(GATES))
    gate = robot.gate
    gate.open_all()
    assert robot.check() == BIT["first"]  # there is no state yet
    assert robot.run() == BIT["first"]
    gate.advise(ADVISORY)
    gate.open_all()
    assert robot.run() == 0 and names_of(gate.closed) == ["publishers", "target"]
    gate.advise(0)
    assert robot.run() == 0 and names_of(gate.closed) == ["publishers", "target"]
    gate.open_all()
    assert robot.run() == 0 and gate.closed == 0


def test_a_recovery_time_keeps_a_gate_closed_for_as_long():
    robot, _ = running(recovery_time=0.05)
    robot.message(position=[NAN] * 7)
    assert robot.run(49) == BIT["finite"]
    assert robot.run(2) == 0


def test_of_several_gates_the_most_important_one_is_named_and_the_least_state_counts():
    robot, gate = running()
    gate.stop()
    both = robot.message(position=[NAN] * 7)
    assert names_of(both) == ["stop", "finite"] and gate.gate == "stop"
    assert gate.permitted(robot.now) == "gravity"


def test_a_new_beginning_keeps_the_state_and_forgets_the_faults():
    robot, gate = running()
    robot.message(position=[NAN] * 7)
    q = gate.q.copy()
    gate.begin()
    assert gate.gate == "first" and gate.must_restart and (gate.q == q).all()
    assert robot.check() == 0


def test_a_tick_of_the_gates_keeps_no_memory():
    robot, _ = running()
    robot.run(300)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    robot.run(2000)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 2000


def test_the_joints_that_are_outside_their_limits_are_named():
    q = ARM.neutral()
    q[3] = ARM.position_limits[3, 1] + 0.11
    assert outside_limits(ARM, q, 0.1) == [ARM.joint_names[3]]
    assert outside_limits(ARM, q, 0.12) == []
