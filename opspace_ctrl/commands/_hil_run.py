# SPDX-License-Identifier: Apache-2.0
"""A run on simulated hardware: the simulator and the controller as processes, followed until its end."""

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from ..errors import LogError, without_ros
from ..sim.record.log import progress, read_log
from ..sim.record.tracking import Told
from ..writing import OutputFolder
from . import CommandError
from ._interrupt import Interruption
from ._processes import Process, Processes, local_graph

__all__ = ["Outcome", "controller_words", "ensure_ros", "run_hardware"]

POLL = 0.1  # [s]
END = 10.0  # [s] for the simulator to write the rest of its log
LAST_WORDS = 2.0  # [s] for the controller to tell the rest of its references
SIMULATOR = "opspace_simulator"


@dataclass
class Outcome:
    """How a run went.

    Attributes:
        is_interrupted: A signal ended it.
        stood_still: It did not go on for longer than the patience [s]; 0 if it did.
        controller_code: What the controller's process returned if it ended before the run did.
        said: The controller's last words if it ended or stood still.
        told: What controllers told of their tasks.
        has_clock: Somebody listened to the simulated clock.
    """

    is_interrupted: bool = False
    stood_still: float = 0.0
    controller_code: int | None = None
    said: str = ""
    told: dict[str, Told] = field(default_factory=dict)
    has_clock: bool = False

    @property
    def reason(self) -> str:
        """Why the run ended early, with the controller's last words; "" if it did not."""
        if self.controller_code is not None:
            why = f"the controller ended with code {self.controller_code}"
        else:
            why = f"the run stood still for {self.stood_still:g} s" if self.stood_still else ""
        return f"{why}; it said: {self.said}" if why and self.said else why


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
    with _environment(environment), Processes(folder.path) as processes:
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
        raise CommandError(without_ros("opspace hil", error)) from None


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
        if controller is not None:
            outcome.said = " ".join(controller.last_lines().split())
        tell("ending", min(reached or 0.0, seconds))
        simulator.send(signal.SIGINT)  # first, so that the controller's last command does not count
        simulator.wait(END)
        with suppress(LogError):
            left = read_log(log).until(seconds)["left"]
            watch.wait_for(float(np.nanmax(left, initial=0.0)), LAST_WORDS)
        outcome.told, outcome.has_clock = watch.told, watch.has_clock
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
    beside = str(Path(sys.executable).parent)  # of a venv that is not on the path
    program = words and (shutil.which(words[0]) or shutil.which(words[0], path=beside))
    if not program:
        raise CommandError(f"--controller {line!r}: no such program")
    return [program, *words[1:]]


def _parameter_file(values: Mapping[str, Any], folder: OutputFolder) -> Path:
    """A ROS 2 parameter file with these values."""
    import yaml

    # ROS has no type for an empty list
    filled = {name: value for name, value in values.items() if value != []}
    text = yaml.safe_dump({SIMULATOR: {"ros__parameters": filled}})
    return folder.write({"simulator.yaml": text})[0]


@contextmanager
def _environment(environment: Mapping[str, str]) -> Iterator[None]:
    """The ROS variables of the graph in this process too, as long as the run lasts: rcl reads them itself."""
    before = dict(os.environ)
    os.environ.update({key: value for key, value in environment.items() if key[:4] == "ROS_"})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
