"""H^-1 element by element, and accelerations cause by cause, in closed form ([Rodriguez1986] section 10).

With c = D^-1 + G^T Lambda+ G and d = G^T Lambda+ - c H, and s_i what node i sends inward (G_i for a unit of tau):
    i = k                            c_k
    i above (outboard of) k          d_k psi(k-, i+) s_i
    on another branch, meeting at g  G_k^T psi^T(g-, k+) Lambda-_g psi(g-, i+) s_i
(10.2) for chains; the last line is what trees add. Lines with i below k are the transposed ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .smoother import FilterSmoother

__all__ = ["AccelerationTerms", "acceleration_terms", "inverse_mass_matrix"]


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


class _Kernels:
    """The weighting kernels of a state: what is carried from every node to the nodes below it."""

    def __init__(self, s: FilterSmoother):
        self.s = s
        self.minus, self.plus = s.costate_covariance
        self.c = 1.0 / s.D + np.einsum("ni,nij,nj->n", s.G, self.plus, s.G)
        self.d = np.einsum("ni,nij->nj", s.G, self.plus) - self.c[:, None] * s.H
        self.gains = [self.carry(i, s.G[i]) for i in range(len(s.D))]

    def carry(self, i: int, x: np.ndarray) -> dict[int, np.ndarray]:
        """psi(k-, i+) x at every node k below i on the way to the base ((10.6))."""
        found, k, L = {}, self.s.parent[i], self.s.transition
        while k >= 0:
            found[int(k)] = x
            x, k = L[k] @ x, self.s.parent[k]
        return found

    def meeting(self, k: int, sent: dict[int, np.ndarray]) -> int | None:
        """The nearest node below both k and the sender, or None for separate robots."""
        return next((g for g in self.gains[k] if g in sent), None)

    def answer(self, i: int, sent: np.ndarray, own: float, outward: np.ndarray) -> np.ndarray:
        """Accelerations (n,) of all nodes when i sends `sent` inward and `outward` (a co-state) outward."""
        inward, found = self.carry(i, sent), np.zeros(len(self.c))
        for k in range(len(self.c)):
            if k == i:
                found[k] = own
            elif k in inward:
                found[k] = self.d[k] @ inward[k]
            elif i in self.gains[k]:
                found[k] = self.gains[k][i] @ outward
            else:
                g = self.meeting(k, inward)
                found[k] = 0.0 if g is None else self.gains[k][g] @ self.minus[g] @ inward[g]
        return found


def inverse_mass_matrix(smoother: FilterSmoother) -> np.ndarray:
    """H^-1 (nv, nv), each element by itself: O(n^2), no factorisation and no solve ((10.2), first line)."""
    kernels, s = _Kernels(smoother), smoother
    inverse = np.zeros((s.model.nv, s.model.nv))
    for i, column in enumerate(s.coordinate):
        inverse[s.coordinate, column] = kernels.answer(i, s.G[i], kernels.c[i], kernels.d[i])
    return inverse


def acceleration_terms(smoother: FilterSmoother) -> AccelerationTerms:
    """The three terms of the joint accelerations, each a weighted sum over all nodes ((10.1)-(10.3))."""
    s, kernels = smoother, _Kernels(smoother)
    n, found = len(s.D), np.zeros((3, s.model.nv))
    for i in range(n):
        L, rest = s.transition[i], np.eye(6) - kernels.plus[i] @ s.P_plus[i]
        tau, xi, eta = s.tau[s.coordinate[i]], s.xi[i], s.eta[i]
        causes = (
            (s.G[i] * tau, kernels.c[i] * tau, kernels.d[i] * tau),
            (L @ xi, kernels.d[i] @ xi, kernels.minus[i] @ xi),
            (s.P_plus[i] @ eta, -s.G[i] @ rest @ eta, -L.T @ rest @ eta),
        )
        for term, (sent, own, outward) in zip(found, causes):
            term[s.coordinate] += kernels.answer(i, sent, own, outward)
    return AccelerationTerms(*found)
