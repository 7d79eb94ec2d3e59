"""Publish the description and the TF tree of a robot, shipped or from a file, for RViz to show."""
from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from opspace_ctrl.model.source import ROBOTS, read_source, robot_text


def state_publisher(context: LaunchContext) -> list[Node]:
    """robot_state_publisher with the URDF that the argument `robot` names."""
    robot = LaunchConfiguration("robot").perform(context)
    text = robot_text(robot) if robot in ROBOTS else read_source(Path(robot))
    description = ParameterValue(text, value_type=str)  # or launch would read the URDF as YAML
    return [Node(package="robot_state_publisher", executable="robot_state_publisher", output="screen",
                 namespace=LaunchConfiguration("namespace"),
                 parameters=[{"robot_description": description}])]


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start the publisher."""
    return LaunchDescription([
        DeclareLaunchArgument("robot", default_value="arm7",
                              description=f"a shipped robot ({', '.join(ROBOTS)}) or a URDF or .xacro file"),
        DeclareLaunchArgument("namespace", default_value="", description="namespace of the node"),
        OpaqueFunction(function=state_publisher),
    ])
