# SPDX-License-Identifier: Apache-2.0
"""Print the tree, dimensions, masses, limits and sparsity of a robot, or what is in an exported controller."""

import argparse
from collections.abc import Sequence

from rich.table import Column, Table

from ..model import JointType, Model
from ..model.joints import NV
from . import _robot, add_force
from ._console import console, new_table, right
from ._figure import ensure_drawable
from ._image import read_image, show_image
from ._patterns import Patterns, sparsity
from ._plot import draw

TITLES = ("link", "moved by", "mass [kg]", "type", "v", "position", "velocity", "effort")
TEXTS = ("link", "moved by", "type")
UNITS = {"REVOLUTE": ("rad", "rad/s", "Nm"), "PRISMATIC": ("m", "m/s", "N")}
MOST_ROWS = 500  # of the tree; no robot has as many


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ROBOT and what to show of it."""
    _robot.add_robot_arguments(parser)
    parser.add_argument(
        "--frames",
        metavar="A,B",
        help="task frames of J (default: a shipped robot's own, else all tips)",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE.png",
        help="draw the connectivity graph and the patterns of H, L and J (also .pdf, .svg)",
    )
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Print the tables; draw the picture."""
    if args.plot:
        ensure_drawable(args.plot, args.force)
    if args.robot.endswith(".opspace"):
        show_image(read_image(args.robot), console())
        return 0
    model = _robot.load(args)
    frames = _robot.task_frames(args, model)
    patterns = sparsity(model, frames)
    out = console()
    out.print(summary(model))
    for table in tree_tables(model, out.width, out.options.ascii_only):
        out.print(table)
    out.print(sparsity_table(model, patterns, frames))
    if args.plot:
        draw(model, frames, patterns, args.plot, args.force)
        out.print(f"drawn: {args.plot}")
    return 0


def summary(model: Model) -> str:
    """The robot in two lines."""
    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    base = "floating" if model.is_base_coordinate.any() else "fixed"
    return (
        f"{model.name}: N = {len(model.parent)} moving bodies, n = {model.nv} coordinates "
        f"(nq = {model.nq}), depth d = {model.depth}, {base} base\n"
        f"mass {model.total_mass:.4g} kg, of which {model.mass.sum():.4g} kg move; "
        f"gravity ({gravity}) m/s^2"
    )


def tree_tables(model: Model, width: int, ascii_only: bool = False) -> list[Table]:
    """Links indented as a tree, with the joint that moves each, its coordinates in v and its limits.

    One table, or two (the tree; the joints) where one would be wider than `width`. Links on a fixed joint are
    lumped with the one they are fixed to; they are listed below it, without a joint.
    """
    rows = _tree_rows(model, ascii_only)
    if len(rows) > MOST_ROWS:
        rows[MOST_ROWS:] = [[f"... and {len(rows) - MOST_ROWS} more"] + [""] * (len(TITLES) - 1)]
    widths = [max(map(len, column)) + 3 for column in zip(TITLES, *rows)]
    if sum(widths) <= width:
        return [_table(range(len(TITLES)), rows)]
    return [_table((0, 1, 2), rows), _table((1, 3, 4, 5, 6, 7), [row for row in rows if row[1]])]


def _table(columns: Sequence[int], rows: list[list[str]]) -> Table:
    table = new_table(*(_column(TITLES[column]) for column in columns))
    for row in rows:
        table.add_row(*(row[column] for column in columns), style=None if row[1] else "dim")
    return table


def _column(title: str) -> Column:
    return Column(title, no_wrap=True) if title in TEXTS else right(title)


def _tree_rows(model: Model, ascii_only: bool) -> list[list[str]]:
    """The cells of TITLES for the world and every link below it, depth first."""
    bar, gap, tee, corner = ("| ", "  ", "+ ", "` ") if ascii_only else ("│ ", "  ", "├ ", "└ ")
    rows = [["world"] + [""] * (len(TITLES) - 1)]
    stack = _lines_below(model, -1, "")
    while stack:
        name, body, indent, is_last = stack.pop()
        link = indent + (corner if is_last else tee) + name
        if body is None:
            rows.append([link, "", "", "fixed", "", "", "", ""])
        else:
            mass = f"{model.mass[body]:.4g}"
            rows.append([link, model.body_joint_names[body], mass, *_joint_cells(model, body)])
            stack += _lines_below(model, body, indent + (gap if is_last else bar))
    return rows


def _lines_below(model: Model, parent: int, indent: str) -> list[tuple[str, int | None, str, bool]]:
    """(name, body or None if fixed, indentation, is it the last) of what hangs on a body, last one first."""
    own = model.body_names[parent] if parent >= 0 else None
    fixed = [
        (name, None)
        for name, body in zip(model.frame_names, model.frame_body)
        if body == parent and name != own
    ]
    below = fixed + [(model.body_names[i], i) for i in model.children(parent)]
    return [(name, body, indent, k == 0) for k, (name, body) in enumerate(reversed(below))]


def _joint_cells(model: Model, body: int) -> tuple[str, ...]:
    """Type, coordinates and limits with their units; a mimic joint says what it follows."""
    kind, first = JointType(model.joint_type[body]), int(model.v_index[body])
    last = first + NV[kind] - 1
    coordinates = f"{first}" if first == last else f"{first}-{last}"
    if model.is_mimic[body]:
        follows = f"{model.multiplier[body]:g} q[{model.q_index[body]}] {model.offset[body]:+g}"
        return f"{kind.name.lower()} mimic", coordinates, follows, "", ""
    if kind not in (JointType.REVOLUTE, JointType.PRISMATIC):
        return kind.name.lower(), coordinates, "", "", ""
    row = first - int(model.is_base_coordinate[:first].sum())
    (lower, upper), (position, rate, effort) = model.position_limits[row], UNITS[kind.name]
    is_bounded = abs(lower) != float("inf") or abs(upper) != float("inf")
    name = "continuous" if kind is JointType.REVOLUTE and not is_bounded else kind.name.lower()
    return (
        name,
        coordinates,
        f"{lower:.4g} .. {upper:.4g} {position}" if is_bounded else "",
        _limit(model.velocity_limits[row], rate),
        _limit(model.effort_limits[row], effort),
    )


def _limit(value: float, unit: str) -> str:
    return "" if value == float("inf") else f"{value:.4g} {unit}"


def sparsity_table(model: Model, patterns: Patterns, frames: list[str]) -> Table:
    """Sizes and shares of zeros of H, of the lower triangle L and of J."""
    n = model.nv
    table = new_table("matrix", *map(right, ("size", "entries", "nonzero", "zero")))
    rows = (
        ("H, joint-space inertia", n, n * n, patterns.H),
        ("L, its lower triangular factor", n, n * (n + 1) // 2, patterns.L),
        (f"J of {', '.join(frames) or 'no frame'}", len(patterns.J), patterns.J.size, patterns.J),
    )
    for name, height, entries, pattern in rows:
        nonzero = int(pattern.sum())
        share = f"{1 - nonzero / entries:.1%}" if entries else ""
        table.add_row(name, f"{height} x {n}", str(entries), str(nonzero), share)
    return table
