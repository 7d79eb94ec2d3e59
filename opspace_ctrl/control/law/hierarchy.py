"""Strict hierarchy in row space: no projector is ever formed.

Stacked rows J of all levels, Gram matrix A = J H^-1 J^T. Level by level, S being A's Schur complement so far,
    F_k = Q_k (r_k - s_k),   s_i += S_ik F_k,   S_ij -= S_ik P_k S_kj          i, j below k
which is F_k = Lambda_k|< (a_k - Jdot_k v - J_k H^-1 tau_<k), the coupling with the levels above included. The torque
of a level is N_<^T J_k^T F_k = J^T w with w_k = F_k and, upward, w_i = -P_i sum_j S_ij w_j. P and Q: see `inverse`.
A force that is given (impedance, raw mode) replaces Q_k (r_k - s_k); a force along force axes is added to it, but not
to s: in contact it moves nothing, and the levels below need not make up for it.
"""

from __future__ import annotations

from ...dynamics.layout import floats, ints, stage
from ...jit import kernel
from ...lanes import WIDTH, from_lane, load, splat, store, total
from .. import layout as at
from .inverse import invert_level, invert_limit
from .stack import LIMIT_ROW


@kernel
def _activation(w, i):
    """Activation of the limited joint in stack row i."""
    return floats(w, at.ACTIVATION)[ints(w, at.LIMITED_JOINT)[LIMIT_ROW - ints(w, at.STACK_ROW)[i]]]


@kernel
def _force(w, l):
    """F_k = Q_k (r_k - s_k), or given."""
    level, F, r, s = (
        ints(w, at.STACK_LEVEL),
        floats(w, at.FORCE),
        floats(w, at.RIGHT),
        floats(w, at.SPENT),
    )
    Q, start, end, kind = (
        floats(w, at.DAMPED_INVERSE),
        level[l, at.S_START],
        level[l, at.S_END],
        level[l, at.S_KIND],
    )
    for i in range(start, end):
        if kind == at.GIVEN_KIND:
            F[i] = r[i]
            continue
        found = 0.0
        for j in range(start, end):
            found += Q[i, j] * (r[j] - s[j])
        F[i] = found


@kernel
def _spend(w, start, end, n):
    """s += S F for the rows below."""
    S, F, s = floats(w, at.GRAM), floats(w, at.FORCE), floats(w, at.SPENT)
    for j in range(end - end % WIDTH, n, WIDTH):
        found = load(s, 0, j)
        for i in range(start, end):
            found = found + F[i] * load(S, i, j)
        store(s, 0, j, found)


@kernel
def _complement(w, start, end, n):
    """COUPLING of the level, and the Schur complement of the rows below (both triangles)."""
    S, P, T = floats(w, at.GRAM), floats(w, at.INVERSE), floats(w, at.COUPLING)
    for j in range(end - end % WIDTH, n, WIDTH):
        for i in range(start, end):
            found = splat(0.0)
            for k in range(start, end):
                found = found + P[i, k] * load(S, k, j)
            store(T, i, j, found)
        for i in range(end, n):
            found = load(S, i, j)
            for k in range(start, end):
                found = found - S[k, i] * load(T, k, j)
            store(S, i, j, found)


@stage(at.ELIMINATE)
def eliminate(w):
    """FORCE of every level, COUPLING = P_k S_k,lower, and the levels' rank and damping for the report."""
    number, level, spent = ints(w, at.NUMBERS), ints(w, at.STACK_LEVEL), floats(w, at.SPENT)
    rank, damped, n = floats(w, at.LEVEL_RANK), floats(w, at.LEVEL_DAMPED), number[at.N_ROWS]
    for i in range(0, n, WIDTH):
        store(spent, 0, i, splat(0.0))
    for l in range(number[at.N_LEVELS]):
        start, end, report = level[l, at.S_START], level[l, at.S_END], level[l, at.S_LEVEL]
        if level[l, at.S_KIND] == at.LIMIT_KIND:
            found, is_damped = invert_limit(w, start, _activation(w, start))
        else:
            found, is_damped = invert_level(w, start, end, report)
        rank[report] += found
        damped[report] = max(damped[report], is_damped)
        _force(w, l)
        _spend(w, start, end, n)
        _complement(w, start, end, n)


@kernel
def back_substitute(w, level):
    """BACK = w for the F of one level of the report (a level of posture: the F that `project` left)."""
    number, row = ints(w, at.NUMBERS), ints(w, at.STACK_ROW)
    stack, back, F, T = (
        ints(w, at.STACK_LEVEL),
        floats(w, at.BACK),
        floats(w, at.FORCE),
        floats(w, at.COUPLING),
    )
    push, n = floats(w, at.PUSH), number[at.N_ROWS]
    for i in range(0, n + 1, WIDTH):
        store(back, 0, i, splat(0.0))
    for l in range(number[at.N_LEVELS] - 1, -1, -1):
        start, end, report = stack[l, at.S_START], stack[l, at.S_END], stack[l, at.S_LEVEL]
        if report > level >= 0:
            continue
        first = end - end % WIDTH
        for i in range(start, end):
            found = from_lane(load(T, i, first), end - first) * load(back, 0, first)
            for j in range(first + WIDTH, n, WIDTH):
                found = found + load(T, i, j) * load(back, 0, j)
            needed = -total(found)
            if level < 0 or report == level:
                needed += F[i]
            if report == level and level >= 2:
                needed += push[row[i]]
            back[i] = needed


@kernel
def project(w, x):
    """FORCE = what each level has to take back of x, an acceleration of every row (spoiled): P_k (x_k - ...)."""
    number, level, F = ints(w, at.NUMBERS), ints(w, at.STACK_LEVEL), floats(w, at.FORCE)
    P, S, n = floats(w, at.INVERSE), floats(w, at.GRAM), number[at.N_ROWS]
    for l in range(number[at.N_LEVELS]):
        start, end = level[l, at.S_START], level[l, at.S_END]
        for i in range(start, end):
            found = 0.0
            for j in range(start, end):
                found += P[i, j] * x[j]
            F[i] = found
        first = end - end % WIDTH
        for j in range(first, n, WIDTH):
            taken = splat(0.0)
            for i in range(start, end):
                taken = taken + F[i] * load(S, i, j)
            store(x, 0, j, load(x, 0, j) - taken)
