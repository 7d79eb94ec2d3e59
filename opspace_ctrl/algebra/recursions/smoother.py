"""The filter and smoother of [Rodriguez1986] laid open: every quantity of result 8.1 as an array, for study.

Where the papers count links from tip to base, everything here is by node, base to tips (`Nodes`: one node a degree of
freedom); spatial vectors are angular first, in world axes at the tree's origin, so that phi = 1. H(k) is the row S^T.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import entries
from ...dynamics.build import RobotTree
from ...dynamics.functions import Wrenches, external_wrenches, result_of
from ...errors import MethodError
from ...model import Model
from .composite import spatial_inertias
from .kalman import Kalman

__all__ = ["FilterSmoother"]


class FilterSmoother:
    """Forward dynamics of one state as an estimation problem ([Rodriguez1986], table 6.1).

    Attributes:
        parent: (n,) parent node, -1 for the world.
        coordinate: (n,) entry of v that moves the node; (n,) because there are no mimic joints, n = nv.
        H: (n, 6) measurement rows S^T.
        M: (n, 6, 6) spatial inertias: the covariance of the process noise.
        P, P_plus: (n, 6, 6) predicted and filtered covariance: articulated inertias before and after the hinge.
        D: (n,) covariance of the innovations, armature (the measurement noise) included; G: (n, 6) Kalman gain.
        xi, eta: (n, 6) bias force (gyroscopic, weight, external) and bias acceleration.
        z, z_plus: (n, 6) predicted and updated state; innovations, residuals: (n,) e- and e+ = D^-1 e-.
        costate: (n, 6) lambda-, the acceleration of every node; costate_plus: (n, 6) lambda+, of its parent.
        qdd: (nv,) joint accelerations.

    Args:
        v, tau: Velocity and joint forces (nv,), zero if not given.
        external: Wrenches on the robot, as for `forward_dynamics`.

    Raises:
        MethodError: The model has mimic joints.
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
        if model.is_mimic.any():
            raise MethodError(f"'kalman' cannot carry mimic joints ({model.name})")
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
        self.parent = self.nodes.parent.astype(int)
        self.coordinate = self.nodes.coordinate.astype(int)
        self.H, self.xi, self.eta, self.velocity = (
            field[:, :n].T.copy() for field in (tree.S, tree.force, tree.hinge, tree.velocity)
        )
        self.M = spatial_inertias(tree.I[:, :n].T)
        self.P = np.asarray(tree.IA).reshape(-1, 6, 8)[:n, :, :6].copy()
        U = tree.U[:, :6].copy()
        self.D = 1.0 / tree.DA_inv[:n]
        self.G = U / self.D[:, None]
        self.P_plus = self.P - np.einsum("ni,nj,n->nij", U, U, 1.0 / self.D)
        self.z = tree.pA[:n, :6].copy()
        self.innovations = tree.eps[:n].copy()
        self.residuals = self.innovations / self.D
        self.z_plus = (
            self.z
            + self.G * self.innovations[:, None]
            + np.einsum("nij,nj->ni", self.P_plus, self.eta)
        )
        self.costate = tree.alpha[:n, :6].copy()
        world = np.vstack([self.costate, np.zeros(6)])
        self.costate_plus = world[self.parent]

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
        """P - P Lambda- P (n, 6, 6): what all measurements together leave of the predicted covariance ((9.17))."""
        return self.P - self.P @ self.costate_covariance[0] @ self.P

    @property
    def smoothed_state(self) -> np.ndarray:
        """x- = z + P lambda- (n, 6): the force each hinge transmits (sweep ansatz (8.1), (9.13))."""
        return self.z + np.einsum("nij,nj->ni", self.P, self.costate)
