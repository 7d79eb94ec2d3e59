# SPDX-License-Identifier: Apache-2.0
"""The task Jacobian J = R S ([Featherstone2010] (12)-(19)) by support slot, and the bias acceleration Jdot v."""

from ..compiled.jit import kernel, stage
from ..compiled.lanes import W
from ..dynamics.frames import frame_rotation, point_acceleration, point_velocity
from ..dynamics.rows import clear
from ..dynamics.spatial import add, cross, get3, rotate, scale, sub
from .fields import Space
from .tasks import CENTER, FRAME, RELATIVE


@kernel
def task_point(space, b):
    """Position of block b's frame from the origin of its tree."""
    node = space.leg_end[space.block_leg[b]]
    R, P, point = space.tree.R, space.tree.p, space.point
    t = (point[b, 0], point[b, 1], point[b, 2])
    return add(get3(P, 0, node), rotate(get3(R, 0, node), get3(R, 3, node), get3(R, 6, node), t))


@kernel
def seen_from(space, node, other, p):
    """The point p, given from the origin of `node`'s tree, from the origin of `other`'s."""
    origin, tree_number = space.tree.origin, space.tree.tree_number
    a, b = tree_number[node], tree_number[other]
    return (
        p[0] + (origin[a, 0] - origin[b, 0]),
        p[1] + (origin[a, 1] - origin[b, 1]),
        p[2] + (origin[a, 2] - origin[b, 2]),
    )


@kernel
def task_rows(space, b, first):
    """Three columns of block b's selection, from column `first`, in world axes (turned with the reference frame)."""
    weight = space.selection
    x, y, z = (
        weight[6 * b + first, 0:W],
        weight[6 * b + first + 1, 0:W],
        weight[6 * b + first + 2, 0:W],
    )
    if space.block_kind[b] == RELATIVE:
        r0, r1, r2 = frame_rotation(space.tree, space.block_reference[b])
        x, y, z = (
            r0[0] * x + r0[1] * y + r0[2] * z,
            r1[0] * x + r1[1] * y + r1[2] * z,
            r2[0] * x + r2[1] * y + r2[2] * z,
        )
    return x, y, z


@kernel
def task_matrices(space):
    """K of every leg: rows of the block = K [angular; linear] of the body. A reference frame counts negatively."""
    for b in range(space.blocks):
        if space.block_legs[b] == 0:  # the whole robot's
            continue
        x, y, z = task_rows(space, b, 0)
        u, v, s = task_rows(space, b, 3)
        k, p = space.block_leg[b], task_point(space, b)
        _write_matrix(space.K, k, x, y, z, u, v, s, p, 1.0)
        if space.block_legs[b] == 2:
            p = seen_from(space, space.leg_end[k], space.leg_end[k + 1], p)
            _write_matrix(space.K, k + 1, x, y, z, u, v, s, p, -1.0)


@kernel
def _write_matrix(K, k, x, y, z, u, v, s, p, sign):
    """x, y, z weigh the velocity of point p, u, v, s the angular velocity."""
    K[6 * k, 0:W] = sign * (u + p[1] * z - p[2] * y)
    K[6 * k + 1, 0:W] = sign * (v + p[2] * x - p[0] * z)
    K[6 * k + 2, 0:W] = sign * (s + p[0] * y - p[1] * x)
    K[6 * k + 3, 0:W] = sign * x
    K[6 * k + 4, 0:W] = sign * y
    K[6 * k + 5, 0:W] = sign * z


@stage(Space)
def task_jacobian(space):
    """J = R S (12), one register a slot: each node j of a leg gives K S_j to the register of its coordinate.

    K of a leg is R of its block: task rows from the spatial velocity of the body at its end. What several nodes give to
    one register is added up (mimic joints, the two legs of a relative task). A centre of mass has no legs.
    Needs R, p, origin and S, and if there is a centre of mass F and I. Writes K and J.
    """
    task_matrices(space)
    nodes_are_coordinates = space.tree.merges == 0
    for b in range(space.blocks):
        if nodes_are_coordinates and space.block_kind[b] == FRAME:
            # one leg, and each of its nodes has a register of its own: nothing to clear, nothing to add to
            _write_leg(space, space.block_leg[b], adding=False)
            continue
        for r in range(space.block_first[b], space.block_first[b] + space.block_slots[b]):
            space.J[r, 0:W] = 0.0
        if space.block_kind[b] == CENTER:
            center_of_mass_rows(space, b)
        for k in range(space.block_leg[b], space.block_leg[b] + space.block_legs[b]):
            _write_leg(space, k, adding=True)


