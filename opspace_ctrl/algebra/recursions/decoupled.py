# SPDX-License-Identifier: Apache-2.0
"""Algorithm 6: base-invariant, decoupled forward dynamics of free flyers ([Jain1995]).

Two recursions of opposite directions give (P, z) and (S, z_s); then every link is solved by itself:
    alpha(k) = -(P(k) + S(k))^-1 (z(k) + z_s(k))                                                     lemma 3.2, (3.12)
    qdd(k) = D_s^-1 (eps_s + u^T alpha(k))                                                                      (3.13)
z here is z_p - P a_p of the paper: the residual force that belongs to the link's own acceleration.
"""

from __future__ import annotations

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W
from ...compiled.workspace import part
from ...dynamics import aba, rows
from ...dynamics.dual import dual_inertias, dual_of
from ...dynamics.fields import LAST, Dual, Tree
from ...dynamics.forward_method import ForwardMethod
from . import kalman
from .dual_residuals import dual_residuals


@kernel
def link_acceleration(tree, dual, i):
    """alpha of node i by one 6 x 6 solve. Needs IA, pA, and S, z_s of `dual`. Writes alpha."""
    P, z, x = tree.IA, tree.pA, dual.link
    for r in range(6):
        x[r, 0:W] = P[6 * i + r, 0:W] + dual.S[6 * i + r, 0:W]
        x[r, 6] = -(z[i, r] + dual.z_s[i, r])
    rows.solve(x, 0)
    for r in range(6):
        tree.alpha[i, r] = x[r, 6]


@kernel
def _base_accelerations(tree, last):
    """qdd of the six nodes of a base, of which `last` is the last, from its alpha: their subspaces are orthonormal."""
    for b in range(last - 5, last + 1):
        found = 0.0
        for k in range(6):
            found += tree.S[k, b] * tree.alpha[last, k]
        tree.qdd[tree.coordinate[b]] = found


@kernel
def link_by_link(tree, dual):
    """Joint accelerations from every link's own, in any order; see `link_acceleration`. Writes qdd and alpha."""
    U, D_inv, eps = dual.U_s, dual.D_s_inv, dual.eps_s
    for i in range(tree.n):
        if tree.before[i] < tree.n:
            link_acceleration(tree, dual, i)
            found = eps[i]
            for k in range(6):
                found += U[i, k] * tree.alpha[i, k]
            tree.qdd[tree.coordinate[i]] = D_inv[i] * found
        elif tree.kind[i] == LAST:
            link_acceleration(tree, dual, i)
            _base_accelerations(tree, i)


@kernel
def decoupled(tree, dual):
    """Needs kinematics, v, tau (also of the base) and external. Writes qdd, and the links' accelerations into alpha."""
    kalman.body_forces(tree)
    aba.articulated_inertias(tree)
    kalman.filter_forces(tree)
    dual_inertias(tree, dual)
    dual_residuals(tree, dual)
    link_by_link(tree, dual)


class Decoupled(ForwardMethod):
    """Algorithm 6 of [Jain1995]."""

    dual = part(Dual, "the dual recursions")

    floating_only = True
    leaves = "articulated"
    find_link_accelerations = staticmethod(kalman.Kalman.find_link_accelerations)

    @classmethod
    def for_tree(cls, tree: Tree) -> Decoupled:
        """The method with memory for a robot."""
        return cls(dual=dual_of(tree))


@stage(Tree, Decoupled, fills="compute")
def compute_decoupled(tree, own):
    """qdd by algorithm 6."""
    decoupled(tree, own.dual)
