"""Joint space: what is compensated, the posture, and the rows of joints near their limits."""
from __future__ import annotations

import math

from ..dynamics import crba, ltl, rnea
from ..dynamics import layout as dyn
from ..dynamics.layout import count, floats, ints
from ..dynamics.spatial import cross, dot, get3, load3, load_inertia, momentum, store3
from ..jit import kernel
from ..lanes import WIDTH, floats_at, ints_at
from ..osim import layout as osim
from . import layout as at


@kernel
def row_of(w, slot, i):
    """Row i of an array as a vector."""
    header = ints_at(w, 2)
    return floats_at(header[slot, 0] + 8 * i * header[slot, 1], 1)


@kernel
def select_bias(w):
    """H_SELECTED: the shares of gravity, Coriolis and friction forces that the options ask for; BIAS holds h."""
    option, h, out, nv = floats(w, at.OPTION), floats(w, dyn.BIAS), floats(w, at.H_SELECTED), count(w, dyn.NV)
    gravity, coriolis, friction = option[at.GRAVITY], option[at.CORIOLIS], option[at.FRICTION]
    for i in range(nv):
        out[i] = coriolis * h[i]
    if gravity != coriolis:
        _add_gravity(w, gravity - coriolis, out)
    if friction != 0.0:
        joint, limit, v = ints(w, at.JOINT), floats(w, at.LIMIT), floats(w, dyn.V)
        for j in range(count(w, at.JOINTS)):
            i = joint[j, at.J_V]
            dry = limit[at.COULOMB, j] * math.tanh(v[i] / limit[at.COULOMB_SPEED, j])
            out[i] += friction * (limit[at.VISCOUS, j] * v[i] + dry)


@kernel
def _add_gravity(w, share, out):
    """out += share times the gravity forces: -S^T of the weight of all that a node carries."""
    crba.composite_inertias(w)
    S, IC, g, coordinate = floats(w, dyn.S), floats(w, dyn.IC), floats(w, dyn.GRAVITY), ints(w, dyn.COORDINATE)
    multiplier, down = floats(w, dyn.MULTIPLIER), (g[0], g[1], g[2])
    for b in range(count(w, dyn.NODES)):
        weight = dot(get3(S, 0, b), cross(get3(IC, 1, b), down)) + IC[0, b] * dot(get3(S, 3, b), down)
        out[coordinate[b]] -= share * multiplier[b] * weight


@kernel
def posture(w):
    """A = what the posture asks for with the base at rest, HA_POSTURE = H A: Kp (q_d - q) + Kd (v_d - v) + a_d."""
    joint, limit, wanted = ints(w, at.JOINT), floats(w, at.LIMIT), floats(w, at.POSTURE)
    q, v, a = floats(w, dyn.Q), floats(w, dyn.V), floats(w, dyn.A)
    for i in range(count(w, dyn.NV)):
        a[i] = 0.0
    for j in range(count(w, at.JOINTS)):
        i, kp = joint[j, at.J_V], limit[at.POSTURE_STIFFNESS, j]
        if joint[j, at.J_Q] < 0:
            kp = 0.0
        if kp > 0.0:
            a[i] = (wanted[2, j] + kp * (wanted[0, j] - q[joint[j, at.J_Q]])
                    + limit[at.POSTURE_DAMPING, j] * (wanted[1, j] - v[i]))
        else:
            a[i] = -limit[at.POSTURE_DAMPING, j] * v[i]
    _inertia_times(w, floats(w, at.HA_POSTURE))


@kernel
def _inertia_times(w, out):
    """out = H A by one sweep out and one in; spoils the forces of the bodies."""
    S, acc, parent, coordinate = floats(w, dyn.S), floats(w, dyn.HINGE), ints(w, dyn.PARENT), ints(w, dyn.COORDINATE)
    multiplier, a, IW, force = floats(w, dyn.MULTIPLIER), floats(w, dyn.A), floats(w, dyn.IW), floats(w, dyn.FORCE)
    for b in range(count(w, dyn.NODES)):  # HINGE of the world stays zero
        p, qdd = parent[b], multiplier[b] * a[coordinate[b]]
        for k in range(6):
            acc[k, b] = acc[k, p] + qdd * S[k, b]
    for b in range(0, count(w, dyn.NODES) + 1, WIDTH):
        m, mc, i = load_inertia(IW, b)
        couple, f = momentum(m, mc, i, load3(acc, 0, b), load3(acc, 3, b))
        store3(force, 0, b, couple)
        store3(force, 3, b, f)
    rnea.joint_forces(w, out)
    rnea.add_armature(w, out)


