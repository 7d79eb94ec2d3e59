# SPDX-License-Identifier: Apache-2.0
"""Tables 1 to 4 and equations (39), (40) of [Featherstone2010], the paper's figures beside ours."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...osim.need import need_table
from .asimo import Mechanism, asimo_variant
from .counted import (
    count_components,
    count_dense,
    count_dynamics,
    count_rjk,
    count_sparse,
)
from .formulas import COMPONENTS, TABLE_1, Sums, ratio, rjk, transforms
from .operations import Cost

# Table 2, operation: (dense, sparse); the last row is the total named in the text.
PAPER_TABLE_2 = {
    "LTDL": (Cost(780, 10660, 10660), Cost(334, 1779, 1779)),
    "J x": (Cost(0, 960, 936), Cost(0, 312, 288)),
    "J^T x": (Cost(0, 960, 920), Cost(0, 312, 312)),
    "J L^-1": (Cost(960, 18720, 18720), Cost(312, 1872, 1872)),
    "Y Y^T": (Cost(0, 12000, 11700), Cost(0, 2424, 2124)),
    "L_d^-1 (Y_D^T Lambda)": (Cost(0, 41760, 40800), Cost(0, 15504, 15504)),
    "1 - Jbar J": (Cost(0, 38400, 36840), Cost(0, 12480, 12520)),
    "Lambda^-1 from H, J": (Cost(1740, 41380, 41080), Cost(646, 6075, 5775)),
}
LAMBDA_INVERSE = ("LTDL", "J L^-1", "Y Y^T")
PAPER_H_C = Cost(0, 7317, 6219)

# Table 3: the mechanisms and their printed cost ratios.
_LONG_HANDS: dict[str, Any] = {"fingers": 4, "finger_joints": 3, "name": "+ 10 DoF per hand"}
PAPER_TABLE_3 = (
    (asimo_variant("HF"), 1.618),
    (asimo_variant("HFH"), 1.923),
    (asimo_variant("HF", extra_joints_per_limb=6, name="+ 6 joints per limb"), 1.369),
    (asimo_variant("HF", extra_joints_per_limb=12, name="+ 12 joints per limb"), 1.095),
    (asimo_variant("HF", arms=4, legs=4, name="4 arms, 4 legs"), 2.496),
    (asimo_variant("HF", **_LONG_HANDS), 1.122),
    (asimo_variant("FTF", **_LONG_HANDS), 1.277),
)

PAPER_39 = Cost(35, 2948, 3572)
PAPER_40 = Cost(0, 14979, 10803)
PAPER_TRANSFORMS = ("28 + 6", "24 + 3", "71 + 7")
PAPER_BLOCKS = "28 + 39 = 67"


@dataclass(frozen=True)
class Row:
    """Cells of a line, and whether ours equals the paper's (None: nothing to compare)."""

    cells: tuple[str, ...]
    agrees: bool | None


