"""Forward kinematics in world axes: body poses, motion subspaces S and spatial inertias at the trees' origins."""

from __future__ import annotations

import math

from ..jit import kernel
from ..lanes import (
    WIDTH,
    columns,
    first_half,
    halves_swapped,
    last_half,
    last_half_alone,
    load,
    pair,
    store,
)
from ..trigonometry import cos8, sin8
from . import layout as at
from .layout import FIRST, MEMBER, SINGLE, count, floats, ints, stage
from .spatial import add, cross, dot, load3, rotate, row_times, scale, store3

FLOATING = 3  # model.JointType.FLOATING: kernels want a plain number
FAR_ANGLE = 1e5  # [rad], where `sin8` begins to lose digits


@kernel
def joint_rotations(w):
    """Position of every single-node joint; sine and cosine of its angle, eight at a time."""
    n, Q = count(w, at.NODES), floats(w, at.Q)
    kind, position = ints(w, at.KIND), ints(w, at.POSITION)
    multiplier, offset = floats(w, at.MULTIPLIER), floats(w, at.OFFSET)
    revolute, angle, displacement = (
        floats(w, at.REVOLUTE),
        floats(w, at.ANGLE),
        floats(w, at.DISPLACEMENT),
    )
    for b in range(n):
        if kind[b] == SINGLE:
            x = multiplier[b] * Q[position[b]] + offset[b]
            angle[b] = revolute[b] * x
            displacement[b] = x - angle[b]
            if abs(angle[b]) > FAR_ANGLE:
                angle[b] = math.atan2(math.sin(x), math.cos(x))
    sine, cosine = floats(w, at.SINE), floats(w, at.COSINE)
    for b in range(0, n, WIDTH):
        theta = load(angle, 0, b)
        store(sine, 0, b, sin8(theta))
        store(cosine, 0, b, cos8(theta))


@kernel
def body_poses(w):
    """POSE of every node, base to tip: two registers, x and y axis in one, z axis and position in the other.

    Along a limb, where the parent is the node before, they stay there. A root body is its tree's origin.
    """
    n, kind, parent = count(w, at.NODES), ints(w, at.KIND), ints(w, at.PARENT)
    X, displacement, pose = floats(w, at.PLACEMENT), floats(w, at.DISPLACEMENT), floats(w, at.POSE)
    sine, cosine, revolute = floats(w, at.SINE), floats(w, at.COSINE), floats(w, at.REVOLUTE)
    xy, zp, held = load(pose, n, 0), load(pose, n, 8), n
    for b in range(n):
        p = parent[b]
        if kind[b] == SINGLE:
            if p != held:
                xy, zp = load(pose, p, 0), load(pose, p, 8)
            x, y, z, held = first_half(xy), last_half(xy), first_half(zp), b
            # the placement is turned first: that waits for no parent
            c, s = (cosine[b], pair(sine[b], -sine[b]))
            xy = (
                x * _turned(X, b, 0, c, s) + y * _turned(X, b, 1, c, s) + z * _turned(X, b, 2, c, s)
            )
            moved = (
                x * pair(X[b, 6], X[b, 9])
                + y * pair(X[b, 7], X[b, 10])
                + z * pair(X[b, 8], X[b, 11])
            )
            if revolute[b] == 0.0:
                moved = moved + pair(0.0, displacement[b]) * first_half(moved)
            zp = moved + last_half_alone(zp)
            store(pose, b, 0, xy)
            store(pose, b, 8, zp)
        elif kind[b] == FIRST:
            _group_pose(w, b)
        if p == n:
            _put_at_origin(w, b)
            held = -1


@kernel
def _turned(X, b, r, c, s):
    """Component r of the x and y axes of joint b's placement, turned by its angle."""
    xy = pair(X[b, r], X[b, 3 + r])
    return c * xy + s * halves_swapped(xy)


@kernel
def _put_at_origin(w, first):
    """The root body is where its tree's origin is: all nodes of its joint."""
    pose, kind, origin, tree = (
        floats(w, at.POSE),
        ints(w, at.KIND),
        floats(w, at.ORIGIN),
        ints(w, at.TREE)[first],
    )
    b = first
    origin[tree, 0], origin[tree, 1], origin[tree, 2] = pose[b, 12], pose[b, 13], pose[b, 14]
    pose[b, 12], pose[b, 13], pose[b, 14] = 0.0, 0.0, 0.0
    while kind[b] == FIRST or kind[b] == MEMBER:
        b += 1
        pose[b, 12], pose[b, 13], pose[b, 14] = 0.0, 0.0, 0.0


