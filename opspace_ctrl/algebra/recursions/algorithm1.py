"""Algorithm 1: four sweeps, bias forces first ([Rodriguez1992] (47)-(54)).

    T' = T - H phi [M phi* a + b + B f(0)]                      outward and inward: inverse dynamics with qdd = 0
    qdd = (1 - H Psi G)* D^-1 (1 - H Psi G) T'                  inward filter, outward smoother
Algorithm FD of [Rodriguez1991] (14), (15) is the same two lines, written with K = phi G.
"""

from __future__ import annotations

from ...dynamics import aba, rnea
from ...dynamics import layout as at
from ...dynamics.layout import count, floats
from ...jit import kernel


@kernel
def bias_free_forces(w, tau):
    """T' of (47) into W; spoils FORCE."""
    free = floats(w, at.W)
    rnea.joint_forces(w, free)
    for i in range(count(w, at.NV)):
        free[i] = tau[i] - free[i]


@kernel
def algorithm1(w, tau, qdd):
    """Accelerations for tau, after velocities and body forces of the motion with qdd = 0; lambda stays in FA."""
    bias_free_forces(w, tau)
    aba.articulated_inertias(w)
    aba.no_bias(w)
    aba.innovations(w, floats(w, at.W))
    aba.accelerations(w, qdd)
