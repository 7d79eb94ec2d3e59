# SPDX-License-Identifier: Apache-2.0
"""What is to be sent, for everything that happens: nothing now, a safe command, or a torque of the law.

Whoever calls carries it out. START: let the law start anew at q, v and `told`, then as TICK. TICK: its torque at q, v
and `told`. SAFE: the safe command `safe_kind` at q, v and `safe_time`; whether it differs from the safe command before
is noted in `is_moving`.
"""

import math

from ...compiled.jit import kernel
from .base import give_up_base
from .fields import NOTHING, READY, REFUSED, SAFE, START, TICK
from .gates import begin, check, last_permitted, permitted

__all__ = ["WATCH", "activate", "answer", "deactivate", "refrain", "state_time"]

WATCH = 0.1  # [s] between two looks at the gates, and two safe commands, while no state comes


@kernel
def state_time(gates):
    """Of the state [s], from the first stamp since the clock was set: the controller's time."""
    return (gates.stamp - gates.origin) * 1e-9


@kernel
def activate(gates, time, steady):
    """Let commands out; the newest state is answered if it still counts.

    In lock-step nothing more comes until it is.
    """
    begin(gates)
    gates.safe_kind = -1
    gates.safe_sent = 0
    gates.is_moving = 0
    gates.is_active = 1
    if gates.has_state == 0 or gates.is_waiting == 1 or check(gates, time, steady) != 0:
        return NOTHING
    return _of_state(gates, READY, time, steady)


@kernel
def deactivate(gates):
    """SAFE if a last command is to be sent, the one that stays; no other follows."""
    was_active = gates.is_active
    gates.is_active = 0
    gates.is_ticking = 0
    if was_active == 0 or gates.has_state == 0:
        return NOTHING
    gates.safe_kind = last_permitted(gates)
    gates.safe_time = state_time(gates)
    return SAFE


@kernel
def answer(gates, verdict, time, steady):
    """A message was judged, or none that counts has come for some time."""
    if verdict != READY and verdict != REFUSED:
        waited = (steady - gates.last_arrival) * 1e-9
        if gates.is_waiting == 0 or not waited > gates.odom_timeout:
            return _of_silence(gates, time, steady)
        verdict = give_up_base(gates, time)
    return _of_state(gates, verdict, time, steady)


@kernel
def _of_state(gates, verdict, time, steady):
    is_blocked = check(gates, time, steady) != 0
    if gates.is_active == 0:
        return NOTHING
    # what was refused told no time: a period has passed
    gates.told = state_time(gates) if verdict == READY else gates.told + gates.period
    if is_blocked:
        return _safe(gates, gates.told, steady)
    gates.is_ticking = 1
    return START if gates.must_restart == 1 else TICK


@kernel
def _of_silence(gates, time, steady):
    """Close the gates whose time it is, and keep sending what they permit."""
    if check(gates, time, steady) == 0 or gates.is_active == 0:
        return NOTHING
    is_due = (steady - gates.safe_sent) * 1e-9 >= WATCH
    is_due = is_due or gates.is_moving == 1 or gates.is_ticking == 1
    if is_due or gates.safe_kind != permitted(gates, steady):
        return _safe(gates, math.nan, steady)
    return NOTHING


@kernel
def refrain(gates, faults, time, steady):
    """The law could not be started, or what it gave must not be sent: a fault closes its gates."""
    gates.faults |= faults
    if faults != 0:
        check(gates, time, steady)
    return _safe(gates, gates.told, steady)


@kernel
def _safe(gates, time, steady):
    """What the closed gates permit; nothing before the first state, for the robot may be holding itself."""
    gates.is_ticking = 0
    if gates.has_state == 0:
        return NOTHING
    gates.safe_kind = permitted(gates, steady)
    gates.safe_time = time
    gates.safe_sent = steady
    return SAFE
