# SPDX-License-Identifier: Apache-2.0
"""A controller manager in a process of its own, with our plugins: started, asked and ended."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import get_package_prefix
from controller_manager_msgs.srv import (
    ConfigureController,
    ListControllers,
    LoadController,
    SwitchController,
    UnloadController,
)
from helpers.ros import Graph
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from opspace_ctrl.bringup.compiled import IMAGE, LIBRARY, SIMULATED, TYPE, simulated_hardware
from opspace_ctrl.cli import main
from opspace_ctrl.model import load_robot
from opspace_ctrl.model.source import robot_text

RATE = 1000  # [Hz]
OURS = "opspace_controller"
FORWARD = "forward_command_controller/ForwardCommandController"
RECORDER = Path(__file__).with_name("recorder.c")


def exported(folder: Path, name: str) -> Path:
    """Library, images and recorder of a shipped robot, in a folder."""
    assert main(["export", name, "-o", f"{folder}/{IMAGE}", "--library", f"{folder}"]) == 0
    assert main(["export", name, "--simulator", "-o", f"{folder}/{SIMULATED}", "--force"]) == 0
    library, recorder = folder / LIBRARY, folder / "librecorder.so"
    words = ["cc", "-shared", "-fPIC", "-O2", "-I", folder, RECORDER, "-o", recorder, library]
    subprocess.run([*map(str, words), f"-Wl,-rpath,{folder}", "-ldl"], check=True)
    return folder


class Manager:
    """ros2_control_node on a simulated robot, with controllers by name."""

    def __init__(
        self,
        graph: Graph,
        images: Path,
        robot: str,
        controllers: dict[str, dict],
        urdf: str = "",
        **own: Any,
    ):
        """Start it.

        Args:
            graph: in which it lives.
            images: a folder of `exported`.
            robot: the name of a shipped robot.
            controllers: {name: parameters} of others; `type` and `fallback_controllers` are the manager's.
            urdf: with another hardware; empty: our simulated robot is the hardware.
            own: parameters of our controller.
        """
        self.graph, self.record = graph, graph.folder / "record.bin"
        ours = {
            "type": TYPE,
            "image": str(images / IMAGE),
            "library": str(images / "librecorder.so"),
        }
        text: dict[str, Any] = {"controller_manager": {"update_rate": RATE}}
        for name, given in ({OURS: ours | own} | controllers).items():
            mine = {key: given[key] for key in ("type", "fallback_controllers") if key in given}
            text["controller_manager"][name] = mine
            text[name] = {key: value for key, value in given.items() if key not in mine}
        file = graph.folder / "controllers.yaml"
        file.write_text(
            yaml.safe_dump({name: {"ros__parameters": each} for name, each in text.items()})
        )
        program = (
            f"{get_package_prefix('controller_manager')}/lib/controller_manager/ros2_control_node"
        )
        words = [program, "--ros-args", "--params-file", str(file)]
        words += ["-r", "~/robot_description:=robot_description"]
        self.process = graph.run(words, "manager", OPSPACE_RECORD=str(self.record))
        urdf = urdf or simulated_hardware(robot_text(robot), load_robot(robot), images)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._publisher = graph.node.create_publisher(String, "robot_description", latched)
        self._publisher.publish(String(data=urdf))

    def _call(self, kind, called: str, /, **request) -> bool:
        service = f"controller_manager/{called}"
        return self.graph.call(kind, service, kind.Request(**request), again=False).ok

    def load(self, *names: str) -> bool:
        """Load and configure controllers."""
        return all(
            self._call(LoadController, "load_controller", name=name)
            and self._call(ConfigureController, "configure_controller", name=name)
            for name in names
        )

    def configure(self, name: str) -> bool:
        return self._call(ConfigureController, "configure_controller", name=name)

    def unload(self, name: str) -> bool:
        return self._call(UnloadController, "unload_controller", name=name)

    def switch(self, start: tuple[str, ...] = (), stop: tuple[str, ...] = ()) -> bool:
        """Activate and deactivate controllers in one cycle."""
        return self._call(
            SwitchController,
            "switch_controller",
            activate_controllers=list(start),
            deactivate_controllers=list(stop),
            strictness=SwitchController.Request.STRICT,
        )

    def states(self) -> dict[str, str]:
        """{controller: its state}."""
        answer = self.graph.call(ListControllers, "controller_manager/list_controllers")
        return {each.name: each.state for each in answer.controller}

    def is_chained(self, name: str) -> bool:
        answer = self.graph.call(ListControllers, "controller_manager/list_controllers")
        return next(each.is_chained for each in answer.controller if each.name == name)
