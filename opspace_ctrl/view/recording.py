# SPDX-License-Identifier: Apache-2.0
"""A run that was recorded, as rows: an MCAP file of ROS messages, or the folder of `opspace hil`."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..control.settings import ControllerSettings
from ..errors import ViewError, listed, quoted
from ..model import Model
from ..model.rotations import from_quaternion
from ..robot_settings import load_any
from ..sim.joint_index import base_index, coordinate_names, position_index
from ..sim.record.log import read_log
from .geometry import task_pose
from .rows import row_type

__all__ = ["read_recording", "rows_of"]

LOG, ROBOT = "log", "robot.urdf"  # in the folder of `opspace hil`
RATE = 200.0  # rows a second at most
MOST = 200_000  # rows


def read_recording(
    path: Path, robot: str | None, settings: ControllerSettings
) -> tuple[Model, np.ndarray]:
    """The robot and the rows of a run.

    Args:
        path: The file or folder.
        robot: A shipped name or a path; None: what the run itself says.
        settings: Tasks whose frames are followed.

    Raises:
        ViewError: It cannot be read, names no robot, or is of another one.
        OpspaceError: The robot cannot be read.
    """
    if path.is_dir():
        return _folder(path, robot, settings)
    if not path.is_file():
        raise ViewError(
            f"no run {quoted(Path(path))}; valid is an MCAP file or a folder of opspace hil"
        )
    return _mcap(path, robot, settings)


def _load(robot: str, settings: ControllerSettings, is_floating: bool) -> Model:
    base = settings.robot.base or ("floating" if is_floating else "")
    return load_any(robot, base, settings.robot.locked)


def rows_of(
    model: Model, settings: ControllerSettings, time: np.ndarray, q: np.ndarray, effort: np.ndarray
) -> np.ndarray:
    """Rows of times (n,) [s], configurations (n, nq) and efforts (n, k) [Nm or N], `RATE` of them a second at most."""
    period = float(np.median(np.diff(time))) if len(time) > 1 else 1.0
    every = max(1, round(1.0 / (RATE * max(period, 1e-6))))
    rows = np.zeros(len(time[::every]), row_type(model, settings))
    rows["time"], rows["q"], rows["effort"] = time[::every], q[::every], effort[::every]
    return _with_poses(model, settings, rows)


def _folder(
    path: Path, robot: str | None, settings: ControllerSettings
) -> tuple[Model, np.ndarray]:
    inner = path / LOG if (path / LOG).is_dir() else path
    run = read_log(inner)
    written = path / ROBOT
    source = robot or (str(written) if written.is_file() else run.header["robot"])
    model = _load(source, settings, run.header["base"] is not None)
    if (model.nq, coordinate_names(model)) != (run.header["nq"], run.header["joints"]):
        raise ViewError(
            f"the run is of {quoted(run.header['robot'])} with the joints {listed(run.header['joints'])}, "
            f"which {quoted(model.name)} has not"
        )
    every = max(1, round(1.0 / (RATE * max(run.period, 1e-6))))
    kept = run.rows[::every][:MOST]
    rows = np.zeros(len(kept), row_type(model, settings))
    for name, column in (("time", "time"), ("q", "q"), ("v", "v"), ("effort", "applied")):
        values = kept[:, run.columns[column]]
        rows[name] = values[:, 0] if name == "time" else values
    return model, _with_poses(model, settings, rows)


def _mcap(path: Path, robot: str | None, settings: ControllerSettings) -> tuple[Model, np.ndarray]:
    states, bases, said = _messages(path)
    if not states:
        raise ViewError(f"{quoted(Path(path))} has no joint_states")
    source = robot or said
    if not source:
        raise ViewError(
            f"{quoted(Path(path))} does not say which robot it is (no robot_description): name it, "
            "opspace view ROBOT --replay FILE"
        )
    model = _load(source, settings, bool(bases))
    names = coordinate_names(model)
    missing = sorted(set(names) - set(states[0][1]))
    if missing:
        raise ViewError(
            f"{quoted(Path(path))}: joint_states lack {listed(missing)} of {quoted(model.name)}; "
            f"they have {listed(states[0][1])}"
        )
    kept = states[:: max(1, len(states) // MOST)]
    rows = np.zeros(len(kept), row_type(model, settings))
    rows["q"] = model.neutral()
    at = position_index(model)
    rates = np.flatnonzero(~model.is_base_coordinate)
    for row, (time, order, position, velocity, effort) in zip(rows, kept):
        index = [order.index(name) for name in names]
        row["time"], row["q"][at] = time, np.asarray(position)[index]
        if len(velocity) == len(order):
            row["v"][rates] = np.asarray(velocity)[index]
        if len(effort) == len(order):
            row["effort"] = np.asarray(effort)[index]
    _add_bases(model, rows, bases)
    return model, _with_poses(model, settings, rows)


def _add_bases(model: Model, rows: np.ndarray, bases: list[tuple[float, np.ndarray]]) -> None:
    """Put the newest odometry into every row."""
    place = base_index(model)
    if place is None or not bases:
        return
    times = np.array([time for time, _ in bases])
    newest = np.searchsorted(times, rows["time"] + 1e-9).clip(1, len(times)) - 1
    rows["q"][:, place[0] : place[0] + 7] = np.array([pose for _, pose in bases])[newest]


def _messages(path: Path) -> tuple[list[Any], list[Any], str]:
    """(time, names, position, velocity, effort) of joint_states, (time, pose) of odom, and the robot's URDF."""
    states, bases, said = [], [], ""
    for topic, time, message in _decoded(path):
        if topic.endswith("joint_states") and "ground_truth" not in topic:
            stamp = message.header.stamp
            told = stamp.sec + 1e-9 * stamp.nanosec or time
            states.append(
                (told, list(message.name), message.position, message.velocity, message.effort)
            )
        elif topic.endswith("/odom"):
            stamp, pose = message.header.stamp, message.pose.pose
            p, o = pose.position, pose.orientation
            bases.append(
                (
                    stamp.sec + 1e-9 * stamp.nanosec or time,
                    np.array([p.x, p.y, p.z, o.x, o.y, o.z, o.w]),
                )
            )
        elif topic.endswith("robot_description"):
            said = message.data
    return states, bases, said


