"""From the levels' torques to the command: ramp, effort limits lowest level first, rate limit, last clip."""

from __future__ import annotations

import math

from ...compiled.jit import kernel

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
def scale_levels(law, ramp):
    """SCALE of every level: all full, or the lowest shortened so that the sum keeps the limits, then the next above.

    Level 0 is kept. A joint that level 0 alone takes beyond its limit may not be taken further; the clip sees to it.
    """
    torque, scale, k = law.level_torque, law.level_scale, law.k
    scale[0], last = 1.0, law.L + 2
    for level in range(1, last + 1):
        scale[level] = ramp
    for level in range(last, 0, -1):
        low, high = 0.0, ramp
        for j in range(k):
            rest, most = 0.0, max(law.effort_limits[j], abs(torque[0, j]))
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
def command(law, dt):
    """TAU from the scaled levels: no faster than the rate limits, then clipped; never not finite.

    Joints change alike, so that the direction of the change survives, except those that a limit holds: they change as
    fast as they may.
    """
    torque, scale = law.level_torque, law.level_scale
    tau, k, last = law.tau, law.k, law.L + 2
    wanted, saturated, held = (law.wanted_torque, law.saturated, law.activation)
    share, least = 1.0, 1.0
    for j in range(k):
        found = 0.0
        for level in range(last + 1):
            found += scale[level] * torque[level, j]
        if not math.isfinite(found):
            law.not_finite = 1.0
            return
        most = law.effort_limits[j]
        law.bias_saturated += 1.0 if abs(torque[0, j]) > most else 0.0
        law.clipped += 1.0 if abs(found) > most * (1.0 + 1e-9) else 0.0
        found = min(max(found, -most), most)
        saturated[j] = 1.0 if abs(found) >= most * (1.0 - 1e-6) else 0.0
        wanted[j] = found
        if dt >= 0.0:
            change, allowed = abs(found - tau[law.joint_command[j]]), law.rate_limits[j] * dt
            if change > allowed:
                least = min(least, allowed / change)
                share = min(share, allowed / change) if held[j] == 0.0 else share
    law.rate_limited = least
    if least < 1.0:
        _follow(law, dt, share)
    for j in range(k):
        c, most = law.joint_command[j], law.effort_limits[j]
        tau[c] = min(max(tau[c] + law.change[j] if least < 1.0 else wanted[j], -most), most)


@kernel
def _follow(law, dt, share):
    """CHANGE within the rate limits. Joints near their limits come first: see `_brake`; it may slow down the others."""
    held, k = law.activation, law.k
    wanted, tau, change = law.wanted_torque, law.tau, law.change
    for _ in range(SLOWER):
        for j in range(k):
            step, allowed = wanted[j] - tau[law.joint_command[j]], law.rate_limits[j] * dt
            change[j] = min(max(step, -allowed), allowed) if held[j] > 0.0 else share * step
        if law.base > 0 or not _brake(law, dt):
            return
        share *= 0.5


@kernel
def _brake(law, dt):
    """CHANGE of the joints near their limits, so that under the torque as it will be they keep their bounds.

    Returns:
        Whether a joint cannot, since what the others change drives it.
    """
    listed = law.near_limit
    change, tau, h = law.change, law.tau, law.h_compensated
    side, bound, driven = law.limit_side, law.acceleration_bound, False
    for _ in range(SWEEPS):
        driven = False
        for place in range(law.near_limit_count):
            j, response = listed[place], row(law.H_inv, place)
            found, by_others = 0.0, 0.0
            for i in range(law.k):
                x = response[law.joint_v[i]]
                found += x * (tau[law.joint_command[i]] + change[i] - h[law.joint_v[i]])
                by_others += x * change[i] if i != j else 0.0
            excess, allowed = side[j] * (found - bound[j]), law.rate_limits[j] * dt
            if excess > 0.0:
                own = response[law.joint_v[j]]
                more = change[j] - law.nearness[j] * side[j] * excess / own
                more = min(max(more, -allowed), allowed)
                left = excess + side[j] * own * (more - change[j])
                change[j] = more
                driven = driven or min(left, side[j] * by_others) > 1e-3 * abs(own) * allowed
    return driven
