"""Write the parameter tables of docs/ros_interface.md from those that the nodes declare: `python docs/generate.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from opspace_ctrl.control.tables import controller_table
from opspace_ctrl.nodes.gazebo_table import BRIDGE_TABLE
from opspace_ctrl.parameters import Parameter
from opspace_ctrl.sim.settings import SIMULATOR_TABLE

PAGE = Path(__file__).with_name("ros_interface.md")
TABLES = {
    "controller": controller_table(("<t>",), ("<c>",)),
    "simulator": SIMULATOR_TABLE,
    "bridge": BRIDGE_TABLE,
}


def table(parameters: Iterable[Parameter]) -> str:
    """A Markdown table, one row a parameter."""
    rows = [
        "| parameter | type | default | valid | live | what it is |",
        "|---|---|---|---|---|---|",
    ]
    rows += [
        f"| `{p.name}` | {p.kind} | {_value(p.default)} | {_valid(p)} | {'no' if p.read_only else 'yes'} | "
        f"{p.description.replace('|', ', ')} |"
        for p in parameters
    ]
    return "\n".join(rows)


def generated(text: str) -> str:
    """The page with its tables made anew: what stands between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""
    for name, parameters in TABLES.items():
        place = re.compile(rf"(<!-- {name}: begin -->\n).*?(\n<!-- {name}: end -->)", re.DOTALL)
        found = place.search(text)
        if not found:
            raise SystemExit(f"{PAGE.name}: the marks of the table {name!r} are missing")
        text = f"{text[: found.end(1)]}{table(parameters)}{text[found.start(2) :]}"
    return text


def _value(value) -> str:
    if isinstance(value, list):
        return f"`[{', '.join(_plain(element) for element in value)}]`"
    return f"`{_plain(value)}`" if value != "" else "empty"


def _plain(value) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _valid(p: Parameter) -> str:
    if p.choices:
        return ", ".join(f"`{choice}`" if choice else "empty" for choice in p.choices)
    if p.minimum is None and p.maximum is None:
        return ""
    low, high = ("" if end is None else f"{end:g}" for end in (p.minimum, p.maximum))
    return f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}"


if __name__ == "__main__":
    PAGE.write_text(generated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
