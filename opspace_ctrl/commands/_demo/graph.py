"""The demo as a ROS graph: controller and simulator are two processes, this one is their user.

The simulator runs in lock-step, no faster than real time: on a busy machine the demo becomes slower, and the robot is
not shaken. Its log is followed for the figures; the push is a fault.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import yaml

from opspace_ctrl import Model, frame_pose, load_robot

from ...data import shipped_path
from ...errors import LogError
from ...sim.record.log import Run, read_log
from .. import CommandError
from .._interrupt import Interruption
from .._processes import Processes, local_graph
from .record import Record
from .scenario import SECONDS, Scenario, waypoints

__all__ = ["DELAY", "follow"]

DELAY = "round trip"
LEAD = 2.0  # [s] simulated, from the trajectory to the start of the figure
LOOK = 0.2  # [s] between looks at the log
PATIENCE = 900.0  # [s] for two processes to compile their kernels


def follow(scenario: Scenario, show: Callable[[Record], None], stop: Interruption) -> Record | None:
    """Run the scenario; `show` gets the newest rows from time to time. None if it was interrupted."""
    with tempfile.TemporaryDirectory(prefix="opspace_demo_") as folder, Processes() as processes:
        environment = local_graph()
        log = _start(scenario, Path(folder), processes, environment)
        run = _first_commands(log, processes, stop)
        return (
            None
            if run is None
            else _followed(scenario, log, run, processes, environment, show, stop)
        )


def _followed(
    scenario: Scenario,
    log: Path,
    run: Run,
    processes: Processes,
    environment: dict[str, str],
    show: Callable[[Record], None],
    stop: Interruption,
) -> Record | None:
    """The figure, from the first commands on."""
    from .client import CONTROLLER, SIMULATOR, Client, trajectory_message

    model, method = load_robot(scenario.robot), scenario.methods[0]
    centre, quaternion = frame_pose(model, run["q"][-1], scenario.task)
    points = waypoints(scenario, centre)
    with Client(environment) as client:
        publisher = client.trajectory_publisher(scenario.task)
        begin = client.clock() + LEAD
        # taken a moment later, and so is the push
        client.set_parameter(SIMULATOR, "fault", _push(scenario, LEAD))
        publisher.publish(trajectory_message(scenario.task, begin, quaternion, *points))
        while not stop.requested:
            processes.ensure_alive()
            record = _record(scenario, model, read_log(log), begin, centre)
            now = float(record.time[-1])
            if now > SECONDS:
                return record.figure_only()
            show(record.rows(slice(-500, None)))
            if method != scenario.method_at(now):
                method = scenario.method_at(now)
                client.set_parameter(CONTROLLER, "method", method)
            client.spin(LOOK)
    return None


def _push(scenario: Scenario, begin: float) -> str:
    """The push as a fault, for a figure that begins so many seconds from now."""
    return yaml.safe_dump(
        {
            "kind": "push",
            "frame": scenario.task,
            "start": begin + scenario.push_start,
            "duration": scenario.push_end - scenario.push_start,
            "force": list(scenario.push),
        }
    )


def _start(
    scenario: Scenario, folder: Path, processes: Processes, environment: dict[str, str]
) -> Path:
    """Start both nodes; the folder of the simulator's log."""
    log = folder / "log"
    settings = [
        "--params-file",
        str(shipped_path("config", f"{scenario.robot}.yaml")),
        "-p",
        "autostart:=true",
    ]
    lockstep = ["-p", "mode:=lockstep", "-p", "pace:=true", "-p", f"log:={log}"]
    simulated_time = ["-p", "use_sim_time:=true", "-p", f"method:={scenario.methods[0]}"]
    simulated_time += ["-p", "liveness_timeout:=5.0"]  # in lock-step a busy machine is no fault
    for name, more in (("simulator", lockstep), ("controller", simulated_time)):
        command = [
            sys.executable,
            "-m",
            f"opspace_ctrl.nodes.{name}",
            "--ros-args",
            *settings,
            *more,
        ]
        processes.start(name, command, environment)
    return log


def _first_commands(log: Path, processes: Processes, stop: Interruption) -> Run | None:
    """The log once commands have come; None if it was interrupted."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        processes.ensure_alive()
        try:
            run = read_log(log)
        except LogError:
            run = None  # it has not begun
        if run is not None and len(run.rows) and np.isfinite(run["schedule"][-1]):
            return run
        if stop.wait(LOOK):
            return None
    raise CommandError(f"the controller has sent nothing for {PATIENCE:g} s")


def _record(scenario: Scenario, model: Model, run: Run, begin: float, centre: np.ndarray) -> Record:
    """Read the simulator's log as a record of the demo."""
    delay = 1e6 * (run["arrived"] - run["left"])
    return Record(
        scenario, model, run["time"] - begin, run["q"], run["command"], delay, run["left"], centre
    )
