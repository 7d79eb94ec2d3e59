# SPDX-License-Identifier: Apache-2.0
"""Joint states: judged as a whole, and only then merged into what is believed of the joints."""

import math

from ...compiled.jit import kernel
from .base import accept, find_base, forget_base, refuse
from .fields import BIT, DROPPED, TAKEN
from .stamps import AHEAD, BACK, LATE, REPEATED, count_stamp, judge_stamp, stamp_of

__all__ = ["hear", "state_limit", "take_joints"]

_FINITE, _VELOCITY, _STATE = BIT["finite"], BIT["velocity"], BIT["state"]
LARGEST = 1e12  # beyond, a number is no position or velocity
SLACK = 0.01  # [s] by which stamps, positions and velocities of one message may differ
COMPARED = 0.05  # [s] over a longer time a velocity says nothing about the way
UNLIMITED = 20.0  # [rad/s or m/s] stands for the limit of a joint without one, where way and velocity are compared
INTERVALS = 0.05  # share of a new interval in the mean


@kernel
def hear(gates, arrival):
    """A message of joint states came, whatever it says."""
    if gates.heard != 0:
        passed = (arrival - gates.heard) * 1e-9
        gates.interval += INTERVALS * (passed - gates.interval) if gates.interval > 0.0 else passed
    gates.heard = arrival


@kernel
def take_joints(gates, count, has_velocity, stamp, arrival, time):
    """Judge the `count` joints of a message, then take all of it or nothing: DROPPED, TAKEN, READY or REFUSED.

    READY: with it a whole state is believed. stamp, arrival (steady clock) and time (the clock that states are judged
    by) in ns. Needs `new_joint`, `new_position` and, if `has_velocity`, `new_velocity`, which it completes by
    differences.
    """
    hear(gates, arrival)
    stamp = stamp_of(gates, stamp, arrival)
    verdict = judge_stamp(gates, stamp, arrival)
    if verdict == REPEATED and count == gates.k:
        gates.repeated += 1
        return DROPPED
    if verdict == LATE:
        gates.late += 1
        return DROPPED
    is_set = verdict == BACK or verdict == AHEAD
    is_start = is_set or gates.last_stamp == 0  # stamps before, if there were any, are of no clock
    faults = _judge(gates, count, has_velocity, stamp, arrival, is_start)
    if faults != 0:
        return refuse(gates, faults)
    if is_start:
        _start_again(gates, stamp)
    if is_set:
        gates.was_set = 1
    if verdict != REPEATED:
        count_stamp(gates, verdict, stamp, arrival)
    if not _merge(gates, count, stamp):
        return TAKEN
    if stamp - _oldest(gates) > int(1e9 * state_limit(gates)):
        return refuse(gates, _STATE)
    if find_base(gates, stamp):
        return accept(gates, stamp, arrival, time)
    if gates.base_fault != 0:
        gates.is_waiting = 0
        return refuse(gates, gates.base_fault)
    return TAKEN


@kernel
def state_limit(gates):
    """The age at which a state is stale [s]."""
    return max(gates.state_timeout, gates.state_periods * gates.period)


@kernel
def _judge(gates, count, has_velocity, stamp, arrival, is_start):
    """Bits of what is wrong with the numbers of a message; velocities that it does not tell are found here."""
    joint, p, w = gates.new_joint, gates.new_position, gates.new_velocity
    speed, tells, factor = gates.speed, gates.tells_velocity, gates.velocity_factor
    new_tells, faults = gates.new_tells, 0
    for i in range(count):
        j = joint[i]
        is_told = has_velocity and not (math.isnan(w[i]) and tells[j] == 0)
        new_tells[i] = 1 if is_told else 0
        if not abs(p[i]) <= LARGEST or (is_told and not abs(w[i]) <= LARGEST):
            return _FINITE
        change, elapsed = _way(gates, j, p[i], stamp, arrival, is_start)
        if not is_told:
            w[i] = _difference(gates, j, change, elapsed)
        if factor > 0.0:
            fastest = factor * speed[j]
            is_far = elapsed >= 0.0 and abs(change) > fastest * (elapsed + SLACK)
            if abs(w[i]) > fastest or is_far:
                faults = _VELOCITY
            if is_told and 0.0 < elapsed <= COMPARED:
                most = speed[j] if speed[j] < math.inf else UNLIMITED
                if abs(change - w[i] * elapsed) > most * (elapsed + SLACK):
                    faults = _VELOCITY
    return faults


@kernel
def _way(gates, j, position, stamp, arrival, is_start):
    """How far a joint has moved since it was last believed, and in what time [s]; -1 if that cannot be said.

    Where a clock starts or was set the way since the last state counts, by the steady clock; a simulated robot may have
    been put anywhere.
    """
    told, last = gates.told_stamp, gates.position
    if not is_start and told[j] != 0:
        elapsed, before = (stamp - told[j]) * 1e-9, last[j]
    elif gates.has_state == 1 and gates.is_simulated == 0:
        q = gates.q
        elapsed, before = (arrival - gates.arrival) * 1e-9, q[gates.nq - gates.k + j]
    else:
        return 0.0, -1.0
    change = position - before
    if gates.circular[j] == 1:
        change -= 2.0 * math.pi * math.floor(change / (2.0 * math.pi) + 0.5)
    return change, elapsed


@kernel
def _difference(gates, j, change, elapsed):
    """Velocity of a joint from the way it has made, smoothed; zero where none is known."""
    if not elapsed > 0.0 or gates.told_stamp[j] == 0:
        return 0.0
    old = gates.velocity[j]
    return old + elapsed / (gates.velocity_time + elapsed) * (change / elapsed - old)


@kernel
def _start_again(gates, stamp):
    """A clock starts, or was set: what was told before belongs to another time."""
    told, tells, is_told, is_rare = (
        gates.told_stamp,
        gates.tells_velocity,
        gates.is_told,
        gates.is_rare,
    )
    for j in range(gates.k):
        told[j] = 0
        tells[j] = 0
        is_told[j] = 0
        is_rare[j] = 0
    gates.origin = 0
    forget_base(gates, stamp)


@kernel
def _merge(gates, count, stamp):
    """Believe the joints of a message. Does that end a round: has every joint been told that comes regularly?"""
    joint, p, w = gates.new_joint, gates.new_position, gates.new_velocity
    position, velocity, told = gates.position, gates.velocity, gates.told_stamp
    tells, is_told, is_rare = gates.tells_velocity, gates.is_told, gates.is_rare
    new_tells, is_again = gates.new_tells, False
    for i in range(count):
        is_again = is_again or is_told[joint[i]] == 1
    if is_again:  # once more before the rest came: the rest comes more rarely
        for j in range(gates.k):
            is_rare[j] = 1 - is_told[j] if count < gates.k else 0
            is_told[j] = 0
    for i in range(count):
        j = joint[i]
        position[j], velocity[j], told[j], is_told[j] = p[i], w[i], stamp, 1
        tells[j] = max(tells[j], new_tells[i])
    missing, is_round = 0, True
    for j in range(gates.k):
        missing += 1 if told[j] == 0 else 0
        is_round = is_round and (is_told[j] == 1 or is_rare[j] == 1)
    gates.missing = missing
    if is_round:
        for j in range(gates.k):
            is_told[j] = 0
    return is_round and missing == 0


@kernel
def _oldest(gates):
    """The stamp of the joint that was told the longest time ago [ns]."""
    told = gates.told_stamp
    oldest = told[0]
    for j in range(1, gates.k):
        oldest = min(oldest, told[j])
    return oldest
