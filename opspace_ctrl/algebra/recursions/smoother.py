# SPDX-License-Identifier: Apache-2.0
"""The filter and smoother of [Rodriguez1986] laid open: every quantity of result 8.1 as an array, for study.

Where the papers count links from tip to base, everything here is by node, base to tips (`Nodes`: one node a degree of
freedom); spatial vectors are angular first, in world axes at the tree's origin, so that phi = 1. H(k) is the row S^T.
Nodes that mimic joints tie together are the members of a cluster (`dynamics.clusters`): all hang on one node, H(k) is
their motion from there, and D, G, innovations and residuals are those of the cluster, the same for all of them.
"""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import entries
from ...dynamics.build import RobotTree
from ...dynamics.forward import forward_method
from ...dynamics.functions import Wrenches, external_wrenches, result_of
from ...model import Model
from .composite import spatial_inertias
from .kalman import Kalman


class FilterSmoother:
    """Forward dynamics of one state as an estimation problem ([Rodriguez1986], table 6.1).

    Attributes:
        parent: (n,) the node that a node, or its cluster, hangs on, -1 for the world.
        coordinate: (n,) entry of v that moves the node.
        clusters: (nv) the nodes of each cluster, one by one without mimic joints, in the order of their first nodes.
        H: (n, 6) measurement rows S^T.
        M: (n, 6, 6) spatial inertias: the covariance of the process noise.
        P, P_plus: (n, 6, 6) predicted and filtered covariance: articulated inertias before and after the hinge. P_plus
            and z_plus of a cluster stand at its first node; those of the others are zero.
        D: (n,) covariance of the innovations, armature (the measurement noise) included; G: (n, 6) Kalman gain.
        xi, eta: (n, 6) bias force (gyroscopic, weight, external) and bias acceleration.
        z, z_plus: (n, 6) predicted and updated state; innovations, residuals: (n,) e- and e+ = D^-1 e-.
        costate: (n, 6) lambda-, the acceleration of every node; costate_plus: (n, 6) lambda+, of its parent.
        qdd: (nv,) joint accelerations.

    Args:
        v, tau: Velocity and joint forces (nv,), zero if not given.
        external: Wrenches on the robot, as for `forward_dynamics`.

    Raises:
        MethodError: The model has mimic joints with other joints between them.
        ConfigurationError: q, v or tau is unusable.
    """

    def __init__(
        self,
        model: Model,
        q: ArrayLike,
        v: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        external: Wrenches | None = None,
    ):
        forward_method(model, "kalman")  # which refuses by name what it cannot carry
        tree, method = RobotTree(model), Kalman()
        self.model, self.nodes = model, tree.nodes
        rest = np.zeros(model.nv)
        q = model.check_configuration(q)
        v = rest if v is None else model.check_velocity(v)
        self.tau = rest if tau is None else model.check_velocity(tau, "tau")
        with external_wrenches(model, q, external, tree):
            given = (q, v, self.tau)
            self.qdd = result_of(
                model, entries.forward_dynamics, given, "v tau", method.address, tree=tree
            )
        self._read(tree)

    def _read(self, tree: RobotTree) -> None:
        n = tree.n
        self.parent = np.where(np.asarray(tree.parent_A) < n, tree.parent_A, -1)
        self.coordinate = self.nodes.coordinate.astype(int)
        first = np.flatnonzero(tree.members)
        self.clusters = [np.flatnonzero(self.coordinate == self.coordinate[i]) for i in first]
        self.H, self.xi, self.eta, self.velocity = (
            field[:, :n].T.copy() for field in (tree.S_A, tree.force, tree.hinge, tree.velocity)
        )
        self.M = spatial_inertias(tree.I[:, :n].T)
        self.P = np.asarray(tree.IA).reshape(-1, 6, 8)[:n, :, :6].copy()
        U = tree.U[:, :6].copy()
        self.D = 1.0 / tree.DA_inv[:n]
        self.G = U / self.D[:, None]
        self.z = tree.pA[:n, :6].copy()
        self.innovations = tree.eps[:n].copy()
        self.residuals = self.innovations / self.D
        self._update(U)
        self.costate = tree.alpha[:n, :6].copy()
        world = np.vstack([self.costate, np.zeros(6)])
        self.costate_plus = world[self.parent]

    def _update(self, U: np.ndarray) -> None:
        """P+ and z+ cluster by cluster: (8.7), (8.9), with P+ eta = P eta - G H P eta of all members."""
        self.P_plus, self.z_plus = np.zeros_like(self.P), np.zeros_like(self.z)
        forced = np.einsum("nij,nj->ni", self.P, self.eta)
        for own in self.clusters:
            k = own[0]
            self.P_plus[k] = self.P[own].sum(axis=0) - np.outer(U[k], self.G[k])
            left = self.innovations[k] - np.sum(self.H[own] * forced[own])
            self.z_plus[k] = (self.z[own] + forced[own]).sum(axis=0) + self.G[k] * left

    @property
    def transition(self) -> np.ndarray:
        """1 - G H (n, 6, 6): what the update of each node leaves of the state; psi is its product along a path."""
        return np.eye(6) - np.einsum("ni,nj->nij", self.G, self.H)

    @cached_property
    def costate_covariance(self) -> tuple[np.ndarray, np.ndarray]:
        """Lambda-, Lambda+ (n, 6, 6), base to tips ((9.20), (9.21), (10.30)).

        Lambda- = (1 - G H)^T Lambda+ (1 - G H) + H^T D^-1 H,  Lambda+ = Lambda- of the parent, 0 at the base.
        """
        minus, plus = np.zeros_like(self.P), np.zeros_like(self.P)
        for k, (p, L) in enumerate(zip(self.parent, self.transition)):
            plus[k] = minus[p] if p >= 0 else 0.0
            minus[k] = L.T @ plus[k] @ L + np.outer(self.H[k], self.H[k]) / self.D[k]
        return minus, plus

    @property
    def smoothed_covariance(self) -> np.ndarray:
        """P - P Lambda- P (n, 6, 6): what all measurements together leave of the predicted covariance ((9.18))."""
        return self.P - self.P @ self.costate_covariance[0] @ self.P

    @property
    def smoothed_state(self) -> np.ndarray:
        """x- = z + P lambda- (n, 6): the force each hinge transmits (sweep ansatz (8.1), (9.13))."""
        return self.z + np.einsum("nij,nj->ni", self.P, self.costate)
