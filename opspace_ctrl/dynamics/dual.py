"""The dual recursions of a free flyer: the robot seen from its tips ([Jain1995], algorithms 4 and 5, section 3.4).

S(k) and z_s(k) are the inertia and residual force of everything but the subtree of k, felt through the hinge of k:
    -f(k) = S(k) alpha(k) + z_s(k),     f(k) = P(k) alpha(k) + z(k)                                        (3.7), (3.11)
On a tree, with p the parent and j the brothers of k (gathered from both sides, never subtracted):
    S+ = M(p) + S(p) + sum P+(j),  u = S+ S_k,  D_s = S_k^T u + armature,  S = S+ - u D_s^-1 u^T
    z_s+ = xi(p) + z_s(p) + sum z+(j) - S+ a(k),  eps_s = T + S_k^T z_s+,  z_s = z_s+ - u D_s^-1 eps_s
from S(base) = 0, z_s(base) = -T(base), so that a force on the base is no special case.
Here are the inertias; the residual forces, which no method of `osim/` needs: `algebra.recursions.dual_residuals`.
"""

from __future__ import annotations

import numpy as np

from ..compiled.jit import kernel
from ..compiled.lanes import W
from ..model import JointType, Model
from . import aba
from .rows import add_rows, load_rows, row_sum, store_rows, subtract_square


@kernel
def through_hinge(tree, S_dual, i, U, row):
    """Block i of S_dual: S+ becomes S = S+ - u u^T / D_s; u goes into row `row` of U. Returns 1 / D_s."""
    S, d = tree.S, tree.armature[tree.coordinate[i]]
    x = load_rows(S_dual, i)
    u = row_sum(x, S, i)
    U[row, 0:W] = u
    for c in range(6):
        d += S[c, i] * U[row, c]
    store_rows(S_dual, i, subtract_square(x, u, U, row, 1.0 / d))
    return 1.0 / d


@kernel
def updated_inertia(tree, j):
    """P+ of node j, as six rows."""
    U = tree.U
    return subtract_square(load_rows(tree.IA, j), U[j, 0:W], U, j, tree.DA_inv[j])


@kernel
def dual_inertias(tree, dual):
    """S of every node, base to tips. Brothers are added up from both sides, the younger ones before, on the way in.

    Needs I, S, IA, U, DA_inv. Writes S, U_s and D_s_inv of `dual`.
    """
    n, parent, before = tree.n, tree.parent, tree.before
    S, gathered = dual.S, dual.S_gathered
    U, D_s_inv = dual.U_s, dual.D_s_inv
    for r in range(6 * (n + 1)):
        gathered[r, 0:W] = 0.0
    for i in range(n - 1, -1, -1):
        store_rows(S, i, load_rows(gathered, parent[i]))
        add_rows(gathered, parent[i], updated_inertia(tree, i))
    for i in range(n):
        if before[i] == n:
            for r in range(6 * i, 6 * i + 6):
                S[r, 0:W] = 0.0
        else:
            add_rows(S, i, load_rows(gathered, parent[i]))
            add_rows(gathered, parent[i], updated_inertia(tree, i))
            D_s_inv[i] = through_hinge(tree, S, i, U, i)
        aba.inertia_to_lanes(tree.I, i, gathered, i)
        add_rows(gathered, i, load_rows(S, i))


def held_bases(model: Model) -> list[str]:
    """What keeps the base of some tree from floating freely, in words; nothing for free flyers."""
    roots = np.flatnonzero(model.parent < 0)
    if (model.joint_type[roots] != JointType.FLOATING).any():
        return ["a fixed base"]
    held = any(model.armature[v : v + 6].any() for v in model.v_index[roots])
    return ["a floating base with armature"] if held else []
