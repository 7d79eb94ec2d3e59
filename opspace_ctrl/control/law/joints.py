"""Joint space: what is compensated, the posture, and the columns of the base."""

from __future__ import annotations

import math

from ...dynamics import crba, rnea
from ...dynamics import layout as dyn
from ...dynamics.layout import count, floats, ints
from ...dynamics.spatial import cross, dot, get3, load3, load_inertia, momentum, store3
from ...jit import kernel
from ...lanes import WIDTH, floats_at, ints_at
from ...osim import layout as osim
from .. import layout as at


@kernel
def row_of(w, slot, i):
    """Row i of an array as a vector."""
    header = ints_at(w, 2)
    return floats_at(header[slot, 0] + 8 * i * header[slot, 1], 1)


@kernel
def select_bias(w):
    """H_SELECTED: the shares of gravity, Coriolis and friction forces that the options ask for; BIAS holds h."""
    option, h, out, nv = (
        floats(w, at.OPTION),
        floats(w, dyn.BIAS),
        floats(w, at.H_SELECTED),
        count(w, dyn.NV),
    )
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
    S, IC, g, coordinate = (
        floats(w, dyn.S),
        floats(w, dyn.IC),
        floats(w, dyn.GRAVITY),
        ints(w, dyn.COORDINATE),
    )
    multiplier, down = floats(w, dyn.MULTIPLIER), (g[0], g[1], g[2])
    for b in range(count(w, dyn.NODES)):
        weight = dot(get3(S, 0, b), cross(get3(IC, 1, b), down)) + IC[0, b] * dot(
            get3(S, 3, b), down
        )
        out[coordinate[b]] -= share * multiplier[b] * weight


@kernel
def posture(w):
    """A = what the posture asks for with the base at rest, HA_POSTURE = H A: Kp (q_d - q) + Kd (v_d - v) + a_d.

    q_d - q is clipped: an arm that a task has taken far from its posture would else be thrown back by it as soon as the
    task gives up a direction, and out again by the task.
    """
    joint, limit, wanted = ints(w, at.JOINT), floats(w, at.LIMIT), floats(w, at.POSTURE)
    q, v, a = floats(w, dyn.Q), floats(w, dyn.V), floats(w, dyn.A)
    for i in range(count(w, dyn.NV)):
        a[i] = 0.0
    for j in range(count(w, at.JOINTS)):
        i, kp = joint[j, at.J_V], limit[at.POSTURE_STIFFNESS, j]
        if joint[j, at.J_Q] < 0:
            kp = 0.0
        if kp > 0.0:
            most = limit[at.POSTURE_ERROR, j]
            a[i] = (
                wanted[2, j]
                + kp * min(max(wanted[0, j] - q[joint[j, at.J_Q]], -most), most)
                + limit[at.POSTURE_DAMPING, j] * (wanted[1, j] - v[i])
            )
        else:
            a[i] = -limit[at.POSTURE_DAMPING, j] * v[i]
    _inertia_times(w, floats(w, at.HA_POSTURE))


@kernel
def _inertia_times(w, out):
    """out = H A by one sweep out and one in; spoils the forces of the bodies."""
    S, acc, parent, coordinate = (
        floats(w, dyn.S),
        floats(w, dyn.HINGE),
        ints(w, dyn.PARENT),
        ints(w, dyn.COORDINATE),
    )
    multiplier, a, IW, force = (
        floats(w, dyn.MULTIPLIER),
        floats(w, dyn.A),
        floats(w, dyn.IW),
        floats(w, dyn.FORCE),
    )
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
def base_columns(w):
    """JB and HB: the columns of J and H that belong to the floating base."""
    FC, S, coordinate = floats(w, dyn.FC), floats(w, dyn.S), ints(w, dyn.COORDINATE)
    multiplier, HB, JB, J = (
        floats(w, dyn.MULTIPLIER),
        floats(w, at.HB),
        floats(w, at.JB),
        floats(w, osim.J),
    )
    base, block = ints(w, at.BASE_REGISTER), ints(w, osim.BLOCK)
    for i in range(count(w, dyn.NV)):
        for c in range(6):
            HB[i, c] = 0.0
    for b in range(count(w, dyn.NODES)):
        i = coordinate[b]
        for c in range(6):  # the base is the first six nodes
            HB[i, c] += multiplier[b] * (
                dot(get3(FC, 0, b), get3(S, 0, c)) + dot(get3(FC, 3, b), get3(S, 3, c))
            )
    for b in range(count(w, osim.BLOCKS)):
        for r in range(block[b, osim.B_ROWS]):
            for c in range(6):
                k = base[b, c]
                JB[block[b, osim.B_ROW] + r, c] = J[k, r] if k >= 0 else 0.0
    armature = floats(w, dyn.ARMATURE)
    for c in range(6):
        HB[c, c] += armature[c]
