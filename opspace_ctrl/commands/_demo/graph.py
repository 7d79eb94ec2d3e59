# SPDX-License-Identifier: Apache-2.0
"""The demo as a ROS graph: controller and simulator are two processes, this one looks on.

The simulator runs in lock-step, no faster than real time: on a busy machine the demo becomes slower, and the robot is
not shaken. What happens is a schedule of its own, see docs/hil.md; its log is followed for the figures.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from opspace_ctrl import Model, frame_pose

from ...errors import LogError
from ...sim.record.log import Run, read_log
from .. import CommandError
from .._interrupt import Interruption
from .._processes import Processes, local_graph
from .record import Record
from .scenario import Scenario, waypoints

__all__ = ["DELAY", "follow"]

DELAY = "round trip"
LEAD = 2.0  # [s] simulated, from the first command to the start of the figure
LOOK = 0.2  # [s] between looks at the log
PATIENCE = 900.0  # [s] for two processes to compile their kernels


def follow(scenario: Scenario, show: Callable[[Record], None], stop: Interruption) -> Record | None:
    """Run the scenario; `show` gets the newest rows from time to time. None if it was interrupted."""
    from ...nodes.error_watch import ErrorWatch

    environment, model = local_graph(), scenario.load()
    end = time.monotonic() + PATIENCE
    with (
        tempfile.TemporaryDirectory(prefix="opspace_demo_") as folder,
        Processes() as processes,
        ErrorWatch(int(environment["ROS_DOMAIN_ID"])) as watch,
    ):
        log = _start(scenario, Path(folder), processes, environment)
        while not stop.requested:
            processes.ensure_alive()
            watch.spin(LOOK)
            record = _record(scenario, model, log)
            if record is None and time.monotonic() > end:
                raise CommandError(f"the controller has sent nothing for {PATIENCE:g} s")
            if record is not None and record.time[-1] > scenario.seconds:
                return replace(
                    record.figure_only(),
                    residuals=tuple(watch.residuals),
                    remarks=tuple(processes.warnings()),
                )
            if record is not None:
                show(record.rows(slice(-500, None)))
    return None


def _schedule(scenario: Scenario) -> str:
    """What happens, in seconds after the first command."""
    times, positions, _ = waypoints(scenario, np.zeros(3))
    points = np.column_stack((times, positions)).round(9).tolist()
    begin, switches = LEAD + scenario.lap, enumerate(scenario.methods[1:], 1)
    push = {
        "kind": "push",
        "frame": scenario.moved_frame,
        "start": begin + scenario.push_start,
        "duration": scenario.push_end - scenario.push_start,
        "force": scenario.push,
    }
    motion = {
        "kind": "trajectory",
        "task": scenario.task,
        "frame": scenario.moved_frame,
        "start": LEAD,
        "points": points,
    }
    methods = [
        {"kind": "method", "name": name, "start": begin + k * scenario.lap} for k, name in switches
    ]
    return json.dumps({"faults": [motion, push, *methods]})


def _start(
    scenario: Scenario, folder: Path, processes: Processes, environment: dict[str, str]
) -> Path:
    """Start both nodes; the folder of the simulator's log."""
    log, schedule = folder / "log", folder / "schedule.yaml"
    schedule.write_text(_schedule(scenario))
    settings = [
        "--params-file",
        str(scenario.parameters),
        "-p",
        f"robot:={scenario.robot}",
        "-p",
        "autostart:=true",
    ]
    lockstep = ["-p", "mode:=lockstep", "-p", "pace:=true"]
    lockstep += ["-p", f"log:={log}", "-p", f"faults:={schedule}"]
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


def _record(scenario: Scenario, model: Model, log: Path) -> Record | None:
    """The simulator's log as a record of the demo; None before the first command."""
    try:
        run: Run = read_log(log)
    except LogError:
        return None  # it has not begun
    started = np.flatnonzero(np.isfinite(run["schedule"]))
    if not len(started):
        return None
    centre, _ = frame_pose(model, run["q"][started[0]], scenario.moved_frame)
    run = replace(run, rows=run.rows[started])
    delay = 1e6 * (run["arrived"] - run["left"])
    time_of_figure = run["schedule"] - LEAD - scenario.lap
    return Record(
        scenario, model, time_of_figure, run["q"], run["applied"], delay, run["left"], centre
    )
