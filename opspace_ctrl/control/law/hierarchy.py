# SPDX-License-Identifier: Apache-2.0
"""Strict hierarchy in row space: no projector is ever formed.

Stacked rows J of all levels, Gram matrix A = J H^-1 J^T. Level by level, S being A's Schur complement so far,
    F_k = Q_k (r_k - s_k),   s_i += S_ik F_k,   S_ij -= S_ik P_k S_kj          i, j below k
which is F_k = Lambda_k|< (a_k - Jdot_k v - J_k H^-1 tau_<k), the coupling with the levels above included. The torque
of a level is N_<^T J_k^T F_k = J^T w with w_k = F_k and, upward, w_i = -P_i sum_j S_ij w_j. P and Q: see `inverse`.
In other words: a block elimination of A F = r, a level a block, each with an inverse (P, Q) that may be incomplete;
`coupling` keeps P_k S_kj, of which the back substitution is made.
A force that is given (impedance, raw mode) replaces Q_k (r_k - s_k), and may want a damping that fits S_k
(`damping`); a force along force axes is added to it, but not
to s: in contact it moves nothing, and the levels below need not make up for it.
"""

from ...compiled.jit import kernel, stage
from ...compiled.lanes import W, from_lane, splat, total
from ..fields import GIVEN_KIND, LIMIT_KIND, TASKS_MODE, Law
from .damping import damp_critically
from .inverse import invert_level, invert_limit


@kernel
def _force(law, kind, start, end):
    """Write F_k = Q_k (r_k - s_k), or r_k where that is a force."""
    F, Q = law.F, law.Q
    r, s = law.r, law.s
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
    """s += S F for the rows below the level; the first register may begin in it, where s is not read any more."""
    S, F, s = law.gram, law.F, law.s
    for j in range(end - end % W, n, W):
        found = s[j : j + W]
        for i in range(start, end):
            found = found + F[i] * S[i, j : j + W]
        s[j : j + W] = found


@kernel
def _complement(law, start, end, n):
    """Write `coupling` of the level, and the Schur complement of the rows below (both triangles) into `gram`.

    The first register may begin left of column `end`: what it spoils there belongs to levels that are done.
    """
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
    """Level by level, the highest priority first: invert its Schur complement, find its force, take both off the rest.

    Writes F of every level, P, Q, `coupling`, and rank and damping of the reported levels.

    Needs the stack: `gram` (which becomes its Schur complements), r, and its rows and levels.
    """
    starts, ends, kinds = law.stack_level_start, law.stack_level_end, law.stack_level_kind
    reports, s, n = law.stack_level_report, law.s, law.stack_rows
    for i in range(0, n, W):
        s[i : i + W] = 0.0
    for l in range(law.stack_levels):
        start, end, kind = starts[l], ends[l], kinds[l]
        if kind == LIMIT_KIND:
            invert_limit(law, start)
        else:
            invert_level(law, start, end, reports[l])
        _force(law, kind, start, end)
        if kind == GIVEN_KIND and law.present_mode == TASKS_MODE:
            damp_critically(law, start, end, reports[l])
        _spend(law, start, end, n)
        _complement(law, start, end, n)


@kernel
def back_substitute(law, F, level):
    """Write w of a reported level: its F, and upwards w_i = -P_i sum_j S_ij w_j. Needs `eliminate`, `row_applied`.

    To F of a level of tasks what is applied along its force axes is added. The posture, L + 2, has an F on every level
    of the stack: what that level takes back of it.
    """
    starts, ends, reports = law.stack_level_start, law.stack_level_end, law.stack_level_report
    rows, applied, T = law.stack_row, law.row_applied, law.coupling
    w, n, is_posture = law.w, law.stack_rows, level > law.L + 1
    for i in range(0, n + 1, W):
        w[i : i + W] = 0.0
    for l in range(law.stack_levels - 1, -1, -1):
        start, end, report = starts[l], ends[l], reports[l]
        if report > level:
            continue
        first = end - end % W
        for i in range(start, end):
            found = splat(0.0)
            if end < n:  # below the last level nothing has been written
                found = from_lane(T[i, first : first + W], end - first) * w[first : first + W]
                for j in range(first + W, n, W):
                    found = found + T[i, j : j + W] * w[j : j + W]
            needed = -total(found)
            if is_posture or report == level:
                needed += F[i]
            if report == level and level >= 2:
                needed += applied[rows[i]]
            w[i] = needed


@kernel
def project(law):
    """Write `F_posture`, F_k = P_k x_k, x -= S F: what each level takes back of x, so that N^T of it remains.

    x is `stack_posture`, an acceleration of every row; it is spoiled. Needs `eliminate`.
    """
    starts, ends, n = law.stack_level_start, law.stack_level_end, law.stack_rows
    F, x = law.F_posture, law.stack_posture
    P, S = law.P, law.gram
    for l in range(law.stack_levels):
        start, end = starts[l], ends[l]
        for i in range(start, end):
            found = 0.0
            for j in range(start, end):
                found += P[i, j] * x[j]
            F[i] = found
        for j in range(end - end % W, n, W):
            taken = splat(0.0)
            for i in range(start, end):
                taken = taken + F[i] * S[i, j : j + W]
            x[j : j + W] = x[j : j + W] - taken
