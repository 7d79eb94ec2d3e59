"""From the levels' torques to the command: ramp, effort limits lowest level first, rate limit, last clip."""
from __future__ import annotations

import math

from ..dynamics.layout import count, floats, ints
from ..jit import kernel
from . import layout as at


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
    torque, scale, limit, k = floats(w, at.LEVEL_TORQUE), floats(w, at.SCALE), floats(w, at.LIMIT), count(w, at.JOINTS)
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
    """TAU from the scaled levels: no faster than the rate limits (all joints alike), then clipped; never not finite."""
    torque, scale, limit = floats(w, at.LEVEL_TORQUE), floats(w, at.SCALE), floats(w, at.LIMIT)
    joint, tau, report, k, last = (ints(w, at.JOINT), floats(w, at.TAU), floats(w, at.REPORT_SLOT),
                                    count(w, at.JOINTS), count(w, at.LEVELS) + 2)
    wanted, saturated, share = floats(w, at.GENERALISED), floats(w, at.SATURATED), 1.0
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
            share = min(share, allowed / change) if change > allowed else share
    report[at.RATE_LIMITED] = share
    for j in range(k):
        c = joint[j, at.J_COMMAND]
        changed = tau[c] + share * (wanted[j] - tau[c]) if share < 1.0 else wanted[j]
        tau[c] = min(max(changed, -limit[at.EFFORT, j]), limit[at.EFFORT, j])
