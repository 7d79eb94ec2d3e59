"""A graph in which a DART world stands in for Gazebo, behind the package's own bridge node and generated files."""

import os
import sys
from pathlib import Path

import yaml

from helpers.compiled_nodes import parameters
from helpers.ros import LONG
from helpers.shipped_robots import ours
from opspace_ctrl.gazebo import world_settings, write_files

TESTS = Path(__file__).parents[1]


def start_gazebo(graph, robot, *options, **changed):
    """Write what `opspace gazebo` writes, start the world (options of gazebo_stand_in) and the bridge.

    Args:
        changed: parameters of the bridge that differ from the file's.

    Returns:
        The bridge's process.
    """
    folder = graph.folder / "world"
    # for `helpers` and `oracles` in the processes
    path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
    write_files(
        ours(robot), world_settings(ours(robot), parameters(robot, "opspace_simulator")), folder
    )
    graph.run(
        [sys.executable, "-m", "helpers.gazebo_stand_in", robot, str(folder), *options],
        "stand_in",
        PYTHONPATH=path,
    )
    changes = graph.folder / "bridge.yaml"
    changes.write_text(
        yaml.safe_dump({"/**": {"ros__parameters": {"silence_timeout": LONG} | changed}})
    )
    return graph.run(
        [
            sys.executable,
            "-m",
            "helpers.gazebo_bridge_process",
            "--ros-args",
            "--params-file",
            str(folder / "bridge_node.yaml"),
            "--params-file",
            str(changes),
        ],
        "bridge",
        PYTHONPATH=path,
    )
