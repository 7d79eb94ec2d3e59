# SPDX-License-Identifier: Apache-2.0
"""Frames and the centre of mass: pose, velocity, classical acceleration, Jacobian ([Featherstone2010] (13)-(16)).

What leaves this file is public: linear first, world axes, at the frame's origin.
"""

from ..compiled.jit import kernel
from .rows import clear
from .spatial import add, cross, get3, rotate, row_times, sub

WORLD = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))  # rows of the world's orientation


@kernel
def frame_point(tree, f):
    """Position of frame f from the origin of its tree. Needs R and p."""
    node, X = tree.frame_node[f], tree.frame_placement
    R, P = tree.R, tree.p
    t = (X[f, 9], X[f, 10], X[f, 11])
    return add(get3(P, 0, node), rotate(get3(R, 0, node), get3(R, 3, node), get3(R, 6, node), t))


@kernel
def frame_rotation(tree, f):
    """Rows of the world orientation of frame f. Needs R."""
    node, X, R = tree.frame_node[f], tree.frame_placement, tree.R
    x0 = (X[f, 0], X[f, 1], X[f, 2])
    x1 = (X[f, 3], X[f, 4], X[f, 5])
    x2 = (X[f, 6], X[f, 7], X[f, 8])
    return (
        row_times(get3(R, 0, node), x0, x1, x2),
        row_times(get3(R, 3, node), x0, x1, x2),
        row_times(get3(R, 6, node), x0, x1, x2),
    )


@kernel
def rotation_or_world(tree, f):
    """`frame_rotation`, or the world's own for f = -1."""
    if f < 0:
        return WORLD
    return frame_rotation(tree, f)


@kernel
def frame_pose(tree, f, out):
    """Orientation (9, row major) and world position (3) of frame f. Needs R, p and origin. Writes out."""
    rows = frame_rotation(tree, f)
    for r in range(3):
        out[3 * r], out[3 * r + 1], out[3 * r + 2] = rows[r]
    p, origin, t = frame_point(tree, f), tree.origin, tree.tree_number[tree.frame_node[f]]
    for k in range(3):
        out[9 + k] = p[k] + origin[t, k]


@kernel
def point_velocity(tree, node, p):
    """Velocity of the point p of a node's body. Needs velocity."""
    vel = tree.velocity
    return add(get3(vel, 3, node), cross(get3(vel, 0, node), p))


@kernel
def point_acceleration(tree, node, p):
    """Classical acceleration of the point p of a node's body, gravity taken out again. Needs velocity, acceleration."""
    acc, g = tree.acceleration, tree.gravity
    omega = get3(tree.velocity, 0, node)
    a = add(get3(acc, 3, node), cross(get3(acc, 0, node), p))
    return add(add(a, (g[0], g[1], g[2])), cross(omega, point_velocity(tree, node, p)))


@kernel
def frame_motion(tree, f, out):
    """Velocity (6) and classical acceleration (6) of frame f. Needs R, p, velocity, acceleration. Writes out."""
    node, p = tree.frame_node[f], frame_point(tree, f)
    out[0], out[1], out[2] = point_velocity(tree, node, p)
    out[3], out[4], out[5] = get3(tree.velocity, 0, node)
    out[6], out[7], out[8] = point_acceleration(tree, node, p)
    out[9], out[10], out[11] = get3(tree.acceleration, 0, node)


@kernel
def frame_jacobian(tree, f):
    """J of frame f: S_j moved to the frame, for every j that supports it. Needs R, p, S. Writes six rows of dense."""
    out = tree.dense
    p = frame_point(tree, f)
    clear(out, 6, tree.nv)
    b = tree.frame_node[f]
    while b < tree.n:
        i, angular = tree.coordinate[b], get3(tree.S, 0, b)
        linear = add(get3(tree.S, 3, b), cross(angular, p))
        for k in range(3):
            out[k, i] += tree.multiplier[b] * linear[k]
            out[3 + k, i] += tree.multiplier[b] * angular[k]
        b = tree.parent[b]


@kernel
def add_external(tree, f, wrench):
    """Add a wrench on the robot to `external`, moved to the tree's origin. Needs R and p.

    It is given as public ones are: force [N], then torque [Nm], in world axes, at the origin of frame f.
    """
    node = tree.frame_node[f]
    force, torque = (wrench[0], wrench[1], wrench[2]), (wrench[3], wrench[4], wrench[5])
    torque = add(torque, cross(frame_point(tree, f), force))
    for k in range(3):
        tree.external[k, node] += torque[k]
        tree.external[3 + k, node] += force[k]


@kernel
def center_of_mass(tree, out):
    """World position (3) of the centre of the moving mass, and that mass. Needs I and origin. Writes out."""
    origin = tree.origin
    mass, c = 0.0, (0.0, 0.0, 0.0)
    for b in range(tree.n):
        m, t = tree.I[0, b], tree.tree_number[b]
        mass += m
        c = add(c, add(get3(tree.I, 1, b), (m * origin[t, 0], m * origin[t, 1], m * origin[t, 2])))
    for k in range(3):
        out[k] = c[k] / mass
    out[3] = mass


@kernel
def center_of_mass_jacobian(tree, mass):
    """J of the centre of mass: the linear part of I_c S / M. Needs F. Writes three rows of dense."""
    out = tree.dense
    clear(out, 3, tree.nv)
    for b in range(tree.n):
        for k in range(3):
            out[k, tree.coordinate[b]] += tree.multiplier[b] * tree.F[3 + k, b] / mass


@kernel
def center_of_mass_motion(tree, mass, out):
    """Velocity (3) and acceleration (3) of the centre of mass: momentum and force of all bodies over M.

    Needs I, velocity, and every body's own force. Writes out.
    """
    I, vel, g = tree.I, tree.velocity, tree.gravity
    v, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for b in range(tree.n):
        omega, mv = get3(vel, 0, b), get3(vel, 3, b)
        v = add(
            v,
            sub((I[0, b] * mv[0], I[0, b] * mv[1], I[0, b] * mv[2]), cross(get3(I, 1, b), omega)),
        )
        f = add(f, get3(tree.force, 3, b))
    for k in range(3):
        out[k] = v[k] / mass
        out[3 + k] = f[k] / mass + g[k]
