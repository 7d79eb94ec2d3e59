"""Forward kinematics in world axes: body poses, motion subspaces S and spatial inertias at the trees' origins."""
from __future__ import annotations

import math

from ..jit import kernel
from ..lanes import WIDTH, load, store
from ..trigonometry import cos8, sin8
from . import layout as at
from .layout import FIRST, MEMBER, SINGLE, count, floats, ints, stage
from .spatial import add, cross, dot, get3, load3, rotate, row_times, scale, set3, store3

FLOATING = 3  # model.JointType.FLOATING: kernels want a plain number
FAR_ANGLE = 1e5  # [rad], where `sin8` begins to lose digits


@kernel
def joint_rotations(w):
    """Turn the first two placement columns of every single-node joint by its angle, eight at a time."""
    n, Q = count(w, at.NODES), floats(w, at.Q)
    kind, position = ints(w, at.KIND), ints(w, at.POSITION)
    multiplier, offset = floats(w, at.MULTIPLIER), floats(w, at.OFFSET)
    revolute, angle, displacement = floats(w, at.REVOLUTE), floats(w, at.ANGLE), floats(w, at.DISPLACEMENT)
    for b in range(n):
        if kind[b] == SINGLE:
            x = multiplier[b] * Q[position[b]] + offset[b]
            angle[b] = revolute[b] * x
            displacement[b] = x - angle[b]
            if abs(angle[b]) > FAR_ANGLE:
                angle[b] = math.atan2(math.sin(x), math.cos(x))
    X, turned = floats(w, at.PLACEMENT), floats(w, at.TURNED)
    for b in range(0, n, WIDTH):
        theta = load(angle, 0, b)
        s, c = sin8(theta), cos8(theta)
        for r in range(3):
            x, y = load(X, 3 * r, b), load(X, 3 * r + 1, b)
            store(turned, 2 * r, b, x * c + y * s)
            store(turned, 2 * r + 1, b, y * c - x * s)


@kernel
def body_poses(w):
    """R and P of every node, base to tip; a root body is its tree's origin."""
    n, kind, parent, tree = count(w, at.NODES), ints(w, at.KIND), ints(w, at.PARENT), ints(w, at.TREE)
    X, turned, displacement = floats(w, at.PLACEMENT), floats(w, at.TURNED), floats(w, at.DISPLACEMENT)
    R, P, origin = floats(w, at.R), floats(w, at.P), floats(w, at.ORIGIN)
    for b in range(n):
        p = parent[b]
        if kind[b] == SINGLE:
            x, y = (turned[0, b], turned[2, b], turned[4, b]), (turned[1, b], turned[3, b], turned[5, b])
            axis = (X[2, b], X[5, b], X[8, b])
            t = add(get3(X, 9, b), scale(displacement[b], axis))
            r0, r1, r2 = get3(R, 0, p), get3(R, 3, p), get3(R, 6, p)
            set3(R, 0, b, (dot(r0, x), dot(r0, y), dot(r0, axis)))
            set3(R, 3, b, (dot(r1, x), dot(r1, y), dot(r1, axis)))
            set3(R, 6, b, (dot(r2, x), dot(r2, y), dot(r2, axis)))
            set3(P, 0, b, add(get3(P, 0, p), rotate(r0, r1, r2, t)))
        elif kind[b] == FIRST:
            _group_pose(w, b)
        if p == n:
            origin[tree[b], 0], origin[tree[b], 1], origin[tree[b], 2] = get3(P, 0, b)
            _put_at_origin(w, b)


@kernel
def _put_at_origin(w, first):
    """The root body is where its tree's origin is: all nodes of its joint."""
    P, kind = floats(w, at.P), ints(w, at.KIND)
    b = first
    set3(P, 0, b, (0.0, 0.0, 0.0))
    while kind[b] == FIRST or kind[b] == MEMBER:
        b += 1
        set3(P, 0, b, (0.0, 0.0, 0.0))


@kernel
def _group_pose(w, first):
    """A planar or floating joint: every node gets the body's position and, as its z axis, its own direction."""
    X, R, P, Q = floats(w, at.PLACEMENT), floats(w, at.R), floats(w, at.P), floats(w, at.Q)
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
    x0, x1, x2 = get3(X, 0, first), get3(X, 3, first), get3(X, 6, first)
    p0, p1, p2 = get3(R, 0, parent), get3(R, 3, parent), get3(R, 6, parent)
    p = add(get3(P, 0, parent), rotate(p0, p1, p2, add(get3(X, 9, first), rotate(x0, x1, x2, t))))
    last = first + size - 1
    set3(R, 0, last, row_times(row_times(p0, x0, x1, x2), r0, r1, r2))
    set3(R, 3, last, row_times(row_times(p1, x0, x1, x2), r0, r1, r2))
    set3(R, 6, last, row_times(row_times(p2, x0, x1, x2), r0, r1, r2))
    for e in range(size):
        set3(P, 0, first + e, p)
        for r in range(3):
            R[3 * r + 2, first + e] = R[3 * r + e % 3, last]


@kernel
def rotation_of(x, y, z, w):
    """Rows of the rotation matrix of the unit quaternion x, y, z, w."""
    return ((1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)))


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
    motion_subspaces(w)
    world_inertias(w)
