"""Algorithm 4: three sweeps without D'Alembert forces; lambda is the links' acceleration ([Rodriguez1992] (66)-(73)).

    z(k) = psi [z(k-1) + P(k-1) a(k-1)] + phi G(k-1) T(k-1) + b(k),  nu = D^-1 (T - H z)                      (70), (71)
    lambda(k) = psi* lambda(k+1) + H* nu + (1 - G H)* a,  qdd = nu - G* phi* lambda(k+1) - G* a               (72), (73)
The sweeps are those of the filter and smoother of [Rodriguez1986]; gravity enters as an upward acceleration of the
base, lambda(N+1) = -g, and not as a force on every body.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...dynamics import aba, rnea
from . import biases, kalman


@kernel
def set_base_acceleration(tree, sign):
    """Row n of FA, which all other sweeps expect to be zero."""
    n, FA, gravity = tree.n, tree.alpha, tree.gravity
    for k in range(3):
        FA[n, 3 + k] = sign * gravity[k]


@kernel
def algorithm4(tree, tau, qdd):
    """Accelerations for tau at the configuration and velocity in the workspace; lambda (less gravity) stays in FA."""
    rnea.joint_rates(tree)
    biases.velocities(tree)
    biases.gyroscopic_forces(tree)
    rnea.subtract_external(tree)
    aba.articulated_inertias(tree)
    kalman.filter_forces(tree, tau)
    set_base_acceleration(tree, -1.0)
    kalman.smooth_accelerations(tree, qdd)
    set_base_acceleration(tree, 0.0)
