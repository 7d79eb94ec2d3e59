# SPDX-License-Identifier: Apache-2.0
"""A timing report as a picture: the control tick by method and peer, and cost against size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import CommandError
from ._bench_notes import counts
from ._bench_tables import contestants
from ._figure import new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT = "#222222", "#DDDDDD"
TITLE: dict[str, Any] = {"fontsize": 13, "color": INK}
SPARSE, RECURSIVE, DENSE, PEER, PEER_INK = "#1F5FA8", "#3A9E8F", "#9AA5B1", "#E08A2E", "#A85F10"
FAMILIES = {
    "dense": DENSE,
    "sparse factors": SPARSE,
    "recursive": RECURSIVE,
    "other programs": PEER,
}
OURS = "sparse_ltdl"  # what the peers' ratios refer to
# Colour and line of each method against size: where two lie close together, their colours do not.
LINES = {
    "dense": (DENSE, "-"),
    "sparse_ltl": ("#7FB0E3", "-"),
    "sparse_ltdl": (SPARSE, "-"),
    "rjk": ("#C8452F", "-"),
    "efpa": ("#E5A53A", "--"),
    "pv_osim": ("#1B7F6D", "-"),
    "pv_osimr": ("#7DC242", "--"),
    "base_invariant": ("#6FC7C9", "-"),
    "aba": ("#7B3FA0", ":"),
    "rnea": ("#C79BD8", ":"),
}
FORWARD = {"aba": "forward dynamics (aba)", "rnea": "inverse dynamics (rnea)"}
TITLES = {
    "chain": "serial chain, floating base, one task (m = 6)",
    "tree": "binary tree, floating base, four tasks (m = 24)",
}
POINTS: dict[str, Any] = {"textcoords": "offset points", "color": INK}


def draw(report: dict[str, Any], path: str, force: bool) -> None:
    """Write the picture; the ending of `path` chooses the format.

    Raises:
        CommandError: matplotlib is missing, there is nothing to draw, or the file cannot be written.
    """
    robots, shapes = report["robots"], report.get("growth", {})
    rows = bool(robots) + bool(shapes)
    if not rows:
        raise CommandError("--plot: this report has neither robots nor growth to draw")
    figure = new_figure(14, 4.9 * rows)
    from matplotlib.patches import Patch  # it is there: a figure could be made

    parts = list(figure.subfigures(rows, 1, squeeze=False)[:, 0])
    if robots:
        part = parts.pop(0)
        part.suptitle(
            "One control tick [µs]: joint state and forces in, torque out (least of "
            f"{counts(report)[0]} calls, one core); × = times as long as {OURS}",
            **TITLE,
        )
        for k, (axes, name) in enumerate(
            zip(part.subplots(1, len(robots), squeeze=False)[0], robots)
        ):
            _bars(axes, report, name, is_first=k == 0)
        part.legend(
            [Patch(color=colour) for colour in FAMILIES.values()],
            list(FAMILIES),
            loc="outside lower center",
            ncols=len(FAMILIES),
            frameon=False,
            fontsize=9.5,
        )
    if shapes:
        part = parts.pop(0)
        part.suptitle(
            "Λ⁻¹ from a configuration, and forward and inverse dynamics (dotted) [µs], against the number "
            "of joints",
            **TITLE,
        )
        for axes, shape in zip(
            part.subplots(1, len(shapes), squeeze=False, sharey=True)[0], shapes
        ):
            _lines(axes, shapes[shape], TITLES.get(shape, shape))
        handles, labels = axes.get_legend_handles_labels()
        part.legend(handles, labels, loc="outside right center", frameon=False, fontsize=9)
    save(figure, path, force)


def _bars(axes: Axes, report: dict[str, Any], name: str, is_first: bool) -> None:
    """Bars, one a contestant, the peers' ratios to ours; who cannot carry the robot keeps an empty place."""
    robot, names = report["robots"][name], contestants(report, "tick")
    times, peers = robot["times"]["tick"], robot["peers"]["tick"]
    longest = max(timing["least"] for timing in times.values())
    for y, contestant in enumerate(names):
        if contestant not in times:
            axes.text(0.0, y, " –", va="center", color=DENSE, fontsize=9)
            continue
        least, is_peer = times[contestant]["least"], contestant in peers
        axes.barh(y, least, height=0.72, color=PEER if is_peer else _family(contestant))
        label = axes.annotate(
            f"{least:.1f}", (least, y), xytext=(4, 0), va="center", fontsize=8.5, **POINTS
        )
        if is_peer:
            axes.annotate(
                f"{least / times[OURS]['least']:.1f} ×",
                (1.0, 0.5),
                xycoords=label,
                xytext=(5, 0),
                va="center",
                fontsize=9.5,
                weight="bold",
                **{**POINTS, "color": PEER_INK},
            )
    axes.set_yticks(range(len(names)), names if is_first else [""] * len(names), fontsize=9.5)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 1.42 * longest)
    axes.set_title(f"{name}\nn = {robot['nv']}, m = {robot['m']}", fontsize=11, color=INK)
    axes.tick_params(length=0, colors=INK, labelsize=8.5)
    axes.tick_params(axis="y", labelsize=9.5)
    axes.grid(axis="x", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.spines["left"].set_color(FAINT)


def _family(method: str) -> str:
    return DENSE if method == "dense" else SPARSE if method.startswith("sparse") else RECURSIVE


def _lines(axes: Axes, grown: dict[str, Any], title: str) -> None:
    """Cost against size on logarithmic axes, fitted exponents in the legend, the crossover marked."""
    joints = grown["joints"]
    for method, (colour, dash) in LINES.items():
        if method not in grown["least_us"]:
            continue
        axes.loglog(
            joints,
            grown["least_us"][method],
            color=colour,
            linestyle=dash,
            linewidth=1.8,
            marker="o",
            markersize=3,
            label=FORWARD.get(method, method),
        )
    if crossing := grown["crossover"]:
        axes.axvline(
            crossing["joints"], ymax=0.35, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0
        )
        axes.plot(
            crossing["joints"],
            crossing["cost"],
            marker="o",
            markersize=10,
            markerfacecolor="none",
            markeredgecolor=INK,
            linestyle="none",
        )
        axes.annotate(
            f"recursive methods win from {crossing['joints']:.0f} joints on",
            (crossing["joints"], 0.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(6, 8),
            fontsize=9.5,
            **POINTS,
        )
    slopes = grown["exponents"]
    text = "\n".join(
        f"{method}  $n^{{{slopes[method]:.2f}}}$"
        for method in ("dense", "sparse_ltdl", "pv_osim", "rjk", "aba")
        if method in slopes
    )
    axes.text(
        0.03,
        0.97,
        f"fitted from 64 joints on\n{text}",
        transform=axes.transAxes,
        va="top",
        fontsize=9.5,
        color=INK,
        linespacing=1.35,
    )
    axes.set_title(title, fontsize=11, color=INK)
    axes.set_xticks(joints, [str(n) for n in joints])
    axes.minorticks_off()
    axes.set_xlabel("joints", fontsize=9.5, color=INK)
    axes.grid(color=FAINT, linewidth=0.7)
    axes.tick_params(length=0, colors=INK, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
