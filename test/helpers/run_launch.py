# SPDX-License-Identifier: Apache-2.0
"""Run a launch file as `ros2 launch` does, without ros2cli: run_launch.py FILE [NAME:=VALUE ...]."""

import signal
import sys

from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

# a shell's background jobs ignore interrupts, which launch would take over
signal.signal(signal.SIGINT, signal.default_int_handler)
path, *given = sys.argv[1:]
included = IncludeLaunchDescription(
    PythonLaunchDescriptionSource(path),
    launch_arguments=[tuple(pair.split(":=", 1)) for pair in given],
)
service = LaunchService(noninteractive=True)
service.include_launch_description(LaunchDescription([included]))
sys.exit(service.run())
