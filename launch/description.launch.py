"""A robot's description and its TF tree for RViz, without controller or simulator."""

from launch import LaunchDescription

from opspace_ctrl.bringup.launching import launch_description


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start what they ask for."""
    return launch_description("description")
