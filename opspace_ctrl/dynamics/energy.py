# SPDX-License-Identifier: Apache-2.0
"""Kinetic and potential energy."""

from ..compiled.jit import kernel
from .spatial import dot, get3, momentum


@kernel
def kinetic_energy(tree):
    """1/2 sum v^T I v + 1/2 sum armature v^2 [J]. Needs I, velocity, v."""
    I, vel, V = tree.I, tree.velocity, tree.v
    twice = 0.0
    for b in range(tree.n):
        omega, v = get3(vel, 0, b), get3(vel, 3, b)
        inertia = (I[4, b], I[5, b], I[6, b], I[7, b], I[8, b], I[9, b])
        k, l = momentum(I[0, b], get3(I, 1, b), inertia, omega, v)
        twice += dot(omega, k) + dot(v, l)
    for i in range(tree.nv):
        twice += tree.armature[i] * V[i] * V[i]
    return 0.5 * twice


@kernel
def potential_energy(tree):
    """-sum m g . c [J], zero at the world's origin. Needs I and origin."""
    origin, gravity = tree.origin, tree.gravity
    energy, g = 0.0, (gravity[0], gravity[1], gravity[2])
    for b in range(tree.n):
        t = tree.tree_number[b]
        energy -= dot(g, get3(tree.I, 1, b)) + tree.I[0, b] * dot(
            g, (origin[t, 0], origin[t, 1], origin[t, 2])
        )
    return energy
