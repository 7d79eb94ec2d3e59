# SPDX-License-Identifier: Apache-2.0
"""The table of docs/safety.md as a rule-based test.

Messages good and bad, silence, stops, permissions and settings come in any order, and a model of the table, written
down here a second time and without looking at the gates' own numbers, says what must follow.
"""

from __future__ import annotations

import os

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from helpers.closed_loop import ARM_START
from helpers.gate_cases import MS, START, Controlled
from opspace_ctrl import load_robot
from opspace_ctrl.control.safety.guarded import GuardedController
from opspace_ctrl.control.safety.state_gate import StateGate, names_of
from opspace_ctrl.control.settings import controller_settings

MORE = os.environ.get("OPSPACE_SEQUENCES")  # `make proof` asks for more, and for new ones
STEPS = 40
ARM = load_robot("arm7")
VALUES = {
    "method": "sparse_ltdl",
    "tasks": ["hand"],
    "hand.frame": "tool",
    "ramp": 0.0,
    "gravity_time": 0.3,
    "safe_command": "damping",
}
SETTINGS = controller_settings(VALUES)
RATE, PERIODS, TIMEOUT, UNKNOWN, HELD = 1000.0, 3.0, 0.02, 0.2, 0.3
LIVENESS = SETTINGS.safety.liveness_timeout
NAN, INF, NEVER = float("nan"), float("inf"), -(10**15)
STATE_LESS = {"velocity", "names", "size", "finite", "state", "first"}
LIMIT = ARM.effort_limits
BAD = {
    "finite": [{"position": [NAN] * 7}, {"velocity": [INF] * 7}, {"position": [1e100] * 7}],
    "size": [{"position": [0.0] * 6}, {"velocity": [0.0] * 8}],
    "names": [{"names": [ARM.joint_names[0]] * 7}],
    "velocity": [{"velocity": [0.0, 40.0, 0.0, 0.0, 0.0, 0.0, 0.0]}, {"position": [3.5] * 7}],
}
# of one joint: position and velocity
PARTS = {"finite": (1e100, 0.0), "velocity": (0.0, 1000.0)}
controlled = None


