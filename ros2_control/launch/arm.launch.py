# SPDX-License-Identifier: Apache-2.0
"""A robot in one process, no Python in the loop: ros2_control_node with our controller, and our simulator as hardware.

    ros2 launch opspace_ctrl_plugin arm.launch.py
    ros2 launch opspace_ctrl_plugin arm.launch.py hardware:=own robot:=my.urdf params_file:=my.yaml

With `hardware:=own` the URDF's own <ros2_control> counts, which may be real hardware; with `controller_manager:=false`,
too, a manager that already runs is taken, such as gz_ros2_control's.
"""

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import Node

from opspace_ctrl.bringup import actions, compiled, hardware, words
from opspace_ctrl.bringup.words import AUTO, BASES, BOOLEAN, HARDWARE, METHODS


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments and start what they ask for."""
    # fmt: off
    return LaunchDescription([
        DeclareLaunchArgument("robot", default_value="", description=words.ROBOT),
        DeclareLaunchArgument("default_robot", default_value="arm7", description=words.DEFAULT_ROBOT),
        DeclareLaunchArgument("xacro_args", default_value="", description=words.XACRO_ARGS),
        DeclareLaunchArgument("base", default_value="", choices=BASES, description=words.BASE),
        DeclareLaunchArgument("namespace", default_value="", description=words.NAMESPACE),
        DeclareLaunchArgument("params_file", default_value="", description=words.PARAMS_FILE),
        DeclareLaunchArgument("method", default_value="", choices=METHODS, description=words.METHOD),
        DeclareLaunchArgument("hardware", default_value="simulated", choices=HARDWARE, description=words.HARDWARE_KIND),
        DeclareLaunchArgument("images", default_value="", description=words.IMAGES),
        DeclareLaunchArgument("controller_manager", default_value="true", choices=BOOLEAN, description=words.MANAGER),
        DeclareLaunchArgument("update_rate", default_value="1000", description=words.UPDATE_RATE),
        DeclareLaunchArgument("use_sim_time", default_value="false", choices=AUTO, description=words.USE_SIM_TIME),
        OpaqueFunction(function=start),
    ])
    # fmt: on


def start(context: LaunchContext) -> list[Action]:
    """The processes that the arguments ask for; what cannot be is refused before any of them starts."""
    request = actions.requested(context)
    compiled.look_up_plugin()
    is_simulated = request["hardware"] == "simulated"
    folder = compiled.images(request, is_simulated)
    file = compiled.compiled_controllers_file(request, folder)
    description = request.description
    if is_simulated:
        description = compiled.simulated_hardware(description, request.model, folder)
    use_sim_time = request.use_sim_time(simulated=False)
    publisher = Node(
        package="robot_state_publisher",
        executable="robot_state_publisher",
        namespace=request["namespace"],
        parameters=[
            actions.typed({"robot_description": description, "use_sim_time": use_sim_time})
        ],
        output="screen",
        on_exit=actions.end_all,
    )
    # No name: the controllers are nodes of the same process, and would all get it.
    manager = Node(
        package="controller_manager",
        executable="ros2_control_node",
        namespace=request["namespace"],
        parameters=[str(file), {"use_sim_time": use_sim_time}],
        # where the description is looked for depends on the distribution
        remappings=[("~/robot_description", "robot_description")],
        output="screen",
        on_exit=actions.end_all,
    )
    spawner = Node(
        package="controller_manager",
        executable="spawner",
        namespace=request["namespace"],
        arguments=hardware.spawner_arguments(request["namespace"], file, compiled.STARTED),
        output="screen",
        on_exit=actions.after(),
    )
    # a manager that is already there has its hardware and its description
    processes = (
        [publisher, manager, spawner] if request.is_true("controller_manager") else [spawner]
    )
    actions.look_up(context, *processes)
    return processes
