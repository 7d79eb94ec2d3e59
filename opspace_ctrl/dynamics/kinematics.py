# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics in world axes: body poses, motion subspaces S and spatial inertias at the trees' origins."""

import math

from ..compiled.jit import kernel, stage
from ..compiled.lanes import (
    W,
    columns,
    first_half,
    halves_swapped,
    last_half,
    last_half_alone,
    pair,
)
from ..compiled.trigonometry import cos8, sin8
from ..model import JointType
from .fields import FIRST, MEMBER, SINGLE, Tree
from .so3 import rotation_of
from .spatial import add, cross, dot, load3, rotate, row_times, scale, store3

# kernels want plain numbers
FLOATING, SPHERICAL = int(JointType.FLOATING), int(JointType.SPHERICAL)
FAR_ANGLE = 1e5  # [rad], where `sin8` begins to lose digits


@kernel
def joint_rotations(tree):
    """Turn q into an angle, with sine and cosine, or a displacement, for every joint of one node.

    The sines are taken eight at a time. Needs q. Writes displacement, angle, sine, cosine.
    """
    n, q = tree.n, tree.q
    kind, position = tree.kind, tree.position
    multiplier, offset = tree.multiplier, tree.offset
    revolute, angle, displacement = (tree.revolute, tree.angle, tree.displacement)
    for b in range(n):
        if kind[b] == SINGLE:
            x = multiplier[b] * q[position[b]] + offset[b]
            angle[b] = revolute[b] * x
            displacement[b] = x - angle[b]
            if abs(angle[b]) > FAR_ANGLE:
                angle[b] = math.atan2(math.sin(x), math.cos(x))
    sine, cosine = tree.sine, tree.cosine
    for b in range(0, n, W):
        theta = angle[b : b + W]
        sine[b : b + W] = sin8(theta)
        cosine[b : b + W] = cos8(theta)


@kernel
def body_poses(tree):
    """Pose of every node, base to tip: that of the parent, times the joint's placement, times its own motion.

    A pose is two registers: xy is the x axis and the y axis, zp the z axis and the position, in four lanes each. The
    new axes and the new position are sums of the parent's axes x, y, z, weighed with the placement's numbers; both
    halves of a register are summed at once, so x, y, z stand in both. `held` is the node whose pose is in xy and zp:
    along a limb, where the parent is the node before, nothing is loaded. A root body is its tree's origin.
    Needs q, displacement, sine, cosine. Writes pose and origin.
    """
    n, kind, parent = tree.n, tree.kind, tree.parent
    X, displacement, pose = tree.placement, tree.displacement, tree.pose
    sine, cosine, revolute = tree.sine, tree.cosine, tree.revolute
    xy, zp, held = pose[n, 0:W], pose[n, 8 : 8 + W], n
    for b in range(n):
        p = parent[b]
        if kind[b] == SINGLE:
            if p != held:
                xy, zp = pose[p, 0:W], pose[p, 8 : 8 + W]
            x = first_half(xy)
            y = last_half(xy)
            z = first_half(zp)
            held = b
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
            pose[b, 0:W] = xy
            pose[b, 8 : 8 + W] = zp
        elif kind[b] == FIRST:
            _group_pose(tree, b)
        if p == n:
            _put_at_origin(tree, b)
            held = -1


@kernel
def _turned(X, b, r, c, s):
    """Component r of the x and y axes of joint b's placement, turned by its angle."""
    xy = pair(X[b, r], X[b, 3 + r])
    return c * xy + s * halves_swapped(xy)


@kernel
def _put_at_origin(tree, first):
    """The root body is where its tree's origin is: all nodes of its joint."""
    pose, kind, origin = tree.pose, tree.kind, tree.origin
    t, b = tree.tree_number[first], first
    for k in range(3):
        origin[t, k] = pose[b, 12 + k]
        pose[b, 12 + k] = 0.0
    while kind[b] == FIRST or kind[b] == MEMBER:
        b += 1
        for k in range(3):
            pose[b, 12 + k] = 0.0


