"""A run on simulated hardware: the simulator and the controller as processes, followed until its end."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from ..writing import OutputFolder
from . import CommandError
from ._interrupt import Interruption
from ._processes import Process, Processes, local_graph

__all__ = ["Outcome", "controller_words", "ensure_ros", "run_hardware"]

POLL = 0.1  # [s]
END = 10.0  # [s] for the simulator to write the rest of its log
SIMULATOR = "opspace_simulator"


@dataclass
class Outcome:
    """How a run went.

    Attributes:
        is_interrupted: A signal ended it.
        stood_still: It did not go on for longer than the patience [s]; 0 if it did.
        controller_code: What the controller's process returned if it ended before the run did.
        tracking: What the controller published of its errors, as `ErrorWatch.tracking`.
    """

    is_interrupted: bool = False
    stood_still: float = 0.0
    controller_code: int | None = None
    tracking: dict[str, np.ndarray] = field(default_factory=dict)


def run_hardware(
    values: Mapping[str, Any],
    controller: Sequence[str],
    seconds: float,
    patience: float,
    folder: OutputFolder,
    stop: Interruption,
    tell: Callable[[str, float], None],
) -> Outcome:
    """Start the processes, follow them for so many seconds of the schedule, end them.

    Args:
        values: The simulator's parameters.
        controller: A program and its arguments, or nothing if somebody else starts one.
        patience: How long the run may stand still [s].
        folder: For the parameters and the outputs of the processes, simulator.yaml and *.txt.
        stop: Ends it early.
        tell: Called with what happens and how far the run has come [s].

    Raises:
        CommandError: The simulator or the controller cannot be started, or the simulator fails.
    """
    environment = local_graph() if controller else dict(os.environ)
    with _Environment(environment), Processes(folder.path) as processes:
        argv = [
            sys.executable,
            "-m",
            "opspace_ctrl.nodes.simulator",
            "--ros-args",
            "--params-file",
            str(_parameter_file(values, folder)),
        ]
        for name in ("simulator", "controller") if controller else ("simulator",):
            folder.place(f"{name}.txt")
        simulator = processes.start("simulator", argv, environment)
        peer = processes.start("controller", controller, environment) if controller else None
        return _follow(simulator, peer, Path(values["log"]), seconds, patience, stop, tell)


def ensure_ros() -> None:
    """Raise CommandError if ROS 2 is missing."""
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        raise CommandError(
            f"opspace hil needs ROS 2 ({error}): source it, or pip install 'opspace_ctrl[ros-kilted]'"
        ) from None


def _follow(
    simulator: Process,
    controller: Process | None,
    log: Path,
    seconds: float,
    patience: float,
    stop: Interruption,
    tell: Callable[[str, float], None],
) -> Outcome:
    from opspace_ctrl.nodes.error_watch import ErrorWatch
    from opspace_ctrl.sim.record.log import progress

    outcome, reached, moved = Outcome(), None, monotonic()
    with ErrorWatch(int(os.environ.get("ROS_DOMAIN_ID", "0"))) as watch:
        while reached is None or reached < seconds:
            tell("waiting for the first command" if reached is None else "running", reached or 0.0)
            watch.spin(POLL)
            if stop.requested:
                outcome.is_interrupted = True
                break
            if simulator.code is not None:
                raise CommandError(
                    f"the simulator ended with code {simulator.code}: {simulator.last_lines()}"
                )
            now = progress(log)
            if now != reached:
                reached, moved = now, monotonic()
            if controller is not None and controller.code is not None:
                outcome.controller_code = controller.code
                break
            if monotonic() - moved > patience:
                outcome.stood_still = patience
                break
        tell("ending", min(reached or 0.0, seconds))
        simulator.send(signal.SIGINT)  # first, so that the controller's last command does not count
        simulator.wait(END)
        outcome.tracking = watch.tracking()
    return outcome


def controller_words(line: str) -> list[str]:
    """A controller's command line as a program and its arguments; nothing if it is empty.

    Raises:
        CommandError: It cannot be split, or there is no such program.
    """
    if not line:
        return []
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CommandError(f"--controller {line!r}: {error}") from None
    if not words or shutil.which(words[0]) is None:
        raise CommandError(f"--controller {line!r}: no such program")
    return words


def _parameter_file(values: Mapping[str, Any], folder: OutputFolder) -> Path:
    """A ROS 2 parameter file with these values."""
    import yaml

    # ROS has no type for an empty list
    filled = {name: value for name, value in values.items() if value != []}
    text = yaml.safe_dump({SIMULATOR: {"ros__parameters": filled}})
    return folder.write({"simulator.yaml": text})[0]


class _Environment:
    """The ROS variables of the graph in this process too, as long as the run lasts: rcl reads them itself."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._wanted = {
            name: value for name, value in environment.items() if name.startswith("ROS_")
        }

    def __enter__(self) -> None:
        self._before = {name: os.environ.get(name) for name in self._wanted}
        os.environ.update(self._wanted)

    def __exit__(self, *_: object) -> None:
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
