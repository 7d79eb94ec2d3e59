"""Forward dynamics as a Kalman filter and a Bryson-Frazier smoother ([Rodriguez1986], result 8.1).

With bias forces xi (gyroscopic, weight, external) and bias accelerations eta at the hinges, phi = 1 in our axes:
    z- = sum of the children's z+, plus xi;   P- = sum P+ + M             prediction          (8.2), (8.3)
    D = H P- H^T + armature,  G = P- H^T D^-1                             gain                (8.4)
    e- = tau - H z-,   e+ = D^-1 e-                                       innovations, residuals
    z+ = z- + G e- + P+ eta,   P+ = P- - G D G^T                          update              (8.7), (8.9)
    qdd = e+ - G^T (lambda+ + eta)                                        smoothing, base to tips      (8.12)
    lambda- = lambda+ + eta + H^T qdd                                     co-state update     (8.13)
One inward and one outward sweep, no inverse dynamics before. z- stays in PA, e- in EPS, lambda- in FA.
"""

from __future__ import annotations

from ...dynamics import aba, rnea
from ...dynamics import layout as at
from ...dynamics.layout import count, floats, ints
from ...dynamics.rows import load_rows, row_sum
from ...jit import kernel
from ...lanes import load, store
from . import biases


@kernel
def gain_times(U, b, eta):
    """U^T eta of node b, D G^T eta."""
    return (
        U[b, 0] * eta[0, b]
        + U[b, 1] * eta[1, b]
        + U[b, 2] * eta[2, b]
        + U[b, 3] * eta[3, b]
        + U[b, 4] * eta[4, b]
        + U[b, 5] * eta[5, b]
    )


@kernel
def updated_state(w, b):
    """z+ = z- + G e- + P+ eta of node b, with P+ eta = P- eta - G U^T eta."""
    U, dinv, PA, eps, eta = (
        floats(w, at.U),
        floats(w, at.DA),
        floats(w, at.PA),
        floats(w, at.EPS),
        floats(w, at.HINGE),
    )
    spent = dinv[b] * (eps[b] - gain_times(U, b, eta))
    return load(PA, b, 0) + row_sum(load_rows(floats(w, at.IA), b), eta, b) + spent * load(U, b, 0)


@kernel
def filter_forces(w, tau):
    """Innovations from the tips to the base, starting from the body forces in FORCE."""
    parent, coordinate = ints(w, at.PARENT), ints(w, at.COORDINATE)
    S, PA, eps = floats(w, at.S), floats(w, at.PA), floats(w, at.EPS)
    aba.body_bias(w)
    for b in range(count(w, at.NODES) - 1, -1, -1):
        eps[b] = tau[coordinate[b]] - aba.along(S, b, PA)
        store(PA, parent[b], 0, load(PA, parent[b], 0) + updated_state(w, b))


@kernel
def smooth(w, b, qdd):
    """qdd of node b and its acceleration into FA, from that of its parent."""
    p, coordinate = ints(w, at.PARENT)[b], ints(w, at.COORDINATE)[b]
    U, S, eta, FA = floats(w, at.U), floats(w, at.S), floats(w, at.HINGE), floats(w, at.FA)
    found = floats(w, at.EPS)[b]
    for k in range(6):
        FA[b, k] = FA[p, k] + eta[k, b]
        found -= U[b, k] * FA[b, k]
    found *= floats(w, at.DA)[b]
    qdd[coordinate] = found
    for k in range(6):
        FA[b, k] += S[k, b] * found


@kernel
def smooth_accelerations(w, qdd):
    """Joint accelerations, and those of the bodies into FA, from the base's in row n of FA to the tips."""
    for b in range(count(w, at.NODES)):
        smooth(w, b, qdd)


@kernel
def body_forces(w):
    """xi of every body: gyroscopic forces less weight and external wrenches; velocities and eta on the way."""
    rnea.joint_rates(w)
    biases.velocities(w)
    biases.gyroscopic_forces(w)
    rnea.subtract_external(w)
    biases.subtract_weight(w)


@kernel
def kalman(w, tau, qdd):
    """Accelerations for the joint forces tau at the configuration and velocity in the workspace."""
    body_forces(w)
    aba.articulated_inertias(w)
    filter_forces(w, tau)
    smooth_accelerations(w, qdd)
