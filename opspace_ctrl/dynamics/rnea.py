"""Recursive Newton-Euler: tau = H a + h - sum J^T f_ext ([Featherstone2008], table 5.1; [Rodriguez1992] (6)-(12))."""

from __future__ import annotations

from ..jit import kernel
from ..lanes import WIDTH, load, store
from . import layout as at
from .layout import count, floats, ints, stage
from .spatial import add, cross, dot, get3, load3, load_inertia, momentum, scale, set3, store3, sub


@kernel
def joint_rates(w):
    """Node rates from v: a mimic follower moves `multiplier` times as fast as its leader."""
    _to_nodes(w, floats(w, at.V), floats(w, at.RATE))


@kernel
def rate_derivatives(w):
    """Node rates' derivatives from A."""
    _to_nodes(w, floats(w, at.A), floats(w, at.RATE_DERIVATIVE))


@kernel
def _to_nodes(w, x, out):
    """Numbers by node from numbers by coordinate; without mimic joints they are the same, in the same memory."""
    if count(w, at.MIMIC) > 0:
        coordinate, multiplier = ints(w, at.COORDINATE), floats(w, at.MULTIPLIER)
        for b in range(count(w, at.NODES)):
            out[b] = multiplier[b] * x[coordinate[b]]


@kernel
def velocities(w):
    """V(k) = V(parent) + S rate, base to tip."""
    S, rate, vel = floats(w, at.S), floats(w, at.RATE), floats(w, at.VELOCITY)
    for b in range(0, count(w, at.NODES), WIDTH):
        x = load(rate, 0, b)
        store3(vel, 0, b, scale(x, load3(S, 0, b)))
        store3(vel, 3, b, scale(x, load3(S, 3, b)))
    _sum_outwards(w, vel)


@kernel
def accelerations(w, given):
    """Accelerations less gravity for dv/dt = 0, or if `given` for the node rates' derivatives, base to tip."""
    acc, g = floats(w, at.ACCELERATION), floats(w, at.GRAVITY)
    _joint_accelerations(w, given)
    set3(acc, 3, count(w, at.NODES), (-g[0], -g[1], -g[2]))
    _sum_outwards(w, acc)


@kernel
def _joint_accelerations(w, given):
    """V x V_joint, and S times the rate's derivative if `given`: the acceleration across a joint, eight at a time.

    S is fixed in the moved body. For a joint of several nodes the product is due once, at the last, and for the joint's
    whole velocity.
    """
    S, rate, vel, acc = (
        floats(w, at.S),
        floats(w, at.RATE),
        floats(w, at.VELOCITY),
        floats(w, at.ACCELERATION),
    )
    derivative = floats(w, at.RATE_DERIVATIVE)
    for b in range(0, count(w, at.NODES), WIDTH):
        x, omega, v = load(rate, 0, b), load3(vel, 0, b), load3(vel, 3, b)
        joint_w, joint_v = scale(x, load3(S, 0, b)), scale(x, load3(S, 3, b))
        alpha, a = cross(omega, joint_w), add(cross(omega, joint_v), cross(v, joint_w))
        if given:
            x = load(derivative, 0, b)
            alpha, a = add(alpha, scale(x, load3(S, 0, b))), add(a, scale(x, load3(S, 3, b)))
        store3(acc, 0, b, alpha)
        store3(acc, 3, b, a)
    group, before = ints(w, at.GROUP), ints(w, at.BEFORE)
    for g in range(count(w, at.GROUPS)):
        last = group[g, 1] + group[g, 3] - 1
        for b in range(group[g, 1], last + 1):
            own = derivative[b] if given else 0.0
            set3(acc, 0, b, scale(own, get3(S, 0, b)))
            set3(acc, 3, b, scale(own, get3(S, 3, b)))
        omega, v, p = get3(vel, 0, last), get3(vel, 3, last), before[last]
        joint_w, joint_v = sub(omega, get3(vel, 0, p)), sub(v, get3(vel, 3, p))
        set3(acc, 0, last, add(get3(acc, 0, last), cross(omega, joint_w)))
        set3(acc, 3, last, add(get3(acc, 3, last), add(cross(omega, joint_v), cross(v, joint_w))))


@kernel
def _sum_outwards(w, a):
    """Add to the six numbers of every node those of its ancestors, the world's among them.

    Along a limb, where the parent is the node before, they stay in registers.
    """
    n, parent = count(w, at.NODES), ints(w, at.PARENT)
    x, y = get3(a, 0, n), get3(a, 3, n)
    for b in range(n):
        p = parent[b]
        if p != b - 1:
            x, y = get3(a, 0, p), get3(a, 3, p)
        x, y = add(x, get3(a, 0, b)), add(y, get3(a, 3, b))
        set3(a, 0, b, x)
        set3(a, 3, b, y)


@kernel
def body_forces(w):
    """f = I a + v x* I v of every body by itself, eight at a time."""
    vel, acc, IW, force = (
        floats(w, at.VELOCITY),
        floats(w, at.ACCELERATION),
        floats(w, at.IW),
        floats(w, at.FORCE),
    )
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
    velocities(w)
    accelerations(w, False)
    body_forces(w)


@kernel
def subtract_external(w):
    """Take the external wrenches off the bodies they act on, if there are any."""
    force, external = floats(w, at.FORCE), floats(w, at.EXTERNAL)
    for b in range(count(w, at.NODES) if count(w, at.HAS_EXTERNAL) == 1 else 0):
        for k in range(6):
            force[k, b] -= external[k, b]


@kernel
def _sum_inwards(w, a):
    """Add to the six numbers of every node, and of the world, those of its descendants; in registers along a limb."""
    n, parent = count(w, at.NODES), ints(w, at.PARENT)
    x, y = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for b in range(n - 1, -1, -1):
        x, y, p = add(x, get3(a, 0, b)), add(y, get3(a, 3, b)), parent[b]
        set3(a, 0, b, x)
        set3(a, 3, b, y)
        if p != b - 1:
            set3(a, 0, p, add(x, get3(a, 0, p)))
            set3(a, 3, p, add(y, get3(a, 3, p)))
            x, y = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


@kernel
def joint_forces(w, out):
    """Sum the forces tip to base and project them on the joints, out = S^T f by coordinate."""
    S, force, own = floats(w, at.S), floats(w, at.FORCE), floats(w, at.JOINT_FORCE)
    _sum_inwards(w, force)
    for b in range(0, count(w, at.NODES), WIDTH):
        store(
            own,
            0,
            b,
            dot(load3(S, 0, b), load3(force, 0, b)) + dot(load3(S, 3, b), load3(force, 3, b)),
        )
    if count(w, at.MIMIC) == 0:
        for i in range(count(w, at.NV)):
            out[i] = own[i]
    else:
        _from_nodes(w, own, out)


@kernel
def _from_nodes(w, x, out):
    """Forces by coordinate: a leader also feels its followers."""
    coordinate, multiplier = ints(w, at.COORDINATE), floats(w, at.MULTIPLIER)
    for i in range(count(w, at.NV)):
        out[i] = 0.0
    for b in range(count(w, at.NODES)):
        out[coordinate[b]] += multiplier[b] * x[b]


@kernel
def add_armature(w, out):
    """out += armature * A."""
    A, armature = floats(w, at.A), floats(w, at.ARMATURE)
    for i in range(count(w, at.NV)):
        out[i] += armature[i] * A[i]
