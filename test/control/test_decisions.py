# SPDX-License-Identifier: Apache-2.0
"""What is to be sent, for everything that happens, decided on plain numbers: no law is asked for a torque here."""

from __future__ import annotations

import math

import pytest
from helpers.gate_cases import MS, Robot
from helpers.gate_cases import START as BEGINNING

from opspace_ctrl import load_robot
from opspace_ctrl.control.fields import BRAKING, GRAVITY, NO_TORQUE
from opspace_ctrl.control.safety import entries
from opspace_ctrl.control.safety.fields import (
    BIT,
    DROPPED,
    NOTHING,
    READY,
    REFUSED,
    SAFE,
    START,
    TAKEN,
    TICK,
)

ARM, HUMANOID = load_robot("arm7"), load_robot("asimo")
WATCH = 100 * MS


class Decided(Robot):
    """A robot whose messages are judged and decided upon, but not answered."""

    def activate(self):
        return entries.activate(self.time, self.now, self.gate.address)

    def deactivate(self):
        return entries.deactivate(self.gate.address)

    def answer(self, verdict):
        return entries.answer(verdict, self.time, self.now, self.gate.address)

    def watch(self, passed):
        self.tick(passed)
        return self.answer(DROPPED)

    def refrain(self, faults):
        return entries.refrain(faults, self.time, self.now, self.gate.address)

    def say(self, **changes):
        self.tick()
        return self.answer(self.joints(**changes))


def ticking(model=ARM, count=50, **values):
    """A robot that has been controlled for a while."""
    robot = Decided(model, **values)
    robot.activate()
    for _ in range(count):
        if robot.has_odom:
            robot.tick()
            robot.odom()
            robot.answer(robot.joints())
        else:
            robot.say()
        robot.gate.must_restart = 0
    assert robot.gate.is_ticking == 1
    return robot


# ---- activation ----


def test_activation_without_a_state_sends_nothing_and_the_first_state_starts_the_law():
    robot = Decided(ARM)
    gate = robot.gate
    gate.safe_kind, gate.safe_sent, gate.is_moving = GRAVITY, 5, 1
    assert robot.activate() == NOTHING and gate.is_active == 1
    assert (gate.safe_kind, gate.safe_sent, gate.is_moving) == (-1, 0, 0)
    assert robot.say() == START and gate.is_ticking == 1
    gate.must_restart = 0
    assert robot.say() == TICK and gate.told == pytest.approx(1e-3, abs=1e-12)


def test_activation_answers_a_state_that_still_counts_at_once():
    robot = Decided(ARM)
    robot.run(50)
    assert robot.activate() == START and robot.gate.told == pytest.approx(0.049)
    late = Decided(ARM)
    late.run(50)
    late.tick(300 * MS)
    assert late.activate() == NOTHING and late.gate.is_active == 1


def test_activation_does_not_answer_joints_that_wait_for_their_odometry():
    robot = Decided(HUMANOID)
    robot.run(50)
    robot.tick()
    assert robot.joints() == TAKEN and robot.gate.is_waiting == 1
    assert robot.activate() == NOTHING and robot.gate.is_active == 1
    assert robot.answer(robot.odom()) == START


def test_before_activation_states_are_judged_and_nothing_is_sent():
    robot = Decided(ARM)
    for _ in range(20):
        assert robot.say() == NOTHING
    assert robot.gate.has_state == 1 and robot.gate.told == 0.0 and robot.gate.is_ticking == 0
    assert robot.watch(WATCH) == NOTHING and robot.gate.gate == "state"


# ---- the end ----


@pytest.mark.parametrize("last, kind", [("gravity", GRAVITY), ("zero", NO_TORQUE)])
def test_the_last_command_is_what_was_chosen_and_none_follows(last, kind):
    robot = ticking(last_command=last)
    assert robot.deactivate() == SAFE
    gate = robot.gate
    assert gate.safe_kind == kind and gate.safe_time == pytest.approx(0.049)
    assert gate.is_active == gate.is_ticking == 0
    assert robot.deactivate() == NOTHING
    assert robot.say() == NOTHING


def test_nothing_is_left_standing_where_no_state_was_ever_believed():
    robot = Decided(ARM)
    robot.activate()
    assert robot.deactivate() == NOTHING and robot.gate.is_active == 0


# ---- messages ----


def test_what_is_refused_is_answered_a_period_later_by_a_safe_command():
    robot = ticking()
    gate, told = robot.gate, robot.gate.told
    assert robot.say(position=[math.nan] * 7) == SAFE
    assert gate.told == pytest.approx(told + gate.period) and gate.told > told
    assert gate.safe_time == gate.told and gate.safe_sent == robot.now
    assert gate.safe_kind == GRAVITY and gate.is_ticking == 0 and gate.must_restart == 1
    assert robot.say(position=[math.nan] * 7) == SAFE
    assert gate.told == pytest.approx(told + 2.0 * gate.period)
    while robot.say() == SAFE:
        assert robot.now < BEGINNING + 10_000 * MS
    assert gate.is_ticking == 1 and gate.told == pytest.approx(
        (robot.now - BEGINNING) * 1e-9 - 1e-3
    )


def test_a_stop_is_answered_by_the_chosen_command_at_the_time_of_the_state():
    robot = ticking(safe_command="damping")
    robot.gate.stop()
    assert robot.say() == SAFE and robot.gate.safe_kind == BRAKING
    assert robot.gate.safe_time == robot.gate.time == robot.gate.told


def test_a_part_of_a_state_is_answered_by_nothing():
    robot = ticking()
    names = list(ARM.joint_names)
    assert robot.say(names=names[:2], position=[0.0] * 2, velocity=[0.0] * 2) == NOTHING
    assert robot.gate.is_ticking == 1


