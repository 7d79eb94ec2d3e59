"""Algorithm 1: four sweeps, bias forces first ([Rodriguez1992] (47)-(54)).

    T' = T - H phi [M phi* a + b + B f(0)]                      outward and inward: inverse dynamics with qdd = 0
    qdd = (1 - H Psi G)* D^-1 (1 - H Psi G) T'                  inward filter, outward smoother
Algorithm FD of [Rodriguez1991] (14), (15) is the same two lines, written with K = phi G.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...dynamics import aba, rnea


@kernel
def bias_free_forces(tree, tau):
    """T' of (47) into W; spoils FORCE."""
    free = tree.x
    rnea.joint_forces(tree, free)
    for i in range(tree.nv):
        free[i] = tau[i] - free[i]


@kernel
def algorithm1(tree, tau, qdd):
    """Accelerations for tau, after velocities and body forces of the motion with qdd = 0; lambda stays in FA."""
    bias_free_forces(tree, tau)
    aba.articulated_inertias(tree)
    aba.no_bias(tree)
    aba.innovations(tree, tree.x)
    aba.accelerations(tree, qdd)
