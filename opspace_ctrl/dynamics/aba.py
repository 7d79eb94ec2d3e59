"""Articulated-body inertias and the O(n) solve of H x = tau ([Featherstone2008] 7.3; [Rodriguez1992] (34)-(54)).

    U = IA S,  D = S^T U + armature,  IA_parent += IA - U D^-1 U^T                                tips to base
    eps = tau - S^T p,  p_parent += p + U D^-1 eps                                                tips to base
    qdd = D^-1 (eps - U^T a_parent),  a = a_parent + S qdd                                        base to tips
Node by node, so that a joint of several nodes needs no small inverse: its D is eliminated one pivot at a time.
"""

from __future__ import annotations

from ..jit import kernel
from ..lanes import load, splat, store
from . import layout as at
from .layout import count, floats, ints, stage


@kernel
def inertia_to_lanes(IW, b, out, place):
    """The inertia of node b as the 6 x 6 rows [I, mc x; -mc x, m] of the place-th block of `out`."""
    r = 6 * place
    m, x, y, z = IW[0, b], IW[1, b], IW[2, b], IW[3, b]
    out[r, 0], out[r, 1], out[r, 2] = IW[4, b], IW[5, b], IW[6, b]
    out[r + 1, 0], out[r + 1, 1], out[r + 1, 2] = IW[5, b], IW[7, b], IW[8, b]
    out[r + 2, 0], out[r + 2, 1], out[r + 2, 2] = IW[6, b], IW[8, b], IW[9, b]
    out[r, 3], out[r, 4], out[r, 5] = 0.0, -z, y
    out[r + 1, 3], out[r + 1, 4], out[r + 1, 5] = z, 0.0, -x
    out[r + 2, 3], out[r + 2, 4], out[r + 2, 5] = -y, x, 0.0
    out[r + 3, 0], out[r + 3, 1], out[r + 3, 2] = 0.0, z, -y
    out[r + 4, 0], out[r + 4, 1], out[r + 4, 2] = -z, 0.0, x
    out[r + 5, 0], out[r + 5, 1], out[r + 5, 2] = y, -x, 0.0
    out[r + 3, 3], out[r + 3, 4], out[r + 3, 5] = m, 0.0, 0.0
    out[r + 4, 3], out[r + 4, 4], out[r + 4, 5] = 0.0, m, 0.0
    out[r + 5, 3], out[r + 5, 4], out[r + 5, 5] = 0.0, 0.0, m


@stage(at.ARTICULATED)
def articulated_inertias(w):
    """IA, U and 1/D of every node, tips to base."""
    n, parent, coordinate = count(w, at.NODES), ints(w, at.PARENT), ints(w, at.COORDINATE)
    S, SL, IA, IW = floats(w, at.S), floats(w, at.SL), floats(w, at.IA), floats(w, at.IW)
    U, dinv, armature = floats(w, at.U), floats(w, at.DA), floats(w, at.ARMATURE)
    for b in range(n):
        inertia_to_lanes(IW, b, IA, b)
        for k in range(6):
            SL[b, k] = S[k, b]
    for b in range(n - 1, -1, -1):
        r = 6 * b
        i0, i1, i2 = load(IA, r, 0), load(IA, r + 1, 0), load(IA, r + 2, 0)
        i3, i4, i5 = load(IA, r + 3, 0), load(IA, r + 4, 0), load(IA, r + 5, 0)
        u = S[0, b] * i0 + S[1, b] * i1 + S[2, b] * i2 + S[3, b] * i3 + S[4, b] * i4 + S[5, b] * i5
        store(U, b, 0, u)
        inverse = 1.0 / (along(S, b, U) + armature[coordinate[b]])
        dinv[b] = inverse
        if parent[b] < n:
            p, u = 6 * parent[b], u * inverse
            store(IA, p, 0, load(IA, p, 0) + (i0 - U[b, 0] * u))
            store(IA, p + 1, 0, load(IA, p + 1, 0) + (i1 - U[b, 1] * u))
            store(IA, p + 2, 0, load(IA, p + 2, 0) + (i2 - U[b, 2] * u))
            store(IA, p + 3, 0, load(IA, p + 3, 0) + (i3 - U[b, 3] * u))
            store(IA, p + 4, 0, load(IA, p + 4, 0) + (i4 - U[b, 4] * u))
            store(IA, p + 5, 0, load(IA, p + 5, 0) + (i5 - U[b, 5] * u))


@kernel
def along(S, b, rows):
    """S^T x for node b, x in the lanes of row b of `rows`."""
    return (
        S[0, b] * rows[b, 0]
        + S[1, b] * rows[b, 1]
        + S[2, b] * rows[b, 2]
        + S[3, b] * rows[b, 3]
        + S[4, b] * rows[b, 4]
        + S[5, b] * rows[b, 5]
    )


@kernel
def innovations(w, tau):
    """eps = (1 - H Psi G)(tau - S^T p): what of each joint force is left for its own joint, tips to base."""
    n, parent, coordinate = count(w, at.NODES), ints(w, at.PARENT), ints(w, at.COORDINATE)
    S, U, dinv, PA, eps = (
        floats(w, at.S),
        floats(w, at.U),
        floats(w, at.DA),
        floats(w, at.PA),
        floats(w, at.EPS),
    )
    for b in range(n - 1, -1, -1):
        eps[b] = tau[coordinate[b]] - along(S, b, PA)
        p = parent[b]
        store(PA, p, 0, load(PA, p, 0) + (load(PA, b, 0) + (eps[b] * dinv[b]) * load(U, b, 0)))


@kernel
def accelerations(w, qdd):
    """Joint and body accelerations from the innovations, base to tips."""
    n, parent, coordinate = count(w, at.NODES), ints(w, at.PARENT), ints(w, at.COORDINATE)
    U, dinv, FA, SL, eps = (
        floats(w, at.U),
        floats(w, at.DA),
        floats(w, at.FA),
        floats(w, at.SL),
        floats(w, at.EPS),
    )
    for b in range(n):
        p = parent[b]
        found = eps[b] - (
            U[b, 0] * FA[p, 0]
            + U[b, 1] * FA[p, 1]
            + U[b, 2] * FA[p, 2]
            + U[b, 3] * FA[p, 3]
            + U[b, 4] * FA[p, 4]
            + U[b, 5] * FA[p, 5]
        )
        found *= dinv[b]
        qdd[coordinate[b]] = found
        store(FA, b, 0, load(FA, p, 0) + found * load(SL, b, 0))


@kernel
def no_bias(w):
    """Start the innovations from bodies at rest and free of force."""
    PA = floats(w, at.PA)
    for b in range(count(w, at.NODES) + 1):
        store(PA, b, 0, splat(0.0))


@kernel
def body_bias(w):
    """Start the innovations from the forces of the motion with qdd = 0: gravity, velocity and external wrenches."""
    force, PA = floats(w, at.FORCE), floats(w, at.PA)
    no_bias(w)
    for b in range(count(w, at.NODES)):
        for k in range(6):
            PA[b, k] = force[k, b]


@kernel
def aba(w, tau, qdd):
    """Accelerations for the joint forces tau and the body forces of the motion with qdd = 0."""
    body_bias(w)
    articulated_inertias(w)
    innovations(w, tau)
    accelerations(w, qdd)
