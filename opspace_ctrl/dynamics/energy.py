"""Kinetic and potential energy."""

from __future__ import annotations

from ..jit import kernel
from . import layout as at
from .layout import count, floats, ints
from .spatial import dot, get3, momentum


@kernel
def kinetic_energy(w):
    """1/2 sum v^T I v + 1/2 sum armature v^2."""
    IW, vel, V, armature = (
        floats(w, at.IW),
        floats(w, at.VELOCITY),
        floats(w, at.V),
        floats(w, at.ARMATURE),
    )
    twice = 0.0
    for b in range(count(w, at.NODES)):
        omega, v = get3(vel, 0, b), get3(vel, 3, b)
        i = (IW[4, b], IW[5, b], IW[6, b], IW[7, b], IW[8, b], IW[9, b])
        k, l = momentum(IW[0, b], get3(IW, 1, b), i, omega, v)
        twice += dot(omega, k) + dot(v, l)
    for i in range(count(w, at.NV)):
        twice += armature[i] * V[i] * V[i]
    return 0.5 * twice


@kernel
def potential_energy(w):
    """-sum m g . c, zero at the world's origin."""
    IW, origin, tree, gravity = (
        floats(w, at.IW),
        floats(w, at.ORIGIN),
        ints(w, at.TREE),
        floats(w, at.GRAVITY),
    )
    energy, g = 0.0, (gravity[0], gravity[1], gravity[2])
    for b in range(count(w, at.NODES)):
        t = tree[b]
        energy -= dot(g, get3(IW, 1, b)) + IW[0, b] * dot(
            g, (origin[t, 0], origin[t, 1], origin[t, 2])
        )
    return energy
