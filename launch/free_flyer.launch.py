# SPDX-License-Identifier: Apache-2.0
"""A free flyer before our simulator: two arms on a bus, without gravity. It is arm.launch.py with another robot."""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from opspace_ctrl.bringup import words

ARM = Path(__file__).with_name("arm.launch.py")


def generate_launch_description() -> LaunchDescription:
    """Include arm.launch.py, with all its arguments."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "default_robot", default_value="free_flyer", description=words.DEFAULT_ROBOT
            ),
            IncludeLaunchDescription(PythonLaunchDescriptionSource(str(ARM))),
        ]
    )
