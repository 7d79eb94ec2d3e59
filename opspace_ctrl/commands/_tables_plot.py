# SPDX-License-Identifier: Apache-2.0
"""Figures 12 and 13 of [Featherstone2010]: operations as bars, the paper's counts beside ours."""

from __future__ import annotations

from ..algebra.counts.asimo import asimo_variant
from ..algebra.counts.counted import count_dense, count_dynamics, count_sparse
from ..algebra.counts.formulas import crba_fitted, rjk
from ..algebra.counts.tables import PAPER_H_C
from ._figure import ALARM, GREY, INK, new_figure, save

BARS = {
    "LTDL": "LTDL",
    "J x": "J x",
    "J^T x": "J^T x",
    "J L^-1": "Y",
    "Y Y^T": "Y Y^T",
    "L_d^-1 (Y_D^T Lambda)": "Jbar",
    "1 - Jbar J": "N",
}


def figure_12() -> dict[str, tuple[int, int]]:
    """Operations, dense and sparse, of each calculation on ASIMO; of H and C the paper's total and ours."""
    asimo = asimo_variant()
    dense, sparse = count_dense(asimo.m, asimo.n), count_sparse(asimo.lambda_e, asimo.b_e)
    bars = {label: (dense[name].total, sparse[name].total) for name, label in BARS.items()}
    return {"H, C (paper, ours)": (PAPER_H_C.total, count_dynamics(asimo).total), **bars}


def figure_13() -> dict[str, dict[str, int]]:
    """Operations by part: sparse factorization, and the algorithm of Rodriguez, Jain and Kreutz."""
    asimo = asimo_variant()
    sparse = count_sparse(asimo.lambda_e, asimo.b_e)
    first, second = rjk(asimo)
    return {
        "sparse": {
            "H": crba_fitted(asimo),
            "LTDL": sparse["LTDL"].total,
            "Y_d, Y_D": sparse["J L_d^-1, Y_d D^-1"].total,
            "Y_D Y_d^T": sparse["Y_D Y_d^T"].total,
        },
        "RJK": {"D^-1, taubar": first.total, "Omega": second.total},
    }


def draw(path: str, force: bool) -> None:
    """Write both figures into one picture."""
    figure = new_figure(11, 5)
    left, right = figure.subplots(1, 2, width_ratios=[1.6, 1])
    bars = figure_12()
    for k, (dense, sparse) in enumerate(bars.values()):
        left.barh(k - 0.2, dense, 0.4, color=GREY, label="dense" if k == 1 else None)
        left.barh(k + 0.2, sparse, 0.4, color=INK, label="sparse" if k == 1 else None)
    left.set(title="figure 12: ASIMO, hands and feet", xlabel="operations")
    left.set_yticks(range(len(bars)), list(bars))
    left.invert_yaxis()
    left.legend(frameon=False)
    for k, parts in enumerate(figure_13().values()):
        start = 0
        for number, (name, operations) in enumerate(parts.items()):
            colour = (INK, GREY, ALARM, "0.55")[number]
            right.bar(k, operations, 0.4, bottom=start, color=colour)
            right.text(k + 0.23, start + operations / 2, name, va="center", fontsize=8)
            start += operations
    right.set(
        title="figure 13: sparse factorization and RJK", ylabel="operations", xlim=(-0.4, 1.9)
    )
    right.set_xticks(range(2), list(figure_13()))
    save(figure, path, force)
