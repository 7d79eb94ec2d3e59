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

from ...dynamics import crba, ltl
from ...dynamics import layout as dyn
from ...dynamics.layout import count, floats, ints, stage
from ...jit import kernel
from ...osim import layout as osim
from ...osim.blocks import times_support
from .. import layout as at
from .joints import row_of

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
def find_candidates(w):
    """Joints that are looked at, and H^-1 e_j, SIDE, REPULSE, SPAN and ZONE of each; returns how many."""
    joint, listed, found = ints(w, at.JOINT), ints(w, at.LIMITED_JOINT), 0
    activation, v = floats(w, at.ACTIVATION), floats(w, dyn.V)
    limit, q = floats(w, at.LIMIT), floats(w, dyn.Q)
    for j in range(count(w, at.JOINTS)):
        activation[j] = 0.0
        margin, slack, rate = (
            limit[at.POSITION_MARGIN, j],
            limit[at.SPEED_MARGIN, j],
            v[joint[j, at.J_V]],
        )
        near = slack > 0.0 and abs(rate) > FROM * (limit[at.SPEED, j] - slack)
        if margin > 0.0 and joint[j, at.J_Q] >= 0:
            x = q[joint[j, at.J_Q]] + rate * _horizon(w, j)
            near = (
                near
                or max(x - limit[at.UPPER, j], limit[at.LOWER, j] - x) > -(1.0 + AHEAD) * margin
            )
        if near:
            listed[found] = j
            found += 1
    if found > 0:
        joint_responses(w, found)
    for place in range(found):
        _bound(w, place)
    return found


@kernel
def _horizon(w, j):
    """Time kd / kp [s] that a position limit looks ahead."""
    limit = floats(w, at.LIMIT)
    return limit[at.REPULSION_DAMPING, j] / max(limit[at.REPULSION, j], 1.0)


@kernel
def _bound(w, place):
    """SIDE, REPULSE (the bound, with its sign), EXCESS_SPAN and ZONE of a candidate: of the tightest of its limits."""
    j = ints(w, at.LIMITED_JOINT)[place]
    joint, limit, v = ints(w, at.JOINT), floats(w, at.LIMIT), floats(w, dyn.V)
    kp, kd, rate = limit[at.REPULSION, j], limit[at.REPULSION_DAMPING, j], v[joint[j, at.J_V]]
    least, side, zone, span = math.inf, 0.0, 0.0, 1.0
    margin, slack = limit[at.POSITION_MARGIN, j], limit[at.SPEED_MARGIN, j]
    if margin > 0.0 and joint[j, at.J_Q] >= 0:
        x = floats(w, dyn.Q)[joint[j, at.J_Q]] + rate * _horizon(w, j)
        above, below = x - (limit[at.UPPER, j] - margin), (limit[at.LOWER, j] + margin) - x
        depth = max(above, below)
        least, side = -kp * min(depth, DEEPEST * margin), 1.0 if above >= below else -1.0
        zone, span = _smooth(2.0 * (depth / (AHEAD * margin) + 1.0)), SPAN * kp * margin
    if slack > 0.0:
        edge = limit[at.SPEED, j] - slack
        most = _speed_bound(
            edge - abs(rate),
            kd,
            slack,
            USED * limit[at.RATE, j] * row_of(w, at.H_INV, place)[joint[j, at.J_V]],
        )
        if most < least or zone == 0.0:
            fast = _smooth((abs(rate) - FROM * edge) / max((FULL - FROM) * edge, 1e-9))
            if fast > 0.0:
                least, side, zone, span = most, math.copysign(1.0, rate), fast, SPAN * kd * slack
    floats(w, at.SIDE)[j], floats(w, at.REPULSE)[j] = side, side * least
    floats(w, at.ZONE)[j], floats(w, at.EXCESS_SPAN)[j] = zone, max(span, 1e-6)


@kernel
def _speed_bound(e, kd, slack, jerk):
    """Largest acceleration towards a speed that is e away, from which the torque can come back in time."""
    if e <= 0.0:
        return kd * max(e, -DEEPEST * slack)
    followed = jerk / (kd * kd) if kd > 0.0 else 0.0
    return kd * e if e <= followed or kd == 0.0 else math.sqrt(2.0 * jerk * (e - 0.5 * followed))


