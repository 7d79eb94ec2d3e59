"""The task Jacobian J = R S ([Featherstone2010] (12)-(19)) by support slot, and the bias acceleration Jdot v."""

from __future__ import annotations

from ..dynamics import layout as dyn
from ..dynamics.frames import point_acceleration, point_velocity
from ..dynamics.layout import clear, count, floats, ints, stage
from ..dynamics.spatial import add, cross, get3, rotate, scale, sub
from ..jit import kernel
from ..lanes import load, splat, store
from . import layout as at


@kernel
def task_point(w, b):
    """Position of block b's frame from the origin of its tree."""
    node = ints(w, at.LEG)[ints(w, at.BLOCK)[b, at.B_LEG], at.L_NODE]
    R, P, point = floats(w, dyn.R), floats(w, dyn.P), floats(w, at.POINT)
    t = (point[b, 0], point[b, 1], point[b, 2])
    return add(get3(P, 0, node), rotate(get3(R, 0, node), get3(R, 3, node), get3(R, 6, node), t))


@kernel
def seen_from(w, node, other, p):
    """The point p, given from the origin of `node`'s tree, from the origin of `other`'s."""
    origin, tree = floats(w, dyn.ORIGIN), ints(w, dyn.TREE)
    a, b = tree[node], tree[other]
    return (
        p[0] + (origin[a, 0] - origin[b, 0]),
        p[1] + (origin[a, 1] - origin[b, 1]),
        p[2] + (origin[a, 2] - origin[b, 2]),
    )


@kernel
def reference_row(w, b, node, r):
    """Row r of the world orientation of block b's reference frame."""
    row, Q = get3(floats(w, dyn.R), 3 * r, node), floats(w, at.POINT)
    return (
        row[0] * Q[b, 3] + row[1] * Q[b, 6] + row[2] * Q[b, 9],
        row[0] * Q[b, 4] + row[1] * Q[b, 7] + row[2] * Q[b, 10],
        row[0] * Q[b, 5] + row[1] * Q[b, 8] + row[2] * Q[b, 11],
    )


@kernel
def task_rows(w, b, first):
    """Three columns of block b's selection, from column `first`, in world axes (turned with the reference frame)."""
    weight, block = floats(w, at.WEIGHT), ints(w, at.BLOCK)
    x, y, z = (
        load(weight, 6 * b + first, 0),
        load(weight, 6 * b + first + 1, 0),
        load(weight, 6 * b + first + 2, 0),
    )
    if block[b, at.B_KIND] == at.RELATIVE:
        node = ints(w, at.LEG)[block[b, at.B_LEG] + 1, at.L_NODE]
        r0, r1, r2 = (
            reference_row(w, b, node, 0),
            reference_row(w, b, node, 1),
            reference_row(w, b, node, 2),
        )
        x, y, z = (
            r0[0] * x + r0[1] * y + r0[2] * z,
            r1[0] * x + r1[1] * y + r1[2] * z,
            r2[0] * x + r2[1] * y + r2[2] * z,
        )
    return x, y, z


@kernel
def task_matrices(w):
    """K of every leg: rows of the block = K [angular; linear] of the body. A reference frame counts negatively."""
    block, leg, K = ints(w, at.BLOCK), ints(w, at.LEG), floats(w, at.K)
    for b in range(count(w, at.BLOCKS)):
        if block[b, at.B_KIND] == at.CENTER:
            continue
        x, y, z = task_rows(w, b, 0)
        u, v, s = task_rows(w, b, 3)
        k, p = block[b, at.B_LEG], task_point(w, b)
        _write_matrix(K, k, x, y, z, u, v, s, p, 1.0)
        if block[b, at.B_KIND] == at.RELATIVE:
            p = seen_from(w, leg[k, at.L_NODE], leg[k + 1, at.L_NODE], p)
            _write_matrix(K, k + 1, x, y, z, u, v, s, p, -1.0)


@kernel
def _write_matrix(K, k, x, y, z, u, v, s, p, sign):
    """x, y, z weigh the velocity of point p, u, v, s the angular velocity."""
    store(K, 6 * k, 0, sign * (u + p[1] * z - p[2] * y))
    store(K, 6 * k + 1, 0, sign * (v + p[2] * x - p[0] * z))
    store(K, 6 * k + 2, 0, sign * (s + p[0] * y - p[1] * x))
    store(K, 6 * k + 3, 0, sign * x)
    store(K, 6 * k + 4, 0, sign * y)
    store(K, 6 * k + 5, 0, sign * z)


@stage(at.TASK_JACOBIAN)
def task_jacobian(w):
    """J by register: K S_j for the nodes j of every leg, added up where several meet in a coordinate."""
    J, block = floats(w, at.J), ints(w, at.BLOCK)
    task_matrices(w)
    alone = count(w, dyn.MIMIC) == 0  # then a frame's nodes have a register each
    for b in range(count(w, at.BLOCKS)):
        if alone and block[b, at.B_KIND] == at.FRAME:
            _write_leg(w, block[b, at.B_LEG], False)
            continue
        for r in range(block[b, at.B_FIRST], block[b, at.B_FIRST] + block[b, at.B_SLOTS]):
            store(J, r, 0, splat(0.0))
        if block[b, at.B_KIND] == at.CENTER:
            center_of_mass_rows(w, b)
        for k in range(block[b, at.B_LEG], block[b, at.B_LEG] + block[b, at.B_LEGS]):
            _write_leg(w, k, True)


