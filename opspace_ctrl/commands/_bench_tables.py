"""A timing report as tables for the terminal, or as Markdown."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

QUANTITIES = {"tick": "control tick", "explicit": "Lambda, Jbar, N and torque",
              "inertia_inv": "Lambda^-1 alone", "forward": "forward dynamics", "inverse": "inverse dynamics"}
MARKS = {True: ("ok", "green"), False: ("short", "red"), None: ("", "")}


def tables(report: dict[str, Any], width: int, markdown: bool = False) -> Iterator[Table | str]:
    """The report, part by part; robots side by side as far as `width` characters allow."""
    yield head(report)
    for build, label, cell in ((times, 28, 15), (by_robot, 46, 18)):
        for robots in _side_by_side(list(report["robots"]), (width - label) // cell):
            yield build(report, robots, markdown)
    for notes in (absences(report), singular_notes(report)):
        if notes:
            yield notes
    for shape in report.get("growth", {}):
        yield growth(report, shape, markdown)
    if "auto" in report:
        yield auto(report, markdown)
    if any(not verdict["robot"] for verdict in report["verdicts"]):
        yield in_general(report, markdown)
    yield summary(report)


def _side_by_side(names: list[str], most: int) -> list[list[str]]:
    return [names[k:k + max(most, 1)] for k in range(0, len(names), max(most, 1))]


def head(report: dict[str, Any]) -> str:
    """Machine and versions."""
    machine, versions, plan = report["machine"], report["versions"], report["plan"]
    installed = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    core = "not pinned" if report["core"] is None else f"pinned to core {report['core']}"
    return (f"{machine['cpu']}, {machine['cores_allowed']} of {machine['cores']} cores ({core}), "
            f"{' '.join(machine['vector_flags'])}\n{machine['system']}; {installed}\n"
            f"{report['made']}; at least {plan['calls']} calls of each at {plan['states']} random regular "
            f"states, in turns; every time includes {report['clock_us']:.2f} us of the clock")


def times(report: dict[str, Any], names: list[str], markdown: bool) -> Table:
    """Least and median time of every contestant, a robot a column."""
    robots = [report["robots"][name] for name in names]
    table = _table("microseconds: least, median", markdown)
    table.add_column("", no_wrap=True)
    for name, robot in zip(names, robots):
        table.add_column(f"{name} n{robot['nv']} m{robot['m']}", justify="right", no_wrap=True)
    for quantity, title in QUANTITIES.items():
        table.add_row(Text(title, style="bold"))
        for contestant in contestants(report, quantity):
            cells = [robot["times"][quantity].get(contestant) for robot in robots]
            table.add_row(f"  {contestant}", *[f"{cell['least']:.2f} {cell['median']:6.2f}" if cell else ""
                                               for cell in cells])
    return table


def contestants(report: dict[str, Any], quantity: str) -> list[str]:
    """Names of all that were timed on any robot: our methods in their order, then the peers."""
    robots = report["robots"].values()
    names = dict.fromkeys(name for robot in robots for name in robot["times"][quantity])
    peers = {name for robot in robots for name in robot["peers"][quantity]}
    return sorted(names, key=lambda name: name in peers)


def by_robot(report: dict[str, Any], names: list[str], markdown: bool) -> Table:
    """Ratios and the tick's other figures beside their targets, a robot a column."""
    table = _table("measured [target]", markdown)
    table.add_column("", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    cells = {(verdict["claim"], verdict["robot"]): _judged(verdict) for verdict in report["verdicts"]}
    claims = [[claim for claim, robot in cells if robot == name] for name in names]
    for claim in dict.fromkeys(sum(sorted(claims, key=len, reverse=True), [])):
        table.add_row(claim, *[cells.get((claim, name), Text("")) for name in names])
    return table


def in_general(report: dict[str, Any], markdown: bool) -> Table:
    """Figures of no robot in particular."""
    table = _table("measured [target]", markdown)
    table.add_column("")
    table.add_column("", justify="right", no_wrap=True)
    for verdict in report["verdicts"]:
        if not verdict["robot"]:
            table.add_row(verdict["claim"], _judged(verdict))
    return table


def growth(report: dict[str, Any], shape: str, markdown: bool) -> Table:
    """Least time against the number of joints, and the exponents."""
    grown = report["growth"][shape]
    crossing = grown["crossover"]
    where = f"recursive methods win from {crossing['joints']:.0f} joints on" if crossing else "no crossover"
    table = _table(f"{shape}, microseconds by joints; {where}", markdown)
    table.add_column("")
    for joints in (*grown["joints"], "exponent"):
        table.add_column(str(joints), justify="right")
    for name, least in grown["least_us"].items():
        slope = grown["exponents"].get(name)
        table.add_row(name, *[f"{time:.1f}" for time in least], "" if slope is None else f"{slope:.2f}")
    return table


def auto(report: dict[str, Any], markdown: bool, most: int = 8) -> Table:
    """The robots on which auto chose worst; how many were looked at."""
    robots = [robot for robot in report["auto"] if "excess" in robot]
    left_out = sorted({robot["robot"] for robot in report["auto"]} - {robot["robot"] for robot in robots})
    table = _table(f"auto's worst choices of {len(robots)} (robots with a base); not loadable or nothing "
                   f"moves: {'; '.join(left_out) or 'none'}", markdown)
    for title in ("robot", "n", "m", "choice", "us", "fastest", "us", "excess"):
        table.add_column(title, justify="left" if title in ("robot", "choice", "fastest") else "right")
    for robot in sorted(robots, key=lambda robot: -robot["excess"])[:most]:
        table.add_row(robot["robot"], str(robot["nv"]), str(robot["m"]), robot["choice"],
                      f"{robot['choice_us']:.2f}", robot["fastest"], f"{robot['fastest_us']:.2f}",
                      f"{robot['excess']:.1%}")
    return table


def absences(report: dict[str, Any]) -> str:
    """Who is missing, and why."""
    lines = [f"{name} left out: {reason}" for name, reason in report["left_out"].items()]
    lines += [f"{name} without {peer}: {reason}" for name, robot in report["robots"].items()
              for peer, reason in robot["absent"].items()]
    return "\n".join(lines)


def singular_notes(report: dict[str, Any]) -> str:
    """At which states the singular tick was timed."""
    return "\n".join(f"singular tick of {name}: {robot['singularity']['singular_states']}"
                     for name, robot in report["robots"].items())


def summary(report: dict[str, Any]) -> str:
    """How many targets are met."""
    judged = [verdict["met"] for verdict in report["verdicts"] if verdict["met"] is not None]
    return f"{sum(judged)} of {len(judged)} targets met"


def _table(title: str, markdown: bool) -> Table:
    return Table(title=title, title_justify="left", box=box.MARKDOWN if markdown else box.SIMPLE_HEAD,
                 padding=(0, 1, 0, 0), pad_edge=markdown)


def _judged(verdict: dict[str, Any]) -> Text:
    """The figure, its target in brackets, and ok or short."""
    word, style = MARKS[verdict["met"]]
    figure = _figure(verdict["value"], verdict["unit"])
    if verdict["target"] is None:
        return Text(figure)
    sense = {">=": "", "<=": "≤ "}[verdict["sense"]]
    return Text.assemble(f"{figure} [{sense}{_figure(verdict['target'], verdict['unit'], short=True)}] ",
                         (word, style))


def _figure(value: float, unit: str, short: bool = False) -> str:
    if unit == "%":
        return f"{100 * value:.{0 if short else 1 if value >= 0.01 else 2}f} %"
    return f"{value:g}" if short or unit == "B" else f"{value:.2f}"
