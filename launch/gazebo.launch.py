# SPDX-License-Identifier: Apache-2.0
"""A controller before Gazebo: the world is generated, started and bridged."""

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction
from launch_ros.actions import LifecycleNode, Node

from opspace_ctrl.bringup import actions, gazebo, hardware, words
from opspace_ctrl.bringup.words import (
    AUTO,
    BASES,
    BOOLEAN,
    GAZEBO_MODES,
    GAZEBOS,
    LOG_LEVELS,
    METHODS,
)

GRACE = "15"  # [s] the server gives its window and itself five each; killed, it leaves both


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
        DeclareLaunchArgument("use_sim_time", default_value="auto", choices=AUTO, description=words.USE_SIM_TIME),
        DeclareLaunchArgument("gazebo", default_value="harmonic", choices=GAZEBOS, description=words.GAZEBO),
        DeclareLaunchArgument("mode", default_value="free", choices=GAZEBO_MODES, description=words.GAZEBO_MODE),
        DeclareLaunchArgument("ros2_control", default_value="false", choices=BOOLEAN, description=words.ROS2_CONTROL),
        DeclareLaunchArgument("gui", default_value="true", choices=BOOLEAN, description=words.GUI),
        DeclareLaunchArgument("files", default_value="", description=words.FILES),
        DeclareLaunchArgument("out", default_value="", description=words.OUT),
        OpaqueFunction(function=start),
    ])
    # fmt: on


def start(context: LaunchContext) -> list[Action]:
    """The processes that the arguments ask for; what cannot be is refused before any of them starts."""
    request = actions.requested(context)
    use_sim_time = request.use_sim_time(simulated=True)
    ros2_control = request.is_true("ros2_control")
    lockstep = request["mode"] == "lockstep" and not ros2_control
    # world, bridge files and, with ros2_control, controllers and a robot.urdf that names the hardware
    folder = gazebo.gazebo_folder(request)
    control = gazebo.world_control(folder)
    common = {"namespace": request["namespace"], "output": "screen", "on_exit": actions.end_all}
    ours = {**common, "ros_arguments": ["--log-level", request["log_level"]]}
    server = ExecuteProcess(
        # paused, unless ros2_control: the bridge starts or steps the world when commands come
        cmd=gazebo.server_words(
            folder / "world.sdf", request["gazebo"], ros2_control, request.is_true("gui")
        ),
        name="gazebo",
        additional_env=gazebo.server_environment(request["gazebo"]),
        sigterm_timeout=GRACE,
        output="screen",
        on_exit=actions.end_all,
    )
    ros_gz_bridge = Node(
        package="ros_gz_bridge",
        executable="parameter_bridge",
        name="ros_gz_bridge",
        parameters=[{"config_file": str(folder / "ros_gz_bridge.yaml"), "use_sim_time": False}],
        arguments=[f"{control}@ros_gz_interfaces/srv/ControlWorld"],
        remappings=[(control, "gazebo/control")],
        **common,
    )
    bridge = Node(
        package="opspace_ctrl",
        executable="opspace_gazebo_bridge",
        name="opspace_gazebo_bridge",
        parameters=[
            str(folder / "bridge_node.yaml"),
            {"lockstep": lockstep, "run_on_command": not (lockstep or ros2_control)},
        ],
        **ours,
    )
    controller = LifecycleNode(
        package="opspace_ctrl",
        executable="opspace_controller",
        name="opspace_controller",
        parameters=[
            str(request.params_file),
            actions.typed(request.robot_and_base | request.chosen("method", "frame_prefix")),
            {"use_sim_time": use_sim_time},
        ],
        **ours,
    )
    controlled = actions.bring_up(controller, activate=request.is_true("activate"))
    # with ros2_control our bridge is there for the odometry of a floating base alone
    started = [server, ros_gz_bridge, *([bridge] if gazebo.needs_bridge(folder) else [])]
    if ros2_control:
        spawner = Node(
            package="controller_manager",
            executable="spawner",
            namespace=request["namespace"],
            arguments=hardware.spawner_arguments(request["namespace"], folder / "controllers.yaml"),
            output="screen",
            on_exit=actions.after(*controlled),
        )
        started, controlled = [*started, spawner], []
    actions.look_up(context, *started, controller)
    robot = str(folder / "robot.urdf") if ros2_control else ""
    shown = actions.described(request, __file__, use_sim_time, robot)
    return [*shown, *started, *controlled]
