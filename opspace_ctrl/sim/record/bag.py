# SPDX-License-Identifier: Apache-2.0
"""A run as an MCAP bag with ROS 2 messages, which Foxglove and rosbag2 open.

Topics: /joint_states and /odom as measured, /ground_truth/joint_states as simulated, /effort_controller/commands (or
velocity_controller's) as they came, the tracking errors under their own names, and /rosout with what was out of the
ordinary, all in simulated time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from pathlib import Path
from typing import Any

import numpy as np

from ...command_kind import command_topic
from ...errors import LogError
from ...writing import check_output, new_file
from .log import Run
from .message_definitions import schema_text
from .tracking import Tracking

__all__ = ["check_recording", "write_bag"]

Message = tuple[int, str, str, dict[str, Any]]  # time [ns], topic, type, content
INFO, WARN = 20, 30
TOLD = ("fault", "start", "reset")  # the other events are warnings


def write_bag(
    run: Run,
    path: str | Path,
    tracking: Mapping[str, Tracking] | None = None,
    force: bool = False,
) -> int:
    """Write the bag; the number of messages.

    Args:
        run: The log of the run.
        path: The file, by custom *.mcap.
        tracking: Of each task, whose name with /error is the topic.
        force: Replace a file that exists.

    Raises:
        LogError: mcap-ros2-support is missing.
        OutputError: the file exists, or cannot be written.
    """
    writer_class, count, schemas = _writer_class(), 0, {}
    with new_file(path, force) as file, writer_class(file) as writer:
        for time, topic, kind, content in merge(
            _states(run),
            _errors(run, tracking or {}),
            _events(run),
            key=lambda message: message[0],
        ):
            if kind not in schemas:
                schemas[kind] = writer.register_msgdef(
                    kind.replace("/", "/msg/"), schema_text(kind)
                )
            writer.write_message(topic, schemas[kind], content, log_time=time, sequence=count)
            count += 1
    return count


def check_recording(path: str | Path, force: bool = False) -> None:
    """Raise LogError or OutputError if a bag could not be written there."""
    _writer_class()
    check_output(path, force)


def _writer_class() -> Any:
    try:
        from mcap_ros2.writer import Writer
    except ImportError:
        raise LogError(
            "recording needs mcap-ros2-support: pip install 'opspace_ctrl[record]'"
        ) from None
    return Writer


def _states(run: Run) -> Iterator[Message]:
    names, base = run.header["joints"], run.header["base"]
    columns = (
        run[name] for name in ("time", "q", "v", "position", "velocity", "applied", "command")
    )
    for time, q, v, position, velocity, applied, command in zip(*columns):
        at = _nanoseconds(time)
        header = {"stamp": _stamp(at), "frame_id": ""}
        if base is not None:
            yield (
                at,
                "/odom",
                "nav_msgs/Odometry",
                _odometry(at, run.header["root"], q[base[0] :], v[base[1] :]),
            )
        measured = {
            "header": header,
            "name": names,
            "position": position.tolist(),
            "velocity": velocity.tolist(),
            "effort": applied.tolist(),
        }
        yield at, "/joint_states", "sensor_msgs/JointState", measured
        true = {
            **measured,
            "position": q[run.header["positions"]].tolist(),
            "velocity": v[run.header["rates"]].tolist(),
        }
        yield at, "/ground_truth/joint_states", "sensor_msgs/JointState", true
        if not np.isnan(command).any():
            yield (
                at,
                f"/{command_topic(run.header['commands'])}",
                "std_msgs/Float64MultiArray",
                {"layout": {"dim": [], "data_offset": 0}, "data": command.tolist()},
            )


def _odometry(at: int, root: str, pose: np.ndarray, twist: np.ndarray) -> dict[str, Any]:
    position, orientation = _named("xyz", pose[:3]), _named("xyzw", pose[3:7])
    return {
        "header": {"stamp": _stamp(at), "frame_id": "odom"},
        "child_frame_id": root,
        "pose": {
            "pose": {"position": position, "orientation": orientation},
            "covariance": [0.0] * 36,
        },
        "twist": {"twist": _twist(twist), "covariance": [0.0] * 36},
    }


def _errors(run: Run, tracking: Mapping[str, Tracking]) -> Iterator[Message]:
    """The errors of all tasks in the order of time."""
    offset = _offset(run)
    series = [_errors_of(f"{task}/error", each, offset) for task, each in tracking.items()]
    return merge(*series, key=lambda message: message[0])


def _errors_of(topic: str, tracking: Tracking, offset: float) -> Iterator[Message]:
    for schedule, *error in tracking.rows:
        at = _nanoseconds(schedule + offset)
        message = {"header": {"stamp": _stamp(at), "frame_id": ""}, "twist": _twist(error)}
        yield at, topic, "geometry_msgs/TwistStamped", message


def _events(run: Run) -> Iterator[Message]:
    offset = _offset(run)
    for event in run.events:
        at = _nanoseconds(event["time"] + offset)
        yield (
            at,
            "/rosout",
            "rcl_interfaces/Log",
            {
                "stamp": _stamp(at),
                "level": INFO if event["kind"] in TOLD else WARN,
                "name": "opspace_simulator",
                "msg": event["text"],
                "file": "",
                "function": event["kind"],
                "line": 0,
            },
        )


def _offset(run: Run) -> float:
    """Simulated time of the first command [s]."""
    started = np.isfinite(run["schedule"])
    return float((run["time"] - run["schedule"])[started][0]) if started.any() else 0.0


def _twist(values: Sequence[float] | np.ndarray) -> dict[str, Any]:
    return {"linear": _named("xyz", values[:3]), "angular": _named("xyz", values[3:6])}


def _named(names: str, values: Iterable[float]) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values)}


def _nanoseconds(seconds: float) -> int:
    return round(1e9 * seconds)


def _stamp(nanoseconds: int) -> dict[str, int]:
    return {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}
