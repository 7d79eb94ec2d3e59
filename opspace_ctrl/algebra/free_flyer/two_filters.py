"""Two opposite recursions, and every link solved by itself ([Jain1995], algorithms 2 to 6, in the paper's symbols).

    inward    z = sum z+ + P a + b,  eps = T - H z,  z+ = z + G eps,  P+ = P - G D G*              algorithms 2 and 3
    outward   S+ = M + S + sum P+ over the brothers,  G_s = -S+ H* D_s^-1,  S = S+ + G_s H S+      algorithm 4
              z_s+ = b + z_s + sum z+ + S+ a_s,  eps_s = T + H z_s+,  z_s = z_s+ + G_s eps_s       algorithm 5, a_s = -a
    alpha = -(P + S)^-1 (z + z_s - P a),  alpha+ = -(P+ + S+)^-1 (z+ + z_s+ - S+ a_s)              lemma 3.2
As two estimates of the same state from the two ends, combined by their covariances: the Fraser-Potter smoother.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .link_tree import LinkTree

__all__ = ["TwoFilters", "two_filters"]


@dataclass(frozen=True)
class TwoFilters:
    """All quantities of both recursions, by link (lists where hinges differ in size); `_s` marks the dual ones."""

    P: np.ndarray
    P_plus: np.ndarray
    G: list[np.ndarray]
    z: np.ndarray
    z_plus: np.ndarray
    nu: list[np.ndarray]
    S: np.ndarray
    S_plus: np.ndarray
    G_s: list[np.ndarray]
    z_s: np.ndarray
    z_s_plus: np.ndarray
    nu_s: list[np.ndarray]
    alpha: np.ndarray
    alpha_plus: np.ndarray

    def hinge_accelerations(self, tree: LinkTree) -> list[np.ndarray]:
        """beta-dot (d,) of every hinge from its outer link: nu_s - G_s* alpha ((3.13)); of a base its alpha."""
        return [
            self.alpha[k] if tree.parent[k] < 0 else self.nu_s[k] - self.G_s[k].T @ self.alpha[k]
            for k in range(len(self.alpha))
        ]


def two_filters(tree: LinkTree) -> TwoFilters:
    """Both recursions and the links' accelerations."""
    inward = _inward(tree)
    outward = _outward(tree, *inward)
    P, P_plus, _, z, z_plus, _ = inward
    S, S_plus, _, z_s, z_s_plus, _ = outward
    alpha, alpha_plus = np.zeros_like(z), np.zeros_like(z)
    for k, p in enumerate(tree.parent):
        alpha[k] = -np.linalg.solve(P[k] + S[k], z[k] + z_s[k] - P[k] @ tree.a[k])
        if p >= 0:
            alpha_plus[k] = -np.linalg.solve(
                P_plus[k] + S_plus[k], z_plus[k] + z_s_plus[k] + S_plus[k] @ tree.a[k]
            )
    return TwoFilters(*inward, *outward, alpha, alpha_plus)


def _inward(tree: LinkTree):
    """Algorithms 2 and 3, tips to base."""
    N = len(tree.parent)
    P, P_plus, z, z_plus = tree.M.copy(), np.zeros((N, 6, 6)), tree.b.copy(), np.zeros((N, 6))
    G, nu = [None] * N, [None] * N
    for k in reversed(tree.order):
        H, p = tree.H[k], tree.parent[k]
        D = H.T @ P[k] @ H + tree.armature[k]
        G[k] = np.linalg.solve(D, H.T @ P[k]).T
        P_plus[k] = P[k] - G[k] @ D @ G[k].T
        z[k] += P[k] @ tree.a[k]
        eps = tree.T[k] - H.T @ z[k]
        z_plus[k], nu[k] = z[k] + G[k] @ eps, np.linalg.solve(D, eps)
        if p >= 0:
            P[p] += P_plus[k]
            z[p] += z_plus[k]
    return P, P_plus, G, z, z_plus, nu


def _outward(tree: LinkTree, P, P_plus, G, z, z_plus, nu):
    """Algorithms 4 and 5 on a tree, base to tips; the brothers are summed up, never subtracted."""
    N = len(tree.parent)
    (S, S_plus), (z_s, z_s_plus) = np.zeros((2, N, 6, 6)), np.zeros((2, N, 6))
    G_s, nu_s = [None] * N, [None] * N
    for k in tree.order:
        H, p = tree.H[k], tree.parent[k]
        if p < 0:
            z_s[k] = -tree.T[k]
            continue
        brothers = [j for j in range(N) if tree.parent[j] == p and j != k]
        S_plus[k] = tree.M[p] + S[p] + P_plus[brothers].sum(axis=0)
        z_s_plus[k] = tree.b[p] + z_s[p] + z_plus[brothers].sum(axis=0) - S_plus[k] @ tree.a[k]
        D_s = H.T @ S_plus[k] @ H + tree.armature[k]
        G_s[k] = -np.linalg.solve(D_s, H.T @ S_plus[k]).T
        eps_s = tree.T[k] + H.T @ z_s_plus[k]
        S[k] = S_plus[k] - G_s[k] @ D_s @ G_s[k].T
        z_s[k], nu_s[k] = z_s_plus[k] + G_s[k] @ eps_s, np.linalg.solve(D_s, eps_s)
    return S, S_plus, G_s, z_s, z_s_plus, nu_s
