"""Frames and the centre of mass: pose, velocity, classical acceleration, Jacobian ([Featherstone2010] (13)-(16)).

What leaves this file is public: linear first, world axes, at the frame's origin.
"""

from __future__ import annotations

from ..jit import kernel
from . import layout as at
from .layout import clear, count, floats, ints
from .spatial import add, cross, get3, rotate, sub


@kernel
def frame_point(w, f):
    """Position of frame f from the origin of its tree."""
    node, X, R, P = (
        ints(w, at.FRAME_NODE)[f],
        floats(w, at.FRAME_PLACEMENT),
        floats(w, at.R),
        floats(w, at.P),
    )
    t = (X[f, 9], X[f, 10], X[f, 11])
    return add(get3(P, 0, node), rotate(get3(R, 0, node), get3(R, 3, node), get3(R, 6, node), t))


@kernel
def frame_pose(w, f, out):
    """Orientation (9, row major) and world position (3) of frame f."""
    node, X, R = ints(w, at.FRAME_NODE)[f], floats(w, at.FRAME_PLACEMENT), floats(w, at.R)
    for r in range(3):
        row = get3(R, 3 * r, node)
        for c in range(3):
            out[3 * r + c] = row[0] * X[f, c] + row[1] * X[f, 3 + c] + row[2] * X[f, 6 + c]
    p, origin, tree = frame_point(w, f), floats(w, at.ORIGIN), ints(w, at.TREE)[node]
    out[9], out[10], out[11] = (
        p[0] + origin[tree, 0],
        p[1] + origin[tree, 1],
        p[2] + origin[tree, 2],
    )


@kernel
def point_velocity(w, node, p):
    """Velocity of the point p of a node's body."""
    vel = floats(w, at.VELOCITY)
    return add(get3(vel, 3, node), cross(get3(vel, 0, node), p))


@kernel
def point_acceleration(w, node, p):
    """Classical acceleration of the point p of a node's body, gravity taken out again."""
    vel, acc, g = floats(w, at.VELOCITY), floats(w, at.ACCELERATION), floats(w, at.GRAVITY)
    omega = get3(vel, 0, node)
    a = add(get3(acc, 3, node), cross(get3(acc, 0, node), p))
    return add(add(a, (g[0], g[1], g[2])), cross(omega, point_velocity(w, node, p)))


@kernel
def frame_motion(w, f, out):
    """Velocity (6) and classical acceleration (6) of frame f."""
    node, p = ints(w, at.FRAME_NODE)[f], frame_point(w, f)
    out[0], out[1], out[2] = point_velocity(w, node, p)
    out[3], out[4], out[5] = get3(floats(w, at.VELOCITY), 0, node)
    out[6], out[7], out[8] = point_acceleration(w, node, p)
    out[9], out[10], out[11] = get3(floats(w, at.ACCELERATION), 0, node)


@kernel
def frame_jacobian(w, f):
    """J of frame f into the first six rows of DENSE: S_j moved to the frame, for every j that supports it."""
    out, S, parent = floats(w, at.DENSE), floats(w, at.S), ints(w, at.PARENT)
    coordinate, multiplier = ints(w, at.COORDINATE), floats(w, at.MULTIPLIER)
    n, p = count(w, at.NODES), frame_point(w, f)
    clear(out, 6, count(w, at.NV))
    b = ints(w, at.FRAME_NODE)[f]
    while b < n:
        i, angular = coordinate[b], get3(S, 0, b)
        linear = add(get3(S, 3, b), cross(angular, p))
        for k in range(3):
            out[k, i] += multiplier[b] * linear[k]
            out[3 + k, i] += multiplier[b] * angular[k]
        b = parent[b]


@kernel
def add_external(w, f, wrench):
    """Add a public wrench at frame f (force, torque) to the EXTERNAL of its node, moved to the tree's origin."""
    node, external = ints(w, at.FRAME_NODE)[f], floats(w, at.EXTERNAL)
    force, torque = (wrench[0], wrench[1], wrench[2]), (wrench[3], wrench[4], wrench[5])
    torque = add(torque, cross(frame_point(w, f), force))
    for k in range(3):
        external[k, node] += torque[k]
        external[3 + k, node] += force[k]


@kernel
def center_of_mass(w, out):
    """World position (3) of the centre of the moving mass, and that mass."""
    IW, origin, tree = floats(w, at.IW), floats(w, at.ORIGIN), ints(w, at.TREE)
    mass, c = 0.0, (0.0, 0.0, 0.0)
    for b in range(count(w, at.NODES)):
        m, t = IW[0, b], tree[b]
        mass += m
        c = add(
            c,
            (IW[1, b] + m * origin[t, 0], IW[2, b] + m * origin[t, 1], IW[3, b] + m * origin[t, 2]),
        )
    out[0], out[1], out[2], out[3] = c[0] / mass, c[1] / mass, c[2] / mass, mass


@kernel
def center_of_mass_jacobian(w, mass):
    """J of the centre of mass into the first three rows of DENSE: the linear part of I_c S / M (needs FC)."""
    out, FC = floats(w, at.DENSE), floats(w, at.FC)
    coordinate, multiplier = ints(w, at.COORDINATE), floats(w, at.MULTIPLIER)
    clear(out, 3, count(w, at.NV))
    for b in range(count(w, at.NODES)):
        for k in range(3):
            out[k, coordinate[b]] += multiplier[b] * FC[3 + k, b] / mass


@kernel
def center_of_mass_motion(w, mass, out):
    """Velocity (3) and acceleration (3) of the centre of mass: momentum and force of all bodies over M."""
    IW, vel, force, g = (
        floats(w, at.IW),
        floats(w, at.VELOCITY),
        floats(w, at.FORCE),
        floats(w, at.GRAVITY),
    )
    v, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for b in range(count(w, at.NODES)):
        omega, mv = get3(vel, 0, b), get3(vel, 3, b)
        v = add(
            v,
            sub(
                (IW[0, b] * mv[0], IW[0, b] * mv[1], IW[0, b] * mv[2]), cross(get3(IW, 1, b), omega)
            ),
        )
        f = add(f, get3(force, 3, b))
    for k in range(3):
        out[k] = v[k] / mass
        out[3 + k] = f[k] / mass + g[k]
