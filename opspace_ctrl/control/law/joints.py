"""Joint space: what is compensated, the posture, and the columns of the base."""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics import crba, rnea
from ...dynamics.spatial import cross, dot, get3, load3, load_inertia, momentum, store3


@kernel
def row_of(law, slot, i):
    """Row i of an array as a vector."""
    header = ints_at(law, 2)
    return floats_at(header[slot, 0] + 8 * i * header[slot, 1], 1)


@kernel
def select_bias(law):
    """H_SELECTED: the shares of gravity, Coriolis and friction forces that the options ask for; BIAS holds h."""
    h, out, nv = law.space.tree.h, law.h_compensated, law.space.tree.nv
    gravity, coriolis, friction = law.gravity_share, law.coriolis_share, law.friction_share
    for i in range(nv):
        out[i] = coriolis * h[i]
    if gravity != coriolis:
        _add_gravity(law, gravity - coriolis, out)
    if friction != 0.0:
        v = law.space.tree.v
        for j in range(law.k):
            i = law.joint_v[j]
            dry = law.coulomb[j] * math.tanh(v[i] / law.coulomb_speed[j])
            out[i] += friction * (law.viscous[j] * v[i] + dry)


@kernel
def _add_gravity(law, share, out):
    """out += share times the gravity forces: -S^T of the weight of all that a node carries."""
    crba.composite_inertias(law.space.tree)
    S = law.space.tree.S
    IC = law.space.tree.Ic
    g = law.space.tree.gravity
    coordinate = law.space.tree.coordinate
    multiplier, down = law.space.tree.multiplier, (g[0], g[1], g[2])
    for b in range(law.space.tree.n):
        weight = dot(get3(S, 0, b), cross(get3(IC, 1, b), down)) + IC[0, b] * dot(
            get3(S, 3, b), down
        )
        out[coordinate[b]] -= share * multiplier[b] * weight


@kernel
def posture(law):
    """A = what the posture asks for with the base at rest, HA_POSTURE = H A: Kp (q_d - q) + Kd (v_d - v) + a_d.

    q_d - q is clipped: an arm that a task has taken far from its posture would else be thrown back by it as soon as the
    task gives up a direction, and out again by the task.
    """
    q, v, a = law.space.tree.q, law.space.tree.v, law.posture_acceleration
    for i in range(law.space.tree.nv):
        a[i] = 0.0
    for j in range(law.k):
        i, kp = law.joint_v[j], law.posture_stiffness[j]
        if law.joint_q[j] < 0:
            kp = 0.0
        if kp > 0.0:
            most = law.posture_error[j]
            a[i] = (
                law.posture_target_acceleration[j]
                + kp * min(max(law.posture_target[j] - q[law.joint_q[j]], -most), most)
                + law.posture_damping[j] * (law.posture_target_velocity[j] - v[i])
            )
        else:
            a[i] = -law.posture_damping[j] * v[i]
    _inertia_times(law, law.posture_force)


@kernel
def _inertia_times(law, out):
    """out = H A by one sweep out and one in; spoils the forces of the bodies."""
    S = law.space.tree.S
    acc = law.body_acceleration
    parent = law.space.tree.parent
    coordinate = law.space.tree.coordinate
    multiplier = law.space.tree.multiplier
    a = law.posture_acceleration
    IW = law.space.tree.I
    force = law.space.tree.force
    for b in range(law.space.tree.n):  # HINGE of the world stays zero
        p, qdd = parent[b], multiplier[b] * a[coordinate[b]]
        for k in range(6):
            acc[k, b] = acc[k, p] + qdd * S[k, b]
    for b in range(0, law.space.tree.n + 1, W):
        m, mc, i = load_inertia(IW, b)
        couple, f = momentum(m, mc, i, load3(acc, 0, b), load3(acc, 3, b))
        store3(force, 0, b, couple)
        store3(force, 3, b, f)
    rnea.joint_forces(law.space.tree, out)
    rnea.add_armature(law.space.tree, out)


@kernel
def base_columns(law):
    """JB and HB: the columns of J and H that belong to the floating base."""
    FC, S, coordinate = law.space.tree.F, law.space.tree.S, law.space.tree.coordinate
    multiplier = law.space.tree.multiplier
    HB = law.H_base
    JB = law.J_base
    J = law.space.J
    base = law.base_register
    for i in range(law.space.tree.nv):
        for c in range(6):
            HB[i, c] = 0.0
    for b in range(law.space.tree.n):
        i = coordinate[b]
        for c in range(6):  # the base is the first six nodes
            HB[i, c] += multiplier[b] * (
                dot(get3(FC, 0, b), get3(S, 0, c)) + dot(get3(FC, 3, b), get3(S, 3, c))
            )
    for b in range(law.space.blocks):
        for r in range(law.space.block_rows[b]):
            for c in range(6):
                k = base[b, c]
                JB[law.space.block_row[b] + r, c] = J[k, r] if k >= 0 else 0.0
    armature = law.space.tree.armature
    for c in range(6):
        HB[c, c] += armature[c]
