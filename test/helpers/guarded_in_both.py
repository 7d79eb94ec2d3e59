# SPDX-License-Identifier: Apache-2.0
"""Gates and a controller in Python and the same in C: every event goes to both, and has to be answered alike."""

from __future__ import annotations

import ctypes

import numpy as np

from helpers.exported import NOTHING, Both
from helpers.gate_cases import MS, START
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.safety.fields import DROPPED
from opspace_ctrl.control.safety.guarded import GuardedController
from opspace_ctrl.control.safety.settings import GATES, SafetySettings
from opspace_ctrl.control.safety.state_gate import StateGate
from opspace_ctrl.control.safety.words import gates_in_words
from opspace_ctrl.declaration import declared
from opspace_ctrl.export.native import Library, Robot

INACTIVE, SAFE, OK = 6, 16, 0
OF_GATES = {each.name for each in declared(SafetySettings).values()}


class GateInBoth(StateGate):
    """A gate that tells `in_c` what it is told."""

    in_c: Robot

    def joint_states(self, names, position, velocity, stamp, arrival, time):
        mapping, size = self._names.find(names), len(names)
        fits = len(position) == size and len(velocity) in (0, size)
        verdict = super().joint_states(names, position, velocity, stamp, arrival, time)
        if fits and not mapping.fault:
            joints = np.array(mapping.joints, np.uint32)
            given = [np.array(x)[mapping.source] for x in (position, velocity) if len(x)]
            given = [*given, None][:2]
            found = ctypes.c_int()
            status = self.in_c.call(
                "joint_states",
                len(joints),
                joints,
                *given,
                stamp,
                arrival,
                time,
                ctypes.byref(found),
            )
            assert (status, found.value) == (0, verdict)
        return verdict

    def odometry(self, pose, twist, stamp, child, arrival, time):
        verdict = super().odometry(pose, twist, stamp, child, arrival, time)
        pose, twist, found = np.array(pose, float), np.array(twist, float), ctypes.c_int()
        status = self.in_c.call("odometry", pose, twist, stamp, arrival, time, ctypes.byref(found))
        assert (status, found.value) == (0, verdict)
        return verdict

    def unreadable(self, gate, arrival):
        assert self.in_c.call("unreadable", GATES.index(gate), arrival) == 0
        return super().unreadable(gate, arrival)

    def fail(self, gate):
        assert self.in_c.call("fail", GATES.index(gate)) == 0
        super().fail(gate)

    def stop(self):
        assert self.in_c.call("stop") == 0
        super().stop()

    def enable(self, is_permitted, steady):
        assert self.in_c.call("enable", int(is_permitted), steady) == 0
        super().enable(is_permitted, steady)

    def open_all(self):
        assert self.in_c.call("open_gates") == 0
        super().open_all()

    def computed(self, elapsed):
        assert self.in_c.call("elapsed", elapsed) == 0
        super().computed(elapsed)


class GuardedInBoth(GuardedController):
    """A controller behind such a gate; commands of both are compared bit by bit, and so are the gates after each."""

    gate: GateInBoth

    def __init__(self, controller: Controller, gate: GateInBoth):
        super().__init__(controller, gate)
        self.compared, self.events, self.thorough = 0, 0, True

    def activate(self, time, steady):
        self._prepare()
        tau = super().activate(time, steady)
        return self._compare(tau, self._call("begin", time, steady))

    def deactivate(self):
        tau = super().deactivate()
        return self._compare(tau, self._call("end"))

    def answer(self, verdict, time, steady):
        self._prepare()
        tau = super().answer(verdict, time, steady)
        return self._compare(tau, self._call("command", time, steady))

    def watch(self, time, steady):
        return self.answer(DROPPED, time, steady)

    def _prepare(self):
        """Settings that tests write into the gate or apply to the controller."""
        in_c = self.gate.in_c
        if not self.thorough:
            return
        assert in_c.set("enable_timeout", self.gate.enable_timeout) == 0
        assert in_c.set("effort_scale", self.controller.settings.limits.effort_scale) == 0

    def _call(self, name, *times):
        in_c = self.gate.in_c
        return in_c.call(name, *times, in_c.tau)

    def _compare(self, tau, status):
        gate, in_c = self.gate, self.gate.in_c
        assert status in ((NOTHING, INACTIVE) if tau is None else (OK, SAFE))
        if tau is not None:
            assert tau.tobytes() == in_c.tau.tobytes()
            assert (status == OK) == self.is_ticking
            self.compared += 1
        self.events += 1
        if self.thorough or gate.closed or self.events % 100 == 0:
            self._compare_gates()
        return tau

    def _compare_gates(self):
        gate, in_c = self.gate, self.gate.in_c
        for name in ("closed", "faults", "q", "v", "told", "closings", "fault_counts", "overruns"):
            expected = np.atleast_2d(np.asarray(getattr(gate, name), float))
            np.testing.assert_array_equal(in_c.get(f"gates.{name}"), expected, err_msg=name)
        text = ctypes.create_string_buffer(2000)
        assert in_c.call("gates_in_words", text, 2000) == 0
        assert text.value.decode() == gates_in_words(gate, gate.closed)


