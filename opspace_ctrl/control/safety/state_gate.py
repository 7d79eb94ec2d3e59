# SPDX-License-Identifier: Apache-2.0
"""`StateGate`: may this state be used, and if not, what may be sent? It knows no ROS and no clock.

It takes what a robot says, message by message, and accepts all of a message or nothing. Nothing else writes q and v:
they are the last state that was believed. The judgement is compiled (`joints`, `base`, `stamps`, `gates`), on the
memory that `fields.Gates` declares; here are the names of it all.
"""

from collections.abc import Sequence

import numpy as np

from ...compiled.jit import prepare
from ...errors import ConfigurationError, listed
from ...model import Model
from ...model.joints import NQ, JointType
from . import entries
from .fields import ADVISORY, BIT, DROPPED, Gates
from .names import JointNames
from .settings import GATES, SAFE_COMMANDS, SafetySettings

__all__ = ["StateGate", "names_of", "outside_limits"]


def names_of(gates: int) -> list[str]:
    """Names of the gates in a set of bits, the most important one first."""
    return [name for name in reversed(GATES) if gates & BIT[name]]


def outside_limits(model: Model, q: np.ndarray, margin: float) -> list[str]:
    """Joints that are outside their limits by more than a margin [rad or m]."""
    position, (lower, upper) = q[-len(model.joint_names) :], model.position_limits.T
    is_outside = (position < lower - margin) | (position > upper + margin)
    return [name for name, bad in zip(model.joint_names, is_outside) if bad]


