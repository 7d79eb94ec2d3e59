# SPDX-License-Identifier: Apache-2.0
"""`opspace bench --accuracy`: correct digits, method by method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Column

from ..bench.accuracy import Accuracy, accuracy, with_light_links
from ..bench.robots import find_case
from ._console import console, new_table, right

ROBOTS = ("arm7", "free_flyer")
LIGHT = 1e-6  # of the masses and inertias of the outer links


def show_accuracy(
    robots: Sequence[str], base: str | None, frames: Sequence[str], states: int, markdown: bool
) -> int:
    """Print the digits of each robot as it is, and with its outer links lighter by a million."""
    found: list[Accuracy] = []
    for robot in robots or ROBOTS:
        case = find_case(robot, base, frames)
        found.append(accuracy(case.model, case.frames, states, case.name))
        light = with_light_links(case.model, LIGHT)
        found.append(accuracy(light, case.frames, states, f"{case.name}, light"))
    out = console()
    look: dict[str, Any] = {"box": box.MARKDOWN, "pad_edge": True} if markdown else {}
    for title, part in (("Lambda^-1", "inertia_inv"), ("forward dynamics", "forward")):
        names = list(dict.fromkeys(name for each in found for name in getattr(each, part)))
        told = f"correct digits of {title}, the fewest of {states} states"
        columns: list[str | Column] = ["robot", right("cond H"), *(right(name) for name in names)]
        table = new_table(*columns, title=None if markdown else told, **look)
        for each in found:
            digits = getattr(each, part)
            cells = [f"{digits[name]:.1f}" if name in digits else "" for name in names]
            table.add_row(each.robot, f"{each.condition:.0e}", *cells)
        if markdown:
            out.print(f"**{told}**\n")
        out.print(table)
    return 0
