"""A controller on a robot under ros2_control, with a forward_command_controller on effort."""

from launch import LaunchDescription

from opspace_ctrl.bringup.launching import launch_description


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start what they ask for."""
    return launch_description("hardware")
