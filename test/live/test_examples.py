# SPDX-License-Identifier: Apache-2.0
"""Own URDF to a moving robot: what `opspace init` writes is started as it is, and an example sends a target."""

import shutil
import sys
from pathlib import Path

from geometry_msgs.msg import PoseStamped
from helpers.ros import Graph
from helpers.support import urdf_path

from opspace_ctrl.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "ros_send_a_target.py"


def test_the_nodes_take_the_files_of_init_and_an_example_sends_a_target(tmp_path):
    urdf = shutil.copy(urdf_path("ur5_robot"), tmp_path / "my_robot.urdf")
    assert main(["init", str(urdf), "--out", str(tmp_path / "my_robot")]) == 0
    params = str(tmp_path / "my_robot" / "my_robot.yaml")
    with Graph(tmp_path) as graph:
        for node, more in (
            ("simulator", ("-p", "mode:=lockstep")),
            ("controller", ("-p", "use_sim_time:=true", "-p", "liveness_timeout:=60.0")),
        ):
            command = [sys.executable, "-m", f"opspace_ctrl.nodes.{node}", "--ros-args"]
            command += ["--params-file", params, "-p", "autostart:=true", *more]
            graph.run(command, node)
        poses = graph.listen(PoseStamped, "opspace_controller/tool/pose")
        graph.wait_for(lambda: poses.last, "a pose")
        before = poses.last.pose.position.z
        script = graph.run([sys.executable, str(EXAMPLE), "tool"], "example")
        graph.wait_for(lambda: script.code is not None, "the example's end")
        assert script.code == 0, script.output()
        assert "mm from its target" in script.output()
        graph.wait_for(lambda: poses.last.pose.position.z > before + 0.045, "the tool 5 cm up")
