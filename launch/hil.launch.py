# SPDX-License-Identifier: Apache-2.0
"""A controller before simulated hardware with faults: arm.launch.py in real time, with further parameters."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
    SetLaunchConfiguration,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource

from opspace_ctrl.bringup import actions, hardware, words
from opspace_ctrl.bringup.words import MODES

ARM = Path(__file__).with_name("arm.launch.py")


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments of the faults and include arm.launch.py, with all of its own."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "mode", default_value="free", choices=MODES, description=words.MODE
            ),
            DeclareLaunchArgument("faults", default_value="", description=words.FAULTS),
            DeclareLaunchArgument("seed", default_value="0", description=words.SEED),
            DeclareLaunchArgument("log", default_value="", description=words.LOG),
            OpaqueFunction(function=prepare),
            IncludeLaunchDescription(PythonLaunchDescriptionSource(str(ARM))),
        ]
    )


def prepare(context: LaunchContext) -> list[Action]:
    """Write the simulator's further parameters, which arm.launch.py hands on."""
    path = hardware.faults_file(actions.requested(context))
    return [SetLaunchConfiguration("simulator_file", str(path))]
