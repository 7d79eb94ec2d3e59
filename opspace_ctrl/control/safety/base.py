# SPDX-License-Identifier: Apache-2.0
"""The floating base: odometry, paired with joint states by its stamp; and the state that both make."""

import math

from ...compiled.jit import kernel
from ...dynamics.state import copy
from .fields import BIT, DROPPED, OF_MESSAGE, READY, REFUSED, TAKEN
from .stamps import ZEROS_IN_A_ROW

__all__ = ["accept", "find_base", "forget_base", "give_up_base", "refuse", "take_base"]

_FINITE, _QUATERNION, _VELOCITY = BIT["finite"], BIT["quaternion"], BIT["velocity"]
_POSITION, _CLOCK, _ODOM = BIT["position"], BIT["clock"], BIT["odom"]
LARGEST = 1e12  # [m] beyond, a number is no position
FASTEST = 100.0  # [m/s, rad/s] beyond, no base moves
TOLERANCE = 0.01  # of a quaternion's norm; what is within is normalised
UNPAIRED_IN_A_ROW = 10  # joint states without odometry of their stamp: it is no longer waited for


@kernel
def refuse(gates, faults):
    """A message is at fault; what was believed before stays."""
    gates.faults = gates.faults & ~OF_MESSAGE | faults
    counts = gates.fault_counts
    for i in range(gates.gates):
        if faults >> i & 1:
            counts[i] += 1
    return REFUSED


@kernel
def take_base(gates, fault, stamp, arrival, time):
    """Judge odometry and take it or nothing; as `take_joints`. Needs `new_pose` and `new_twist`.

    fault: bits of what is wrong with it beyond its numbers. A fault counts when joint states need the message.
    """
    fault = _judge(gates) if fault == 0 else fault
    gates.base_fault = fault
    if fault != 0:
        if gates.is_waiting == 0:
            return DROPPED
        gates.is_waiting = 0
        return refuse(gates, fault)
    pose, new = gates.pose, gates.new_pose
    norm = math.sqrt(new[3] ** 2 + new[4] ** 2 + new[5] ** 2 + new[6] ** 2)
    for i in range(7):
        pose[i] = new[i] / norm if i >= 3 else new[i]
    copy(gates.new_twist, gates.twist, 6)
    if stamp == 0:
        stamp = arrival if gates.zeros_in_a_row >= ZEROS_IN_A_ROW else 1
    gates.base_stamp = stamp
    if gates.is_waiting == 0 or stamp < gates.last_stamp:
        return TAKEN
    _note_pair(gates, stamp == gates.last_stamp)
    return accept(gates, gates.last_stamp, gates.last_arrival, time)


@kernel
def _judge(gates):
    """Bits of what is wrong with the numbers of odometry."""
    pose, twist = gates.new_pose, gates.new_twist
    for i in range(7):
        if not abs(pose[i]) <= LARGEST:
            return _FINITE
    for i in range(6):
        if not abs(twist[i]) <= LARGEST:
            return _FINITE
    norm = math.sqrt(pose[3] ** 2 + pose[4] ** 2 + pose[5] ** 2 + pose[6] ** 2)
    if not abs(norm - 1.0) <= TOLERANCE:
        return _QUATERNION
    for i in range(6):
        if gates.velocity_factor > 0.0 and abs(twist[i]) > FASTEST:
            return _VELOCITY
    return 0


@kernel
def find_base(gates, stamp):
    """All joints are there, of this stamp: is the base? If not, it is awaited from now on."""
    if gates.has_base == 0:
        return True
    if gates.base_stamp == stamp:
        _note_pair(gates, True)
        return True
    if gates.is_waiting == 1:  # for the one before, in vain
        _note_pair(gates, False)
    if gates.unpaired_in_a_row >= UNPAIRED_IN_A_ROW and gates.base_stamp != 0:
        return True
    gates.is_waiting = 1
    return False


@kernel
def _note_pair(gates, found):
    """Count joint states whose odometry did not come, in all and in a row."""
    gates.unpaired += 0 if found else 1
    gates.unpaired_in_a_row = 0 if found else gates.unpaired_in_a_row + 1


@kernel
def give_up_base(gates, time):
    """Odometry of the awaited stamp has not come: take the newest there is; without any the state is lost."""
    gates.is_waiting = 0
    if gates.base_stamp == 0:
        return refuse(gates, _ODOM)
    return accept(gates, gates.last_stamp, gates.last_arrival, time)


@kernel
def forget_base(gates, stamp):
    """The clock was set to `stamp` [ns]: odometry of another time is not awaited, nor used."""
    gates.is_waiting = 0
    if abs(gates.base_stamp - stamp) > int(gates.clock_jump * 1e9):
        gates.base_stamp = 0


@kernel
def accept(gates, stamp, arrival, time):
    """Believe the parts as one state: write q, v and when it was."""
    q, v, position, velocity = gates.q, gates.v, gates.position, gates.velocity
    lower, upper, margin = gates.lower, gates.upper, gates.position_margin
    first_q, first_v, faults = gates.nq - gates.k, gates.nv - gates.k, 0
    for j in range(gates.k):
        p = position[j]
        q[first_q + j] = p
        v[first_v + j] = velocity[j]
        if margin > 0.0 and (p < lower[j] - margin or p > upper[j] + margin):
            faults |= _POSITION
    if gates.has_base == 1:
        copy(gates.pose, q, 7)
        copy(gates.twist, v, 6)
    if gates.was_set == 1:
        faults |= _CLOCK
    gates.was_set = 0
    gates.is_waiting = 0
    gates.stamp = stamp
    gates.arrival = arrival
    gates.seen = time
    gates.has_state = 1
    if gates.origin == 0:
        gates.origin = stamp
    gates.faults = gates.faults & ~OF_MESSAGE | faults
    return READY