def _decoded(path: Path) -> Iterator[tuple[str, float, Any]]:
    """(topic, time, message) of an MCAP file."""
    try:
        from mcap.exceptions import McapError
        from mcap.reader import make_reader
        from mcap_ros2.decoder import DecoderFactory
    except ImportError:
        raise ViewError(
            "MCAP files need mcap-ros2-support: pip install 'opspace_ctrl[record]'"
        ) from None
    wanted = ("joint_states", "/odom", "robot_description")
    try:
        with open(path, "rb") as file:
            reader = make_reader(file, decoder_factories=[DecoderFactory()])
            summary = reader.get_summary()
            topics = [each.topic for each in summary.channels.values()] if summary else None
            chosen = topics and [topic for topic in topics if topic.endswith(wanted)]
            for _, channel, message, content in reader.iter_decoded_messages(topics=chosen):
                yield channel.topic, 1e-9 * message.log_time, content
    except (McapError, struct.error, ValueError, EOFError) as error:
        raise ViewError(f"{quoted(Path(path))} is no MCAP file that can be read: {error}") from None


def _with_poses(model: Model, settings: ControllerSettings, rows: np.ndarray) -> np.ndarray:
    """Rows in the order of time, with where each task's frame is; as target, too, for nobody knows that."""
    rows = rows[np.argsort(rows["time"], kind="stable")]
    for number, task in enumerate(settings.tasks):
        for row in rows:
            position, quaternion = task_pose(model, row["q"], task)
            row["pose"][number, :9] = from_quaternion(quaternion).ravel()
            row["pose"][number, 9:] = position
    rows["target"] = rows["pose"]
    return rows
