"""Recursive Newton-Euler: tau = H a + h - sum J^T f_ext ([Featherstone2008], table 5.1; [Rodriguez1992] (6)-(12))."""
from __future__ import annotations

from ..jit import kernel
from ..lanes import WIDTH, load, store
from . import layout as at
from .layout import LAST, SINGLE, count, floats, ints, stage
from .spatial import add, cross, dot, get3, load3, load_inertia, momentum, scale, set3, store3, sub


@kernel
def joint_rates(w):
    """Node rates from v: a mimic follower moves `multiplier` times as fast as its leader."""
    V, coordinate = floats(w, at.V), ints(w, at.COORDINATE)
    multiplier, rate = floats(w, at.MULTIPLIER), floats(w, at.RATE)
    for b in range(count(w, at.NODES)):
        rate[b] = multiplier[b] * V[coordinate[b]]


@kernel
def velocities(w, with_accelerations):
    """V(k), and the accelerations less gravity for dv/dt = 0, or for dv/dt = A, base to tip.

    The joint's own term is v x v_J, with S fixed in the moved body: for a joint of several nodes it is due once, at the
    last, and for the joint's whole velocity.
    """
    parent, kind, before, coordinate = ints(w, at.PARENT), ints(w, at.KIND), ints(w, at.BEFORE), ints(w, at.COORDINATE)
    S, rate, multiplier, A = floats(w, at.S), floats(w, at.RATE), floats(w, at.MULTIPLIER), floats(w, at.A)
    vel, acc = floats(w, at.VELOCITY), floats(w, at.ACCELERATION)
    for b in range(count(w, at.NODES)):
        p, s, t = parent[b], get3(S, 0, b), get3(S, 3, b)
        joint_w, joint_v = scale(rate[b], s), scale(rate[b], t)
        omega, v = add(get3(vel, 0, p), joint_w), add(get3(vel, 3, p), joint_v)
        set3(vel, 0, b, omega)
        set3(vel, 3, b, v)
        alpha, a = get3(acc, 0, p), get3(acc, 3, p)
        if with_accelerations:
            qdd = multiplier[b] * A[coordinate[b]]
            alpha, a = add(alpha, scale(qdd, s)), add(a, scale(qdd, t))
        if kind[b] == SINGLE or kind[b] == LAST:
            if kind[b] == LAST:
                joint_w, joint_v = sub(omega, get3(vel, 0, before[b])), sub(v, get3(vel, 3, before[b]))
            alpha = add(alpha, cross(omega, joint_w))
            a = add(a, add(cross(omega, joint_v), cross(v, joint_w)))
        set3(acc, 0, b, alpha)
        set3(acc, 3, b, a)


@kernel
def body_forces(w):
    """f = I a + v x* I v of every body by itself, eight at a time."""
    vel, acc, IW, force = floats(w, at.VELOCITY), floats(w, at.ACCELERATION), floats(w, at.IW), floats(w, at.FORCE)
    for b in range(0, count(w, at.NODES) + 1, WIDTH):
        m, mc, i = load_inertia(IW, b)
        omega, v = load3(vel, 0, b), load3(vel, 3, b)
        k, l = momentum(m, mc, i, omega, v)
        n, f = momentum(m, mc, i, load3(acc, 0, b), load3(acc, 3, b))
        store3(force, 0, b, add(n, add(cross(omega, k), cross(v, l))))
        store3(force, 3, b, add(f, cross(omega, l)))


@stage(at.MOTION)
def motion(w):
    """Velocities, accelerations and body forces for the V at hand and dv/dt = 0."""
    joint_rates(w)
    velocities(w, False)
    body_forces(w)


@kernel
def subtract_external(w):
    """Take the external wrenches off the bodies they act on, if there are any."""
    force, external = floats(w, at.FORCE), floats(w, at.EXTERNAL)
    for b in range(count(w, at.NODES) if count(w, at.HAS_EXTERNAL) == 1 else 0):
        for k in range(6):
            force[k, b] -= external[k, b]


@kernel
def joint_forces(w, out):
    """Sum the forces tip to base and project them on the joints, out = S^T f by coordinate."""
    n, parent, coordinate = count(w, at.NODES), ints(w, at.PARENT), ints(w, at.COORDINATE)
    S, force, own = floats(w, at.S), floats(w, at.FORCE), floats(w, at.JOINT_FORCE)
    multiplier = floats(w, at.MULTIPLIER)
    for b in range(n - 1, -1, -1):
        p = parent[b]
        for k in range(6):
            force[k, p] += force[k, b]
    for b in range(0, n, WIDTH):
        found = dot(load3(S, 0, b), load3(force, 0, b)) + dot(load3(S, 3, b), load3(force, 3, b))
        store(own, 0, b, load(multiplier, 0, b) * found)
    for i in range(count(w, at.NV)):
        out[i] = 0.0
    for b in range(n):
        out[coordinate[b]] += own[b]


@kernel
def add_armature(w, out):
    """out += armature * A."""
    A, armature = floats(w, at.A), floats(w, at.ARMATURE)
    for i in range(count(w, at.NV)):
        out[i] += armature[i] * A[i]
