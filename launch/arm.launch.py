# SPDX-License-Identifier: Apache-2.0
"""A robot before our simulator: arm7, or any other with its parameter file. humanoid, free_flyer and hil include it."""

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import LifecycleNode

from opspace_ctrl.bringup import actions, words
from opspace_ctrl.bringup.words import AUTO, BASES, BOOLEAN, ENGINES, LOG_LEVELS, METHODS, MODES


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
        DeclareLaunchArgument("clock", default_value="/clock", description=words.CLOCK),
        DeclareLaunchArgument("use_sim_time", default_value="auto", choices=AUTO, description=words.USE_SIM_TIME),
        DeclareLaunchArgument("mode", default_value="lockstep", choices=MODES, description=words.MODE),
        DeclareLaunchArgument("engine", default_value="native", choices=ENGINES, description=words.ENGINE),
        DeclareLaunchArgument("simulator_file", default_value="", description=words.SIMULATOR_FILE),
        OpaqueFunction(function=start),
    ])
    # fmt: on


def start(context: LaunchContext) -> list[Action]:
    """The nodes that the arguments ask for; what cannot be is refused before any of them starts."""
    request = actions.requested(context)
    use_sim_time = request.use_sim_time(simulated=request["mode"] != "free")
    ours = {
        "package": "opspace_ctrl",
        "namespace": request["namespace"],
        "remappings": [("/clock", request["clock"])],
        "ros_arguments": ["--log-level", request["log_level"]],
        "output": "screen",
        "on_exit": actions.end_all,
    }
    simulator = LifecycleNode(
        executable="opspace_simulator",
        name="opspace_simulator",
        parameters=[
            str(request.params_file),
            *request.files("simulator_file"),
            actions.typed(request.robot_and_base),
            {
                "mode": request["mode"],
                "engine": request["engine"],
                "pace": request["mode"] == "lockstep",
                # where robot_state_publisher runs, it publishes the description
                "publish_robot_description": not request.has_state_publisher,
            },
        ],
        **ours,
    )
    controller = LifecycleNode(
        executable="opspace_controller",
        name="opspace_controller",
        parameters=[
            str(request.params_file),
            actions.typed(request.robot_and_base | request.chosen("method", "frame_prefix")),
            {"use_sim_time": use_sim_time},
        ],
        **ours,
    )
    actions.look_up(context, simulator, controller)
    return [
        *actions.described(request, __file__, use_sim_time),
        *actions.bring_up(simulator),
        *actions.bring_up(controller, activate=request.is_true("activate")),
    ]
