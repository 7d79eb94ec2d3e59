# SPDX-License-Identifier: Apache-2.0
"""From the levels' torques (velocities) to the command: ramp, limits lowest level first, rate limit."""

import math

from ...compiled.jit import kernel
from ...compiled.lanes import row
from ..fields import VELOCITY_MODE

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
def between(before, after, share):
    """After, or while its share is below 1 a mixture; once it is 1, `before` may be anything."""
    return after if share >= 1.0 else share * after + (1.0 - share) * before


@kernel
def scale_levels(law, ramp):
    """Write `level_scale`: all full, or the lowest shortened so that the sum keeps the limits, then the next above.

    Level 0 is kept. A joint that level 0 alone takes beyond its limit may not be taken further; the clip sees to it.
    Needs `level_torque`.
    """
    torque, scale, limit = law.level_torque, law.level_scale, law.command_limits
    k, last = law.k, law.L + 2
    scale[0] = 1.0
    for level in range(1, last + 1):
        scale[level] = ramp
    for level in range(last, 0, -1):
        low, high = 0.0, ramp
        for j in range(k):
            rest, most = 0.0, max(limit[j], abs(torque[0, j]))
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
def add_levels(law):
    """Write `wanted_torque`, the sum of the scaled levels; and, as far as it is not `passed`, of the law followed."""
    torque, scale, wanted = law.level_torque, law.level_scale, law.wanted_torque
    own, before = law.passed, law.followed_torque
    for j in range(law.k):
        found = 0.0
        for level in range(law.L + 3):
            found += scale[level] * torque[level, j]
        wanted[j] = between(before[j], found, own)


@kernel
def command(law, dt):
    """Bring `wanted_torque`, the command, within its limits, and as near the last command as the rate limit asks.

    Joints change alike, by `share` of what is wanted, so that the direction of the change survives, except those that a
    limit of their position holds (`activation`): they change as fast as they may. `least` is the least share of all.
    Needs `level_torque` (level 0, the bias, is looked at), and the last command in `door.sent`. dt is the time in which
    commands may change [s], or FREE, which is negative: no rate limit. Writes `wanted_torque`, `saturated`, and of the
    report `bias_saturated`, `clipped` and `rate_limited`. If a number is not finite, it says so in `not_finite` and
    stops: the results are then of no use, and the last command stands.
    """
    torque, limit = law.level_torque, law.command_limits
    sent, wanted, place = law.door.sent, law.wanted_torque, law.joint_command
    saturated, held, rate = law.saturated, law.activation, law.command_rate
    k, bias_saturated, clipped = law.k, 0, 0
    share, least = 1.0, 1.0
    for j in range(k):
        found, most = wanted[j], limit[j]
        if not math.isfinite(found):
            law.not_finite = 1
            return
        bias_saturated += 1 if abs(torque[0, j]) > most else 0
        # levels that were scaled to the limit miss it by rounding: that is saturated, and not clipped
        clipped += 1 if abs(found) > most * (1.0 + 1e-9) else 0
        found = min(max(found, -most), most)
        saturated[j] = 1.0 if abs(found) >= most * (1.0 - 1e-6) else 0.0
        wanted[j] = found
        if dt >= 0.0:
            step, allowed = abs(found - sent[place[j]]), rate * dt
            if step > allowed:
                least = min(least, allowed / step)
                share = min(share, allowed / step) if held[j] == 0.0 else share
    law.bias_saturated = bias_saturated
    law.clipped = clipped
    law.rate_limited = least
    if least < 1.0:
        change = law.change
        _change_within_rates(law, dt, share)
        for j in range(k):
            wanted[j] = sent[place[j]] + change[j]
    if law.present_mode == VELOCITY_MODE:
        _stop_in_time(law, rate * dt)


@kernel
def _stop_in_time(law, allowed):
    """Bring velocities of joints near a position limit within their bounds, as far as the rate limit permits.

    The levels keep these bounds, but their scaling need not, nor does a joint that brakes as slowly as others have to
    change. What leads out of a margin comes in with the ramp. `allowed` is what a velocity may change by.
    """
    near_limit, side, bound = law.near_limit, law.limit_side, law.acceleration_bound
    nearness, wanted, limit = law.nearness, law.wanted_torque, law.command_limits
    sent, place = law.door.sent, law.joint_command
    for p in range(law.near_limit_count):
        j = near_limit[p]
        most, before = side[j] * bound[j], sent[place[j]]
        if most < 0.0:
            most = max(law.ramped * most, -limit[j])
        excess = side[j] * wanted[j] - most
        if excess > 0.0:
            found = wanted[j] - nearness[j] * side[j] * excess
            wanted[j] = min(max(found, before - allowed), before + allowed)


@kernel
def _change_within_rates(law, dt, share):
    """Write `change` of every torque within its rate limit; joints near a limit come first, see `_keep_bounds`.

    If the others drive one of those beyond its bound, they are slowed by half, SLOWER times; a velocity drives no other
    joint.
    """
    held, rate, place = law.activation, law.command_rate, law.joint_command
    wanted, tau, change = law.wanted_torque, law.door.sent, law.change
    k, is_coupled = law.k, law.base == 0 and law.present_mode != VELOCITY_MODE
    for _ in range(SLOWER):
        for j in range(k):
            step, allowed = wanted[j] - tau[place[j]], rate * dt
            change[j] = min(max(step, -allowed), allowed) if held[j] > 0.0 else share * step
        if not is_coupled or not _keep_bounds(law, dt):
            return
        share *= 0.5


@kernel
def _keep_bounds(law, dt):
    """Adjust `change` of the joints near their limits so that the next torque keeps their bounds.

    Returns whether one of them cannot, since what the others change drives it.
    """
    near_limit, H_inv, rate = law.near_limit, law.H_inv, law.command_rate
    change, tau, h = law.change, law.door.sent, law.h_compensated
    side, bound, nearness = law.limit_side, law.acceleration_bound, law.nearness
    joint_v, place, k = law.joint_v, law.joint_command, law.k
    count, driven = law.near_limit_count, False
    for _ in range(SWEEPS):
        driven = False
        for p in range(count):
            j, response = near_limit[p], row(H_inv, p)
            found, by_others = 0.0, 0.0
            for i in range(k):
                x = response[joint_v[i]]
                found += x * (tau[place[i]] + change[i] - h[joint_v[i]])
                by_others += x * change[i] if i != j else 0.0
            excess, allowed = side[j] * (found - bound[j]), rate * dt
            if excess > 0.0:
                own = response[joint_v[j]]
                more = change[j] - nearness[j] * side[j] * excess / own
                more = min(max(more, -allowed), allowed)
                left = excess + side[j] * own * (more - change[j])
                change[j] = more
                driven = driven or min(left, side[j] * by_others) > 1e-3 * abs(own) * allowed
    return driven
