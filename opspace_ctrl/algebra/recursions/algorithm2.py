"""Algorithm 2: four sweeps that also give every link's acceleration ([Rodriguez1992] (55)-(59)).

    alpha(k) = lambda(k) + zeta(k),  zeta(k) = phi* zeta(k+1) + a(k)
with lambda of algorithm 1; zeta is the motion with qdd = 0, which the bias forces needed anyway.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from .algorithm1 import algorithm1


@kernel
def add_bias_accelerations(tree):
    """ACCELERATION = alpha = lambda + zeta (less gravity); it held zeta."""
    zeta, FA = tree.acceleration, tree.alpha
    for b in range(tree.n):
        for k in range(6):
            zeta[k, b] += FA[b, k]


@kernel
def algorithm2(tree, tau, qdd):
    """Accelerations for tau, and of the links, after velocities and body forces of the motion with qdd = 0."""
    algorithm1(tree, tau, qdd)
    add_bias_accelerations(tree)