@kernel
def _write_leg(w, k, adding):
    """J of the nodes of leg k, written or added to what is there."""
    J, K, S, multiplier = (
        floats(w, at.J),
        floats(w, at.K),
        floats(w, dyn.S),
        floats(w, dyn.MULTIPLIER),
    )
    leg, nodes, registers = ints(w, at.LEG), ints(w, at.LEG_NODE), ints(w, at.LEG_REGISTER)
    k0, k1, k2 = load(K, 6 * k, 0), load(K, 6 * k + 1, 0), load(K, 6 * k + 2, 0)
    k3, k4, k5 = load(K, 6 * k + 3, 0), load(K, 6 * k + 4, 0), load(K, 6 * k + 5, 0)
    for i in range(leg[k, at.L_START], leg[k, at.L_START] + leg[k, at.L_LENGTH]):
        j, r = nodes[i], registers[i]
        column = (
            S[0, j] * k0 + S[1, j] * k1 + S[2, j] * k2 + S[3, j] * k3 + S[4, j] * k4 + S[5, j] * k5
        )
        if adding:
            column = load(J, r, 0) + multiplier[j] * column
        store(J, r, 0, column)


@kernel
def moving_mass(w):
    """The mass of all bodies."""
    IW, mass = floats(w, dyn.IW), 0.0
    for b in range(count(w, dyn.NODES)):
        mass += IW[0, b]
    return mass


@kernel
def center_of_mass_rows(w, b):
    """The centre of mass moves with the linear part of I_c S / M (needs composite inertias)."""
    J, FC, coordinate = floats(w, at.J), floats(w, dyn.FC), ints(w, dyn.COORDINATE)
    multiplier, first = floats(w, dyn.MULTIPLIER), ints(w, at.BLOCK)[b, at.B_FIRST]
    inverse = 1.0 / moving_mass(w)
    x, y, z = task_rows(w, b, 0)
    for j in range(count(w, dyn.NODES)):
        r = first + coordinate[j]
        column = FC[3, j] * x + FC[4, j] * y + FC[5, j] * z
        store(J, r, 0, load(J, r, 0) + (multiplier[j] * inverse) * column)


@kernel
def bias_acceleration(w):
    """Jdot v: the classical acceleration of the task rows when dv/dt = 0 componentwise."""
    block, out = ints(w, at.BLOCK), floats(w, at.JDOT_V)
    for b in range(count(w, at.BLOCKS)):
        if block[b, at.B_KIND] == at.CENTER:
            a, alpha = center_of_mass_acceleration(w), (0.0, 0.0, 0.0)
        else:
            a, alpha = frame_accelerations(w, b)
        x, y, z = task_rows(w, b, 0)
        u, v, s = task_rows(w, b, 3)
        rows = a[0] * x + a[1] * y + a[2] * z + alpha[0] * u + alpha[1] * v + alpha[2] * s
        # a register may overrun: the next block writes over it
        store(out, 0, block[b, at.B_ROW], rows)


@kernel
def center_of_mass_acceleration(w):
    """Force on all bodies over their mass, gravity taken out again; the forces have been summed down to the world."""
    force, g, world = floats(w, dyn.FORCE), floats(w, dyn.GRAVITY), count(w, dyn.NODES)
    return add(scale(1.0 / moving_mass(w), get3(force, 3, world)), (g[0], g[1], g[2]))


@kernel
def frame_accelerations(w, b):
    """Linear and angular acceleration of block b's frame; seen from a moving frame, with its Coriolis terms.

    For u = R_a^T (v_x - v_a - w_a x r):  R_a du/dt = a_x - a_a(x) - 2 w_a x (R_a u), a_a(x) that of a's body at x.
    """
    block, leg = ints(w, at.BLOCK), ints(w, at.LEG)
    vel, acc = floats(w, dyn.VELOCITY), floats(w, dyn.ACCELERATION)
    k = block[b, at.B_LEG]
    node, p = leg[k, at.L_NODE], task_point(w, b)
    a, alpha = point_acceleration(w, node, p), get3(acc, 0, node)
    if block[b, at.B_KIND] == at.RELATIVE:
        other = leg[k + 1, at.L_NODE]
        omega, q = get3(vel, 0, other), seen_from(w, node, other, p)
        moving = sub(point_velocity(w, node, p), point_velocity(w, other, q))
        a = sub(sub(a, point_acceleration(w, other, q)), scale(2.0, cross(omega, moving)))
        turning = sub(get3(vel, 0, node), omega)
        alpha = sub(sub(alpha, get3(acc, 0, other)), cross(omega, turning))
    return a, alpha


@kernel
def dense_jacobian(w):
    """J as an (m, nv) matrix, into J_DENSE."""
    J, dense, block, support = (
        floats(w, at.J),
        floats(w, at.J_DENSE),
        ints(w, at.BLOCK),
        ints(w, at.SUPPORT),
    )
    clear(dense, count(w, at.M), count(w, dyn.NV))
    for b in range(count(w, at.BLOCKS)):
        for r in range(block[b, at.B_FIRST], block[b, at.B_FIRST] + block[b, at.B_SLOTS]):
            for i in range(block[b, at.B_ROWS]):
                dense[block[b, at.B_ROW] + i, support[r]] = J[r, i]
