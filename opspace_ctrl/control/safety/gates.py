# SPDX-License-Identifier: Apache-2.0
"""Gates: each closes when its fault is seen, and opens `recovery_time` after that, or with a reset.

Each gate of `settings.GATES` is a bit. What may be sent while one is closed depends on what is left:

    target, publishers                       the controller runs on and holds: nothing else is sent
    overrun, position, clock, enable, error, the state is valid: zero, gravity or damping, as configured
    stop
    velocity, names, size, quaternion,       no valid state is left: zero, or, for `gravity_time`, gravity at the last
    finite, odom, state                      one that was believed
    first                                    zero: no state was ever seen

`damping` is a law and needs a running loop; the LAST command, which an effort controller keeps, is zero or gravity.
"""

from ...compiled.jit import kernel
from ..fields import GRAVITY, NO_TORQUE
from .fields import ADVISORY, BIT, STATE_LESS
from .joints import state_limit

__all__ = ["begin", "check", "computed", "last_permitted", "open_all", "permitted"]

_OVERRUN, _ODOM, _STATE, _FIRST, _STOP, _ENABLE, _ERROR = (
    BIT[name] for name in ("overrun", "odom", "state", "first", "stop", "enable", "error")
)
UNKNOWN_PERIOD = 0.2  # [s] joint states are not stale earlier while their period is not known
SLOW = 1_000_000_000  # [ns] at least before gates open that close again if what they stop goes on
INTERVALS = 10.0  # mean intervals without any message are silence


@kernel
def begin(gates):
    """Close every gate anew, as before the first message; the state stays, and so does an emergency stop."""
    gates.closed = _FIRST | _STOP if gates.is_stopped == 1 else _FIRST
    gates.faults = 0
    gates.advice = 0
    gates.overruns_in_a_row = 0
    gates.must_restart = 1
    last = gates.last_fault
    for i in range(gates.gates):
        last[i] = 0


@kernel
def check(gates, time, steady):
    """Close and open gates; returns the bits of those that stop the control. Both clocks in ns."""
    faults = gates.faults | gates.advice | _by_age(gates, time, steady)
    if gates.is_stopped == 1:
        faults |= _STOP
    if faults | gates.closed:
        _open_and_close(gates, faults, steady)
    gates.faults &= ~_ERROR  # it happened; it does not last
    blocking = gates.closed & ~ADVISORY
    if blocking:
        gates.must_restart = 1
    if not blocking & STATE_LESS:
        gates.valid = steady
    return blocking


@kernel
def _by_age(gates, time, steady):
    """What time alone makes a fault: first, state, odom, enable."""
    faults = 0
    permission = gates.enable_timeout
    if permission > 0.0 and not (
        gates.enabled != 0 and (steady - gates.enabled) * 1e-9 <= permission
    ):
        faults |= _ENABLE
    if gates.has_state == 0:
        return faults | _FIRST
    limit = state_limit(gates) if gates.period > 0.0 else max(gates.state_timeout, UNKNOWN_PERIOD)
    age = (time - gates.seen if gates.is_simulated == 1 else steady - gates.arrival) * 1e-9
    if not age <= limit or (gates.is_simulated == 1 and _is_silent(gates, steady)):
        faults |= _STATE
    behind = (gates.stamp - gates.base_stamp) * 1e-9
    if gates.has_base == 1 and (gates.base_stamp == 0 or behind > gates.odom_timeout):
        faults |= _ODOM
    return faults


@kernel
def _is_silent(gates, steady):
    """Has nothing at all come for long, repeated states included? A paused world repeats, a slow one is known."""
    longest = max(gates.liveness_timeout, gates.state_timeout)
    passed = (steady - gates.heard) * 1e-9
    return gates.liveness_timeout > 0.0 and passed > max(longest, INTERVALS * gates.interval)


@kernel
def _open_and_close(gates, faults, steady):
    """Close the gates of these faults; open others once theirs has been gone long enough, unless only a reset may."""
    manual, closed = gates.manual_recovery, gates.closed
    last, closings = gates.last_fault, gates.closings
    for i in range(gates.gates):
        bit = 1 << i
        if faults & bit:
            closings[i] += 0 if closed & bit else 1
            closed |= bit
            last[i] = steady
        elif closed & bit and manual[i] == 0.0:
            wait = int(gates.recovery_time * 1e9)
            if bit & (_OVERRUN | _ERROR):
                wait = max(wait, SLOW)
            if steady - last[i] >= wait:
                closed &= ~bit
    gates.closed = closed


@kernel
def open_all(gates):
    """Let the emergency stop go, and open every gate whose fault is gone."""
    gates.is_stopped = 0
    last = gates.last_fault
    for i in range(gates.gates):
        last[i] = 0
    left = gates.faults | gates.advice
    if gates.has_state == 0:
        left |= _FIRST
    gates.closed &= left


@kernel
def computed(gates, elapsed):
    """A tick took so long [ns]: too many in a row that are too long are a fault."""
    limit = gates.overrun_time if gates.overrun_time > 0.0 else gates.period
    is_overrun = limit > 0.0 and elapsed * 1e-9 > limit and gates.is_simulated == 0
    gates.overruns += 1 if is_overrun else 0
    gates.overruns_in_a_row = gates.overruns_in_a_row + 1 if is_overrun else 0
    gates.faults &= ~_OVERRUN
    if gates.overrun_count > 0 and gates.overruns_in_a_row >= gates.overrun_count:
        gates.faults |= _OVERRUN


@kernel
def permitted(gates, steady):
    """What may be sent while a gate is closed: NO_TORQUE, GRAVITY or BRAKING."""
    kind = gates.safe_command
    if kind == NO_TORQUE or not gates.closed & STATE_LESS:
        return kind
    is_held = gates.has_state == 1 and (steady - gates.valid) * 1e-9 < gates.gravity_time
    return GRAVITY if is_held else NO_TORQUE


@kernel
def last_permitted(gates):
    """What may be left standing for good: NO_TORQUE or GRAVITY."""
    return NO_TORQUE if gates.closed & STATE_LESS else gates.last_command
