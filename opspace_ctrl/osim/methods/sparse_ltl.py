"""Lambda^-1 = Y Y^T from the LTL factorisation of H ([Featherstone2010] (20), (21), figures 8 and 10)."""

from __future__ import annotations

from ...dynamics import crba, ltl
from ...dynamics import layout as dyn
from ...dynamics.layout import count, floats, ints
from ...jit import kernel
from ...lanes import load, store
from .. import layout as at
from ..blocks import products, times_support
from ..method import Method


@kernel
def y_ltl(w):
    """Y = J L^-1 (figure 8), a whole block of rows at a time; chasing parents when the support is no path."""
    J, Y, L = floats(w, at.J), floats(w, at.YD), floats(w, dyn.H)
    block, support, parent = ints(w, at.BLOCK), ints(w, at.SUPPORT), ints(w, at.SLOT_PARENT)
    dinv, depth = floats(w, dyn.DINV), ints(w, dyn.DEPTH_E)
    for b in range(count(w, at.BLOCKS)):
        first = block[b, at.B_FIRST]
        for r in range(first, first + block[b, at.B_SLOTS]):
            store(Y, r, 0, load(J, r, 0))
        for r in range(first + block[b, at.B_SLOTS] - 1, first - 1, -1):
            i = support[r]
            y = load(Y, r, 0) * dinv[i]
            store(Y, r, 0, y)
            j, e = parent[r], depth[i] - 1
            while j >= 0:
                store(Y, j, 0, load(Y, j, 0) - L[i, e] * y)
                j, e = parent[j], e - 1


@kernel
def inertia_inv(w):
    """Lambda^-1 into LI, J H^-1 W = Y L^-T W into X."""
    crba.mass_matrix(w)
    ltl.ltl(w)
    y_ltl(w)
    Y, other, block = floats(w, at.YD), floats(w, at.YD_LOWER), ints(w, at.BLOCK)
    last = count(w, at.BLOCKS) - 1
    for r in range(block[last, at.B_FIRST] + block[last, at.B_SLOTS]):
        store(other, r, 0, load(Y, r, 0))
    products(w)
    times_support(w, floats(w, at.YD), floats(w, dyn.W), floats(w, at.X))
    return 0


method = Method(
    "sparse_ltl", inertia_inv, factor="ltl", carries=("mimic", "relative", "center_of_mass")
)
