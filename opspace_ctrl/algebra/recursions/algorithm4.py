"""Algorithm 4: three sweeps without D'Alembert forces; lambda is the links' acceleration ([Rodriguez1992] (66)-(73)).

    z(k) = psi [z(k-1) + P(k-1) a(k-1)] + phi G(k-1) T(k-1) + b(k),  nu = D^-1 (T - H z)                      (70), (71)
    lambda(k) = psi* lambda(k+1) + H* nu + (1 - G H)* a,  qdd = nu - G* phi* lambda(k+1) - G* a               (72), (73)
The sweeps are those of the filter and smoother of [Rodriguez1986]; gravity enters as an upward acceleration of the
base, lambda(N+1) = -g, and not as a force on every body.
"""

from __future__ import annotations

from ...dynamics import aba, rnea
from ...dynamics import layout as at
from ...dynamics.layout import count, floats
from ...jit import kernel
from . import biases, kalman


@kernel
def set_base_acceleration(w, sign):
    """Row n of FA, which all other sweeps expect to be zero."""
    n, FA, gravity = count(w, at.NODES), floats(w, at.FA), floats(w, at.GRAVITY)
    for k in range(3):
        FA[n, 3 + k] = sign * gravity[k]


@kernel
def algorithm4(w, tau, qdd):
    """Accelerations for tau at the configuration and velocity in the workspace; lambda (less gravity) stays in FA."""
    rnea.joint_rates(w)
    biases.velocities(w)
    biases.gyroscopic_forces(w)
    rnea.subtract_external(w)
    aba.articulated_inertias(w)
    kalman.filter_forces(w, tau)
    set_base_acceleration(w, -1.0)
    kalman.smooth_accelerations(w, qdd)
    set_base_acceleration(w, 0.0)
