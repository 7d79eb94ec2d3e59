"""A humanoid on its feet before our simulator: asimo, or another floating-base robot."""

from launch import LaunchDescription

from opspace_ctrl.bringup.launching import launch_description


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start what they ask for."""
    return launch_description("humanoid")
