# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics as a Kalman filter and a Bryson-Frazier smoother ([Rodriguez1986], result 8.1).

With bias forces xi (gyroscopic, weight, external) and bias accelerations eta at the hinges, phi = 1 in our axes:
    z- = sum of the children's z+, plus xi;   P- = sum P+ + M             prediction          (8.3), (8.4)
    D = H P- H^T + armature,  G = P- H^T D^-1                             gain                (8.5)
    e- = tau - H z-,   e+ = D^-1 e-                                       innovations, residuals
    z+ = z- + G e- + P+ eta,   P+ = P- - G D G^T                          update              (8.7), (8.9)
    qdd = e+ - G^T (lambda+ + eta)                                        smoothing, base to tips      (8.12)
    lambda- = lambda+ + eta + H^T qdd                                     co-state update     (8.13)
One inward and one outward sweep, no inverse dynamics before. z- stays in `pA`, e- in `eps`, lambda- in `alpha`.
"""

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W, splat, total
from ...dynamics import aba, rnea
from ...dynamics.fields import Tree
from ...dynamics.forward_method import ForwardMethod
from ...dynamics.rows import load_rows, row_sum
from . import biases


@kernel
def gain_times(tree, b):
    """D G^T eta of the cluster that b leads: U^T eta if it is alone, else the sum of B^T Q eta over the members."""
    S, eta, found, m = tree.S_lanes, tree.hinge, 0.0, b
    while m < tree.n:
        found += total(S[m, 0:W] * row_sum(load_rows(tree.IA, m), eta, m))
        m = tree.next_member[m]
    return found


@kernel
def updated_state(tree, b):
    """z+ = z- + G e- + P+ eta of the cluster that b leads. Needs IA, S_lanes, U, DA_inv, pA, eps and hinge.

    P+ eta = P- eta - G D G^T eta; of several members z- and P- eta are summed.
    """
    z, found, m = tree.pA, splat(0.0), b
    spent = tree.DA_inv[b] * (tree.eps[b] - gain_times(tree, b))
    while m < tree.n:
        found = found + (z[m, 0:W] + row_sum(load_rows(tree.IA, m), tree.hinge, m))
        m = tree.next_member[m]
    return found + spent * tree.U[b, 0:W]


@kernel
def filter_forces(tree):
    """z- and e-, tips to base. Needs tau, force, hinge, S_A, S_lanes, IA, U, DA_inv. Writes pA and eps."""
    n, parent, following, z = tree.n, tree.parent_A, tree.next_member, tree.pA
    aba.body_bias(tree)
    for b in range(n - 1, -1, -1):
        if tree.members[b] == 0:
            continue
        found, m = tree.tau[tree.coordinate[b]], b
        while m < n:
            found -= aba.along(tree.S_A, m, z)
            m = following[m]
        m = b
        while m < n:
            tree.eps[m] = found
            m = following[m]
        z[parent[b], 0:W] = z[parent[b], 0:W] + updated_state(tree, b)


@kernel
def smooth(tree, b):
    """(8.12), (8.13) of node b after its parent's. Needs eps, hinge, IA, S_A, U, DA_inv. Writes qdd and alpha."""
    p, coordinate = tree.parent_A[b], tree.coordinate[b]
    S, eta, costate = tree.S_A, tree.hinge, tree.alpha
    if tree.members[b] > 0:  # the first of a cluster finds the acceleration for all members
        found = tree.eps[b] - gain_times(tree, b)
        for k in range(6):
            found -= tree.U[b, k] * costate[p, k]
        tree.qdd[coordinate] = found * tree.DA_inv[b]
    for k in range(6):
        costate[b, k] = costate[p, k] + eta[k, b] + S[k, b] * tree.qdd[coordinate]


@kernel
def smooth_accelerations(tree):
    """Accelerations of joints, qdd, and bodies, alpha, from the world's in its row n to the tips; see `smooth`."""
    for b in range(tree.n):
        smooth(tree, b)


@kernel
def body_forces(tree):
    """xi of every body: gyroscopic forces less weight and external wrenches.

    Needs kinematics, v and external. Writes force; velocity and hinge (eta) on the way.
    """
    rnea.joint_rates(tree)
    biases.velocities(tree)
    biases.gyroscopic_forces(tree)
    rnea.subtract_external(tree)
    biases.subtract_weight(tree)


@kernel
def kalman(tree):
    """Needs kinematics, v, tau and external. Writes qdd, and the bodies' accelerations into alpha."""
    body_forces(tree)
    aba.articulated_inertias(tree)
    filter_forces(tree)
    smooth_accelerations(tree)


class Kalman(ForwardMethod):
    """The filter and smoother of [Rodriguez1986]."""

    leaves = "articulated"

    @staticmethod
    def find_link_accelerations(tree: Tree) -> None:
        """They are the co-state, less gravity."""
        tree.acceleration[:, : tree.n] = tree.alpha[: tree.n, :6].T
        tree.acceleration[3:, : tree.n] -= tree.gravity[:, None]


@stage(Tree, Kalman, fills="compute")
def compute_kalman(tree, own):
    """qdd by the filter and smoother."""
    kalman(tree)