@dataclass(frozen=True)
class Table:
    """A table ready to print."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def _blocks(need: np.ndarray) -> str:
    """Blocks of Omega that are computed: on the diagonal + off it."""
    return f"{np.trace(need)} + {need.sum() - np.trace(need)}"


def table_1() -> Table:
    """Cost formulae, and what the kernels of `osim.sparse` are counted to cost on ASIMO."""
    asimo = asimo_variant()
    sums = Sums.of(asimo.lambda_e, asimo.b_e)
    dense, sparse = count_dense(asimo.m, asimo.n), count_sparse(asimo.lambda_e, asimo.b_e)
    rows = []
    for op in TABLE_1:
        counted = dense[op.name], sparse[op.name]
        rows.append(
            Row(
                (op.name, op.dense_text, op.sparse_text, str(counted[0]), str(counted[1])),
                counted == (op.dense(asimo.m, asimo.n), op.sparse(sums)),
            )
        )
    return Table(
        "Table 1: cost formulae",
        ("operation", "dense", "sparse", "dense on ASIMO", "sparse on ASIMO"),
        tuple(rows),
        (
            "Sums over the task rows i, and j <= i; d_i = |kappa_e(b_e(i))|, "
            "d_ij = |kappa_e(ancest(b_e(i), b_e(j)))|; D_1 = sum of |kappa_e(k)| - 1 over all k.",
            "=: osim.sparse, run on counting numbers, costs what the formulae say.",
        ),
    )


def table_2() -> Table:
    """Costs of the ASIMO example, counted."""
    asimo = asimo_variant()
    counts = [count_dense(asimo.m, asimo.n), count_sparse(asimo.lambda_e, asimo.b_e)]
    for each in counts:
        each["Lambda^-1 from H, J"] = sum((each[name] for name in LAMBDA_INVERSE), Cost())
    ours_H_C = str(count_dynamics(asimo))
    rows = [Row(("H, C", str(PAPER_H_C), ours_H_C, str(PAPER_H_C), ours_H_C), None)]
    for name, paper in PAPER_TABLE_2.items():
        ours = tuple(each[name] for each in counts)
        rows.append(
            Row((name, str(paper[0]), str(ours[0]), str(paper[1]), str(ours[1])), ours == paper)
        )
    sums = Sums.of(asimo.lambda_e, asimo.b_e)
    return Table(
        "Table 2: ASIMO, hands and feet",
        ("operation", "dense, paper", "ours", "sparse, paper", "ours"),
        tuple(rows),
        (
            "H, C: the paper takes the formulae from [Featherstone2005] and does not repeat them; ours is "
            "counted on composite bodies and Newton-Euler in link coordinates, and need not be equal.",
            f"Non-zero elements: J {sums.d_i.sum()} of {sums.m * sums.n}, "
            f"H {2 * sums.D_1 + sums.n} of {sums.n**2}, L {sums.D_1 + sums.n}.",
        ),
    )


def _ratio_row(mechanism: Mechanism, paper: float, corrected: bool, label: str) -> Row:
    """A line of table 3 with the need table as printed or corrected."""
    ours = f"{ratio(mechanism, corrected):.3f}"
    cells = (
        mechanism.name,
        mechanism.space,
        str(mechanism.n),
        str(mechanism.d),
        str(mechanism.m),
        label,
        _blocks(need_table(mechanism.parent, mechanism.task_bodies, corrected)),
        f"{paper:.3f}",
        ours,
    )
    # The paper's ratio belongs to its own need table; the corrected one is shown for information.
    return Row(cells, None if label == "corrected" else ours == f"{paper:.3f}")


def table_3() -> Table:
    """Cost ratios RJK / sparse of the seven variants; where the two need tables differ, both."""
    rows = []
    for mechanism, paper in PAPER_TABLE_3:
        if rjk(mechanism, corrected=True) == rjk(mechanism, corrected=False):
            rows.append(_ratio_row(mechanism, paper, True, "either"))
        else:
            rows.append(_ratio_row(mechanism, paper, False, "as printed"))
            rows.append(_ratio_row(mechanism, paper, True, "corrected"))
    return Table(
        "Table 3: cost of RJK / cost of sparse factorization",
        ("robot", "space", "n", "d", "m", "need", "blocks", "paper", "ours"),
        tuple(rows),
        (
            "The cost of H is fitted, not derived: 60 J2 + 94 J3 + 32 V2 + 48 V3 + 10 operations, "
            "J2/J3 joints with two/three screws, V2/V3 vector transforms (each joint once for every "
            "body it supports).",
            "need: figure 15 as printed leaves out blocks that figure 14 reads when limbs are uneven "
            "(FTF); corrected, it marks (min, max) of the parents.",
        ),
    )


def table_4() -> Table:
    """Costs of the component calculations of RJK, counted."""
    ours = count_components()
    rows = tuple(
        Row(
            (name, str(screws or ""), str(paper), str(ours[name, screws])),
            ours[name, screws] == paper,
        )
        for (name, screws), paper in COMPONENTS.items()
    )
    return Table(
        "Table 4: components of RJK, revolute joints",
        ("calculation", "screws", "paper", "ours"),
        rows,
        (
            "taubar_i^T (..) taubar_i: the paper counts six rows of (..) taubar_i where five suffice "
            "(30m + 24a).",
        ),
    )


def equations() -> Table:
    """(39), (40) and the numbers around them, for ASIMO."""
    asimo = asimo_variant()
    need = need_table(asimo.parent, asimo.task_bodies)
    loops = transforms(asimo.parent, need, asimo.two_screw)
    first, second = count_rjk(asimo)
    pairs = [
        ("(39) D_i^-1, taubar_i", str(PAPER_39), str(first)),
        ("(40) Omega", str(PAPER_40), str(second)),
        ("blocks of Omega: diagonal + others", PAPER_BLOCKS, f"{_blocks(need)} = {need.sum()}"),
    ]
    for name, paper, loop in zip(("P_i", "Omega_ii", "Omega_ij"), PAPER_TRANSFORMS, loops):
        pairs.append(
            (f"transforms of {name}: two + three screws", paper, f"{loop.two} + {loop.three}")
        )
    return Table(
        "Equations (39), (40): RJK on ASIMO",
        ("quantity", "paper", "ours"),
        tuple(Row(pair, pair[1] == pair[2]) for pair in pairs),
        ("(39) counts one division for the torso, whose D is 6 x 6.",),
    )
