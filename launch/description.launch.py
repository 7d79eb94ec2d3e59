# SPDX-License-Identifier: Apache-2.0
"""A robot to look at: robot_state_publisher and, if it is asked for, RViz. It controls nothing; others include it."""

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import Node

from opspace_ctrl.bringup import actions, words
from opspace_ctrl.bringup.words import AUTO, BASES, BOOLEAN


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start what they ask for."""
    # fmt: off
    return LaunchDescription([
        DeclareLaunchArgument("robot", default_value="", description=words.ROBOT),
        DeclareLaunchArgument("default_robot", default_value="arm7", description=words.DEFAULT_ROBOT),
        DeclareLaunchArgument("xacro_args", default_value="", description=words.XACRO_ARGS),
        DeclareLaunchArgument("base", default_value="", choices=BASES, description=words.BASE),
        DeclareLaunchArgument("namespace", default_value="", description=words.NAMESPACE),
        DeclareLaunchArgument("frame_prefix", default_value="", description=words.FRAME_PREFIX),
        DeclareLaunchArgument("rviz", default_value="false", choices=BOOLEAN, description=words.RVIZ),
        DeclareLaunchArgument("clock", default_value="/clock", description=words.CLOCK),
        DeclareLaunchArgument("use_sim_time", default_value="false", choices=AUTO, description=words.USE_SIM_TIME),
        OpaqueFunction(function=start),
    ])
    # fmt: on


def start(context: LaunchContext) -> list[Action]:
    """The nodes that the arguments ask for; what cannot be is refused before any of them starts."""
    request = actions.requested(context)
    use_sim_time = request.use_sim_time(simulated=False)
    publisher = Node(
        package="robot_state_publisher",
        executable="robot_state_publisher",
        name="robot_state_publisher",
        namespace=request["namespace"],
        parameters=[
            actions.typed(
                {
                    "robot_description": request.description,
                    "frame_prefix": request["frame_prefix"],
                    "use_sim_time": use_sim_time,
                }
            )
        ],
        remappings=[("/clock", request["clock"])],
        output="screen",
        on_exit=actions.end_all,
    )
    if not request.is_true("rviz"):
        actions.look_up(context, publisher)
        return [publisher]
    rviz = Node(
        package="rviz2",
        executable="rviz2",
        name="rviz",
        namespace=request["namespace"],
        parameters=[{"use_sim_time": use_sim_time}],
        arguments=request.rviz_arguments(),
        remappings=[("/clock", request["clock"])],
        output="screen",
    )
    actions.look_up(context, publisher, rviz)
    return [publisher, rviz]
