# SPDX-License-Identifier: Apache-2.0
"""Two opposite recursions, and every link solved by itself ([Jain1995], algorithms 2 to 6, in the paper's symbols).

    inward    z = sum z+ + P a + b,  eps = T - H z,  z+ = z + G eps,  P+ = P - G D G*              algorithms 2 and 3
    outward   S+ = M + S + sum P+ over the brothers,  G_s = -S+ H* D_s^-1,  S = S+ + G_s H S+      algorithm 4
              z_s+ = b + z_s + sum z+ + S+ a_s,  eps_s = T + H z_s+,  z_s = z_s+ + G_s eps_s       algorithm 5, a_s = -a
    alpha = -(P + S)^-1 (z + z_s - P a),  alpha+ = -(P+ + S+)^-1 (z+ + z_s+ - S+ a_s)              lemma 3.2
As two estimates of the same state from the two ends, combined by their covariances: the Fraser-Potter smoother.
"""

import numpy as np

from .link_tree import LinkTree


class TwoFilters:
    """All quantities of both recursions, by link; `_s` marks the dual ones.

    Attributes:
        P, P_plus, S, S_plus: (N, 6, 6).
        z, z_plus, z_s, z_s_plus, alpha, alpha_plus: (N, 6).
        G, G_s: For each link (6, d), d the freedoms of its hinge; nu, nu_s: for each link (d,).
    """

    def __init__(self, tree: LinkTree):
        N = len(tree.parent)
        self.P, self.z = tree.M.copy(), tree.b.copy()
        self.P_plus, self.S, self.S_plus = np.zeros((3, N, 6, 6))
        self.z_plus, self.z_s, self.z_s_plus, self.alpha, self.alpha_plus = np.zeros((5, N, 6))
        self.G, self.G_s = ([np.zeros_like(H) for H in tree.H] for _ in range(2))
        self.nu, self.nu_s = ([np.zeros_like(T) for T in tree.T] for _ in range(2))

    def hinge_accelerations(self, tree: LinkTree) -> list[np.ndarray]:
        """beta-dot (d,) of every hinge from its outer link: nu_s - G_s* alpha ((3.13)); of a base its alpha."""
        return [
            self.alpha[k] if tree.parent[k] < 0 else self.nu_s[k] - self.G_s[k].T @ self.alpha[k]
            for k in range(len(self.alpha))
        ]


def two_filters(tree: LinkTree) -> TwoFilters:
    """Run both recursions and find the links' accelerations."""
    f = TwoFilters(tree)
    _inward(tree, f)
    _outward(tree, f)
    for k, p in enumerate(tree.parent):
        f.alpha[k] = -np.linalg.solve(f.P[k] + f.S[k], f.z[k] + f.z_s[k] - f.P[k] @ tree.a[k])
        if p >= 0:
            f.alpha_plus[k] = -np.linalg.solve(
                f.P_plus[k] + f.S_plus[k], f.z_plus[k] + f.z_s_plus[k] + f.S_plus[k] @ tree.a[k]
            )
    return f


def dual_upsilon(tree: LinkTree, f: TwoFilters, tip: int) -> dict[int, np.ndarray]:
    """Lambda^-1(k) of the links from a tip to its base, found from the tip inward by the dual recursion (4.9).

        Upsilon(tip) = (M + S)^-1,   Upsilon(parent) = taubar_s* Upsilon(k) taubar_s + H* D_s^-1 H
        taubar_s = 1 + G_s H
    The same matrices as `upsilon` finds outward from the base ((4.7)), by the inertias with the tip as base.
    """
    found, k = {tip: np.linalg.inv(f.P[tip] + f.S[tip])}, tip
    while tree.parent[k] >= 0:
        H = tree.H[k]
        D_s = H.T @ f.S_plus[k] @ H + tree.armature[k]
        taubar_s = np.eye(6) + f.G_s[k] @ H.T
        above = taubar_s.T @ found[k] @ taubar_s + H @ np.linalg.solve(D_s, H.T)
        k = int(tree.parent[k])
        found[k] = above
    return found


def upsilon(tree: LinkTree, f: TwoFilters) -> np.ndarray:
    """Lambda^-1(k) (N, 6, 6) of all links, bases first: taubar* Upsilon(parent) taubar + H* D^-1 H ((4.7))."""
    found = np.zeros_like(f.P)
    for k in tree.order:
        H, p = tree.H[k], tree.parent[k]
        D = H.T @ f.P[k] @ H + tree.armature[k]
        found[k] = H @ np.linalg.solve(D, H.T)
        if p >= 0:
            left = np.eye(6) - f.G[k] @ H.T
            found[k] += left.T @ found[p] @ left
    return found


def _inward(tree: LinkTree, f: TwoFilters) -> None:
    """Algorithms 2 and 3, tips to base."""
    P, P_plus, G, z, z_plus, nu = f.P, f.P_plus, f.G, f.z, f.z_plus, f.nu
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


def _outward(tree: LinkTree, f: TwoFilters) -> None:
    """Algorithms 4 and 5 on a tree, base to tips; the brothers are summed up, never subtracted."""
    S, S_plus, G_s, z_s, z_s_plus, nu_s = f.S, f.S_plus, f.G_s, f.z_s, f.z_s_plus, f.nu_s
    for k in tree.order:
        H, p = tree.H[k], tree.parent[k]
        if p < 0:
            z_s[k] = -tree.T[k]
            continue
        brothers = [j for j in np.flatnonzero(tree.parent == p) if j != k]
        S_plus[k] = tree.M[p] + S[p] + f.P_plus[brothers].sum(axis=0)
        z_s_plus[k] = tree.b[p] + z_s[p] + f.z_plus[brothers].sum(axis=0) - S_plus[k] @ tree.a[k]
        D_s = H.T @ S_plus[k] @ H + tree.armature[k]
        G_s[k] = -np.linalg.solve(D_s, H.T @ S_plus[k]).T
        eps_s = tree.T[k] + H.T @ z_s_plus[k]
        S[k] = S_plus[k] - G_s[k] @ D_s @ G_s[k].T
        z_s[k], nu_s[k] = z_s_plus[k] + G_s[k] @ eps_s, np.linalg.solve(D_s, eps_s)