@kernel
def _write_leg(space, k, adding):
    """J of the nodes of leg k, written or added to what is there."""
    K, S, multiplier = space.K, space.tree.S, space.tree.multiplier
    k0, k1, k2 = K[6 * k, 0:W], K[6 * k + 1, 0:W], K[6 * k + 2, 0:W]
    k3, k4, k5 = K[6 * k + 3, 0:W], K[6 * k + 4, 0:W], K[6 * k + 5, 0:W]
    for i in range(space.leg_start[k], space.leg_start[k] + space.leg_length[k]):
        j, r = space.leg_node[i], space.leg_register[i]
        column = (
            S[0, j] * k0 + S[1, j] * k1 + S[2, j] * k2 + S[3, j] * k3 + S[4, j] * k4 + S[5, j] * k5
        )
        if adding:
            column = space.J[r, 0:W] + multiplier[j] * column
        space.J[r, 0:W] = column


@kernel
def moving_mass(tree):
    """The mass of all bodies."""
    mass = 0.0
    for b in range(tree.n):
        mass += tree.I[0, b]
    return mass


@kernel
def center_of_mass_rows(space, b):
    """The centre of mass moves with the linear part of I_c S / M (needs composite inertias)."""
    F, coordinate = space.tree.F, space.tree.coordinate
    multiplier, first = space.tree.multiplier, space.block_first[b]
    inverse = 1.0 / moving_mass(space.tree)
    x, y, z = task_rows(space, b, 0)
    for j in range(space.tree.n):
        r = first + coordinate[j]
        column = F[3, j] * x + F[4, j] * y + F[5, j] * z
        space.J[r, 0:W] = space.J[r, 0:W] + (multiplier[j] * inverse) * column


@kernel
def bias_acceleration(space):
    """Jdot v: the classical acceleration of the task rows when dv/dt = 0 componentwise."""
    for b in range(space.blocks):
        if space.block_kind[b] == CENTER:
            a, alpha = center_of_mass_acceleration(space), (0.0, 0.0, 0.0)
        else:
            a, alpha = frame_accelerations(space, b)
        x, y, z = task_rows(space, b, 0)
        u, v, s = task_rows(space, b, 3)
        rows = a[0] * x + a[1] * y + a[2] * z + alpha[0] * u + alpha[1] * v + alpha[2] * s
        # a register may overrun: the next block writes over it
        space.Jdot_v[space.block_row[b] : space.block_row[b] + W] = rows


@kernel
def center_of_mass_acceleration(space):
    """Force on all bodies over their mass, gravity taken out again; the forces have been summed down to the world."""
    force, g, world = space.tree.force, space.tree.gravity, space.tree.n
    return add(scale(1.0 / moving_mass(space.tree), get3(force, 3, world)), (g[0], g[1], g[2]))


@kernel
def frame_accelerations(space, b):
    """Linear and angular acceleration of block b's frame; seen from a moving frame, with its Coriolis terms.

    For u = R_a^T (v_x - v_a - w_a x r):  R_a du/dt = a_x - a_a(x) - 2 w_a x (R_a u), a_a(x) that of a's body at x.
    """
    vel, acc = space.tree.velocity, space.tree.acceleration
    k = space.block_leg[b]
    node, p = space.leg_end[k], task_point(space, b)
    a, alpha = point_acceleration(space.tree, node, p), get3(acc, 0, node)
    if space.block_kind[b] == RELATIVE:
        other = space.leg_end[k + 1]
        omega, q = get3(vel, 0, other), seen_from(space, node, other, p)
        moving = sub(point_velocity(space.tree, node, p), point_velocity(space.tree, other, q))
        a = sub(sub(a, point_acceleration(space.tree, other, q)), scale(2.0, cross(omega, moving)))
        turning = sub(get3(vel, 0, node), omega)
        alpha = sub(sub(alpha, get3(acc, 0, other)), cross(omega, turning))
    return a, alpha


@kernel
def dense_jacobian(space):
    """J as an (m, nv) matrix, into J_dense."""
    dense = space.J_dense
    clear(dense, space.m, space.tree.nv)
    for b in range(space.blocks):
        for r in range(space.block_first[b], space.block_first[b] + space.block_slots[b]):
            for i in range(space.block_rows[b]):
                dense[space.block_row[b] + i, space.support[r]] = space.J[r, i]