class BothGuarded(Both):
    """A shipped controller behind gates, twice: a motion with targets, switches, faults, stops and silence."""

    def __init__(self, name: str, library: Library, seed: int = 1):
        super().__init__(name, library, seed)
        self.gate = GateInBoth(self.model, self.python.settings.safety)
        self.gate.in_c = self.in_c
        self.python.use_wall_clock(True)
        self.guarded = GuardedInBoth(self.python, self.gate)
        self.guarded.thorough = False
        self.now, self.k = START, len(self.model.joint_names)
        self.live = [each for each in self.live if each.name not in OF_GATES]

    def run(self, count: int, every: int) -> int:
        """So many messages, an event or a fault now and then; how many commands were equal in every bit."""
        self.guarded.activate(self.now, self.now)
        targets = (self.pose, self.twist, self.method, self.way_points, self.posture, self.rest)
        events = (*targets, *(self.change,) * 2)
        faults = (self.spoil, self.leap, self.repeat, self.quiet, self.lose, self.stop, self.tear)
        for i in range(count):
            self.now += MS
            if i % every == every - 1 and self.guarded.is_ticking:
                self.time = self.gate.time
                events[int(self.rng.integers(len(events)))]()
            elif i > 100 and self.rng.integers(3 * every) == 0:
                faults[int(self.rng.integers(len(faults)))]()
            else:
                self.message()
        assert self.gate.closings.sum() > count / every / 20
        return self.guarded.compared

    def message(self, position=None, velocity=None, stamp=None, odometry=True):
        """A good state, or one that is spoiled."""
        phase = 5e-9 * (self.now - START)
        q = self.model.integrate(self.start, self.swing, np.sin(phase))
        v = 5.0 * np.cos(phase) * self.swing
        stamp = self.now if stamp is None else stamp
        if self.gate.has_base and odometry:
            self.answer(self.gate.odometry(q[:7], v[:6], stamp, "", self.now, self.now))
        position = q[-self.k :] if position is None else position
        velocity = v[-self.k :] if velocity is None else velocity
        names = list(self.model.joint_names)
        self.answer(self.gate.joint_states(names, position, velocity, stamp, self.now, self.now))

    def answer(self, verdict):
        self.warm()
        self.guarded.answer(verdict, self.now, self.now)

    # ---- events and faults ----

    def rest(self):
        """Stay where it is."""
        gate = self.gate
        self.python.hold(gate.q, gate.v, gate.time)
        assert self.in_c.call("hold", np.array(gate.q), np.array(gate.v), gate.time) == 0

    def spoil(self):
        """A number that is none."""
        self.message(position=np.full(self.k, np.nan))

    def leap(self):
        """A joint that is somewhere else."""
        self.message(position=np.full(self.k, 50.0))

    def repeat(self):
        """The stamp of the message before."""
        self.message(stamp=self.gate.last_stamp)

    def lose(self):
        """A state without its odometry."""
        self.message(odometry=False)

    def quiet(self):
        """Nothing comes for a while; the watchdog looks."""
        for _ in range(int(self.rng.integers(1, 40))):
            self.now += 5 * MS
            self.answer(DROPPED)

    def stop(self):
        """Emergency stop, and a reset some time later."""
        self.gate.stop()
        for _ in range(20):
            self.now += MS
            self.message()
        self.gate.open_all()
        self.message()

    def tear(self):
        """Bytes that are no message."""
        self.answer(self.gate.unreadable("size", self.now))