class Table(RuleBasedStateMachine):
    """The model: what was believed, what is wrong, and since when."""

    def fresh(self, is_simulated):
        """A robot with a new gate; its controller is made once, for that takes long."""
        global controlled
        controlled = controlled or Controlled(ARM, **VALUES)
        robot = controlled
        robot.controller.apply(SETTINGS)
        robot.controller._core.law.door.open()
        robot.controller.use_wall_clock(not is_simulated)
        robot.gate, robot.guarded = self.guarded(robot.controller, is_simulated)
        robot.q, robot.v = ARM_START.copy(), np.zeros(7)
        robot.now = robot.time = START
        robot.commands = []
        return robot

    def guarded(self, controller, is_simulated):
        """A new gate, and the controller behind it."""
        gate = StateGate(ARM, SETTINGS.safety, is_simulated)
        return gate, GuardedController(controller, gate)

    @initialize(is_simulated=st.booleans(), is_running=st.booleans())
    def begin(self, is_simulated, is_running):
        self.is_simulated, self.robot = is_simulated, self.fresh(is_simulated)
        self.believed = None  # q and v
        self.accepted = NEVER  # when, by the clock that counts [ns]
        self.valid = NEVER  # when there was last a state [ns]
        self.heard, self.interval = None, 0.0  # when any message came [ns]; mean between two [s]
        self.message = set()  # gates that the last message closed
        self.has_part = False  # since the last whole message a part of one has come
        self.is_stopped, self.needs, self.permitted, self.failed = False, False, NEVER, NEVER
        self.first = True  # the next command is free of the rate
        self.sent = []  # when, and what, since the first
        self.robot.activate()
        if is_running:
            for _ in range(5):
                self.good(MS, 0.0)

    # ---- what happens ----

    def clock(self):
        return self.robot.now

    def expected(self):
        """The closed gates, after the table."""
        now, gates = self.clock(), set(self.message)
        time = self.clock_of_states()
        if self.believed is None:
            gates.add("first")
        elif (time - self.accepted) * 1e-9 > max(TIMEOUT, 3.0 * self.robot.gate.period or UNKNOWN):
            gates.add("state")
        elif self.is_simulated and (now - self.heard) * 1e-9 > max(LIVENESS, 10.0 * self.interval):
            gates.add("state")
        if self.is_stopped:
            gates.add("stop")
        if self.needs and (now - self.permitted) * 1e-9 > 0.05:
            gates.add("enable")
        if now - self.failed < 1000 * MS:
            gates.add("error")
        return gates

    def hear(self):
        """A message has come, whatever it says."""
        now = self.clock()
        if self.heard is not None:
            passed = (now - self.heard) * 1e-9
            self.interval += 0.05 * (passed - self.interval) if self.interval else passed
        self.heard = now

    def judge(self, tau):
        """Gates and command after an event."""
        robot, gates, now = self.robot, self.expected(), self.clock()
        assert set(names_of(robot.gate.closed)) == gates
        if not gates & STATE_LESS:
            self.valid = now
        if self.believed is not None:
            np.testing.assert_array_equal(robot.gate.q, self.believed[0])
            np.testing.assert_array_equal(robot.gate.v, self.believed[1])
        kind = "damping"
        if gates & STATE_LESS:
            is_held = self.believed is not None and (now - self.valid) * 1e-9 < HELD
            kind = "gravity" if is_held else "zero"
        assert robot.gate.permitted(robot.now) == kind
        if tau is None:
            return
        assert self.believed is not None, "a command before the first state"
        assert np.isfinite(tau).all() and (np.abs(tau) <= LIMIT).all()
        if self.first:
            self.sent, self.first = [], False
        self.keeps_the_rate(tau, now)
        self.sent = [*self.sent[-50:], (now, tau.copy())]

    def keeps_the_rate(self, tau, now):
        """At most three mean periods' worth since the last command; by the wall clock, too, where it is the robot's."""
        period = self.robot.controller._core.law.door.period
        if self.sent:
            step = np.abs(tau - self.sent[-1][1]).max()
            assert step <= RATE * PERIODS * max(period, 1e-3) * 1.06, "over the rate"
        for then, before in () if self.is_simulated else self.sent:
            most = RATE * ((now - then) * 1e-9 + PERIODS * 2.0 * max(period, 1e-3))
            assert np.abs(tau - before).max() <= most, "over the rate by the wall clock"

    def answered(self, verdict):
        robot = self.robot
        self.hear()
        self.judge(robot.note(robot.guarded.answer(verdict, robot.time, robot.now)))

    @rule(step=st.sampled_from([MS // 4, MS, 2 * MS]), speed=st.floats(-0.5, 0.5))
    def good(self, step, speed):
        robot = self.robot
        robot.tick(step)
        robot.q = robot.q + speed * step * 1e-9
        robot.v = np.full(7, speed)
        verdict = robot.joints()
        self.believed = robot.q.copy(), robot.v.copy()
        self.accepted, self.message, self.has_part = self.clock_of_states(), set(), False
        self.answered(verdict)

    def clock_of_states(self):
        return self.robot.time if self.is_simulated else self.clock()

    @rule(kind=st.sampled_from(sorted(BAD)), which=st.integers(0, 2))
    def bad(self, kind, which):
        robot = self.robot
        robot.tick()
        is_long = self.clock_of_states() - self.accepted > 500 * MS
        if kind == "velocity" and (self.believed is None or is_long):
            which = 0  # the robot may have got there meanwhile: only its speed is wrong
        verdict = robot.joints(**BAD[kind][which % len(BAD[kind])])
        self.message = {kind}
        self.answered(verdict)

    @rule(kind=st.sampled_from(sorted(PARTS)), joint=st.integers(0, 6), ahead=st.booleans())
    def bad_part(self, kind, joint, ahead):
        """A message about one joint, stamped ahead or not: all of it is refused."""
        robot = self.robot
        robot.tick()
        position, velocity = PARTS[kind]
        name, stamp = [ARM.joint_names[joint]], robot.time + 100 * MS * ahead
        verdict = robot.joints(name, [position], [velocity], stamp)
        self.message = {kind}
        self.answered(verdict)

    @rule(joint=st.integers(0, 6))
    def good_part(self, joint):
        """One joint of a state whose rest does not come: nothing is believed yet."""
        robot = self.robot
        if self.believed is None or self.has_part:
            return
        robot.tick()
        self.has_part = True
        self.answered(robot.joints([ARM.joint_names[joint]], robot.q[[joint]], robot.v[[joint]]))
        assert robot.gate.is_told[joint] == 1

    @rule(jump=st.sampled_from([-(10**5), -5000, 5000, 10**6]))
    def clock_set(self, jump):
        """Stamps, and the simulated clock, begin at another time; the robot is where it was."""
        robot = self.robot
        if self.believed is None:
            return
        robot.tick()
        robot.time += jump * MS
        verdict = robot.joints()
        self.believed = robot.q.copy(), robot.v.copy()
        self.accepted, self.message, self.has_part = self.clock_of_states(), {"clock"}, False
        self.answered(verdict)

    @rule()
    def broken_bytes(self):
        self.message = {"size"}
        tau = self.robot.broken()
        self.hear()
        self.judge(tau)

    @rule()
    def foreign(self):
        """A message about nobody here: it is no sign of life either."""
        robot = self.robot
        robot.tick()
        verdict = robot.joints(["finger"], [1e300], [NAN])
        self.judge(robot.note(robot.guarded.answer(verdict, robot.time, robot.now)))

    @rule(back=st.sampled_from([0, 1, 300]))
    def repeated_or_late(self, back):
        """The stamp of the last message, or a little before: nothing happens. Many, or one after long: a new clock."""
        robot, gate = self.robot, self.robot.gate
        is_old = gate.late_in_a_row >= 3 or robot.now - gate.last_arrival > 499 * MS
        if gate.last_stamp == 0 or (back and is_old):
            return
        robot.tick(1000)
        self.answered(robot.joints(stamp=gate.last_stamp - back * 1000))

    @rule(seconds=st.sampled_from([0.001, 0.019, 0.05, 0.2, 0.7]))
    def silence(self, seconds):
        robot = self.robot
        end = robot.now + round(seconds * 1e9)
        while robot.now < end:
            robot.tick(min(max(1, round(robot.guarded.timeout() * 1e9)), end - robot.now))
            self.judge(robot.note(robot.guarded.watch(robot.time, robot.now)))

    @rule()
    def suspended(self):
        """SIGSTOP: nobody looked for a while."""
        robot = self.robot
        robot.tick(700 * MS)
        self.judge(robot.note(robot.guarded.watch(robot.time, robot.now)))

    @rule(ahead=st.sampled_from([100 * MS, 900 * MS]))
    def ahead(self, ahead):
        """States go on some time later than they were stamped before: no jump, and no lifted limit."""
        robot = self.robot
        if self.believed is None:
            return
        robot.time += ahead
        robot.now += ahead
        self.good(MS, 0.0)

    @rule()
    def stop(self):
        self.robot.gate.stop()
        self.is_stopped = True
        self.silence(0.001)

    @rule()
    def reset(self):
        self.robot.gate.open_all()
        self.is_stopped, self.failed = False, NEVER
        self.silence(0.001)

    @rule()
    def fail(self):
        self.robot.gate.fail("error")
        self.failed = self.clock()
        self.judge(self.robot.note(self.robot.guarded.watch(self.robot.time, self.robot.now)))

    @rule(needs=st.booleans())
    def need_permission(self, needs):
        self.robot.gate.enable_timeout = 0.05 if needs else 0.0
        self.needs = needs
        self.silence(0.001)

    @rule(is_given=st.booleans())
    def permission(self, is_given):
        self.robot.gate.enable(is_given, self.robot.now)
        self.permitted = self.clock() if is_given else NEVER
        self.silence(0.001)

    @rule(scale=st.sampled_from([0.05, 0.5, 1.0]))
    def scale(self, scale):
        self.robot.controller.apply(controller_settings({**VALUES, "effort_scale": scale}))

    @rule(height=st.floats(0.2, 0.9))
    def target(self, height):
        if self.robot.guarded.is_ticking:
            self.aim(np.array([0.3, 0.2, height]), np.array([0.0, 0.0, 0.0, 1.0]))

    def aim(self, position, quaternion):
        self.robot.controller.target_pose("hand", position, quaternion, self.robot.gate.time)

    @rule()
    def leave_and_return(self):
        """Deactivation sends the last command; the first after activation is free."""
        robot = self.robot
        tau = robot.guarded.deactivate()
        if tau is not None:
            assert np.isfinite(tau).all() and not tau.any()  # last_command: zero
        robot.tick()
        assert robot.guarded.watch(robot.time, robot.now) is None
        self.message, self.failed, self.first = set(), NEVER, True
        found = robot.note(robot.guarded.activate(robot.time, robot.now))
        if found is None:
            found = robot.note(robot.guarded.watch(robot.time, robot.now))
        self.judge(found)

    def teardown(self):
        """Whatever has happened, good states make it go on."""
        if getattr(self, "robot", None) is None:
            return
        robot = self.robot
        robot.gate.enable_timeout, self.needs = 0.0, False
        self.reset()
        for _ in range(12):
            self.good(MS, 0.0)
        assert robot.gate.closed == 0 and robot.guarded.is_ticking and not robot.gate.must_restart


def run_table(table: type[Table], sequences: int) -> None:
    """Let so many sequences of events happen."""
    profile = settings(
        max_examples=int(MORE or sequences),
        stateful_step_count=STEPS,
        deadline=None,
        derandomize=MORE is None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    run_state_machine_as_test(table, settings=profile)
