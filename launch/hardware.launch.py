# SPDX-License-Identifier: Apache-2.0
"""A robot under ros2_control: the controller manager with its two controllers, and ours after them."""

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import LifecycleNode, Node

from opspace_ctrl.bringup import actions, compiled, hardware, words
from opspace_ctrl.bringup.words import AUTO, BASES, BOOLEAN, LOG_LEVELS, LOOPS, METHODS
from opspace_ctrl.gazebo.ros2_control import started


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
        DeclareLaunchArgument("state_publisher", default_value="auto", choices=AUTO, description=words.STATE_PUBLISHER),
        DeclareLaunchArgument("rviz", default_value="false", choices=BOOLEAN, description=words.RVIZ),
        DeclareLaunchArgument("params_file", default_value="", description=words.PARAMS_FILE),
        DeclareLaunchArgument("method", default_value="", choices=METHODS, description=words.METHOD),
        DeclareLaunchArgument("activate", default_value="true", choices=BOOLEAN, description=words.ACTIVATE),
        DeclareLaunchArgument("log_level", default_value="info", choices=LOG_LEVELS, description=words.LOG_LEVEL),
        DeclareLaunchArgument("use_sim_time", default_value="false", choices=AUTO, description=words.USE_SIM_TIME),
        DeclareLaunchArgument("controller_manager", default_value="true", choices=BOOLEAN, description=words.MANAGER),
        DeclareLaunchArgument("controllers_file", default_value="", description=words.CONTROLLERS_FILE),
        DeclareLaunchArgument("loop", default_value="python", choices=LOOPS, description=words.LOOP),
        DeclareLaunchArgument("images", default_value="", description=words.IMAGES),
        DeclareLaunchArgument("update_rate", default_value="1000", description=words.UPDATE_RATE),
        OpaqueFunction(function=start),
    ])
    # fmt: on


def start(context: LaunchContext) -> list[Action]:
    """The nodes that the arguments ask for; what cannot be is refused before any of them starts."""
    request = actions.requested(context)
    use_sim_time = request.use_sim_time(simulated=False)
    # no Python in the loop: the controller is our plugin, a controller of the manager like the others
    is_compiled = request["loop"] == "compiled"
    if is_compiled:
        compiled.look_up_plugin()
    controller = LifecycleNode(
        package="opspace_ctrl",
        executable="opspace_controller",
        name="opspace_controller",
        namespace=request["namespace"],
        parameters=[
            str(request.params_file),
            actions.typed(request.robot_and_base | request.chosen("method", "frame_prefix")),
            {"use_sim_time": use_sim_time},
        ],
        ros_arguments=["--log-level", request["log_level"]],
        output="screen",
        on_exit=actions.end_all,
    )
    ours = actions.bring_up(controller, activate=request.is_true("activate"))
    if not (is_compiled or request.is_true("controller_manager")):
        actions.look_up(context, controller)
        return [*actions.described(request, __file__, use_sim_time), *ours]
    if is_compiled:
        ours, names = [], compiled.STARTED
        file = compiled.compiled_controllers_file(
            request, compiled.images(request, simulated=False)
        )
    else:
        names, file = started(request.commands), hardware.controllers_file(request)
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
        arguments=hardware.spawner_arguments(request["namespace"], file, names),
        output="screen",
        on_exit=actions.after(*ours),
    )
    processes = [manager, spawner] if request.is_true("controller_manager") else [spawner]
    actions.look_up(context, *processes, *([] if is_compiled else [controller]))
    return [*actions.described(request, __file__, use_sim_time), *processes]