@kernel
def _group_pose(w, first):
    """A planar or floating joint: every node gets the body's position and, as its z axis, its own direction."""
    X, pose, Q = floats(w, at.PLACEMENT), floats(w, at.POSE), floats(w, at.Q)
    parent, group = ints(w, at.PARENT)[first], ints(w, at.GROUP)
    g = ints(w, at.POSITION)[first]
    start, size = group[g, 2], group[g, 3]
    if group[g, 0] == FLOATING:
        t = (Q[start], Q[start + 1], Q[start + 2])
        r0, r1, r2 = rotation_of(Q[start + 3], Q[start + 4], Q[start + 5], Q[start + 6])
    else:
        t = (Q[start], Q[start + 1], 0.0)
        s, c = math.sin(Q[start + 2]), math.cos(Q[start + 2])
        r0, r1, r2 = (c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)
    last = first + size - 1
    for r in range(3):
        p = (pose[parent, r], pose[parent, 4 + r], pose[parent, 8 + r])
        x = (
            dot(p, (X[first, 0], X[first, 1], X[first, 2])),
            dot(p, (X[first, 3], X[first, 4], X[first, 5])),
            dot(p, (X[first, 6], X[first, 7], X[first, 8])),
        )
        moved = pose[parent, 12 + r] + dot(p, (X[first, 9], X[first, 10], X[first, 11])) + dot(x, t)
        x = row_times(x, r0, r1, r2)
        pose[last, r], pose[last, 4 + r] = x[0], x[1]
        for b in range(first, last, 3):
            pose[b, 8 + r], pose[b + 1, 8 + r], pose[b + 2, 8 + r] = x
            pose[b, 12 + r], pose[b + 1, 12 + r], pose[b + 2, 12 + r] = moved, moved, moved


@kernel
def poses_by_node(w):
    """R and P from POSE, eight nodes at a time."""
    pose, R, P = floats(w, at.POSE), floats(w, at.R), floats(w, at.P)
    for b in range(0, count(w, at.NODES), WIDTH):
        xy, zp = columns(pose, b, 0), columns(pose, b, 8)
        store3(R, 0, b, (xy[0], xy[4], zp[0]))
        store3(R, 3, b, (xy[1], xy[5], zp[1]))
        store3(R, 6, b, (xy[2], xy[6], zp[2]))
        store3(P, 0, b, (zp[4], zp[5], zp[6]))


@kernel
def rotation_of(x, y, z, w):
    """Rows of the rotation matrix of the unit quaternion x, y, z, w."""
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


@kernel
def motion_subspaces(w):
    """S = [z; p x z] for a rotation about z, [0; z] for a translation along z."""
    R, P, S, revolute = floats(w, at.R), floats(w, at.P), floats(w, at.S), floats(w, at.REVOLUTE)
    for b in range(0, count(w, at.NODES), WIDTH):
        z = (load(R, 2, b), load(R, 5, b), load(R, 8, b))
        turns = load(revolute, 0, b)
        angular = scale(turns, z)
        store3(S, 0, b, angular)
        store3(S, 3, b, add(cross(load3(P, 0, b), angular), scale(1.0 - turns, z)))


@kernel
def world_inertias(w):
    """(m, m c, R I R^T + m (c.c 1 - c c^T)) of every node at its tree's origin."""
    R, P, I, IW = floats(w, at.R), floats(w, at.P), floats(w, at.INERTIA), floats(w, at.IW)
    for b in range(0, count(w, at.NODES), WIDTH):
        r0, r1, r2 = load3(R, 0, b), load3(R, 3, b), load3(R, 6, b)
        m = load(I, 0, b)
        c = add(load3(P, 0, b), rotate(r0, r1, r2, load3(I, 1, b)))
        mc = scale(m, c)
        xy, xz, yz = load(I, 5, b), load(I, 6, b), load(I, 8, b)
        i0, i1, i2 = (load(I, 4, b), xy, xz), (xy, load(I, 7, b), yz), (xz, yz, load(I, 9, b))
        t0, t1, t2 = rotate(i0, i1, i2, r0), rotate(i0, i1, i2, r1), rotate(i0, i1, i2, r2)
        store(IW, 0, b, m)
        store3(IW, 1, b, mc)
        store(IW, 4, b, dot(t0, r0) + mc[1] * c[1] + mc[2] * c[2])
        store(IW, 5, b, dot(t0, r1) - mc[0] * c[1])
        store(IW, 6, b, dot(t0, r2) - mc[0] * c[2])
        store(IW, 7, b, dot(t1, r1) + mc[0] * c[0] + mc[2] * c[2])
        store(IW, 8, b, dot(t1, r2) - mc[1] * c[2])
        store(IW, 9, b, dot(t2, r2) + mc[0] * c[0] + mc[1] * c[1])


@stage(at.KINEMATICS)
def kinematics(w):
    """Everything that depends on q alone: R, P, S and the world inertias."""
    joint_rotations(w)
    body_poses(w)
    poses_by_node(w)
    motion_subspaces(w)
    world_inertias(w)