@kernel
def _group_pose(tree, first):
    """A joint of several nodes: every one gets the body's position and, as its z axis, its own direction."""
    X, pose, q = tree.placement, tree.pose, tree.q
    parent, group = tree.parent[first], tree.group
    g = tree.position[first]
    start, size = group[g, 2], group[g, 3]
    if group[g, 0] == FLOATING:
        t = (q[start], q[start + 1], q[start + 2])
        r0, r1, r2 = rotation_of(q[start + 3], q[start + 4], q[start + 5], q[start + 6])
    elif group[g, 0] == SPHERICAL:
        t = (0.0, 0.0, 0.0)
        r0, r1, r2 = rotation_of(q[start], q[start + 1], q[start + 2], q[start + 3])
    else:
        t = (q[start], q[start + 1], 0.0)
        s, c = math.sin(q[start + 2]), math.cos(q[start + 2])
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
def poses_by_node(tree):
    """Poses by node, eight at a time. Needs pose. Writes R and p."""
    pose, R, P = tree.pose, tree.R, tree.p
    for b in range(0, tree.n, W):
        xy, zp = columns(pose, b, 0), columns(pose, b, 8)
        store3(R, 0, b, (xy[0], xy[4], zp[0]))
        store3(R, 3, b, (xy[1], xy[5], zp[1]))
        store3(R, 6, b, (xy[2], xy[6], zp[2]))
        store3(P, 0, b, (zp[4], zp[5], zp[6]))


@kernel
def motion_subspaces(tree):
    """S = [z; p x z] for a rotation about z, [0; z] for a translation along z. Needs R and p. Writes S."""
    R, P = tree.R, tree.p
    S, revolute = tree.S, tree.revolute
    for b in range(0, tree.n, W):
        z = (R[2, b : b + W], R[5, b : b + W], R[8, b : b + W])
        turns = revolute[b : b + W]
        angular = scale(turns, z)
        store3(S, 0, b, angular)
        store3(S, 3, b, add(cross(load3(P, 0, b), angular), scale(1.0 - turns, z)))


@kernel
def world_inertias(tree):
    """(m, m c, R I R^T + m (c.c 1 - c c^T)) of every node at its tree's origin. Needs R, p and inertia. Writes I."""
    R, P = tree.R, tree.p
    I, IW = tree.inertia, tree.I
    for b in range(0, tree.n, W):
        r0, r1, r2 = load3(R, 0, b), load3(R, 3, b), load3(R, 6, b)
        m = I[0, b : b + W]
        c = add(load3(P, 0, b), rotate(r0, r1, r2, load3(I, 1, b)))
        mc = scale(m, c)
        xy, xz, yz = I[5, b : b + W], I[6, b : b + W], I[8, b : b + W]
        i0, i1, i2 = (I[4, b : b + W], xy, xz), (xy, I[7, b : b + W], yz), (xz, yz, I[9, b : b + W])
        t0, t1, t2 = rotate(i0, i1, i2, r0), rotate(i0, i1, i2, r1), rotate(i0, i1, i2, r2)
        IW[0, b : b + W] = m
        store3(IW, 1, b, mc)
        IW[4, b : b + W] = dot(t0, r0) + mc[1] * c[1] + mc[2] * c[2]
        IW[5, b : b + W] = dot(t0, r1) - mc[0] * c[1]
        IW[6, b : b + W] = dot(t0, r2) - mc[0] * c[2]
        IW[7, b : b + W] = dot(t1, r1) + mc[0] * c[0] + mc[2] * c[2]
        IW[8, b : b + W] = dot(t1, r2) - mc[1] * c[2]
        IW[9, b : b + W] = dot(t2, r2) + mc[0] * c[0] + mc[1] * c[1]


@stage(Tree)
def kinematics(tree):
    """Everything that depends on q alone. Needs q. Writes pose, R, p, origin, S and I."""
    joint_rotations(tree)
    body_poses(tree)
    poses_by_node(tree)
    motion_subspaces(tree)
    world_inertias(tree)