@stage(at.LIMIT_JOINTS)
def limit_joints(w):
    """ACTIVATION of the candidate that exceeds its bound most, for the levels as they were solved last.

    One at a time: a joint that exceeds its bound while another one is free to, may not once that one is held. Joints
    with an activation come first in the list; N_LIMITED is how many they are, N_GROWN 1 if one has come in or grown.
    """
    number, listed, joint = ints(w, at.NUMBERS), ints(w, at.LIMITED_JOINT), ints(w, at.JOINT)
    activation, side, bound = floats(w, at.ACTIVATION), floats(w, at.SIDE), floats(w, at.REPULSE)
    torque, total, h = (
        floats(w, at.LEVEL_TORQUE),
        floats(w, at.GENERALISED),
        floats(w, at.H_SELECTED),
    )
    for i in range(count(w, dyn.NV)):
        total[i] = -h[i]
    for j in range(count(w, at.JOINTS)):
        for level in range(count(w, at.LEVELS) + 3):
            total[joint[j, at.J_V]] += torque[level, j]
    number[at.N_GROWN], worst, most = 0, -1, 0.0
    for place in range(number[at.N_CANDIDATES]):
        j = listed[place]
        excess = side[j] * (_acceleration(w, place) - bound[j]) / floats(w, at.EXCESS_SPAN)[j]
        grown = floats(w, at.ZONE)[j] * _smooth(excess) > activation[j] + CHANGED
        if grown and excess * floats(w, at.ZONE)[j] > most:
            most, worst = excess * floats(w, at.ZONE)[j], place
    if worst < 0:
        return
    j = listed[worst]
    if activation[j] == 0.0:
        _bring_forward(w, worst, number[at.N_LIMITED])
        number[at.N_LIMITED] += 1
    activation[j], number[at.N_GROWN] = (
        floats(w, at.ZONE)[j] * _smooth(most / floats(w, at.ZONE)[j]),
        1,
    )


@kernel
def _acceleration(w, place):
    """qdd of a candidate under GENERALISED and the contacts' forces."""
    response, total = row_of(w, at.H_INV, place), floats(w, at.GENERALISED)
    found = 0.0
    for i in range(count(w, dyn.NV)):
        found += response[i] * total[i]
    if count(w, at.CONTACTS) > 0:
        contact, block, force = (
            ints(w, at.CONTACT),
            ints(w, osim.BLOCK),
            floats(w, at.LEVEL_CONTACT),
        )
        out = floats(w, at.FULL)
        times_support(w, floats(w, osim.J), response, out)
        for c in range(count(w, at.CONTACTS)):
            first = block[contact[c, at.C_BLOCK], osim.B_ROW]
            for row in range(first, first + contact[c, at.C_ROWS]):
                for level in range(count(w, at.LEVELS) + 3):
                    found += out[row] * force[level, row]
    return found


@kernel
def _bring_forward(w, place, first):
    """Exchange two places of the list and their rows of H_INV."""
    listed = ints(w, at.LIMITED_JOINT)
    listed[place], listed[first] = listed[first], listed[place]
    a, b = row_of(w, at.H_INV, place), row_of(w, at.H_INV, first)
    for i in range(count(w, dyn.NV)):
        a[i], b[i] = b[i], a[i]


@kernel
def joint_responses(w, number):
    """H_INV: H^-1 e_j of the listed joints. H is factored here if the method has not left it so."""
    if floats(w, osim.STATUS)[osim.H_IS] != osim.LTDL:
        crba.mass_matrix(w)
        ltl.ltdl(w)
        floats(w, osim.STATUS)[osim.H_IS] = osim.LTDL
    L, dinv, path, depth = (
        floats(w, dyn.H),
        floats(w, dyn.DINV),
        ints(w, dyn.PATH_E),
        ints(w, dyn.DEPTH_E),
    )
    listed, joint, parent, nv = (
        ints(w, at.LIMITED_JOINT),
        ints(w, at.JOINT),
        ints(w, dyn.LAMBDA_E),
        count(w, dyn.NV),
    )
    for place in range(number):
        x, k = row_of(w, at.H_INV, place), joint[listed[place], at.J_V]
        for i in range(nv):
            x[i] = 0.0
        x[k] = 1.0
        while k >= 0:  # L_d^-T e_j reaches the ancestors of j only
            for c in range(depth[k]):
                x[path[k, c]] -= L[k, c] * x[k]
            k = parent[k]
        for i in range(nv):
            x[i] *= dinv[i]
        ltl.solve_unit(w, x)
