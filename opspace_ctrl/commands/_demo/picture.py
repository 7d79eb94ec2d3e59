"""The picture at the end: the path in space, errors, torques and timing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._figure import new_figure, save
from .record import Record
from .scenario import SECONDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]


def draw(record: Record, delay_name: str, path: str, force: bool) -> None:
    """Write the picture of a run; `delay_name` says what the delays are."""
    figure = new_figure(13, 7.5)
    figure.suptitle(f"{record.model.name}: {record.scenario.story}")
    _path(figure.add_subplot(2, 2, 1, projection="3d"), record)
    _errors(figure.add_subplot(2, 2, 2), record)
    _torques(figure.add_subplot(2, 2, 3), record)
    _delays(figure.add_subplot(2, 2, 4), record, delay_name)
    save(figure, path, force)


def _path(axes: Any, record: Record) -> None:
    axes.plot(*record.target.T, color="0.7", linewidth=4, label="target")
    axes.plot(*record.position.T, color="tab:blue", linewidth=1.2, label=record.scenario.task)
    centre = record.centre
    reach = max(1.2 * np.abs(record.target - centre).max(), 0.05)
    axes.set(
        xlabel="x [m]",
        ylabel="y [m]",
        zlabel="z [m]",
        xlim=centre[0] + reach * np.array([-1, 1]),
        ylim=centre[1] + reach * np.array([-1, 1]),
        zlim=centre[2] + reach * np.array([-1, 1]),
    )
    axes.locator_params(nbins=4)
    axes.legend(loc="upper left")


def _errors(axes: Axes, record: Record) -> None:
    axes.semilogy(record.time, np.maximum(record.error, 1e-4), color="tab:blue", linewidth=1.0)
    axes.set(xlabel="time [s]", ylabel="tracking error [mm]", xlim=(0.0, SECONDS))
    _marks(axes, record)


def _torques(axes: Axes, record: Record) -> None:
    most = np.argsort(-np.abs(record.share).max(axis=0))[:7]  # the hardest working joints
    names = record.model.joint_names
    for j in sorted(most):
        axes.plot(record.time, 100.0 * record.share[:, j], linewidth=1.0, label=names[j])
    axes.set(xlabel="time [s]", ylabel="torque [% of the limit]", xlim=(0.0, SECONDS))
    axes.legend(ncols=2, fontsize=7, loc="upper right")
    _marks(axes, record)


def _marks(axes: Axes, record: Record) -> None:
    """Mark the times at which the methods change, and the push."""
    scenario, turn = record.scenario, SECONDS / len(record.scenario.methods)
    for k, name in enumerate(scenario.methods):
        axes.axvline(k * turn, color="0.8", linewidth=0.8)
        axes.text(
            (k + 0.5) * turn,
            1.01,
            name,
            fontsize=8,
            ha="center",
            va="bottom",
            transform=axes.get_xaxis_transform(),
        )
    axes.axvspan(scenario.push_start, scenario.push_end, color="tab:red", alpha=0.25, linewidth=0)
    axes.text(
        scenario.push_end,
        0.97,
        " push",
        fontsize=8,
        color="tab:red",
        va="top",
        transform=axes.get_xaxis_transform(),
    )


def _delays(axes: Axes, record: Record, name: str) -> None:
    delay = record.delay[np.isfinite(record.delay) & (record.delay > 0.0)]
    if len(delay):
        edges = np.geomspace(delay.min(), max(delay.max(), 1.01 * delay.min()), 60)
        axes.hist(delay, edges.tolist(), color="tab:green")
        median, worst = np.percentile(delay, [50.0, 99.0])
        axes.axvline(median, color="black", linewidth=1.0, label=f"median {median:.0f} us")
        axes.axvline(
            worst, color="black", linestyle=":", linewidth=1.0, label=f"99 % below {worst:.0f} us"
        )
        axes.legend()
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=f"{name} [us]",
        ylabel="steps",
        title=f"{record.rate:.0f} steps/s",
    )
