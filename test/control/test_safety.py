"""The gates: what closes each, what may be sent meanwhile, how it opens; driven with plain numbers."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspace_ctrl import load_robot
from opspace_ctrl.control.safety.gates import ADVISORY, BIT, STATE_LESS, Safety, names_of
from opspace_ctrl.control.safety.guard import Guard
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.control.tables import GATES

STEP = 0.001


def make(has_odom=False, is_simulated=False, **values):
    return Safety(controller_settings(values).safety, has_odom, is_simulated)


class Clock:
    """Feeds a Safety with joint states at a steady rate."""

    def __init__(self, safety, step=STEP):
        self.safety, self.step, self.time, self.steady = safety, step, 100.0, 5.0

    def message(self, faults=0, odom=True):
        self.time += self.step
        self.steady += self.step
        if odom:
            self.safety.odom(self.time)
        self.safety.state(self.time, self.time, self.steady, faults)
        return self.safety.check(self.time, self.steady)

    def run(self, count=10):
        for _ in range(count):
            out = self.message()
        return out

    def wait(self, seconds, paused=False):
        self.steady += seconds
        self.time += 0.0 if paused else seconds
        return self.safety.check(self.time, self.steady)


def running(**values):
    clock = Clock(make(**values))
    assert clock.run() == 0
    clock.safety.restarted()
    return clock, clock.safety


def test_before_the_first_message_only_zero_is_possible():
    for kind in ("zero", "gravity", "damping"):
        safety = make(safe_command=kind)
        assert safety.check(0.0, 0.0) == BIT["first"] and safety.gate == "first"
        assert safety.command(0.0) == "zero" and safety.last_command() == "zero"


def test_the_first_message_opens_the_gate_and_asks_for_activation():
    clock = Clock(make())
    assert clock.message() == 0 and clock.safety.gate == "" and clock.safety.must_restart
    clock.safety.restarted()
    assert clock.run() == 0 and not clock.safety.must_restart


@pytest.mark.parametrize("step, limit", [(0.001, 0.02), (0.02, 0.06)])
def test_states_are_stale_after_the_time_out_or_three_periods(step, limit):
    clock = Clock(make(), step)
    clock.run(200)
    assert clock.wait(limit - 1e-6) == 0
    assert clock.wait(2e-6) == BIT["state"]
    assert clock.safety.gate == "state" and clock.safety.must_restart


@pytest.mark.parametrize("kind", ["gravity", "damping"])
def test_without_a_valid_state_the_last_gravity_torque_is_held_for_a_bounded_time(kind):
    clock, safety = running(safe_command=kind, gravity_time=0.3)
    clock.wait(0.1)
    assert safety.command(clock.steady) == "held" and safety.last_command() == "zero"
    clock.wait(0.3)
    assert safety.command(clock.steady) == "zero"


def test_zero_as_safe_command_is_zero_in_every_gate():
    clock, safety = running(safe_command="zero")
    clock.wait(0.1)
    assert safety.command(clock.steady) == "zero"
    assert clock.message(BIT["position"]) and safety.command(clock.steady) == "zero"


@pytest.mark.parametrize("name", ["names", "size", "quaternion", "finite"])
def test_a_bad_message_leaves_no_state_until_a_good_one_comes(name):
    clock, safety = running()
    assert clock.message(BIT[name]) == BIT[name] and safety.gate == name
    assert safety.command(clock.steady) == "held"
    assert clock.message() == 0 and safety.must_restart


def test_a_position_beyond_the_limits_leaves_the_state_valid():
    clock, safety = running(safe_command="damping", last_command="gravity")
    assert clock.message(BIT["position"]) == BIT["position"]
    assert safety.command(clock.steady) == "damping" and safety.last_command() == "gravity"
    assert clock.message() == 0


@pytest.mark.parametrize("jump", [-1e-6, -5.0, 1.5, float("nan"), float("inf")])
def test_stamps_that_jump_close_the_clock_gate_until_they_go_on(jump):
    clock, safety = running()
    safety.odom(clock.time + jump)
    safety.state(clock.time + jump, clock.time, clock.steady)
    assert safety.check(clock.time, clock.steady) == BIT["clock"]
    if np.isfinite(jump):
        safety.state(clock.time + jump + STEP, clock.time, clock.steady)
        assert safety.check(clock.time, clock.steady) == 0 and safety.must_restart


def test_a_repeated_stamp_is_no_jump():
    clock, safety = running()
    safety.state(clock.time, clock.time, clock.steady)
    assert safety.check(clock.time, clock.steady) == 0


def test_odometry_that_is_missing_or_old_closes_its_gate_on_a_floating_base_only():
    floating, fixed = Clock(make(has_odom=True)), Clock(make())
    assert floating.message(odom=False) == BIT["odom"] and fixed.message(odom=False) == 0
    assert floating.message() == 0
    for _ in range(19):
        assert floating.message(odom=False) == 0
    floating.message(odom=False)
    assert floating.message(odom=False) == BIT["odom"]
    assert floating.safety.command(floating.steady) == "held"
    assert floating.message() == 0


def test_a_paused_world_is_not_stale_but_a_silent_one_is():
    clock = Clock(make(is_simulated=True, liveness_timeout=2.0))
    clock.run(100)
    assert clock.wait(1.9, paused=True) == 0
    assert clock.wait(0.2, paused=True) == BIT["state"]
    assert clock.message() == 0
    assert clock.wait(0.05) == BIT["state"]
    for_ever = Clock(make(is_simulated=True, liveness_timeout=0.0))
    for_ever.run(100)
    assert for_ever.wait(1e6, paused=True) == 0


def test_overruns_in_a_row_close_the_gate_and_single_ones_are_counted():
    clock, safety = running(overrun_count=3, overrun_time=0.002)
    for seconds in (0.003, 0.003, 0.001, 0.003, 0.003):
        safety.computed(seconds)
    assert clock.message() == 0 and safety.overruns == 4
    safety.computed(0.003)
    assert clock.message() == BIT["overrun"] and safety.command(clock.steady) == "damping"
    safety.computed(0.0)
    assert clock.message() == BIT["overrun"]
    assert clock.run(1001) == 0


def test_the_period_is_the_limit_of_a_tick_unless_given_and_simulated_time_has_none():
    clock, safety = running(overrun_count=1)
    safety.computed(0.9 * STEP)
    assert clock.message() == 0
    safety.computed(1.1 * STEP)
    assert clock.message() == BIT["overrun"]
    clock = Clock(make(overrun_count=1, is_simulated=True))
    clock.run()
    clock.safety.computed(1.0)
    assert clock.message() == 0 and clock.safety.overruns == 0


def test_targets_are_advice_the_control_runs_on():
    clock, safety = running()
    safety.advise(BIT["target"])
    assert clock.message() == 0 and safety.gate == "target" and not safety.must_restart
    safety.advise(BIT["publishers"])
    assert clock.message() == 0 and safety.gate == "publishers"
    safety.advise(0)
    assert clock.message() == 0 and safety.gate == ""


def test_an_emergency_stop_is_latched_until_reset_also_over_a_new_beginning():
    clock, safety = running()
    safety.stop()
    assert clock.run() == BIT["stop"] and safety.command(clock.steady) == "damping"
    safety.begin()
    assert safety.gate == "stop"
    assert clock.run() == BIT["stop"]
    safety.reset()
    assert clock.message() == 0 and safety.must_restart


def test_manual_gates_stay_closed_until_reset_and_only_if_the_fault_is_gone():
    clock, safety = running(manual_recovery=["state", "finite"])
    clock.wait(1.0)
    assert clock.run() == BIT["state"]
    safety.reset()
    assert clock.run() == 0
    clock.message(BIT["finite"])
    safety.reset()
    assert safety.gate == "finite"
    assert clock.run() == BIT["finite"]
    safety.reset()
    assert clock.run() == 0


def test_every_gate_that_waits_for_a_reset_opens_with_it_when_its_fault_is_gone():
    safety = make(manual_recovery=list(GATES))
    clock = Clock(safety)
    safety.reset()
    assert safety.check(0.0, 0.0) == BIT["first"]  # there is no state yet
    assert clock.run() == BIT["first"]
    safety.advise(ADVISORY)
    safety.reset()
    assert clock.run() == 0 and names_of(safety.closed) == ["publishers", "target"]
    safety.advise(0)
    assert clock.run() == 0 and names_of(safety.closed) == ["publishers", "target"]
    safety.reset()
    assert clock.run() == 0 and safety.closed == 0


def test_a_tick_without_a_finite_torque_closes_a_gate_until_the_next_state():
    clock, safety = running()
    safety.restarted()
    safety.failed()
    assert (
        safety.check(clock.time, clock.steady) == BIT["finite"]
        and safety.command(clock.steady) == "held"
    )
    assert clock.message() == 0 and safety.must_restart


def test_a_recovery_time_keeps_a_gate_closed_for_as_long():
    clock, safety = running(recovery_time=0.05)
    clock.message(BIT["position"])
    assert clock.run(49) == BIT["position"]
    assert clock.run(2) == 0


def test_of_several_gates_the_most_important_one_is_named_and_the_least_state_counts():
    clock, safety = running()
    safety.stop()
    both = clock.message(BIT["finite"])
    assert names_of(both) == ["stop", "finite"] and safety.gate == "stop"
    assert safety.command(clock.steady) == "held"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["state", "wait", "stop", "reset", "odom", "computed", "begin", "advise"]
            ),
            st.floats() | st.floats(0.0, 0.1),
            st.integers(0, (1 << len(GATES)) - 1),
        )
    ),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["zero", "gravity", "damping"]),
)
def test_whatever_happens_a_law_is_never_sent_without_a_state(events, has_odom, is_simulated, kind):
    safety, time, steady = make(has_odom, is_simulated, safe_command=kind), 0.0, 0.0
    for event, number, bits in events:
        steady += 0.001
        if event == "state":
            safety.state(number, number, steady, bits & ~ADVISORY & ~BIT["stop"])
        elif event == "wait":
            steady += number if 0.0 <= number < 1e6 else 0.0
        elif event in ("odom", "computed"):
            getattr(safety, event)(number)
        elif event == "advise":
            safety.advise(bits)
        else:
            getattr(safety, event)()
        blocking = safety.check(time, steady)
        command = safety.command(steady)
        assert command in ("zero", "gravity", "damping", "held")
        if blocking & STATE_LESS:
            assert command in ("zero", "held") and safety.last_command() == "zero"
        if blocking & BIT["first"]:
            assert command == "zero"
        assert not blocking & ADVISORY and (blocking == 0 or safety.must_restart)


def test_a_tick_of_the_gates_keeps_no_memory():
    clock, safety = running()
    for _ in range(3):
        clock.run(100)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    clock.run(2000)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 2000


# ---- the look at a state ----


@pytest.mark.parametrize("robot", ["arm7", "asimo"])
def test_a_good_state_has_no_fault(robot):
    model = load_robot(robot)
    guard, rng = Guard(model, 0.1), np.random.default_rng(0)
    for _ in range(20):
        assert guard.faults(model.random_configuration(rng), rng.normal(size=model.nv)) == 0


def test_each_fault_of_a_state_has_its_name():
    model = load_robot("asimo")
    guard, q, v = Guard(model, 0.1), model.neutral(), np.zeros(model.nv)
    assert (
        guard.faults(q[:-1], v)
        == guard.faults(q, v.astype(np.float32))
        == guard.faults(list(q), v)
        == BIT["size"]
    )
    for bad in (np.nan, np.inf, -np.inf, 1e13):
        for array in (q, v):
            kept, array[9] = array[9], bad
            assert guard.faults(q, v) == BIT["finite"]
            array[9] = kept
    for norm in (0.0, 0.5, 2.0):
        q[6] = norm
        assert guard.faults(q, v) == BIT["quaternion"]
    q[6] = 1.05
    assert guard.faults(q, v) == 0
    knee = 7 + model.joint_names.index("left_knee_pitch")
    q[knee] = 2.3 + 0.09
    assert guard.faults(q, v) == 0 and guard.outside(q) == []
    q[knee] = 2.3 + 0.11
    assert guard.faults(q, v) == BIT["position"] and guard.outside(q) == [knee]
    guard.margin = 0.0
    assert guard.faults(q, v) == 0
