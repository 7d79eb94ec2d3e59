# SPDX-License-Identifier: Apache-2.0
"""H^-1 element by element, and accelerations cause by cause, in closed form ([Rodriguez1986] section 10).

With c = D^-1 + G^T Lambda+ G and d = G^T Lambda+ - c H, and s_i what node i sends inward (G_i for a unit of tau):
    i = k                            c_k
    i above (outboard of) k          d_k psi(k-, i+) s_i
    on another branch, meeting at g  G_k^T psi^T(g-, k+) Lambda-_g psi(g-, i+) s_i
(10.2) for chains; the last line is what trees add. Lines with i below k are the transposed ones. Where the two branches
part within a cluster of mimic joints, Lambda- is that between the two members.
"""

from dataclasses import dataclass

import numpy as np

from .smoother import FilterSmoother


@dataclass(frozen=True)
class AccelerationTerms:
    """Joint accelerations (nv,) by cause; their sum is the forward dynamics.

    Attributes:
        moments: alpha_1, of the joint forces.
        forces: alpha_2, of the bias forces xi.
        accelerations: alpha_3, of the bias accelerations eta.
    """

    moments: np.ndarray
    forces: np.ndarray
    accelerations: np.ndarray


class WeightingKernels:
    """The weighting kernels of a state: what is carried from every node to the nodes below it.

        z-(k) = xi(k) + sum of psi(k-, i+) sent(i) over the nodes i outboard of k            (10.4)-(10.7)
        lambda+(k) = sum of psi^T(i-, k+) returned(i) over the nodes i inboard of k          (10.14), (10.15)

    Attributes:
        c, d: (n,), (n, 6) of (10.3).
    """

    def __init__(self, s: FilterSmoother):
        self.s = s
        self.plus = s.costate_covariance[1]
        self.c = 1.0 / s.D + np.einsum("ni,nij,nj->n", s.G, self.plus, s.G)
        self.d = np.einsum("ni,nij->nj", s.G, self.plus) - self.c[:, None] * s.H
        self.transition = s.transition
        self.mates = {k: own for own in s.clusters for k in own.tolist()}
        self.gains = {own[0]: self.carry(own[0], s.G[own[0]]) for own in s.clusters}

    def carry(self, i: int, x: np.ndarray) -> dict[int, np.ndarray]:
        """psi(k-, i+) x at every node k below i on the way to the base ((10.6))."""
        found, k = {}, self.s.parent[i]
        while k >= 0:
            found[int(k)] = x
            x, k = self.transition[k] @ x, self.s.parent[k]
        return found

    def state(self, k: int, i: int) -> np.ndarray:
        """psi(k-, i+) (6, 6): what node k meets of a force that i, outboard of it, sends; else zero ((10.13))."""
        return np.column_stack([self.carry(i, e).get(k, np.zeros(6)) for e in np.eye(6)])

    def costate(self, k: int, i: int) -> np.ndarray:
        """psi^T(i-, k+) (6, 6): what node k meets of an acceleration that i, inboard of it, returns ((10.21))."""
        return self.state(i, k).T

    @property
    def sent(self) -> np.ndarray:
        """(1 - G H) xi + G tau + P+ eta (n, 6): what a node adds to the state that it passes inward ((10.7))."""
        s = self.s
        return (
            np.einsum("nij,nj->ni", self.transition, s.xi)
            + s.G * s.tau[s.coordinate][:, None]
            + np.einsum("nij,nj->ni", s.P_plus, s.eta)
        )

    @property
    def returned(self) -> np.ndarray:
        """(1 - G H)^T eta + H^T e+ (n, 6): what a node adds to the co-state that it passes outward ((10.15))."""
        s = self.s
        return np.einsum("nji,nj->ni", self.transition, s.eta) + s.H * s.residuals[:, None]

    def between(self, k: int, i: int) -> np.ndarray:
        """Lambda- (6, 6) of a node and itself, or of two members of a cluster: how k responds to a force on i."""
        s, L = self.s, self.transition
        return L[k].T @ self.plus[k] @ L[i] + np.outer(s.H[k], s.H[i]) / s.D[k]

    def answer(
        self, i: int, sent: np.ndarray, here: float, outward: dict[int, np.ndarray]
    ) -> np.ndarray:
        """Accelerations (nv,) when the cluster of i sends `sent` inward, and each member k the co-state outward[k]."""
        s, inward = self.s, self.carry(i, sent)
        met, found = {s.coordinate[k]: k for k in inward}, np.zeros(s.model.nv)
        for own in s.clusters:
            k, c = own[0], s.coordinate[own[0]]
            below = self.gains[k]
            above = next((m for m in outward if m in below), None)
            if c == s.coordinate[i]:
                found[c] = here
            elif c in met:
                found[c] = self.d[met[c]] @ inward[met[c]]
            elif above is not None:
                found[c] = below[above] @ outward[above]
            else:  # another branch: by the nearest node, or cluster, below both
                g = next((g for g in below if s.coordinate[g] in met), None)
                if g is not None:
                    other = met[s.coordinate[g]]
                    found[c] = below[g] @ self.between(g, other) @ inward[other]
        return found

    def answer_to_moment(self, i: int, tau: float) -> np.ndarray:
        """Accelerations (nv,) for a force on the coordinate of node i."""
        outward = {k: self.d[k] * tau for k in self.mates[i].tolist()}
        return self.answer(i, self.s.G[i] * tau, self.c[i] * tau, outward)

    def answer_to_force(self, i: int, xi: np.ndarray, eta: np.ndarray) -> np.ndarray:
        """Accelerations (nv,) for a bias force on node i, and a bias acceleration of what hangs on it."""
        outward = {k: self.between(k, i) @ xi for k in self.mates[i].tolist()}
        outward[i] -= eta
        return self.answer(i, self.transition[i] @ xi, self.d[i] @ xi, outward)


def inverse_mass_matrix(smoother: FilterSmoother) -> np.ndarray:
    """H^-1 (nv, nv), each element by itself: O(n^2), no factorisation and no solve ((10.2), first line)."""
    kernels, s = WeightingKernels(smoother), smoother
    inverse = np.zeros((s.model.nv, s.model.nv))
    for own in s.clusters:
        inverse[:, s.coordinate[own[0]]] = kernels.answer_to_moment(own[0], 1.0)
    return inverse


def acceleration_terms(smoother: FilterSmoother) -> AccelerationTerms:
    """The three terms of the joint accelerations, each a weighted sum over all nodes ((10.1)-(10.3)).

    A bias acceleration eta acts as the force P eta, and accelerates what hangs on the node by itself.
    """
    s, kernels = smoother, WeightingKernels(smoother)
    found, still = np.zeros((3, s.model.nv)), np.zeros(6)
    for own in s.clusters:
        found[0] += kernels.answer_to_moment(own[0], s.tau[s.coordinate[own[0]]])
        for i in own.tolist():
            found[1] += kernels.answer_to_force(i, s.xi[i], still)
            found[2] += kernels.answer_to_force(i, s.P[i] @ s.eta[i], s.eta[i])
    return AccelerationTerms(*found)
