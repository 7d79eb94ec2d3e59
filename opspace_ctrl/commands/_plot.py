# SPDX-License-Identifier: Apache-2.0
"""The connectivity graph of a robot beside the patterns of H, L and J [Featherstone2010, figures 1 and 2]."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import Model
from ..model.connectivity import depths
from ..model.joints import NV
from ._figure import new_figure, save
from ._patterns import Patterns, coordinate_body

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# One colour a limb (Tableau's, in an order that keeps neighbours apart).
PALETTE = (
    "#4E79A7",
    "#F28E2B",
    "#59A14F",
    "#EDC948",
    "#B6992D",
    "#E15759",
    "#FF9DA7",
    "#9C755F",
    "#79706E",
    "#B07AA1",
    "#499894",
    "#D37295",
    "#86BCB6",
    "#8CD17D",
)
EMPTY, FILL, INK, FAINT = "#FFFFFF", "#BBBBBB", "#222222", "#DDDDDD"
BESIDE: dict[str, Any] = {"xytext": (11, 0), "textcoords": "offset points", "va": "center"}
MEANINGS = {
    "H": "H, joint-space inertia",
    "L": "L, its factor (grey: fill)",
    "J": "J of the task frames",
}
MAX_NAMED = 12  # bodies; with more only the tips and the task bodies are named
MAX_GRID = 60  # coordinates; with more the lines between the cells would hide them


def draw(model: Model, frames: Sequence[str], patterns: Patterns, path: str, force: bool) -> None:
    """Write the picture; the ending of `path` chooses the format.

    Raises:
        CommandError: matplotlib is missing, or the file cannot be written.
    """
    tips = sum(not model.children(i) for i in range(len(model.parent)))
    widths = [min(2.6 + 0.45 * tips, 7.0), 4.6, 4.6, 4.6]
    longest = max(map(len, (*frames, *model.body_names)), default=0)
    # slanted names stand above the graph: the longer they are, the more room it needs
    height = 5.6 + (0.08 * max(0, longest - 12) if tips > 1 else 0.0)
    figure = new_figure(sum(widths) + 1.5, height)
    graph, *matrices = figure.subplots(1, 4, width_ratios=widths)
    size = f"N = {len(model.parent)} bodies, n = {model.nv} coordinates, depth d = {model.depth}"
    figure.suptitle(f"{model.name}: {size}")
    colours = _limb_colours(model)
    _draw_graph(graph, model, frames, colours)
    _draw_patterns(matrices, model, frames, patterns, colours)
    save(figure, path, force)


def _limb_colours(model: Model) -> list[str]:
    """A colour for each body: a limb is a chain between two branchings of the tree."""
    colours: list[str] = []
    limbs = 0
    for i, parent in enumerate(model.parent):
        if parent >= 0 and model.children(parent) == [i]:
            colours.append(colours[parent])
        else:
            colours.append(_limb_colour(limbs))
            limbs += 1
    return colours


def _limb_colour(number: int) -> str:
    """The palette, and after it hues a golden section apart, so that no colour comes back."""
    if number < len(PALETTE):
        return PALETTE[number]
    rgb = colorsys.hls_to_rgb(0.618 * number % 1.0, 0.6, 0.45)
    return "#" + "".join(f"{round(255 * value):02X}" for value in rgb)


def _positions(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """x and y (N + 1,), the world last: tips side by side in order, parents amid their children."""
    count = len(model.parent)
    x, tips = np.zeros(count + 1), 0
    for i in range(count):
        if not model.children(i):
            x[i] = tips
            tips += 1
    for i in range(count - 1, -2, -1):
        if children := model.children(i):
            x[i] = (x[children[0]] + x[children[-1]]) / 2
    return x, np.append(depths(model.parent), 0)


def _draw_graph(axes: Axes, model: Model, frames: Sequence[str], colours: list[str]) -> None:
    """Bodies as numbered nodes above their parent, joints as arcs, the bodies of the task frames ringed."""
    x, y = _positions(model)
    tasks: dict[int, list[str]] = {}
    for name in frames:
        tasks.setdefault(int(model.frame_body[model.frame_index(name)]), []).append(name)
    for i, parent in enumerate(model.parent):
        axes.plot(x[[i, parent]], y[[i, parent]], color=colours[i], linewidth=2, zorder=1)
        dof = NV[model.joint_type[i]]
        if dof > 1:
            axes.annotate(
                f"{dof} dof",
                ((x[i] + x[parent]) / 2, (y[i] + y[parent]) / 2),
                xytext=(-6, 0),
                textcoords="offset points",
                fontsize=8,
                color=INK,
                ha="right",
                va="center",
            )
        axes.scatter(
            x[i],
            y[i],
            s=190,
            color=colours[i],
            edgecolors=INK if i in tasks else EMPTY,
            linewidths=2.2 if i in tasks else 1.2,
            zorder=2,
        )
        axes.annotate(
            str(i),
            (x[i], y[i]),
            ha="center",
            va="center",
            fontsize=7.5,
            color=_readable(colours[i]),
            zorder=3,
        )
    axes.scatter(x[-1], y[-1], s=190, marker="s", color=INK, zorder=2)
    axes.annotate("world", (x[-1], y[-1]), **BESIDE, fontsize=8)
    longest = _name_nodes(axes, model, x, y, tasks)
    # Names are not part of the data: leave room above for the slanted ones, and at the right.
    axes.set_ylim(-0.6, y.max() + 0.6 + 0.025 * y.max() * longest)
    axes.set_xlim(-0.7, x.max() + 1.3)
    axes.set_title("connectivity graph\n(ringed: bodies of the task frames)", fontsize=11)
    axes.axis("off")


def _name_nodes(
    axes: Axes, model: Model, x: np.ndarray, y: np.ndarray, tasks: dict[int, list[str]]
) -> int:
    """Names of all bodies of a small robot, of the tips of a large one; task frames in bold instead.

    Tips that have neighbours are named on a slant; the length of the longest such name is returned.
    """
    longest = 0
    for i, body_name in enumerate(model.body_names):
        is_tip = not model.children(i)
        if not (is_tip or i in tasks or len(model.parent) <= MAX_NAMED):
            continue
        text = ", ".join(tasks.get(i, [body_name]))
        style: dict[str, Any] = {
            "fontsize": 8,
            "weight": "bold" if i in tasks else "normal",
            "color": INK,
        }
        if is_tip and x.max() > 0:
            longest = max(longest, len(text))
            axes.annotate(
                text,
                (x[i], y[i]),
                xytext=(-1, 11),
                textcoords="offset points",
                rotation=60,
                rotation_mode="anchor",
                **style,
            )
        else:
            axes.annotate(text, (x[i], y[i]), **BESIDE, **style)
    return longest


def _readable(colour: str) -> str:
    """Black or white, whichever is legible on a colour."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 150 else EMPTY


