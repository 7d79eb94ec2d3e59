# SPDX-License-Identifier: Apache-2.0
"""The figures of [Featherstone2010], exactly: tables 1 to 4, (39), (40) and the numbers in its text."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import pytest

from opspace_ctrl.algebra.counts import tables
from opspace_ctrl.algebra.counts.asimo import asimo_variant
from opspace_ctrl.algebra.counts.counted import (
    count_components,
    count_dense,
    count_rjk,
    count_sparse,
)
from opspace_ctrl.algebra.counts.formulas import (
    COMPONENTS,
    TABLE_1,
    Sums,
    Transforms,
    crba_fitted,
    lambda_inverse_dense,
    lambda_inverse_sparse,
    ltdl_dense,
    ltdl_sparse,
    ratio,
    rjk,
    transforms,
)
from opspace_ctrl.algebra.counts.operations import Cost, count
from opspace_ctrl.commands import tables as command
from opspace_ctrl.osim import sparse
from opspace_ctrl.osim.need import need_table

ASIMO = asimo_variant()
VARIANTS = [mechanism for mechanism, _ in tables.PAPER_TABLE_3]
IDS = [f"{robot.name} {robot.space}" for robot in VARIANTS]
EIGHT_LIMBS, TWELVE_DOF_HANDS = VARIANTS[4:6]


def sums_of(robot):
    return Sums.of(robot.lambda_e, robot.b_e)


def test_counter_counts_as_the_paper_does_and_keeps_the_values():
    def formula(x):
        return -(x[0] * x[1] - x[2]) / x[3] + 2.0 * x[0] + np.sqrt(x[3])

    cost, value = count(formula, np.array([2.0, 3.0, 4.0, 0.25]))
    assert cost == Cost(d=1, m=2, a=3, r=1) and float(value) == -8.0 + 4.0 + 0.5


def test_cost_adds_scales_and_prints_as_the_paper():
    total = 2 * Cost(323, 3037, 2887) + Cost(m=1, a=1)
    assert str(total) == "646d + 6075m + 5775a" and total.total == 12496 and str(Cost()) == "0"


def test_002_figure_11_asimo_has_the_papers_connectivity():
    """Figure 11, section 9: n = 40, N = 35, m = 24, d = 14; 374, 708, 312 non-zero elements in L, H, J."""
    sums = sums_of(ASIMO)
    assert (ASIMO.n, len(ASIMO.parent), ASIMO.m, ASIMO.d) == (40, 35, 24, 14)
    assert (sums.D_1 + 40, 2 * sums.D_1 + 40, sums.d_i.sum()) == (374, 708, 312)
    assert ASIMO.parent.tolist() == [
        -1,
        0,
        1,
        2,
        0,
        *range(4, 10),
        10,
        10,
        0,
        *range(13, 19),
        19,
        19,
        0,
        22,
        *range(23, 28),
        22,
        *range(29, 34),
    ]
    assert ASIMO.task_bodies == (10, 19, 28, 34)


def test_002_table_3_variants_have_the_dimensions_of_table_3():
    assert [(robot.n, robot.d, robot.m) for robot in VARIANTS] == [
        (40, 14, 24),
        (40, 14, 30),
        (64, 20, 24),
        (88, 26, 24),
        (70, 14, 48),
        (60, 16, 24),
        (60, 16, 36),
    ]


@pytest.mark.parametrize("robot", VARIANTS, ids=IDS)
def test_002_table_1_counted_kernels_cost_what_the_sparse_formulas_of_table_1_say(robot):
    counted = count_sparse(robot.lambda_e, robot.b_e)
    expected = {op.name: op.sparse(sums_of(robot)) for op in TABLE_1}
    assert counted == {"LTDL": ltdl_sparse(sums_of(robot)), **expected}


@pytest.mark.parametrize("m, n", [(24, 40), (1, 1), (6, 7)])
def test_counted_dense_algebra_costs_what_the_dense_formulas_of_table_1_say(m, n):
    assert count_dense(m, n) == {
        "LTDL": ltdl_dense(n),
        **{op.name: op.dense(m, n) for op in TABLE_1},
    }


def test_ltl_costs_as_ltdl_and_n_square_roots():
    H = np.tril(np.ones((40, 40)) + 40.0 * np.eye(40))
    assert count(sparse.ltl, H, ASIMO.lambda_e)[0] == ltdl_sparse(sums_of(ASIMO)) + Cost(r=40)


def test_002_table_2_is_exact_but_for_h_and_c():
    assert [row.agrees for row in tables.table_2().rows] == [None] + 8 * [True]
    assert lambda_inverse_sparse(sums_of(ASIMO)) == Cost(646, 6075, 5775)
    assert lambda_inverse_dense(24, 40) == Cost(1740, 41380, 41080)


def test_002_section_9_savings():
    dense, sparse_costs = count_dense(24, 40), count_sparse(ASIMO.lambda_e, ASIMO.b_e)
    assert round(dense["J L^-1"].total / sparse_costs["J L^-1"].total, 1) == 9.5
    assert (
        round(lambda_inverse_dense(24, 40).total / lambda_inverse_sparse(sums_of(ASIMO)).total, 1)
        == 6.7
    )
    for name in ("L_d^-1 (Y_D^T Lambda)", "1 - Jbar J"):
        assert dense[name].total - sparse_costs[name].total > 50_000


def test_002_table_3_ratios_with_the_fitted_cost_of_h():
    assert [crba_fitted(robot) for robot in VARIANTS] == [
        7486,
        7486,
        18046,
        33214,
        14546,
        15190,
        15190,
    ]
    assert [round(ratio(robot, corrected=False), 3) for robot in VARIANTS] == [
        1.618,
        1.923,
        1.369,
        1.095,
        2.496,
        1.122,
        1.277,
    ]


def test_cost_of_omega_of_the_variants_with_the_need_table_as_printed():
    assert [rjk(robot, corrected=False)[1] for robot in VARIANTS] == [
        Cost(m=m, a=a)
        for m, a in (
            (14979, 10803),
            (21368, 15166),
            (28443, 20331),
            (41907, 29859),
            (60437, 41565),
            (14979, 10803),
            (25603, 18275),
        )
    ]


def test_002_table_3_shows_ftf_with_both_need_tables():
    rows = [row.cells[5:] for row in tables.table_3().rows if row.cells[1] == "FTF"]
    assert rows == [
        ("as printed", "40 + 69", "1.277", "1.277"),
        ("corrected", "40 + 75", "1.277", "1.313"),
    ]
    assert any("fitted" in note for note in tables.table_3().notes)


def test_low_order_method_wins_from_15_extra_joints_per_limb():
    before, after = (ratio(asimo_variant(extra_joints_per_limb=extra)) for extra in (14, 15))
    assert before > 1.0 > after


def test_branches_near_the_tips_cause_less_sparsity_than_branches_near_the_root():
    """Section 9: 73 % and 64 % zeros in H, and the smaller matrix is dearer to factorize."""
    limbs, hands = sums_of(EIGHT_LIMBS), sums_of(TWELVE_DOF_HANDS)
    assert [round(100 * (1 - (2 * s.D_1 + s.n) / s.n**2)) for s in (limbs, hands)] == [73, 64]
    assert ltdl_sparse(hands).total > ltdl_sparse(limbs).total and hands.n < limbs.n


def test_002_table_4_every_component_counts_as_printed():
    assert count_components() == COMPONENTS


def test_002_39_40_equations_by_formula_and_by_counting():
    assert rjk(ASIMO) == count_rjk(ASIMO) == (Cost(35, 2948, 3572), Cost(0, 14979, 10803))


@pytest.mark.parametrize("robot", VARIANTS[1:], ids=IDS[1:])
def test_counted_rjk_costs_what_its_components_add_up_to(robot):
    assert count_rjk(robot) == rjk(robot)


def test_002_39_40_need_of_asimo_is_28_diagonal_and_39_other_blocks_and_the_screws_split_as_printed():
    need = need_table(ASIMO.parent, ASIMO.task_bodies)
    assert (np.trace(need), need.sum()) == (28, 67)
    assert transforms(ASIMO.parent, need, ASIMO.two_screw) == (
        Transforms(28, 6),
        Transforms(24, 3),
        Transforms(71, 7),
    )


def test_need_saves_more_than_a_factor_of_ten():
    """Appendix B: 67 blocks against all 630, that is every body a task."""
    all_bodies = replace(ASIMO, task_bodies=tuple(range(35)))
    assert need_table(ASIMO.parent, all_bodies.task_bodies).sum() == 630
    assert rjk(all_bodies)[1].total > 10 * rjk(ASIMO)[1].total


@pytest.mark.parametrize(
    "build", [tables.table_1, tables.table_2, tables.table_3, tables.table_4, tables.equations]
)
def test_no_printed_row_differs_from_the_paper(build):
    table = build()
    assert table.rows and all(row.agrees is not False for row in table.rows)
    assert all(len(row.cells) == len(table.columns) for row in table.rows)


@pytest.mark.parametrize(
    "number, expected",
    [
        (1, "312d + 1872m + 1872a"),
        (2, "646d + 6075m + 5775a"),
        (3, "1.313"),
        (4, "35d + 2948m + 3572a"),
    ],
)
def test_command_prints_one_table(number, expected, capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.run(parser.parse_args(["--table", str(number)])) == 0
    printed = capsys.readouterr().out
    assert expected in printed
    assert [n for n in (1, 2, 3, 4) if f"Table {n}:" in printed] == [number]


def test_command_fails_when_a_figure_differs(capsys, monkeypatch):
    monkeypatch.setitem(tables.PAPER_TABLE_2, "LTDL", (Cost(), Cost()))
    assert (
        command.run(argparse.Namespace(table=2, json=False, markdown=False, plot=None, force=False))
        == 1
    )
    assert "differs" in capsys.readouterr().out


def test_002_figure_12_figure_13_are_drawn_from_the_counts(tmp_path, capsys, monkeypatch):
    """Bars are the totals of table 2; of figure 13 the ratio is that of table 3, 1.618."""
    from opspace_ctrl.cli import main
    from opspace_ctrl.commands._tables_plot import figure_12, figure_13

    bars = figure_12()
    for name, (dense, sparse_cost) in tables.PAPER_TABLE_2.items():
        label = {"J L^-1": "Y", "L_d^-1 (Y_D^T Lambda)": "Jbar", "1 - Jbar J": "N"}.get(name, name)
        if label in bars:
            assert bars[label] == (dense.total, sparse_cost.total)
    parts = figure_13()
    ratio = sum(parts["RJK"].values()) / sum(parts["sparse"].values())
    assert round(ratio, 3) == 1.618
    picture = tmp_path / "figures.png"
    assert main(["tables", "--table", "2", "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["tables", "--table", "2", "--plot", str(picture)]) == 2  # it is there already
    assert "figures.png" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    assert main(["tables", "--table", "2", "--plot"]) == 0
    assert (tmp_path / "figures_12_13.png").read_bytes() == picture.read_bytes()
