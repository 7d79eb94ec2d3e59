# SPDX-License-Identifier: Apache-2.0
"""Recursive Newton-Euler: tau = H a + h - sum J^T f_ext ([Featherstone2008], table 5.1; [Rodriguez1992] (6)-(12))."""

from ..compiled.jit import kernel, stage
from ..compiled.lanes import W
from .fields import Tree
from .spatial import add, cross, dot, get3, load3, load_inertia, momentum, scale, set3, store3, sub


@kernel
def joint_rates(tree):
    """Node rates: a mimic follower moves `multiplier` times as fast as its leader. Needs v. Writes rate."""
    _to_nodes(tree, tree.v, tree.rate)


@kernel
def rate_derivatives(tree):
    """The rates' derivatives. Needs a. Writes rate_derivative."""
    _to_nodes(tree, tree.a, tree.rate_derivative)


@kernel
def _to_nodes(tree, x, out):
    """Numbers by node from numbers by coordinate; without mimic joints they are the same, in the same memory."""
    if tree.merges > 0:
        coordinate, multiplier = tree.coordinate, tree.multiplier
        for b in range(tree.n):
            out[b] = multiplier[b] * x[coordinate[b]]


@kernel
def velocities(tree):
    """V(k) = V(parent) + S rate, base to tip. Needs S and rate. Writes velocity."""
    S, rate, vel = tree.S, tree.rate, tree.velocity
    for b in range(0, tree.n, W):
        x = rate[b : b + W]
        store3(vel, 0, b, scale(x, load3(S, 0, b)))
        store3(vel, 3, b, scale(x, load3(S, 3, b)))
    _sum_outwards(tree, vel)


@kernel
def accelerations(tree, given):
    """Accelerations less gravity for dv/dt = 0, or if `given` for the rates' derivatives, base to tip.

    Needs S, rate, velocity (and rate_derivative). Writes acceleration, the world's too: gravity upward.
    """
    acc, g = tree.acceleration, tree.gravity
    _joint_accelerations(tree, given)
    set3(acc, 3, tree.n, (-g[0], -g[1], -g[2]))
    _sum_outwards(tree, acc)


@kernel
def _joint_accelerations(tree, given):
    """V x V_joint, and S times the rate's derivative if `given`: the acceleration across a joint. Writes acceleration.

    V is the velocity of the body that the joint moves, in which S is fixed, and V_joint = S rate: d/dt (S rate) has
    these two terms. The first loop takes every node for a joint of its own, eight at a time. The second overwrites the
    nodes of joints with several: of those only the last is a body, so the product is due once, there, with V_joint
    the difference of the velocities after and before the whole joint.
    """
    S, rate, derivative = tree.S, tree.rate, tree.rate_derivative
    vel, acc = tree.velocity, tree.acceleration
    for b in range(0, tree.n, W):
        x, omega, v = rate[b : b + W], load3(vel, 0, b), load3(vel, 3, b)
        joint_w, joint_v = scale(x, load3(S, 0, b)), scale(x, load3(S, 3, b))
        alpha, a = cross(omega, joint_w), add(cross(omega, joint_v), cross(v, joint_w))
        if given:
            x = derivative[b : b + W]
            alpha, a = add(alpha, scale(x, load3(S, 0, b))), add(a, scale(x, load3(S, 3, b)))
        store3(acc, 0, b, alpha)
        store3(acc, 3, b, a)
    group, before = tree.group, tree.before
    for g in range(tree.groups):
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
def _sum_outwards(tree, a):
    """Add to the six numbers of every node those of its ancestors, the world's among them.

    Along a limb, where the parent is the node before, they stay in registers.
    """
    n, parent = tree.n, tree.parent
    x, y = get3(a, 0, n), get3(a, 3, n)
    for b in range(n):
        p = parent[b]
        if p != b - 1:
            x, y = get3(a, 0, p), get3(a, 3, p)
        x, y = add(x, get3(a, 0, b)), add(y, get3(a, 3, b))
        set3(a, 0, b, x)
        set3(a, 3, b, y)


@kernel
def body_forces(tree):
    """f = I a + v x* I v of every body by itself, eight at a time. Needs I, velocity, acceleration. Writes force."""
    vel, acc = tree.velocity, tree.acceleration
    I, force = tree.I, tree.force
    for b in range(0, tree.n + 1, W):
        m, mc, i = load_inertia(I, b)
        omega, v = load3(vel, 0, b), load3(vel, 3, b)
        k, l = momentum(m, mc, i, omega, v)
        n, f = momentum(m, mc, i, load3(acc, 0, b), load3(acc, 3, b))
        store3(force, 0, b, add(n, add(cross(omega, k), cross(v, l))))
        store3(force, 3, b, add(f, cross(omega, l)))


@stage(Tree)
def motion(tree):
    """Velocities, accelerations and body forces for dv/dt = 0. Needs kinematics and v.

    Writes rate, velocity, acceleration (less gravity) and force.
    """
    joint_rates(tree)
    velocities(tree)
    accelerations(tree, False)
    body_forces(tree)


@kernel
def subtract_external(tree):
    """Take the external wrenches off the bodies they act on, if there are any. Needs external. Changes force."""
    force, external = tree.force, tree.external
    for b in range(tree.n if tree.has_external == 1 else 0):
        for k in range(6):
            force[k, b] -= external[k, b]


@kernel
def _sum_inwards(tree, a):
    """Add to the six numbers of every node, and of the world, those of its descendants; in registers along a limb."""
    n, parent = tree.n, tree.parent
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
def joint_forces(tree, out):
    """Sum the forces tip to base and project them on the joints: out = S^T f by coordinate.

    Needs S and the bodies' forces in `force`, which become the subtrees'. Writes joint_force and out.
    """
    S, force, own = tree.S, tree.force, tree.joint_force
    _sum_inwards(tree, force)
    for b in range(0, tree.n, W):
        own[b : b + W] = dot(load3(S, 0, b), load3(force, 0, b)) + dot(
            load3(S, 3, b), load3(force, 3, b)
        )
    if tree.merges == 0:
        for i in range(tree.nv):
            out[i] = own[i]
    else:
        _from_nodes(tree, own, out)


@kernel
def _from_nodes(tree, x, out):
    """Forces by coordinate: a leader also feels its followers."""
    coordinate, multiplier = tree.coordinate, tree.multiplier
    for i in range(tree.nv):
        out[i] = 0.0
    for b in range(tree.n):
        out[coordinate[b]] += multiplier[b] * x[b]


@kernel
def add_armature(tree, a, out):
    """out += armature * a, for an acceleration a by coordinate."""
    armature = tree.armature
    for i in range(tree.nv):
        out[i] += armature[i] * a[i]
