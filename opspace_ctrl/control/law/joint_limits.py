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

from __future__ import annotations

import math

from ...compiled.jit import kernel, stage
from ...dynamics import crba, ltl
from ...osim.blocks import times_support
from ...osim.fields import LTDL
from ..fields import Law

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
    """Joints that are looked at, and H^-1 e_j, SIDE, REPULSE, SPAN and ZONE of each; returns how many."""
    listed, found = law.near_limit, 0
    activation, v = law.activation, law.space.tree.v
    q = law.space.tree.q
    for j in range(law.k):
        activation[j] = 0.0
        margin, slack, rate = (law.position_margin[j], law.velocity_margin[j], v[law.joint_v[j]])
        near = slack > 0.0 and abs(rate) > FROM * (law.velocity_limits[j] - slack)
        if margin > 0.0 and law.joint_q[j] >= 0:
            x = q[law.joint_q[j]] + rate * _horizon(law, j)
            near = (
                near
                or max(x - law.position_upper[j], law.position_lower[j] - x)
                > -(1.0 + AHEAD) * margin
            )
        if near:
            listed[found] = j
            found += 1
    if found > 0:
        joint_responses(law, found)
    for place in range(found):
        _bound(law, place)
    return found


@kernel
def _horizon(law, j):
    """Time kd / kp [s] that a position limit looks ahead."""
    return law.limit_damping[j] / max(law.limit_stiffness[j], 1.0)


@kernel
def _bound(law, place):
    """SIDE, REPULSE (the bound, with its sign), EXCESS_SPAN and ZONE of a candidate: of the tightest of its limits."""
    j = law.near_limit[place]
    v = law.space.tree.v
    kp, kd, rate = law.limit_stiffness[j], law.limit_damping[j], v[law.joint_v[j]]
    least = math.inf
    side = 0.0
    zone = 0.0
    span = 1.0
    margin, slack = law.position_margin[j], law.velocity_margin[j]
    if margin > 0.0 and law.joint_q[j] >= 0:
        x = law.space.tree.q[law.joint_q[j]] + rate * _horizon(law, j)
        above, below = x - (law.position_upper[j] - margin), (law.position_lower[j] + margin) - x
        depth = max(above, below)
        least, side = -kp * min(depth, DEEPEST * margin), 1.0 if above >= below else -1.0
        zone, span = _smooth(2.0 * (depth / (AHEAD * margin) + 1.0)), SPAN * kp * margin
    if slack > 0.0:
        edge = law.velocity_limits[j] - slack
        most = _speed_bound(
            edge - abs(rate),
            kd,
            slack,
            USED * law.rate_limits[j] * row(law.H_inv, place)[law.joint_v[j]],
        )
        if most < least or zone == 0.0:
            fast = _smooth((abs(rate) - FROM * edge) / max((FULL - FROM) * edge, 1e-9))
            if fast > 0.0:
                least = most
                side = math.copysign(1.0, rate)
                zone = fast
                span = SPAN * kd * slack
    law.limit_side[j], law.acceleration_bound[j] = side, side * least
    law.nearness[j], law.excess_span[j] = zone, max(span, 1e-6)


@kernel
def _speed_bound(e, kd, slack, jerk):
    """Largest acceleration towards a speed that is e away, from which the torque can come back in time."""
    if e <= 0.0:
        return kd * max(e, -DEEPEST * slack)
    followed = jerk / (kd * kd) if kd > 0.0 else 0.0
    return kd * e if e <= followed or kd == 0.0 else math.sqrt(2.0 * jerk * (e - 0.5 * followed))


@stage(Law)
def limit_joints(law):
    """ACTIVATION of the candidate that exceeds its bound most, for the levels as they were solved last.

    One at a time: a joint that exceeds its bound while another one is free to, may not once that one is held. Joints
    with an activation come first in the list; N_LIMITED is how many they are, N_GROWN 1 if one has come in or grown.
    """
    listed = law.near_limit
    activation, side, bound = law.activation, law.limit_side, law.acceleration_bound
    torque, total, h = (law.level_torque, law.net_torque, law.h_compensated)
    for i in range(law.space.tree.nv):
        total[i] = -h[i]
    for j in range(law.k):
        for level in range(law.L + 3):
            total[law.joint_v[j]] += torque[level, j]
    law.has_grown, worst, most = 0, -1, 0.0
    for place in range(law.near_limit_count):
        j = listed[place]
        excess = side[j] * (_acceleration(law, place) - bound[j]) / law.excess_span[j]
        grown = law.nearness[j] * _smooth(excess) > activation[j] + CHANGED
        if grown and excess * law.nearness[j] > most:
            most, worst = excess * law.nearness[j], place
    if worst < 0:
        return
    j = listed[worst]
    if activation[j] == 0.0:
        _bring_forward(law, worst, law.limit_rows)
        law.limit_rows += 1
    activation[j], law.has_grown = (law.nearness[j] * _smooth(most / law.nearness[j]), 1)


@kernel
def _acceleration(law, place):
    """qdd of a candidate under GENERALISED and the contacts' forces."""
    response, total = row(law.H_inv, place), law.net_torque
    found = 0.0
    for i in range(law.space.tree.nv):
        found += response[i] * total[i]
    if law.c > 0:
        force = law.level_contact_force
        out = law.row_response
        times_support(law.space, law.space.J, response, out)
        for c in range(law.c):
            first = law.space.block_row[law.contact_block[c]]
            for row in range(first, first + law.contact_size[c]):
                for level in range(law.L + 3):
                    found += out[row] * force[level, row]
    return found


@kernel
def _bring_forward(law, place, first):
    """Exchange two places of the list and their rows of H_INV."""
    listed = law.near_limit
    listed[place], listed[first] = listed[first], listed[place]
    a, b = row(law.H_inv, place), row(law.H_inv, first)
    for i in range(law.space.tree.nv):
        a[i], b[i] = b[i], a[i]


@kernel
def joint_responses(law, number):
    """H_INV: H^-1 e_j of the listed joints. H is factored here if the method has not left it so."""
    if law.space.H_is != LTDL:
        crba.mass_matrix(law.space.tree)
        ltl.ltdl(law.space.tree)
        law.space.H_is = LTDL
    L = law.space.tree.H
    dinv = law.space.tree.D_inv
    path = law.space.tree.path_e
    depth = law.space.tree.depth_e
    listed, parent, nv = law.near_limit, law.space.tree.lambda_e, law.space.tree.nv
    for place in range(number):
        x, k = row(law.H_inv, place), law.joint_v[listed[place]]
        for i in range(nv):
            x[i] = 0.0
        x[k] = 1.0
        while k >= 0:  # L_d^-T e_j reaches the ancestors of j only
            for c in range(depth[k]):
                x[path[k, c]] -= L[k, c] * x[k]
            k = parent[k]
        for i in range(nv):
            x[i] *= dinv[i]
        ltl.solve_unit(law.space.tree, x)
