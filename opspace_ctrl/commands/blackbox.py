# SPDX-License-Identifier: Apache-2.0
"""Show what the controller kept when a gate closed: states, commands and gates of the last seconds."""

from __future__ import annotations

import argparse
import io
import zlib
from typing import TYPE_CHECKING, Any

from ..errors import quoted, shown
from ..reading import read_regular
from . import CommandError, add_force
from ._figure import ensure_drawable, new_figure, save

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

LARGEST = 1 << 28  # [bytes] of a file that is read
PER_COMMAND = (
    "arrival",
    "closed",
    "is_ticking",
    "q",
    "v",
    "command",
)  # arrays with a row a command
KEPT = (*PER_COMMAND, "why", "robot", "joints", "state_joints", "gates")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE, and the picture."""
    parser.add_argument("file", metavar="FILE", help="a black_box-*.npz of the controller")
    parser.add_argument("--plot", metavar="PICTURE", help="draw it there (png, svg, pdf)")
    add_force(parser)


def run(args: argparse.Namespace) -> int:
    """Print what happened when, and draw it."""
    if args.plot:
        ensure_drawable(args.plot, args.force)
    kept = _read(args.file)
    time = (kept["arrival"] - kept["arrival"][-1]) * 1e-9
    robot, why = shown(kept["robot"]), shown(kept["why"])
    print(f"{robot}: {len(time)} commands in {-time[0]:.3f} s; closed: {why}")
    for at, names in _changes(kept, time):
        print(f"  {at:9.4f} s  {shown(names)}")
    if args.plot:
        save(_drawn(kept, time), args.plot, args.force)
    return 0


def _read(path: str) -> dict[str, Any]:
    """What is in a file; nothing in it is executed."""
    from zipfile import BadZipFile

    import numpy as np

    try:
        data = read_regular(path, LARGEST)
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            kept = {name: file[name] for name in KEPT if name in file.files}
        reason = _fault(kept)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
    except (ValueError, TypeError, AttributeError, EOFError, MemoryError, BadZipFile, zlib.error):
        reason = "it is no .npz file, or is damaged"
    if reason:
        raise CommandError(
            f"{quoted(path)} is no black box of the controller (black_box-*.npz): {reason}"
        )
    return kept


def _fault(kept: dict[str, Any]) -> str:
    """What is wrong with the arrays of a file, or nothing."""
    missing = [name for name in KEPT if name not in kept]
    if missing:
        return f"it lacks {', '.join(missing)}"
    columns = {"q": 2, "v": 2, "command": 2}
    rows = {kept[name].shape[:1] for name in PER_COMMAND}
    if len(rows) > 1 or any(kept[name].ndim != columns.get(name, 1) for name in PER_COMMAND):
        return "its arrays do not fit each other"
    is_number = all(kept[name].dtype.kind in "biuf" for name in PER_COMMAND)
    return "" if is_number and len(kept["arrival"]) else "it holds no commands"


def _closed(kept: dict[str, Any], bits: int) -> str:
    """Names of the closed gates, the most important one first."""
    names = [str(name) for i, name in enumerate(kept["gates"]) if bits >> i & 1]
    return " ".join(reversed(names)) or "open"


def _changes(kept: dict[str, Any], time: np.ndarray) -> list[tuple[float, str]]:
    """When the closed gates changed [s], and to which."""
    closed = kept["closed"].tolist()
    starts = [i for i in range(len(closed)) if i == 0 or closed[i] != closed[i - 1]]
    return [(float(time[i]), _closed(kept, closed[i])) for i in starts]


def _drawn(kept: dict[str, Any], time: np.ndarray) -> Figure:
    """Commands, positions and velocities over time; what is shaded is not the law's."""
    joints = kept["command"].shape[1]
    figure = new_figure(11, 9)
    axes = figure.subplots(3, 1, sharex=True)
    for axis, values, label in zip(
        axes,
        (kept["command"], kept["q"][:, -joints:], kept["v"][:, -joints:]),
        ("command [Nm or N]", "position [rad or m]", "velocity [rad/s or m/s]"),
    ):
        axis.plot(time, values, linewidth=0.8)
        axis.set(ylabel=label)
        low, high = axis.get_ylim()
        axis.fill_between(time, low, high, where=~kept["is_ticking"], color="#E15759", alpha=0.15)
    axes[0].set(title=f"{kept['robot']}: {kept['why']}")
    for axis, names in ((axes[0], kept["joints"]), (axes[1], kept["state_joints"])):
        axis.legend([str(name) for name in names[:12]], fontsize="small", ncols=4)
    axes[-1].set(xlabel="time before the last command [s]")
    return figure
