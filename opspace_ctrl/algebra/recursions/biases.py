# SPDX-License-Identifier: Apache-2.0
"""Velocities V(k), hinge accelerations a(k) and body forces b(k), link by link ([Rodriguez1992] (7), (8), (11)).

No accelerations are summed along the tree and no D'Alembert forces M phi* a are formed: what the three-sweep
algorithms start from.
"""

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics.fields import LAST, SINGLE
from ...dynamics.spatial import add, cross, get3, load3, load_inertia, momentum, scale, set3, store3


@kernel
def velocity(tree, b):
    """V(k) = V(parent) + S rate of node b. Needs rate and S. Writes velocity."""
    p = tree.parent[b]
    vel = tree.velocity
    set3(vel, 0, b, add(get3(vel, 0, p), scale(tree.rate[b], get3(tree.S, 0, b))))
    set3(vel, 3, b, add(get3(vel, 3, p), scale(tree.rate[b], get3(tree.S, 3, b))))


@kernel
def hinge_acceleration(tree, b):
    """a(k) = V(before the joint) x V(k) of node b. Needs velocity. Writes hinge.

    The joint's own term is V x V_joint with V_joint = V(k) - V(before): due once, at the last node of the joint. For a
    node that hangs on its cluster through others (`dynamics.clusters`), theirs are added.
    """
    kind, before = tree.kind[b], tree.before[b]
    vel, hinge = tree.velocity, tree.hinge
    if kind == SINGLE or kind == LAST:
        omega, v, omega_before = get3(vel, 0, b), get3(vel, 3, b), get3(vel, 0, before)
        set3(hinge, 0, b, cross(omega_before, omega))
        set3(hinge, 3, b, add(cross(omega_before, v), cross(get3(vel, 3, before), omega)))
        if tree.parent_A[b] != tree.parent[b]:
            set3(hinge, 0, b, add(get3(hinge, 0, b), get3(hinge, 0, before)))
            set3(hinge, 3, b, add(get3(hinge, 3, b), get3(hinge, 3, before)))


@kernel
def velocities(tree):
    """V(k) and a(k) of every node, base to tips. Needs rate and S. Writes velocity and hinge."""
    for b in range(tree.n):
        velocity(tree, b)
        hinge_acceleration(tree, b)


@kernel
def gyroscopic_forces(tree):
    """b(k) = V x* M V of every body by itself, eight at a time. Needs velocity and I. Writes force."""
    vel = tree.velocity
    for b in range(0, tree.n + 1, W):
        m, mc, i = load_inertia(tree.I, b)
        omega, v = load3(vel, 0, b), load3(vel, 3, b)
        k, l = momentum(m, mc, i, omega, v)
        store3(tree.force, 0, b, add(cross(omega, k), cross(v, l)))
        store3(tree.force, 3, b, cross(omega, l))


@kernel
def subtract_weight(tree):
    """Take the weight of every body, (m c x g, m g) at the tree's origin, off its force. Needs I."""
    gravity = tree.gravity
    g = (gravity[0], gravity[1], gravity[2])
    for b in range(tree.n):
        couple = cross(get3(tree.I, 1, b), g)
        for k in range(3):
            tree.force[k, b] -= couple[k]
            tree.force[3 + k, b] -= tree.I[0, b] * g[k]
