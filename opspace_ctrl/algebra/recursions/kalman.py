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

from ...compiled.jit import kernel
from ...compiled.lanes import W
from ...dynamics import aba, rnea
from ...dynamics.rows import load_rows, row_sum
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
def updated_state(tree, b):
    """z+ = z- + G e- + P+ eta of node b, with P+ eta = P- eta - G U^T eta."""
    U = tree.U
    dinv = tree.DA_inv
    PA = tree.pA
    eps = tree.eps
    eta = tree.hinge
    spent = dinv[b] * (eps[b] - gain_times(U, b, eta))
    return PA[b, 0:W] + row_sum(load_rows(tree.IA, b), eta, b) + spent * U[b, 0:W]


@kernel
def filter_forces(tree, tau):
    """Innovations from the tips to the base, starting from the body forces in FORCE."""
    parent, coordinate = tree.parent, tree.coordinate
    S, PA, eps = tree.S, tree.pA, tree.eps
    aba.body_bias(tree)
    for b in range(tree.n - 1, -1, -1):
        eps[b] = tau[coordinate[b]] - aba.along(S, b, PA)
        PA[parent[b], 0:W] = PA[parent[b], 0:W] + updated_state(tree, b)


@kernel
def smooth(tree, b, qdd):
    """qdd of node b and its acceleration into FA, from that of its parent."""
    p, coordinate = tree.parent[b], tree.coordinate[b]
    U = tree.U
    S = tree.S
    eta = tree.hinge
    FA = tree.alpha
    found = tree.eps[b]
    for k in range(6):
        FA[b, k] = FA[p, k] + eta[k, b]
        found -= U[b, k] * FA[b, k]
    found *= tree.DA_inv[b]
    qdd[coordinate] = found
    for k in range(6):
        FA[b, k] += S[k, b] * found


@kernel
def smooth_accelerations(tree, qdd):
    """Joint accelerations, and those of the bodies into FA, from the base's in row n of FA to the tips."""
    for b in range(tree.n):
        smooth(tree, b, qdd)


@kernel
def body_forces(tree):
    """xi of every body: gyroscopic forces less weight and external wrenches; velocities and eta on the way."""
    rnea.joint_rates(tree)
    biases.velocities(tree)
    biases.gyroscopic_forces(tree)
    rnea.subtract_external(tree)
    biases.subtract_weight(tree)


@kernel
def kalman(tree, tau, qdd):
    """Accelerations for the joint forces tau at the configuration and velocity in the workspace."""
    body_forces(tree)
    aba.articulated_inertias(tree)
    filter_forces(tree, tau)
    smooth_accelerations(tree, qdd)
