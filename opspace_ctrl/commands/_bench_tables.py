# SPDX-License-Identifier: Apache-2.0
"""A timing report as tables for the terminal, or as Markdown."""

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.table import Column, Table
from rich.text import Text

from ._bench_notes import head, notes, summary
from ._console import new_table, right

# The words before the colons are those of the second table's rows.
QUANTITIES = {
    "tick": "tick: control tick",
    "body": "body: the tick without Python",
    "explicit": "explicit: Lambda, Jbar, N, torque",
    "inertia_inv": "inertia_inv: Lambda^-1 alone",
    "forward": "forward: forward dynamics",
    "inverse": "inverse: inverse dynamics",
}
MARKS = {True: ("ok", "green"), False: ("short", "red"), None: ("", "")}
SENSES = {">=": "≥", "<=": "≤"}
JUDGED = "measured [target]: ok = reached, short = not"


def tables(report: dict[str, Any], width: int, markdown: bool = False) -> Iterator[Table | str]:
    """The report, part by part; robots side by side as far as `width` characters allow."""
    yield _lines(head(report), markdown)
    for part in _tables(report, width, markdown):
        if markdown:  # a title of rich's would run into what stands before it
            yield f"\n**{part.title}**\n"
            part.title = None
        yield part
    if said := notes(report):
        yield _lines(said, markdown)
    yield ("\n" if markdown else "") + summary(report)


