"""From the levels' torques to the command: ramp, effort limits lowest level first, rate limit, last clip."""

from __future__ import annotations

import math

from ...dynamics.layout import count, floats, ints
from ...jit import kernel
from .. import layout as at
from .joints import row_of

SWEEPS = 2  # over the joints near limits, which drive each other
SLOWER = 4  # times that the other joints may be slowed down to a half


@kernel
def progress(elapsed, duration):
    """0 at the start, 1 after `duration`, with no step in speed or acceleration (minimum jerk)."""
    if not elapsed < duration:
        return 1.0
    x = max(elapsed / duration, 0.0)
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


@kernel
def scale_levels(w, ramp):
    """SCALE of every level: all full, or the lowest shortened so that the sum keeps the limits, then the next above.

    Level 0 is kept. A joint that level 0 alone takes beyond its limit may not be taken further; the clip sees to it.
    """
    torque, scale, limit, k = (
        floats(w, at.LEVEL_TORQUE),
        floats(w, at.SCALE),
        floats(w, at.LIMIT),
        count(w, at.JOINTS),
    )
    scale[0], last = 1.0, count(w, at.LEVELS) + 2
    for level in range(1, last + 1):
        scale[level] = ramp
    for level in range(last, 0, -1):
        low, high = 0.0, ramp
        for j in range(k):
            rest, most = 0.0, max(limit[at.EFFORT, j], abs(torque[0, j]))
            for other in range(last + 1):
                if other != level:
                    rest += scale[other] * torque[other, j]
            t = torque[level, j]
            if abs(t) > 1e-9 * most:
                a, b = (-most - rest) / t, (most - rest) / t
                low, high = max(low, min(a, b)), min(high, max(a, b))
            elif abs(rest) > most * (1.0 + 1e-9):
                high = -1.0
        if high >= low:
            scale[level] = high
            return
        scale[level] = 0.0


@kernel
def command(w, dt):
    """TAU from the scaled levels: no faster than the rate limits, then clipped; never not finite.

    Joints change alike, so that the direction of the change survives, except those that a limit holds: they change as
    fast as they may.
    """
    torque, scale, limit = floats(w, at.LEVEL_TORQUE), floats(w, at.SCALE), floats(w, at.LIMIT)
    joint, tau, report, k, last = (
        ints(w, at.JOINT),
        floats(w, at.TAU),
        floats(w, at.REPORT_SLOT),
        count(w, at.JOINTS),
        count(w, at.LEVELS) + 2,
    )
    wanted, saturated, held = (
        floats(w, at.GENERALISED),
        floats(w, at.SATURATED),
        floats(w, at.ACTIVATION),
    )
    share, least = 1.0, 1.0
    for j in range(k):
        found = 0.0
        for level in range(last + 1):
            found += scale[level] * torque[level, j]
        if not math.isfinite(found):
            report[at.NOT_FINITE] = 1.0
            return
        most = limit[at.EFFORT, j]
        report[at.BIAS_SATURATED] += 1.0 if abs(torque[0, j]) > most else 0.0
        report[at.CLIPPED] += 1.0 if abs(found) > most * (1.0 + 1e-9) else 0.0
        found = min(max(found, -most), most)
        saturated[j] = 1.0 if abs(found) >= most * (1.0 - 1e-6) else 0.0
        wanted[j] = found
        if dt >= 0.0:
            change, allowed = abs(found - tau[joint[j, at.J_COMMAND]]), limit[at.RATE, j] * dt
            if change > allowed:
                least = min(least, allowed / change)
                share = min(share, allowed / change) if held[j] == 0.0 else share
    report[at.RATE_LIMITED] = least
    if least < 1.0:
        _follow(w, dt, share)
    for j in range(k):
        c, most = joint[j, at.J_COMMAND], limit[at.EFFORT, j]
        tau[c] = min(
            max(tau[c] + floats(w, at.CHANGE)[j] if least < 1.0 else wanted[j], -most), most
        )


@kernel
def _follow(w, dt, share):
    """CHANGE within the rate limits. Joints near their limits come first: see `_brake`; it may slow down the others."""
    joint, limit, held, k = (
        ints(w, at.JOINT),
        floats(w, at.LIMIT),
        floats(w, at.ACTIVATION),
        count(w, at.JOINTS),
    )
    wanted, tau, change = floats(w, at.GENERALISED), floats(w, at.TAU), floats(w, at.CHANGE)
    for _ in range(SLOWER):
        for j in range(k):
            step, allowed = wanted[j] - tau[joint[j, at.J_COMMAND]], limit[at.RATE, j] * dt
            change[j] = min(max(step, -allowed), allowed) if held[j] > 0.0 else share * step
        if count(w, at.BASE) > 0 or not _brake(w, dt):
            return
        share *= 0.5


@kernel
def _brake(w, dt):
    """CHANGE of the joints near their limits, so that under the torque as it will be they keep their bounds.

    Returns:
        Whether a joint cannot, since what the others change drives it.
    """
    joint, listed, limit = ints(w, at.JOINT), ints(w, at.LIMITED_JOINT), floats(w, at.LIMIT)
    change, tau, h = floats(w, at.CHANGE), floats(w, at.TAU), floats(w, at.H_SELECTED)
    side, bound, driven = floats(w, at.SIDE), floats(w, at.REPULSE), False
    for _ in range(SWEEPS):
        driven = False
        for place in range(ints(w, at.NUMBERS)[at.N_CANDIDATES]):
            j, response = listed[place], row_of(w, at.H_INV, place)
            found, by_others = 0.0, 0.0
            for i in range(count(w, at.JOINTS)):
                x = response[joint[i, at.J_V]]
                found += x * (tau[joint[i, at.J_COMMAND]] + change[i] - h[joint[i, at.J_V]])
                by_others += x * change[i] if i != j else 0.0
            excess, allowed = side[j] * (found - bound[j]), limit[at.RATE, j] * dt
            if excess > 0.0:
                own = response[joint[j, at.J_V]]
                more = change[j] - floats(w, at.ZONE)[j] * side[j] * excess / own
                more = min(max(more, -allowed), allowed)
                left = excess + side[j] * own * (more - change[j])
                change[j] = more
                driven = driven or min(left, side[j] * by_others) > 1e-3 * abs(own) * allowed
    return driven
