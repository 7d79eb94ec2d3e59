"""sensor_msgs/JointState into q and v: mapped by name, merged, checked, differentiated where velocities are missing."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from ..errors import ConfigurationError, listed
from ..model import Model
from ..model.joints import NQ, JointType

__all__ = ["FINITE", "FOREIGN", "JointStates", "NAMES", "OK", "SIZE"]

# What is wrong with a message: the name of the gate it concerns, or FOREIGN: it is about other joints.
OK, NAMES, SIZE, FINITE, FOREIGN = "", "names", "size", "finite", "foreign"
MAPPINGS = 32  # how many lists of names are remembered


@dataclass(frozen=True, eq=False)
class _Mapping:
    """Which entries of a message (`source`) are which joints of ours (`joints`)."""

    names: list[str]
    source: np.ndarray
    joints: np.ndarray
    is_complete: bool
    fault: str


class JointStates:
    """The joints of a robot as its messages tell.

    A message may name joints in any order, joints that are none of ours, or only some of ours; what it lacks keeps its
    value. A message that is invalid changes nothing. Velocities that never come (an empty array, or NaN as
    joint_state_broadcaster sends for an interface that a robot does not have) are differentiated and smoothed.

    Attributes:
        names: the joints, in the order of the model.
        position, velocity: (k,) [rad or m], [rad/s or m/s]; views of the last elements of q and v.
        stamps: (k,) when each joint was last told [ns].
        oldest: the least of them.
        missing: number of joints that have not been told yet.
        is_round: after `read`: every joint that comes regularly has been told since the last round ended.
    """

    def __init__(self, model: Model, q: np.ndarray, v: np.ndarray, velocity_time: float = 0.0):
        """Write into q (nq,) and v (nv,); velocity_time: time constant of the smoothing [s].

        Raises:
            ConfigurationError: a joint has several coordinates, which joint states cannot carry.
        """
        self.names = model.joint_names
        count = len(self.names)
        several = [
            name
            for name, kind in zip(model.body_joint_names, model.joint_type)
            if name in self.names and NQ[JointType(kind)] != 1
        ]
        if several:
            raise ConfigurationError(
                f"joint {several[0]!r} has several coordinates, which joint_states cannot carry; "
                f"joints that it can carry: {listed(set(self.names) - set(several))}"
            )
        self.position, self.velocity = q[model.nq - count :], v[model.nv - count :]
        self.stamps = np.zeros(count, dtype=np.int64)
        self.missing = count
        self.oldest = 0
        self.is_round = False
        self._velocity_time = velocity_time
        self._number = {name: number for number, name in enumerate(self.names)}
        self._circular = _circular(model)
        self._mappings: dict[tuple[str, ...], _Mapping] = {}
        self._last = _Mapping([], np.empty(0, int), np.empty(0, int), False, FOREIGN)
        self._has_velocity = np.zeros(count, dtype=bool)
        self._told = np.zeros(count, dtype=bool)  # in this round
        self._regular = np.ones(count, dtype=bool)
        self._new_position, self._new_velocity = np.zeros(count), np.zeros(count)

    def forget(self) -> None:
        """Start again: nothing has been told."""
        self.stamps[:] = 0
        self.oldest, self.missing = 0, len(self.names)
        self.velocity[:] = 0.0
        self._has_velocity[:] = False
        self._told[:] = False
        self._regular[:] = True

    def missing_names(self) -> list[str]:
        """The joints that have not been told yet."""
        return [name for name, stamp in zip(self.names, self.stamps) if stamp == 0]

    def read(self, names: list[str], position: np.ndarray, velocity: np.ndarray, stamp: int) -> str:
        """Take over a message: its names, its arrays and its time [ns, > 0]. What is wrong with it."""
        last = self._last
        mapping = last if names is last.names or names == last.names else self._mapping(names)
        if mapping.fault:
            return mapping.fault
        if len(position) != len(names) or (len(velocity) != len(names) and len(velocity)):
            return SIZE
        joints = mapping.joints
        new = self._new_position[: len(joints)]
        position.take(mapping.source, out=new)
        if not isfinite(new.dot(new)):  # infinite only if a number is, or is far beyond any joint's
            return FINITE
        rates = self._new_velocity[: len(joints)]
        fault = self._rates(mapping, new, velocity, rates, stamp)
        if fault:
            return fault
        self.position[joints] = new
        self.velocity[joints] = rates
        if mapping.is_complete:
            self.stamps.fill(stamp)
            self.oldest, self.missing = stamp, 0
            self.is_round = True
        else:
            self._merge(joints, stamp)
        return OK

    def _rates(
        self, mapping: _Mapping, new: np.ndarray, velocity, rates: np.ndarray, stamp: int
    ) -> str:
        """The velocities of a message, in `rates`."""
        joints = mapping.joints
        if len(velocity):
            velocity.take(mapping.source, out=rates)
            if isfinite(rates.dot(rates)):
                self._has_velocity[joints] = True
                return OK
            absent = np.isnan(rates) & ~self._has_velocity[joints]
            if not np.isfinite(rates[~absent]).all():
                return FINITE
            self._has_velocity[joints[~absent]] = True
            rates[absent] = self._differences(joints[absent], new[absent], stamp)
            return OK
        rates[:] = self._differences(joints, new, stamp)
        return OK

    def _differences(self, joints: np.ndarray, new: np.ndarray, stamp: int) -> np.ndarray:
        """Velocities by difference from the positions told last, smoothed; zero where there is none before."""
        elapsed = (stamp - self.stamps[joints]) * 1e-9
        change = new - self.position[joints]
        change = np.where(
            self._circular[joints], np.mod(change + np.pi, 2.0 * np.pi) - np.pi, change
        )
        moves = (self.stamps[joints] > 0) & (elapsed > 0.0)
        safe = np.where(moves, elapsed, 1.0)
        share = safe / (self._velocity_time + safe)
        old = self.velocity[joints]
        return np.where(moves, old + share * (change / safe - old), 0.0)

    def _merge(self, joints: np.ndarray, stamp: int) -> None:
        """Note which joints were told, and whether that ends a round."""
        if self._told[joints].any():  # once more before the rest came: the rest comes more rarely
            self._regular[:] = self._told
            self._told[:] = False
        self._told[joints] = True
        self.stamps[joints] = stamp
        self.oldest, self.missing = int(self.stamps.min()), int((self.stamps == 0).sum())
        self.is_round = bool((self._told | ~self._regular).all())
        if self.is_round:
            self._told[:] = False

    def _mapping(self, names: list[str]) -> _Mapping:
        key = tuple(names)
        mapping = self._mappings.get(key)
        if mapping is None:
            if len(self._mappings) >= MAPPINGS:  # somebody sends ever new names
                self._mappings.clear()
            mapping = self._mappings[key] = self._made(names)
        self._last = mapping
        return mapping

    def _made(self, names: list[str]) -> _Mapping:
        source = np.array(
            [at for at, name in enumerate(names) if name in self._number], dtype=np.int64
        )
        joints = np.array([self._number[names[at]] for at in source], dtype=np.int64)
        is_twice = len(set(joints.tolist())) != len(joints)
        fault = FOREIGN if not len(joints) else NAMES if is_twice else OK
        return _Mapping(names, source, joints, len(joints) == len(self.names), fault)


def _circular(model: Model) -> np.ndarray:
    """(k,) whether a joint's position is an angle without limits, which may be given modulo 2 pi."""
    turning = {
        name
        for name, kind in zip(model.body_joint_names, model.joint_type)
        if kind == JointType.REVOLUTE
    }
    endless = np.isinf(model.position_limits).all(axis=1)
    return np.array([name in turning for name in model.joint_names], dtype=bool) & endless
