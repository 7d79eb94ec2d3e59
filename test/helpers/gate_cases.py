# SPDX-License-Identifier: Apache-2.0
"""A state gate, alone and with its controller, that is fed with messages by a clock."""

from __future__ import annotations

import numpy as np

from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.safety.fields import DROPPED
from opspace_ctrl.control.safety.guarded import GuardedController
from opspace_ctrl.control.safety.state_gate import StateGate
from opspace_ctrl.control.settings import controller_settings

MS = 1_000_000  # [ns]
START = 100_000 * MS
# A link on a joint of a kind.
ONE_JOINT = (
    '<robot name="r"><link name="a"/><joint name="j" type="{}"><parent link="a"/><child link="b"/>'
    '<axis xyz="0 0 1"/></joint><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
    'ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
)


class Robot:
    """A robot at rest that says so at a steady rate; time, steady clock and stamps run alike.

    Attributes:
        gate: What it talks to.
        q, v: What it says next.
        now: Time and steady clock [ns].
    """

    def __init__(self, model, step=MS, is_simulated=False, **values):
        settings = controller_settings({"velocity_time": 0.0, **values})
        self.gate = StateGate(model, settings.safety, is_simulated)
        self.model, self.step = model, step
        self.q, self.v = model.neutral(), np.zeros(model.nv)
        self.now = self.time = START
        self.has_odom = bool(self.gate.has_base)

    def tick(self, passed=None):
        """Let time pass."""
        passed = self.step if passed is None else passed
        self.now += passed
        self.time += passed

    def odom(self, pose=None, twist=None, stamp=None, child=""):
        pose, twist = self.q[:7] if pose is None else pose, self.v[:6] if twist is None else twist
        stamp = self.time if stamp is None else stamp
        return self.gate.odometry(pose, twist, stamp, child, self.now, self.time)

    def joints(self, names=None, position=None, velocity=None, stamp=None):
        """A message of joint states; what is not given is the robot's. The verdict."""
        k = len(self.model.joint_names)
        return self.gate.joint_states(
            list(self.model.joint_names) if names is None else names,
            self.q[-k:] if position is None else np.array(position, float),
            self.v[-k:] if velocity is None else np.array(velocity, float),
            self.time if stamp is None else stamp,
            self.now,
            self.time,
        )

    def check(self):
        return self.gate.check(self.time, self.now)

    def message(self, odom=True, **changes):
        """A step later a message comes; the gates that stop the control then."""
        self.tick()
        if self.has_odom and odom:
            self.odom()
        self.joints(**changes)
        return self.check()

    def run(self, count=10):
        for _ in range(count):
            out = self.message()
        return out

    def wait(self, seconds, paused=False, repeats=False):
        """No new message for some time; under a paused clock; with the last one again and again."""
        left = round(seconds * 1e9)
        while left > 0:
            passed = min(left, self.step if repeats else left)
            self.now += passed
            self.time += 0 if paused else passed
            left -= passed
            if repeats:
                assert self.joints(stamp=self.gate.last_stamp) == DROPPED
        return self.check()


class Controlled(Robot):
    """A robot with its controller: every message is answered, and every command is kept.

    Attributes:
        commands: (steady [ns], torque (k,)) of each.
    """

    def __init__(self, model, step=MS, is_simulated=False, **values):
        super().__init__(model, step, is_simulated, **values)
        self.controller = Controller.from_settings(
            model, controller_settings({"method": "sparse_ltdl", **values})
        )
        self.controller.use_wall_clock(not is_simulated)
        self.guarded = GuardedController(self.controller, self.gate)
        self.commands = []

    def note(self, tau):
        if tau is not None:
            self.commands.append((self.now, tau.copy()))
        return tau

    def activate(self):
        return self.note(self.guarded.activate(self.time, self.now))

    def message(self, odom=True, passed=None, **changes):
        """A step later a message comes: the command that answers it, or None."""
        self.tick(passed)
        verdict = DROPPED
        if self.has_odom and odom:
            verdict = self.odom()
        verdict = max(verdict, self.joints(**changes))
        return self.note(self.guarded.answer(verdict, self.time, self.now))

    def broken(self):
        """A step later bytes come that are no message."""
        self.tick()
        verdict = self.gate.unreadable("size", self.now)
        return self.note(self.guarded.answer(verdict, self.time, self.now))

    def silence(self, seconds, paused=False):
        """Nothing comes; the watchdog looks as often as it wants to. The last command."""
        end, tau = self.now + round(seconds * 1e9), None
        while self.now < end:
            passed = min(max(1, round(self.guarded.timeout() * 1e9)), end - self.now)
            self.now += passed
            self.time += 0 if paused else passed
            found = self.note(self.guarded.watch(self.time, self.now))
            tau = tau if found is None else found
        return tau

    def steps(self):
        """(n - 1, k) changes from each command to the next, absolute."""
        return np.abs(np.diff([tau for _, tau in self.commands], axis=0))