def _draw_patterns(
    matrices: Sequence[Axes],
    model: Model,
    frames: Sequence[str],
    patterns: Patterns,
    colours: list[str],
) -> None:
    """Nonzero entries in the colour of the limb of their last coordinate, zeros white, fill of L grey."""
    from matplotlib.colors import to_rgb

    limb = np.array([to_rgb(colours[body]) for body in coordinate_body(model)]).reshape(model.nv, 3)
    last = np.maximum.outer(np.arange(model.nv), np.arange(model.nv))
    for axes, name, pattern in zip(matrices, "HLJ", (patterns.H, patterns.L, patterns.J)):
        entries = pattern.size if name != "L" else model.nv * (model.nv + 1) // 2
        axes.set_title(f"{MEANINGS[name]}\n{pattern.sum()} of {entries} nonzero", fontsize=11)
        if not entries:  # nothing moves, or no frame was chosen
            axes.axis("off")
            continue
        picture = np.ones((*pattern.shape, 3))
        shades = np.broadcast_to(limb, picture.shape) if name == "J" else limb[last]
        picture[pattern] = shades[pattern]
        if name == "L":
            picture[patterns.L & ~patterns.H] = to_rgb(FILL)
        axes.imshow(picture, interpolation="nearest", aspect="equal")
        axes.set_anchor("N")
        axes.set_xlabel("coordinate of v", fontsize=9)
        axes.set_ylabel("rows of the task frames" if name == "J" else "coordinate of v", fontsize=9)
        _rule(axes, pattern.shape, frames if name == "J" else None)


def _rule(axes: Axes, shape: tuple[int, int], frames: Sequence[str] | None) -> None:
    """Lines between the cells, coordinate numbers as ticks, for J the frames' names beside their rows."""
    rows, columns = shape
    if max(shape) <= MAX_GRID:
        axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
        axes.yaxis.remove_overlapping_locs = False  # a frame's name stands where a line does
        axes.grid(which="minor", color=FAINT, linewidth=0.5)
    axes.tick_params(which="both", length=0, labelsize=8)
    step = 1 if columns <= 10 else 5 if columns <= MAX_GRID else 20
    axes.set_xticks(range(0, columns, step))
    if frames is None:
        axes.set_yticks(range(0, rows, step))
        return
    axes.set_yticks(6 * np.arange(len(frames)) + 2.5, frames)
    for k in range(1, len(frames)):
        axes.axhline(6 * k - 0.5, color=INK, linewidth=1)