def test_joints_are_answered_without_their_odometry_only_after_its_time_out():
    robot = ticking(HUMANOID)
    limit = round(robot.gate.odom_timeout * 1e9)
    robot.tick()
    came = robot.now
    assert robot.answer(robot.joints()) == NOTHING and robot.gate.is_waiting == 1
    robot.tick(limit - MS)
    robot.answer(DROPPED)
    assert robot.gate.is_waiting == 1
    robot.tick(came + limit - robot.now)
    robot.answer(DROPPED)
    assert robot.gate.is_waiting == 1
    robot.tick(MS)
    told = robot.gate.told
    assert robot.answer(DROPPED) == SAFE and robot.gate.is_waiting == 0
    assert robot.gate.stamp == came and robot.gate.told > told


# ---- silence ----


def silent(**values):
    """A robot that has fallen silent a moment ago, and was told so."""
    robot = ticking(**values)
    assert robot.watch(10 * MS) == NOTHING and robot.gate.is_ticking == 1  # not yet stale
    assert robot.watch(20 * MS) == SAFE
    return robot


def test_silence_is_answered_at_once_and_answers_no_state():
    robot = silent()
    gate = robot.gate
    assert gate.safe_kind == GRAVITY and math.isnan(gate.safe_time)
    assert gate.is_ticking == 0 and gate.safe_sent == robot.now


def test_in_silence_a_safe_command_is_repeated_at_intervals():
    robot = silent(gravity_time=10.0)
    for _ in range(3):
        sent = robot.gate.safe_sent
        assert robot.watch(WATCH - MS) == NOTHING and robot.gate.safe_sent == sent
        assert robot.watch(MS) == SAFE and robot.gate.safe_sent == robot.now


def test_in_silence_a_command_that_is_being_approached_is_sent_at_every_look():
    robot = silent(gravity_time=10.0)
    robot.gate.is_moving = 1
    assert robot.watch(MS) == SAFE
    robot.gate.is_moving = 0
    assert robot.watch(MS) == NOTHING


def test_in_silence_another_kind_of_command_is_sent_at_once():
    robot = silent(gravity_time=0.08)
    assert robot.gate.safe_kind == GRAVITY
    assert robot.watch(40 * MS) == NOTHING
    assert robot.watch(41 * MS) == SAFE and robot.gate.safe_kind == NO_TORQUE
    assert robot.watch(MS) == NOTHING


def test_silence_soon_after_a_safe_command_of_the_same_kind_is_answered_at_once():
    robot = ticking(recovery_time=0.0)
    assert robot.say(position=[math.nan] * 7) == SAFE and robot.gate.safe_kind == GRAVITY
    assert robot.say() == START
    robot.gate.is_moving = 0
    assert robot.watch(30 * MS) == SAFE and robot.gate.safe_kind == GRAVITY


def test_a_stop_in_silence_is_answered_before_the_next_message():
    robot = ticking(safe_command="damping")
    robot.gate.stop()
    assert robot.watch(MS) == SAFE and robot.gate.safe_kind == BRAKING


def test_silence_before_the_first_state_sends_nothing():
    robot = Decided(ARM)
    robot.activate()
    robot.gate.is_ticking = 1
    assert robot.watch(WATCH) == NOTHING
    assert robot.gate.safe_kind == -1 and robot.gate.is_ticking == 0


# ---- the law could not be used ----


def test_a_law_that_could_not_be_started_is_replaced_and_no_gate_closes():
    robot = ticking()
    robot.say()
    assert robot.refrain(0) == SAFE
    gate = robot.gate
    assert gate.closed == gate.faults == 0 and gate.is_ticking == 0
    assert gate.safe_time == gate.told and gate.safe_sent == robot.now


def test_a_torque_that_must_not_be_sent_closes_its_gate():
    robot = ticking()
    robot.say()
    robot.gate.faults = BIT["position"]
    assert robot.refrain(BIT["finite"]) == SAFE
    assert robot.gate.closed == robot.gate.faults == BIT["finite"] | BIT["position"]
    assert robot.gate.safe_kind == GRAVITY


# ---- what is called from outside ----


def test_calls_keep_verdict_and_decision_where_c_reads_them():
    robot = ticking()
    gate = robot.gate
    robot.tick()
    assert robot.joints() == gate.verdict == READY
    assert robot.answer(READY) == gate.decision == TICK
    heard = gate.heard
    robot.tick()
    assert gate.unreadable("size", robot.now) == gate.verdict == REFUSED
    assert gate.heard == robot.now > heard and gate.faults == BIT["size"]
    assert robot.refrain(BIT["error"]) == gate.decision == SAFE
    assert robot.deactivate() == gate.decision == SAFE
    assert robot.activate() == gate.decision == START


def test_joint_states_without_velocities_are_taken_as_such():
    robot = Decided(ARM)
    robot.gate.new_velocity[:] = 1e6  # what an earlier message has left there
    assert robot.joints(velocity=[]) == READY
    assert robot.gate.faults == 0 and not robot.gate.tells_velocity.any()
    robot.tick()
    assert robot.joints() == READY and robot.gate.tells_velocity.all()


def test_long_ticks_and_a_reset_reach_the_gates():
    robot = ticking(overrun_count=1, overrun_time=0.001)
    robot.gate.computed(2 * MS)
    assert robot.gate.faults == BIT["overrun"]
    robot.gate.computed(MS // 2)
    assert robot.gate.faults == 0
    robot.gate.stop()
    assert robot.say() == SAFE and robot.gate.closed == BIT["stop"]
    robot.gate.open_all()
    assert robot.gate.closed == robot.gate.is_stopped == 0
    assert robot.say() == START
