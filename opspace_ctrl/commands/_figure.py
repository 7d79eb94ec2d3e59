# SPDX-License-Identifier: Apache-2.0
"""Pictures without a screen: a new figure, and a file of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..writing import check_output, new_file
from . import CommandError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, ALARM, GREY = "#4E79A7", "#C44E52", "0.75"
NAMED = 8  # curves of a picture that have a colour and a name
MAX_POINTS = 4000  # of a curve; more only make the file large


def new_figure(width: float, height: float) -> Figure:
    """A figure of this size [inch]; CommandError if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise CommandError("--plot needs matplotlib: pip install 'opspace_ctrl[plot]'") from None
    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def ensure_drawable(path: str, force: bool) -> None:
    """Raise CommandError or OutputError, before any work is done, if no picture could be written there."""
    valid = new_figure(1, 1).canvas.get_supported_filetypes()
    check_output(path, force)
    if _ending(path) not in valid:
        raise CommandError(
            f"cannot write {path!r}: its ending must be one of {', '.join(sorted(valid))}"
        )


def save(figure: Figure, path: str, force: bool) -> None:
    """Write the picture; the ending of `path` chooses the format. OutputError if it cannot be written."""
    with new_file(path, force) as file:
        figure.savefig(file, format=_ending(path))


def histogram(axes: Axes, values: np.ndarray, unit: str) -> None:
    """How often which time was measured, on logarithmic scales, so that an outlier squashes nothing."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    values = values[np.isfinite(values) & (values > 0.0)]
    if not len(values):
        axes.text(0.5, 0.5, "nothing was measured", ha="center", transform=axes.transAxes)
        return
    least, most = values.min(), max(values.max(), 1.01 * values.min())
    axes.hist(values, np.geomspace(least, most, 70).tolist(), color=INK)
    for value, style, name in (
        (np.median(values), "-", "median"),
        (np.percentile(values, 99.0), "--", "99 % below"),
        (values.max(), ":", "largest"),
    ):
        label = f"{name} {value:.0f} {unit}" if value >= 1e4 else f"{name} {value:.4g} {unit}"
        axes.axvline(value, color="black", linewidth=1.0, linestyle=style, label=label)
    axes.set(xscale="log", yscale="log", xlabel=f"[{unit}]", ylabel="number of steps")
    # matplotlib's own labels, 2 x 10^2 and so on, overlap
    subs = (1.0, 2.0, 5.0) if most < 100.0 * least else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=subs) if most > 10.0 * least else MaxNLocator(4))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.16), fontsize=8, frameon=False)


def curves(axes: Axes, time: np.ndarray, values: np.ndarray, names: Sequence[str]) -> None:
    """A curve a column (n, k) over time (n,): the NAMED largest in colour beside their names, the others grey."""
    every = max(1, len(time) // MAX_POINTS)
    time, values = time[::every], values[::every]
    size = np.nan_to_num(np.abs(values)).max(axis=0, initial=0.0)
    largest = np.sort(np.argsort(-size)[:NAMED])
    others = np.setdiff1d(np.arange(len(size)), largest)
    if len(others):
        label = [f"{len(others)} others", *[""] * (len(others) - 1)]
        axes.plot(time, values[:, others], color=GREY, linewidth=0.6, label=label)
    for k in largest:
        axes.plot(time, values[:, k], linewidth=1.0, label=names[k])
    beside(axes)


def beside(axes: Axes) -> None:
    """The legend at the right of the axes, where it hides nothing."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)


def _ending(path: str) -> str:
    return Path(path).suffix.lower().lstrip(".")