def _tables(report: dict[str, Any], width: int, markdown: bool) -> Iterator[Table]:
    for build, label, cell in ((times, 35, 17), (by_robot, 44, 19)):
        for robots in _side_by_side(list(report["robots"]), (width - label) // cell):
            yield build(report, robots, markdown)
    for shape in report.get("growth", {}):
        yield growth(report, shape, markdown)
    if report.get("exported"):
        yield exported(report, markdown)
    if "auto" in report:
        yield auto(report, markdown)
    if any(not verdict["robot"] for verdict in report["verdicts"]):
        yield in_general(report, markdown)


def _lines(lines: list[str], markdown: bool) -> str:
    """One below the other; in Markdown as a list, so that they stay so."""
    return "\n".join(f"- {line}" if markdown else line for line in lines)


def _side_by_side(names: list[str], most: int) -> list[list[str]]:
    return [names[k : k + max(most, 1)] for k in range(0, len(names), max(most, 1))]


def times(report: dict[str, Any], names: list[str], markdown: bool) -> Table:
    """Least and median time of every contestant, a robot a column."""
    robots = [report["robots"][name] for name in names]
    heads = [f"{name} n={robot['nv']} m={robot['m']}" for name, robot in zip(names, robots)]
    title = "microseconds: least / median; n coordinates, m task rows"
    table = _table(title, markdown, _text("method or peer"), *map(right, heads))
    for quantity, title in QUANTITIES.items():
        table.add_row(f"**{title}**" if markdown else Text(title, style="bold"))
        for contestant in contestants(report, quantity):
            cells = [robot["times"][quantity].get(contestant) for robot in robots]
            table.add_row(
                contestant if markdown else f"  {contestant}",
                *[f"{cell['least']:.2f} / {cell['median']:5.2f}" if cell else "" for cell in cells],
            )
    return table


def contestants(report: dict[str, Any], quantity: str) -> list[str]:
    """Names of all that were timed on any robot: our methods in their order, then the peers."""
    robots = report["robots"].values()
    names = dict.fromkeys(name for robot in robots for name in robot["times"][quantity])
    peers = {name for robot in robots for name in robot["peers"][quantity]}
    return sorted(names, key=lambda name: name in peers)


def by_robot(report: dict[str, Any], names: list[str], markdown: bool) -> Table:
    """Ratios and the tick's other figures beside their targets, a robot a column."""
    table = _table(JUDGED, markdown, _text("figure"), *map(right, names))
    cells = {
        (verdict["claim"], verdict["robot"]): _judged(verdict) for verdict in report["verdicts"]
    }
    claims = [[claim for claim, robot in cells if robot == name] for name in names]
    for claim in dict.fromkeys(sum(sorted(claims, key=len, reverse=True), [])):
        table.add_row(claim, *[cells.get((claim, name), Text("")) for name in names])
    return table


def in_general(report: dict[str, Any], markdown: bool) -> Table:
    """Figures of no robot in particular."""
    table = _table(JUDGED, markdown, "figure", right("this machine"))
    for verdict in report["verdicts"]:
        if not verdict["robot"]:
            table.add_row(verdict["claim"], _judged(verdict))
    return table


def exported(report: dict[str, Any], markdown: bool) -> Table:
    """The tick of the exported library by what went before it."""
    robots = report["exported"]
    title = "microseconds of an exported tick, without Python: median / 99 %"
    table = _table(title, markdown, _text("before it"), *map(right, robots))
    for what in next(iter(robots.values())):
        cells = [robots[name][what] for name in robots]
        table.add_row(what, *[f"{cell['median']:.2f} / {cell['p99']:.2f}" for cell in cells])
    return table


def growth(report: dict[str, Any], shape: str, markdown: bool) -> Table:
    """Least time against the number of joints, and the exponents."""
    grown = report["growth"][shape]
    crossing = grown["crossover"]
    where = (
        f"recursive methods win from {crossing['joints']:.0f} joints on"
        if crossing
        else "no crossover"
    )
    heads = [right(str(joints)) for joints in (*grown["joints"], "exponent")]
    table = _table(f"{shape}, microseconds by joints; {where}", markdown, "joints", *heads)
    for name, least in grown["least_us"].items():
        slope = grown["exponents"].get(name)
        table.add_row(
            name, *[f"{time:.1f}" for time in least], "" if slope is None else f"{slope:.2f}"
        )
    return table


def auto(report: dict[str, Any], markdown: bool, most: int = 8) -> Table:
    """The robots on which auto chose worst; how many were looked at."""
    robots = [robot for robot in report["auto"] if "excess" in robot]
    left_out = sorted(
        {robot["robot"] for robot in report["auto"]} - {robot["robot"] for robot in robots}
    )
    table = _table(
        f"auto's worst choices of {len(robots)} (robots with a base); not loadable or nothing "
        f"moves: {'; '.join(left_out) or 'none'}",
        markdown,
        "robot",
        right("n"),
        right("m"),
        "choice",
        right("us"),
        "fastest",
        right("us"),
        right("excess"),
    )
    for robot in sorted(robots, key=lambda robot: -robot["excess"])[:most]:
        table.add_row(
            robot["robot"],
            str(robot["nv"]),
            str(robot["m"]),
            robot["choice"],
            f"{robot['choice_us']:.2f}",
            robot["fastest"],
            f"{robot['fastest_us']:.2f}",
            f"{robot['excess']:.1%}",
        )
    return table


def _table(title: str, markdown: bool, *columns: str | Column) -> Table:
    look = {"box": box.MARKDOWN, "pad_edge": True} if markdown else {}
    return new_table(*columns, title=title, padding=(0, 1, 0, 0), **look)


def _text(title: str) -> Column:
    return Column(title, no_wrap=True)


def _judged(verdict: dict[str, Any]) -> Text:
    """The figure, its target in brackets, and ok or short."""
    word, style = MARKS[verdict["met"]]
    figure = _figure(verdict["value"], verdict["unit"])
    if verdict["target"] is None:
        return Text(figure)
    target = _figure(verdict["target"], verdict["unit"], short=True)
    return Text.assemble(f"{figure} [{SENSES[verdict['sense']]} {target}] ", (word, style))


def _figure(value: float, unit: str, short: bool = False) -> str:
    if unit == "%":
        return f"{100 * value:.{0 if short else 1 if value >= 0.01 else 2}f}%"
    number = f"{value:g}" if short or unit == "B" else f"{value:.2f}"
    return f"{number} {unit}" if unit in ("s", "B") else number
