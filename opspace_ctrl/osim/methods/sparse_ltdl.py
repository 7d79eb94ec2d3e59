"""Lambda^-1 = Y_D Y_d^T from the LTDL factorisation of H ([Featherstone2010] (22), (23), figures 9 and 10)."""

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
def y_ltdl(w):
    """Y_d = J L_d^-1 and Y_D = Y_d D^-1 (figure 9), a whole block of rows at a time."""
    block = ints(w, at.BLOCK)
    for b in range(count(w, at.BLOCKS)):
        if block[b, at.B_PATH] == 1:
            _along_path(w, block[b, at.B_FIRST], block[b, at.B_SLOTS])
        else:
            _along_support(w, block[b, at.B_FIRST], block[b, at.B_SLOTS])


@kernel
def _along_path(w, first, slots):
    """Slot = depth: row i of L_d lines up with the registers.

    Four columns at a time, so that those before are read and written a quarter as often; the first four read J itself.
    """
    J, Yd, YD, L = floats(w, at.J), floats(w, at.YD_LOWER), floats(w, at.YD), floats(w, dyn.H)
    support, dinv, Y, last = ints(w, at.SUPPORT), floats(w, dyn.DINV), J, slots - 1
    while last >= 3:
        r = first + last
        i, j, k, l = support[r], support[r - 1], support[r - 2], support[r - 3]
        a = load(Y, r, 0)
        b = load(Y, r - 1, 0) - L[i, last - 1] * a
        c = load(Y, r - 2, 0) - L[i, last - 2] * a - L[j, last - 2] * b
        d = load(Y, r - 3, 0) - L[i, last - 3] * a - L[j, last - 3] * b - L[k, last - 3] * c
        _store_column(Yd, YD, r, a, dinv[i])
        _store_column(Yd, YD, r - 1, b, dinv[j])
        _store_column(Yd, YD, r - 2, c, dinv[k])
        _store_column(Yd, YD, r - 3, d, dinv[l])
        for e in range(last - 4, -1, -1):  # what is needed first comes first
            y = load(Y, first + e, 0) - L[i, e] * a - L[j, e] * b
            store(Yd, first + e, 0, y - L[k, e] * c - L[l, e] * d)
        Y, last = Yd, last - 4
    for s in range(last, -1, -1):
        i, a = support[first + s], load(Y, first + s, 0)
        _store_column(Yd, YD, first + s, a, dinv[i])
        for e in range(s - 1, -1, -1):
            store(Yd, first + e, 0, load(Y, first + e, 0) - L[i, e] * a)
        Y = Yd


@kernel
def _store_column(Yd, YD, r, y, dinv):
    store(Yd, r, 0, y)
    store(YD, r, 0, y * dinv)


@kernel
def _along_support(w, first, slots):
    """The support is no path: chase parents, as the figure does."""
    J, Yd, YD, L = floats(w, at.J), floats(w, at.YD_LOWER), floats(w, at.YD), floats(w, dyn.H)
    support, parent = ints(w, at.SUPPORT), ints(w, at.SLOT_PARENT)
    dinv, depth = floats(w, dyn.DINV), ints(w, dyn.DEPTH_E)
    for r in range(first, first + slots):
        store(Yd, r, 0, load(J, r, 0))
    for r in range(first + slots - 1, first - 1, -1):
        i, y = support[r], load(Yd, r, 0)
        store(YD, r, 0, y * dinv[i])
        j, e = parent[r], depth[i] - 1
        while j >= 0:
            store(Yd, j, 0, load(Yd, j, 0) - L[i, e] * y)
            j, e = parent[j], e - 1


@kernel
def inertia_inv(w):
    """Lambda^-1 into LI, J H^-1 W = Y_D L_d^-T W into X."""
    crba.mass_matrix(w)
    ltl.ltdl(w)
    y_ltdl(w)
    products(w)
    times_support(w, floats(w, at.YD), floats(w, dyn.W), floats(w, at.X))
    return 0


method = Method(
    "sparse_ltdl", inertia_inv, factor="ltdl", carries=("mimic", "relative", "center_of_mass")
)