@kernel
def _smooth(x):
    """0 below 0, 1 above 1, with no step in value or slope."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@kernel
def find_limited(w):
    """ACTIVATION, REPULSE and SIDE of every joint, and the list of those with an activation; returns how many.

    A joint that is, or at its speed in kd / kp seconds will be, a depth d inside its margin, is pushed back by -kp d:
    it comes to rest at the margin's edge. From half a margin on the push has taken over fully, and it is bounded.
    """
    joint, limit, q, v = ints(w, at.JOINT), floats(w, at.LIMIT), floats(w, dyn.Q), floats(w, dyn.V)
    activation, repulse, side = floats(w, at.ACTIVATION), floats(w, at.REPULSE), floats(w, at.SIDE)
    listed, found = ints(w, at.LIMITED_JOINT), 0
    for j in range(count(w, at.JOINTS)):
        activation[j] = 0.0
        margin, near, push, sign, rate = limit[at.POSITION_MARGIN, j], 0.0, 0.0, 0.0, v[joint[j, at.J_V]]
        if margin > 0.0 and joint[j, at.J_Q] >= 0:
            x = q[joint[j, at.J_Q]] + rate * limit[at.REPULSION_DAMPING, j] / max(limit[at.REPULSION, j], 1.0)
            above, below = x - (limit[at.UPPER, j] - margin), (limit[at.LOWER, j] + margin) - x
            depth = max(above, below)
            if depth > 0.0:
                sign = -1.0 if above >= below else 1.0
                near = _smooth(2.0 * depth / margin)
                push = sign * limit[at.REPULSION, j] * min(depth, 2.0 * margin)
        slack = limit[at.SPEED_MARGIN, j]
        excess = abs(rate) - (limit[at.SPEED, j] - slack)
        if slack > 0.0 and excess > 0.0:
            fast, brake = _smooth(excess / slack), -math.copysign(min(excess, 2.0 * slack), rate)
            push = (near * push + fast * limit[at.REPULSION_DAMPING, j] * brake) / (near + fast)
            sign = math.copysign(1.0, brake) if near == 0.0 or sign * brake > 0.0 else 0.0
            near = 1.0 - (1.0 - near) * (1.0 - fast)
        if near > 0.0:
            activation[j], repulse[j], side[j] = near, push, sign
            listed[found] = j
            found += 1
    return found


@kernel
def joint_responses(w, number):
    """H_INV: H^-1 e_j of the listed joints. H is factored here if the method has not left it so."""
    if floats(w, osim.STATUS)[osim.H_IS] != osim.LTDL:
        crba.mass_matrix(w)
        ltl.ltdl(w)
        floats(w, osim.STATUS)[osim.H_IS] = osim.LTDL
    L, dinv, path, depth = floats(w, dyn.H), floats(w, dyn.DINV), ints(w, dyn.PATH_E), ints(w, dyn.DEPTH_E)
    listed, joint, parent, nv = ints(w, at.LIMITED_JOINT), ints(w, at.JOINT), ints(w, dyn.LAMBDA_E), count(w, dyn.NV)
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


@kernel
def base_columns(w):
    """JB and HB: the columns of J and H that belong to the floating base."""
    FC, S, coordinate = floats(w, dyn.FC), floats(w, dyn.S), ints(w, dyn.COORDINATE)
    multiplier, HB, JB, J = floats(w, dyn.MULTIPLIER), floats(w, at.HB), floats(w, at.JB), floats(w, osim.J)
    base, block = ints(w, at.BASE_REGISTER), ints(w, osim.BLOCK)
    for i in range(count(w, dyn.NV)):
        for c in range(6):
            HB[i, c] = 0.0
    for b in range(count(w, dyn.NODES)):
        i = coordinate[b]
        for c in range(6):  # the base is the first six nodes
            HB[i, c] += multiplier[b] * (dot(get3(FC, 0, b), get3(S, 0, c)) + dot(get3(FC, 3, b), get3(S, 3, c)))
    for b in range(count(w, osim.BLOCKS)):
        for r in range(block[b, osim.B_ROWS]):
            for c in range(6):
                k = base[b, c]
                JB[block[b, osim.B_ROW] + r, c] = J[k, r] if k >= 0 else 0.0
    armature = floats(w, dyn.ARMATURE)
    for c in range(6):
        HB[c, c] += armature[c]