class StateGate(Gates):
    """The gates of one robot. One thread feeds it; `stop` and `enable` may come from any.

    Feed it `joint_states` and `odometry` as they come, `unreadable` for what is no such message, `computed` after every
    tick, `advise` with what is known about targets; then ask `check` before every command and, when messages stay
    away, from a watchdog. All times in ns: `stamp` of a message, `arrival` and `steady` by a clock that never jumps,
    `time` by the clock that states are judged by: the steady one, or that of the simulation.

    Attributes:
        settings: Those in use, see `configure`.
        q, v: (nq,), (nv,) the state that is believed.
        frame_id: The world's name in the odometry.

    Raises:
        ConfigurationError: A joint has several coordinates, which joint states cannot carry.
    """

    def __init__(
        self,
        model: Model,
        settings: SafetySettings,
        is_simulated: bool = False,
        prefix: str = "",
    ):
        """Prefix: may stand before the root link's name in odometry."""
        several = [
            name
            for name, kind in zip(model.body_joint_names, model.joint_type)
            if name in model.joint_names and NQ[JointType(kind)] != 1
        ]
        if several:
            raise ConfigurationError(
                f"joint {several[0]!r} has several coordinates, which joint_states cannot carry; "
                f"joints that it can carry: {listed(set(model.joint_names) - set(several))}"
            )
        super().__init__(
            nq=model.nq,
            nv=model.nv,
            k=len(model.joint_names),
            gates=len(GATES),
            has_base=bool(model.is_base_coordinate.any()),
            is_simulated=is_simulated,
            lower=model.position_limits[:, 0],
            upper=model.position_limits[:, 1],
            speed=model.velocity_limits,
            circular=_circular(model),
            q=model.neutral(),
            missing=len(model.joint_names),
        )
        root = model.frame_names[0]
        self.names, self.frame_id = tuple(model.joint_names), ""
        self._roots = "", root, prefix + root
        self._names = JointNames(self.names)
        self._mapping = self._names.find(())
        self.configure(settings)
        self.begin()
        prepare(entries.ENTRIES)

    def configure(self, settings: SafetySettings) -> None:
        """Take other settings, at any time."""
        self.settings = settings
        for name, value in settings.law_values(law=False):
            setattr(self, name, value)

    # ---- what happens ----

    def begin(self) -> None:
        """Close every gate anew, as before the first message; the state stays, and so does an emergency stop."""
        entries.begin(self.address)

    def joint_states(
        self,
        names: Sequence[str],
        position: np.ndarray,
        velocity: np.ndarray,
        stamp: int,
        arrival: int,
        time: int,
    ) -> int:
        """Joint states came: DROPPED, TAKEN, READY (a whole state is believed) or REFUSED.

        A message may name joints in any order, others between them, or only some: what it lacks keeps its value.
        velocity: may be empty, or NaN where a joint never tells; then it is found by differences.
        """
        mapping = self._names.find(names)
        if mapping.fault:
            if mapping.fault == "foreign":
                self.foreign += 1
                return DROPPED
            return self.unreadable(mapping.fault, arrival)
        size, count = len(names), len(mapping.joints)
        if len(position) != size or (len(velocity) != size and len(velocity)):
            return self.unreadable("size", arrival)
        if mapping is not self._mapping:
            self.new_joint[:count] = mapping.joints
            self._mapping = mapping
        position.take(mapping.source, out=self.new_position[:count], mode="clip")
        if len(velocity):
            velocity.take(mapping.source, out=self.new_velocity[:count], mode="clip")
        return entries.take_joints(count, len(velocity) > 0, stamp, arrival, time, self.address)

    def odometry(self, pose, twist, stamp: int, child: str, arrival: int, time: int) -> int:
        """Odometry came, about the link `child` where it says so; as `joint_states`."""
        self.new_pose[:], self.new_twist[:] = pose, twist
        fault = 0 if child in self._roots else BIT["names"]
        return entries.take_base(fault, stamp, arrival, time, self.address)

    def give_up_odometry(self, time: int) -> int:
        """Take the joint states that wait for odometry with the newest there is."""
        return entries.give_up_base(time, self.address)

    def unreadable(self, gate: str, arrival: int) -> int:
        """A message of joint states or odometry came that the gate of this name has to refuse."""
        return entries.refuse(BIT[gate], arrival, self.address)

    def computed(self, elapsed: int) -> None:
        """A tick took so long [ns]."""
        entries.computed(elapsed, self.address)

    def fail(self, gate: str) -> None:
        """Something went wrong that is no message's fault: the gate of this name closes."""
        self.faults |= BIT[gate]

    def advise(self, gates: int) -> None:
        """What is wrong with targets: bits of `target` and `publishers`."""
        self.advice = gates & ADVISORY

    def stop(self) -> None:
        """Emergency stop: latched until `open_all`."""
        self.is_stopped = 1

    def enable(self, is_permitted: bool, steady: int) -> None:
        """Permission to move, for `enable_timeout`, or that there is none."""
        self.enabled = steady if is_permitted else 0

    def open_all(self) -> None:
        """Let the emergency stop go, and open every gate whose fault is gone."""
        entries.open_all(self.address)

    # ---- what follows ----

    def check(self, time: int, steady: int) -> int:
        """Close and open gates; returns the bits of those that stop the control, 0 if none does."""
        return entries.check(time, steady, self.address)

    def permitted(self, steady: int) -> str:
        """What may be sent while a gate is closed: zero, gravity or damping, at the state that is believed."""
        return SAFE_COMMANDS[entries.permitted(steady, self.address)]

    def last_permitted(self) -> str:
        """What may be left standing for good: zero or gravity."""
        return SAFE_COMMANDS[entries.last_permitted(self.address)]

    @property
    def gate(self) -> str:
        """Name of the most important closed gate, "" if all are open."""
        return GATES[self.closed.bit_length() - 1] if self.closed else ""

    @property
    def time(self) -> float:
        """Of the state [s], from the first stamp since the clock was set; for the controller."""
        return (self.stamp - self.origin) * 1e-9

    @property
    def odometry_age(self) -> float:
        """How much older the odometry is than the joint states [s]; inf when there is none."""
        return (self.stamp - self.base_stamp) * 1e-9 if self.base_stamp else np.inf

    def missing_names(self) -> list[str]:
        """The joints that have not been told."""
        return [name for name, stamp in zip(self.names, self.told_stamp) if stamp == 0]


def _circular(model: Model) -> np.ndarray:
    """(k,) whether a joint's position is an angle without limits, which may be given modulo 2 pi."""
    turning = {
        name
        for name, kind in zip(model.body_joint_names, model.joint_type)
        if kind == JointType.REVOLUTE
    }
    endless = np.isinf(model.position_limits).all(axis=1)
    return np.array([name in turning for name in model.joint_names], dtype=bool) & endless
