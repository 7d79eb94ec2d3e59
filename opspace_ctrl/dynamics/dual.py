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

from ..jit import kernel
from ..lanes import load, splat, store
from ..model import JointType, Model
from . import aba
from . import layout as at
from .layout import Workspace, count, floats, ints
from .rows import add_rows, load_rows, row_sum, store_rows, subtract_square


@kernel
def through_hinge(w, dual, i, U, row):
    """S+ in the i-th block of `dual` becomes S; u goes into row `row` of U. Returns 1 / D_s."""
    S, d = floats(w, at.S), floats(w, at.ARMATURE)[ints(w, at.COORDINATE)[i]]
    x = load_rows(dual, i)
    u = row_sum(x, S, i)
    store(U, row, 0, u)
    for c in range(6):
        d += S[c, i] * U[row, c]
    store_rows(dual, i, subtract_square(x, u, U, row, 1.0 / d))
    return 1.0 / d


@kernel
def updated_inertia(w, j):
    """P+ of node j, as six rows."""
    U = floats(w, at.U)
    return subtract_square(load_rows(floats(w, at.IA), j), load(U, j, 0), U, j, floats(w, at.DA)[j])


@kernel
def dual_inertias(w):
    """S of every node, base to tips; the younger brothers are summed up before, on the way from the tips."""
    n, parent, before, IW = (
        count(w, at.NODES),
        ints(w, at.PARENT),
        ints(w, at.BEFORE),
        floats(w, at.IW),
    )
    dual, gathered, U, dinv = (
        floats(w, at.DUAL),
        floats(w, at.SUM),
        floats(w, at.DUAL_U),
        floats(w, at.DUAL_DINV),
    )
    for r in range(6 * (n + 1)):
        store(gathered, r, 0, splat(0.0))
    for i in range(n - 1, -1, -1):
        store_rows(dual, i, load_rows(gathered, parent[i]))
        add_rows(gathered, parent[i], updated_inertia(w, i))
    for i in range(n):
        if before[i] == n:
            for r in range(6 * i, 6 * i + 6):
                store(dual, r, 0, splat(0.0))
        else:
            add_rows(dual, i, load_rows(gathered, parent[i]))
            add_rows(gathered, parent[i], updated_inertia(w, i))
            dinv[i] = through_hinge(w, dual, i, U, i)
        aba.inertia_to_lanes(IW, i, gathered, i)
        add_rows(gathered, i, load_rows(dual, i))


def lay_out(work: Workspace) -> None:
    """Make room for the dual recursions."""
    nodes = len(work[at.PARENT])
    for slot, blocks in (
        (at.DUAL, 6),
        (at.SUM, 6),
        (at.DUAL_FORCE, 1),
        (at.SUM_FORCE, 1),
        (at.DUAL_U, 1),
    ):
        work.zeros(slot, blocks * (nodes + 1), 8)
    work.zeros(at.DUAL_DINV, nodes)
    work.zeros(at.DUAL_EPS, nodes)
    work.zeros(at.LINK, 6, 8)
    work.allocate()


def held_bases(model: Model) -> list[str]:
    """What keeps the base of some tree from floating freely, in words; nothing for free flyers."""
    roots = np.flatnonzero(model.parent < 0)
    if (model.joint_type[roots] != JointType.FLOATING).any():
        return ["a fixed base"]
    held = any(model.armature[v : v + 6].any() for v in model.v_index[roots])
    return ["a floating base with armature"] if held else []
