# SPDX-License-Identifier: Apache-2.0
"""Which method is fastest for a robot and its tasks: operation counts first, a short timing of those that are close."""

from time import perf_counter_ns

import numpy as np

from ..model.connectivity import depths
from ..turns import without_pause

CLOSE = 2.5  # methods within this factor of the fewest operations are timed
CALLS, ROUNDS = 10, 15


def predicted_operations(prepared) -> dict[str, float]:
    """Multiply-adds of each method: the model of [Featherstone2010] table 1, and its kin for the recursive methods.

    d is the support of a block's rows, `shared` what two blocks share (d_i and d_ij of the paper).
    """
    supports, model = prepared.space.supports, prepared.model
    depth = depths(model.parent_expanded)
    rows = np.array([len(b.selection) for b in prepared.blocks])
    d = np.array([len(s) for s in supports.slots])
    shared = np.array([[len(set(a) & set(b)) for b in supports.slots] for a in supports.slots])
    pairs = float(rows @ shared @ rows) / 2
    n, m = model.nv, prepared.m
    factor = float((depth * (depth + 1) / 2).sum() + 6 * depth.sum())
    articulated, product = 100.0 * n, pairs
    carried = 12.0 * float(rows @ d)
    blocks = len(rows) * (len(rows) + 1) / 2
    sparse = factor + float(rows @ (d * d)) / 2 + product
    return {
        "dense": n**3 / 3 + 6.0 * n * n + m * n * n + m * m * n,
        "sparse_ltl": sparse,
        "sparse_ltdl": sparse,
        "pv_osim": articulated + carried + product,
        "pv_osimr": articulated + 2 * carried + 60 * m * len(rows),
        "efpa": articulated + 2 * carried + 72 * m + 36 * blocks * 6,
        "base_invariant": 2 * articulated + carried + 200 * blocks,
        "rjk": articulated + 144 * float(d.sum()) + 144 * float(blocks * d.max()),
    }


def choose(prepared, able: tuple[str, ...]) -> tuple[str, str]:
    """The fastest of the able methods, and why."""
    predicted = predicted_operations(prepared)
    fewest = min(predicted[name] for name in able if name in predicted)
    close = [name for name in able if name in predicted and predicted[name] <= CLOSE * fewest]
    # no model of a foreign method: it is timed
    close += [name for name in able if name not in predicted]
    if len(close) == 1:
        why = f"{fewest:.0f} operations, all others more than {CLOSE} times as many"
        return close[0], f"{close[0]}: {why}"
    before, times = prepared.method, _timings(prepared, close)
    prepared.use(before)
    best = min(times, key=times.__getitem__)
    figures = ", ".join(
        f"{name} {times[name]:.2f} us" for name in sorted(times, key=times.__getitem__)
    )
    left = [f"{name} {predicted[name]:.0f}" for name in able if name not in close]
    why = f"{best}: fastest here ({figures})"
    return best, why + (
        f"; not timed, operations {', '.join(left)} against {fewest:.0f}" if left else ""
    )


def _timings(prepared, names: list[str]) -> dict[str, float]:
    """Least time [us] of J and Lambda^-1 by each method, taken in turns so that noise hits all alike.

    Of single calls, for a disturbance spoils one and not its whole turn; without the factor of Lambda^-1, which takes
    the same by all and, where it is singular, several times as long as what is compared.
    """
    q = prepared.model.random_configuration(np.random.default_rng(1))
    best = dict.fromkeys(names, np.inf)
    for _ in range(ROUNDS):
        for name in names:
            prepared.use(name)
            with without_pause():
                for _ in range(CALLS):
                    start = perf_counter_ns()
                    prepared.inertia_inv_at(q)
                    best[name] = min(best[name], (perf_counter_ns() - start) / 1e3)
    return best
