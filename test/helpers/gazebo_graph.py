# SPDX-License-Identifier: Apache-2.0
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


def _path():
    """For `helpers` and `oracles` in the processes."""
    return os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))


def start_world(graph, robot, *options):
    """Write what `opspace gazebo` writes and start the world (options of gazebo_stand_in); its process."""
    folder = graph.folder / "world"
    write_files(
        ours(robot), world_settings(ours(robot), parameters(robot, "opspace_simulator")), folder
    )
    command = [sys.executable, "-m", "helpers.gazebo_stand_in", robot, str(folder), *options]
    return graph.run(command, "stand_in", PYTHONPATH=_path())


def start_gazebo(graph, robot, *options, **changed):
    """Start the world and the bridge.

    Args:
        changed: parameters of the bridge that differ from the file's.

    Returns:
        The processes of the world and of the bridge.
    """
    world = start_world(graph, robot, *options)
    changes = graph.folder / "bridge.yaml"
    changes.write_text(
        yaml.safe_dump({"/**": {"ros__parameters": {"silence_timeout": LONG} | changed}})
    )
    bridge = graph.run(
        [
            sys.executable,
            "-m",
            "helpers.gazebo_bridge_process",
            "--ros-args",
            "--params-file",
            str(graph.folder / "world" / "bridge_node.yaml"),
            "--params-file",
            str(changes),
        ],
        "bridge",
        PYTHONPATH=_path(),
    )
    return world, bridge
