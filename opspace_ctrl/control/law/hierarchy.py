"""Strict hierarchy in row space: no projector is ever formed.

Stacked rows J of all levels, Gram matrix A = J H^-1 J^T. Level by level, S being A's Schur complement so far,
    F_k = Q_k (r_k - s_k),   s_i += S_ik F_k,   S_ij -= S_ik P_k S_kj          i, j below k
which is F_k = Lambda_k|< (a_k - Jdot_k v - J_k H^-1 tau_<k), the coupling with the levels above included. The torque
of a level is N_<^T J_k^T F_k = J^T w with w_k = F_k and, upward, w_i = -P_i sum_j S_ij w_j. P and Q: see `inverse`.
A force that is given (impedance, raw mode) replaces Q_k (r_k - s_k); a force along force axes is added to it, but not
to s: in contact it moves nothing, and the levels below need not make up for it.
"""

from __future__ import annotations

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W, from_lane, splat, total
from ..fields import GIVEN_KIND, LIMIT_KIND, Law
from .inverse import invert_level, invert_limit
from .stack import LIMIT_ROW


@kernel
def _activation(law, i):
    """Activation of the limited joint in stack row i."""
    return law.activation[law.near_limit[LIMIT_ROW - law.stack_row[i]]]


@kernel
def _force(law, l):
    """F_k = Q_k (r_k - s_k), or given."""
    F, r, s = law.F, law.r, law.s
    Q = law.Q
    start = law.stack_level_start[l]
    end = law.stack_level_end[l]
    kind = law.stack_level_kind[l]
    for i in range(start, end):
        if kind == GIVEN_KIND:
            F[i] = r[i]
            continue
        found = 0.0
        for j in range(start, end):
            found += Q[i, j] * (r[j] - s[j])
        F[i] = found


@kernel
def _spend(law, start, end, n):
    """s += S F for the rows below."""
    S, F, s = law.gram, law.F, law.s
    for j in range(end - end % W, n, W):
        found = s[j : j + W]
        for i in range(start, end):
            found = found + F[i] * S[i, j : j + W]
        s[j : j + W] = found


@kernel
def _complement(law, start, end, n):
    """COUPLING of the level, and the Schur complement of the rows below (both triangles)."""
    S, P, T = law.gram, law.P, law.coupling
    for j in range(end - end % W, n, W):
        for i in range(start, end):
            found = splat(0.0)
            for k in range(start, end):
                found = found + P[i, k] * S[k, j : j + W]
            T[i, j : j + W] = found
        for i in range(end, n):
            found = S[i, j : j + W]
            for k in range(start, end):
                found = found - S[k, i] * T[k, j : j + W]
            S[i, j : j + W] = found


@stage(Law)
def eliminate(law):
    """FORCE of every level, COUPLING = P_k S_k,lower, and the levels' rank and damping for the report."""
    spent = law.s
    rank, damped, n = law.level_rank, law.level_damped, law.stack_rows
    for i in range(0, n, W):
        spent[i : i + W] = 0.0
    for l in range(law.stack_levels):
        start, end, report = (
            law.stack_level_start[l],
            law.stack_level_end[l],
            law.stack_level_report[l],
        )
        if law.stack_level_kind[l] == LIMIT_KIND:
            found, is_damped = invert_limit(law, start, _activation(law, start))
        else:
            found, is_damped = invert_level(law, start, end, report)
        rank[report] += found
        damped[report] = max(damped[report], is_damped)
        _force(law, l)
        _spend(law, start, end, n)
        _complement(law, start, end, n)


@kernel
def back_substitute(law, level):
    """BACK = w for the F of one level of the report (a level of posture: the F that `project` left)."""
    row = law.stack_row
    back, F, T = law.w, law.F, law.coupling
    push, n = law.row_applied, law.stack_rows
    for i in range(0, n + 1, W):
        back[i : i + W] = 0.0
    for l in range(law.stack_levels - 1, -1, -1):
        start, end, report = (
            law.stack_level_start[l],
            law.stack_level_end[l],
            law.stack_level_report[l],
        )
        if report > level >= 0:
            continue
        first = end - end % W
        for i in range(start, end):
            found = from_lane(T[i, first : first + W], end - first) * back[first : first + W]
            for j in range(first + W, n, W):
                found = found + T[i, j : j + W] * back[j : j + W]
            needed = -total(found)
            if level < 0 or report == level:
                needed += F[i]
            if report == level and level >= 2:
                needed += push[row[i]]
            back[i] = needed


@kernel
def project(law, x):
    """FORCE = what each level has to take back of x, an acceleration of every row (spoiled): P_k (x_k - ...)."""
    F = law.F
    P, S, n = law.P, law.gram, law.stack_rows
    for l in range(law.stack_levels):
        start, end = law.stack_level_start[l], law.stack_level_end[l]
        for i in range(start, end):
            found = 0.0
            for j in range(start, end):
                found += P[i, j] * x[j]
            F[i] = found
        first = end - end % W
        for j in range(first, n, W):
            taken = splat(0.0)
            for i in range(start, end):
                taken = taken + F[i] * S[i, j : j + W]
            x[j : j + W] = x[j : j + W] - taken
