# SPDX-License-Identifier: Apache-2.0
"""Joint space: what is compensated, the posture, and the columns of the base."""

import math

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics import crba, ltl, rnea
from ...dynamics.spatial import cross, dot, get3, load3, load_inertia, momentum, store3
from ...dynamics.state import copy
from ...osim.method import ARTICULATED, LTDL
from ...osim.propagate import solve_articulated
from ..fields import GRAVITY_MODE, RAW_MODE, VELOCITY_MODE


@kernel
def select_bias(law):
    """Write `h_compensated`: the shares of gravity, Coriolis and friction forces that the settings ask for.

    None of them where velocities are commanded. Friction of a robot with targets comes later, see `friction`. Needs
    tree.h; composite inertias are computed where gravity has a share of its own.
    """
    tree, out = law.space.tree, law.h_compensated
    gravity, coriolis, h = law.gravity_share, law.coriolis_share, tree.h
    if law.present_mode == VELOCITY_MODE:
        gravity, coriolis = 0.0, 0.0
    for i in range(law.nv):
        out[i] = coriolis * h[i]
    if gravity != coriolis:
        _add_gravity(tree, gravity - coriolis, out)
    is_measured = law.present_mode == RAW_MODE or law.present_mode == GRAVITY_MODE
    if law.compensation_friction != 0.0 and is_measured:
        v, joint_v = tree.v, law.joint_v
        for j in range(law.k):
            out[joint_v[j]] += friction_torque(law, j, v[joint_v[j]])


@kernel
def friction_torque(law, j, v):
    """What compensates the friction of joint j at the speed v [Nm or N]."""
    dry = law.coulomb[j] * math.tanh(v / law.compensation_friction_speed)
    return law.compensation_friction * (law.viscous[j] * v + dry)


@kernel
def _add_gravity(tree, share, out):
    """out += share times the gravity forces: -S^T of the weight of all that a node carries."""
    crba.composite_inertias(tree)
    S, Ic, g = tree.S, tree.Ic, tree.gravity
    coordinate, multiplier, down = tree.coordinate, tree.multiplier, (g[0], g[1], g[2])
    for b in range(tree.n):
        turning = dot(get3(S, 0, b), cross(get3(Ic, 1, b), down))
        weight = turning + Ic[0, b] * dot(get3(S, 3, b), down)
        out[coordinate[b]] -= share * multiplier[b] * weight


@kernel
def find_posture_acceleration(law):
    """Write `posture_acceleration` a = a_d + Kp (q_d - q) + Kd (v_d - v), the base at rest, and `posture_force` = H a.

    q_d - q is clipped: an arm that a task has taken far from its posture would else be thrown back by it as soon as the
    task gives up a direction, and out again by the task. Needs kinematics and `sample_posture`; spoils tree.force.
    """
    q, v, a = law.space.tree.q, law.space.tree.v, law.posture_acceleration
    joint_q, joint_v, limit = law.joint_q, law.joint_v, law.posture_error_clip
    kp, kd, q_d = law.posture_stiffness, law.posture_damping, law.posture_target
    v_d, a_d = law.posture_target_velocity, law.posture_target_acceleration
    for i in range(law.nv):
        a[i] = 0.0
    for j in range(law.k):
        i = joint_v[j]
        if joint_q[j] >= 0 and kp[j] > 0.0:
            e = min(max(q_d[j] - q[joint_q[j]], -limit), limit)
            a[i] = a_d[j] + kp[j] * e + kd[j] * (v_d[j] - v[i])
        else:
            a[i] = -kd[j] * v[i]
    inertia_times(law, a, law.posture_force)


@kernel
def inertia_times(law, a, out):
    """out = H a by one sweep outwards (`body_acceleration`) and one inwards (forces); spoils tree.force."""
    tree, acc = law.space.tree, law.body_acceleration
    S, I, force = tree.S, tree.I, tree.force
    parent, coordinate, multiplier = tree.parent, tree.coordinate, tree.multiplier
    n = tree.n
    for b in range(n):
        p, rate = parent[b], multiplier[b] * a[coordinate[b]]
        for k in range(6):
            acc[k, b] = acc[k, p] + rate * S[k, b]
    for b in range(0, n + 1, W):
        m, mc, i = load_inertia(I, b)
        couple, f = momentum(m, mc, i, load3(acc, 0, b), load3(acc, 3, b))
        store3(force, 0, b, couple)
        store3(force, 3, b, f)
    rnea.joint_forces(tree, out)
    rnea.add_armature(tree, a, out)


@kernel
def inertia_solve(law, x):
    """x := H^-1 x, by coordinate, with what the method has left of H: its recursion or its factors, or else by LTDL."""
    space, tree, nv = law.space, law.space.tree, law.nv
    if space.H_is == ARTICULATED:
        copy(x, tree.x, nv)
        solve_articulated(space)
        copy(tree.qdd, x, nv)
        return
    if space.H_is != LTDL:
        crba.mass_matrix(tree)
        ltl.ltdl(tree)
        space.H_is = LTDL
    H, D_inv, path, depth = tree.H, tree.D_inv, tree.path_e, tree.depth_e
    for k in range(nv - 1, -1, -1):
        if x[k] != 0.0:  # L_d^-T e_j reaches the ancestors of j only
            for c in range(depth[k]):
                x[path[k, c]] -= H[k, c] * x[k]
    for i in range(nv):
        x[i] *= D_inv[i]
    ltl.solve_unit(tree, x)


@kernel
def base_columns(law):
    """Write `H_base` and `J_base`, the columns of H and J that belong to the floating base.

    Needs J and composite inertias (tree.F).
    """
    space, tree = law.space, law.space.tree
    F, S, multiplier = tree.F, tree.S, tree.multiplier
    coordinate, armature, H_base = tree.coordinate, tree.armature, law.H_base
    J, J_base, base = space.J, law.J_base, law.base_register
    block_row, block_rows = space.block_row, space.block_rows
    for i in range(law.nv):
        for c in range(6):
            H_base[i, c] = 0.0
    for b in range(tree.n):
        i, x, y = coordinate[b], get3(F, 0, b), get3(F, 3, b)
        for c in range(6):  # the base is the first six nodes
            H_base[i, c] += multiplier[b] * (dot(x, get3(S, 0, c)) + dot(y, get3(S, 3, c)))
    for b in range(law.blocks):
        for r in range(block_rows[b]):
            for c in range(6):
                k = base[b, c]
                J_base[block_row[b] + r, c] = J[k, r] if k >= 0 else 0.0
    for c in range(6):
        H_base[c, c] += armature[c]
