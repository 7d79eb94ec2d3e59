# SPDX-License-Identifier: Apache-2.0
"""Joints near their position and velocity limits: what they may still accelerate by, and the rows that see to it.

A joint whose limit lies in the direction s has a bound b on s qdd, the least of
    position   kp (edge - s q) - kd s v                     it comes to rest at the margin's edge
    velocity   kd e,  e = edge - s v                        where a torque that changes at its rate limit can follow
               sqrt(2 j (e - j / (2 kd^2)))                 beyond that, j being half of the jerk of this limit
First all levels are solved without these rows. Where a joint would then exceed its bound, a row qdd = s b comes in
above the tasks, with a weight that grows with the excess; and again where that makes another joint exceed its own. So a
row comes in where it changes nothing yet, and how strongly a limit acts on position and velocity is kp and kd, however
hard a task pulls. Far from its limits a joint is not looked at. The rate limit of the torque (`limits.command`) serves
these bounds before anything else.
"""

import math

from ...compiled.jit import kernel, stage
from ...compiled.lanes import row
from ...osim.blocks import times_support
from ..fields import VELOCITY_MODE, Law
from .joints import inertia_solve
from .velocity import balanced_rate

# of the speed at the margin's edge: where a joint begins to be looked at, and where it counts
FROM, FULL = (0.3, 0.5)
AHEAD = 4.0  # margins before the edge, likewise; from half of it on it counts
SPAN = 0.5  # of kp margin, or kd margin: the excess at which a row is fully in
DEEPEST = 2.0  # margins: the push grows no further
CHANGED = 0.02  # a row's weight must have grown by this for another solution
USED = 0.5  # of the rate limit: what braking a joint plans with


