"""Gates and a controller in Python and the same in C: every event goes to both, and has to be answered alike."""

from __future__ import annotations

import ctypes

import numpy as np

from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.safety.fields import DROPPED
from opspace_ctrl.control.safety.guarded import GuardedController
from opspace_ctrl.control.safety.settings import GATES
from opspace_ctrl.control.safety.state_gate import StateGate
from opspace_ctrl.control.safety.words import gates_in_words
from opspace_ctrl.export.native import Robot

INACTIVE, SAFE, NOTHING, OK = 6, 16, 17, 0


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
        self.compared = 0

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
        for name in ("closed", "faults", "q", "v", "told", "closings", "fault_counts", "overruns"):
            expected = np.atleast_2d(np.asarray(getattr(gate, name), float))
            np.testing.assert_array_equal(in_c.get(f"gates.{name}"), expected, err_msg=name)
        text = ctypes.create_string_buffer(2000)
        assert in_c.call("gates_in_words", text, 2000) == 0
        assert text.value.decode() == gates_in_words(gate, gate.closed)
        return tau