@kernel
def _smooth(x):
    """0 below 0, 1 above 1, with no step in value or slope."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@kernel
def find_candidates(law):
    """List the joints near a limit in `near_limit`, with H^-1 e_j and the bound of each. Returns how many.

    Writes `H_inv` by place in that list, and what `_bound` does by joint.
    """
    near_limit, tree, found = law.near_limit, law.space.tree, 0
    q, v = tree.q, tree.v
    joint_q, joint_v, velocity_limits = law.joint_q, law.joint_v, law.velocity_limits
    position_margin, velocity_margin = law.position_margin, law.velocity_margin
    lower, upper = law.position_lower, law.position_upper
    for j in range(law.k):
        margin, slack, rate = position_margin[j], velocity_margin[j], v[joint_v[j]]
        near = slack > 0.0 and abs(rate) > FROM * (velocity_limits[j] - slack)
        if margin > 0.0 and joint_q[j] >= 0:
            x = q[joint_q[j]] + rate * _horizon(law, rate)
            near = near or max(x - upper[j], lower[j] - x) > -(1.0 + AHEAD) * margin
        if near:
            near_limit[found] = j
            found += 1
    if found > 0:
        joint_responses(law, found)
    for place in range(found):
        if law.present_mode == VELOCITY_MODE:
            _velocity_bound(law, place)
        else:
            _bound(law, place)
    return found


@kernel
def _horizon(law, rate):
    """Time [s] that a position limit looks ahead: kd / kp, and for a velocity half of that in which it can stop."""
    ahead = law.limits_damping / max(law.limits_stiffness, 1.0)
    if law.present_mode == VELOCITY_MODE:
        ahead += 0.5 * abs(rate) / (USED * law.command_rate)
    return ahead


@kernel
def _bound(law, place):
    """Write `limit_side`, `acceleration_bound` (with its sign), `excess_span` and `nearness` of a candidate.

    They are those of the tightest of its limits.
    """
    tree, j = law.space.tree, law.near_limit[place]
    i, entry = law.joint_v[j], law.joint_q[j]
    kp, kd, rate = law.limits_stiffness, law.limits_damping, tree.v[i]
    margin, slack = law.position_margin[j], law.velocity_margin[j]
    least, side = math.inf, 0.0
    zone, span = 0.0, 1.0
    if margin > 0.0 and entry >= 0:
        x = tree.q[entry] + rate * _horizon(law, rate)
        above, below = x - (law.position_upper[j] - margin), (law.position_lower[j] + margin) - x
        depth = max(above, below)
        least, side = -kp * min(depth, DEEPEST * margin), 1.0 if above >= below else -1.0
        zone, span = _smooth(2.0 * (depth / (AHEAD * margin) + 1.0)), SPAN * kp * margin
    if slack > 0.0:
        edge = law.velocity_limits[j] - slack
        jerk = USED * law.command_rate * law.H_inv[place, i]
        most = _speed_bound(edge - abs(rate), kd, slack, jerk)
        if most < least or zone == 0.0:
            fast = _smooth((abs(rate) - FROM * edge) / max((FULL - FROM) * edge, 1e-9))
            if fast > 0.0:
                least, side = most, math.copysign(1.0, rate)
                zone, span = fast, SPAN * kd * slack
    law.limit_side[j] = side
    law.acceleration_bound[j] = side * least
    law.nearness[j] = zone
    law.excess_span[j] = max(span, 1e-6)


@kernel
def _velocity_bound(law, place):
    """Likewise for a command that is a velocity: the joint can come to rest at the margin's edge, at its rate limit.

    Limits of the velocity are those of the command (`limits`); a joint without position limits has none here.
    """
    tree, j = law.space.tree, law.near_limit[place]
    entry, margin, rate = law.joint_q[j], law.position_margin[j], tree.v[law.joint_v[j]]
    law.limit_side[j], law.acceleration_bound[j] = 1.0, 0.0
    law.nearness[j], law.excess_span[j] = 0.0, 1.0
    if margin > 0.0 and entry >= 0:
        x, ahead = tree.q[entry], rate * _horizon(law, rate)
        above, below = x - (law.position_upper[j] - margin), (law.position_lower[j] + margin) - x
        side = 1.0 if above + ahead >= below - ahead else -1.0
        depth = max(above + ahead, below - ahead)
        gain = balanced_rate(law.limits_stiffness, law.limits_damping)
        room = -above if side > 0.0 else -below
        most = _speed_bound(room, gain, margin, USED * law.command_rate)
        law.limit_side[j] = side
        law.acceleration_bound[j] = side * most
        law.nearness[j] = _smooth(2.0 * (depth / (AHEAD * margin) + 1.0))
        law.excess_span[j] = max(SPAN * gain * margin, 1e-6)


@kernel
def _speed_bound(e, kd, slack, jerk):
    """Largest rate towards what is e away, from which one can come back in time: to kd e, at the `jerk` at most."""
    if e <= 0.0:
        return kd * max(e, -DEEPEST * slack)
    followed = jerk / (kd * kd) if kd > 0.0 else 0.0
    return kd * e if e <= followed or kd == 0.0 else math.sqrt(2.0 * jerk * (e - 0.5 * followed))


@stage(Law)
def limit_joints(law):
    """Raise the activation of the candidate that exceeds its bound most, for the levels as they were solved last.

    One at a time: a joint that exceeds its bound while another one is free to, may not once that one is held. Joints
    with an activation come first in `near_limit`; `limit_rows` is how many they are, `has_grown` 1 if one has come in
    or grown.
    """
    near_limit, activation, nearness = law.near_limit, law.activation, law.nearness
    side, bound, span = law.limit_side, law.acceleration_bound, law.excess_span
    torque, net, h = law.level_torque, law.net_torque, law.h_compensated
    joint_v, levels = law.joint_v, law.L + 3
    for i in range(law.nv):
        net[i] = -h[i]
    for j in range(law.k):
        for level in range(levels):
            net[joint_v[j]] += torque[level, j]
    law.has_grown = 0
    worst, most = -1, 0.0
    for place in range(law.near_limit_count):
        j = near_limit[place]
        excess = side[j] * (_acceleration(law, place) - bound[j]) / span[j]
        grown = nearness[j] * _smooth(excess) > activation[j] + CHANGED
        if grown and excess * nearness[j] > most:
            most, worst = excess * nearness[j], place
    if worst < 0:
        return
    j = near_limit[worst]
    if activation[j] == 0.0:
        _bring_forward(law, worst, law.limit_rows)
        law.limit_rows += 1
    activation[j] = nearness[j] * _smooth(most / nearness[j])
    law.has_grown = 1


@kernel
def _acceleration(law, place):
    """qdd of a candidate under `net_torque` and the contacts' forces; `row_response` is its response to these."""
    response, net, out = row(law.H_inv, place), law.net_torque, law.row_response
    contacts, found = law.c, 0.0
    for i in range(law.nv):
        found += response[i] * net[i]
    if contacts > 0:
        force, block, size = law.level_contact_force, law.contact_block, law.contact_size
        block_row, levels = law.space.block_row, law.L + 3
        times_support(law.space, law.space.J, response, out)
        for c in range(contacts):
            first = block_row[block[c]]
            for r in range(first, first + size[c]):
                for level in range(levels):
                    found += out[r] * force[level, r]
    return found


@kernel
def _bring_forward(law, place, first):
    """Exchange two places of `near_limit` and their rows of `H_inv`."""
    near_limit, a, b = law.near_limit, row(law.H_inv, place), row(law.H_inv, first)
    near_limit[place], near_limit[first] = near_limit[first], near_limit[place]
    for i in range(law.nv):
        a[i], b[i] = b[i], a[i]


@kernel
def joint_responses(law, number):
    """Write `H_inv`: H^-1 e_j of the listed joints."""
    near_limit, joint_v = law.near_limit, law.joint_v
    for place in range(number):
        x = row(law.H_inv, place)
        for i in range(law.nv):
            x[i] = 0.0
        x[joint_v[near_limit[place]]] = 1.0
        inertia_solve(law, x)
