# SPDX-License-Identifier: Apache-2.0
"""What the launch files share of launch and launch_ros: the only module here that imports them.

When a required process ends, a task fails, or a transition that launch has asked for fails, everything is shut down in
order; unless the process ended well, launch says why and has the exit code 1.
"""

import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from launch import LaunchContext
from launch.action import Action
from launch.actions import (
    EmitEvent,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
    TimerAction,
)
from launch.event_handlers import OnShutdown
from launch.events import matches_action
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.ros_adapters import get_ros_node
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import GetState
from rclpy.task import Future

from ..errors import BringupError, quoted
from .installed import debian_package, is_installed
from .request import Request

__all__ = [
    "after",
    "bring_up",
    "described",
    "end_all",
    "look_up",
    "requested",
    "typed",
]

NEW = "unconfigured"  # the state of a node that has just been started
ASKING = 0.25  # [s] between two questions to a node that has not answered yet


def requested(context: LaunchContext) -> Request:
    """The arguments of this launch, with a folder for generated files that goes when everything has ended."""
    signal.signal(signal.SIGINT, _heed_the_first)
    scratch = Path(tempfile.mkdtemp(prefix="opspace_"))
    clean = OnShutdown(
        on_shutdown=lambda event, context: shutil.rmtree(scratch, ignore_errors=True)
    )
    context.register_event_handler(clean)
    return Request(context.launch_configurations, scratch)


def _heed_the_first(number: int, frame: FrameType | None) -> None:
    """Let launch end in peace after the first Ctrl-C, of which its event loop hears by `signal.set_wakeup_fd`.

    Python's own handler would raise KeyboardInterrupt wherever launch is. A second one in the middle of the handlers of
    its shutdown makes it forget the others, so that its ROS thread never ends; one at its end aborts the process.
    """
    signal.signal(number, signal.SIG_IGN)


def typed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a node; launch reads text as YAML unless it is told that it is text."""
    return {
        name: ParameterValue(value, value_type=str) if isinstance(value, str) else value
        for name, value in values.items()
    }


def described(request: Request, beside: str, use_sim_time: bool, robot: str = "") -> list[Action]:
    """Include description.launch.py where robot_state_publisher or RViz is to run.

    Args:
        request: the arguments.
        beside: path of a launch file in the same folder.
        use_sim_time: of its nodes.
        robot: instead of the request's.
    """
    if not request.has_state_publisher:
        return []
    floating = request.model.is_base_coordinate.any()
    given = {
        "robot": robot or request.robot,
        "base": "floating" if floating else "fixed",
        "xacro_args": "",  # the robot is expanded
        "use_sim_time": str(use_sim_time).lower(),
        "clock": request["clock"] or "/clock",
        **{name: request[name] for name in ("namespace", "frame_prefix", "rviz")},
    }
    source = PythonLaunchDescriptionSource(str(Path(beside).with_name("description.launch.py")))
    return [IncludeLaunchDescription(source, launch_arguments=given.items())]


def look_up(context: LaunchContext, *processes: ExecuteProcess) -> None:
    """Find everything that will be started before anything is: a launch that fails later leaves processes behind.

    Raises:
        BringupError: a package or a command is not installed.
    """
    for process in processes:
        if isinstance(process, Node):
            package = perform_substitutions(
                context, normalize_to_list_of_substitutions(process.node_package)
            )
            if not is_installed(package):
                raise BringupError(
                    f"package {quoted(package)} is not installed; {debian_package(package)} brings it"
                )
        command = perform_substitutions(context, process.cmd[0])
        if shutil.which(command) is None:
            raise BringupError(f"command {quoted(command)} is not installed or not on the path")


def end_all(event, context: LaunchContext) -> list[Action]:
    """`on_exit` of a process that everything needs: when it ends, everything ends."""
    if context.is_shutdown:  # it ends because everything does
        return []
    name = event.process_name.rsplit("-", 1)[0]  # launch appends a number
    reason = f"{name} has ended with exit code {event.returncode}"
    if event.returncode:
        raise BringupError(reason)  # what gives launch another exit code than 0
    return [Shutdown(reason=reason)]


def after(*actions: Action) -> Callable[..., list[Action]]:
    """`on_exit` of a task: when it has ended well, go on with these; when it failed, everything ends."""

    def go_on(event, context: LaunchContext) -> list[Action]:
        if event.returncode or context.is_shutdown:
            return end_all(event, context)
        return list(actions)

    return go_on


def bring_up(node: LifecycleNode, activate: bool = True) -> list[Action]:
    """Start a lifecycle node, configure it when it answers, and activate it, once, when that is done.

    Whoever takes it through its transitions by hand later is left alone, and so is a node that is not to be activated.
    """

    def outcome(context: LaunchContext, name: str, goal: str, then: list[Action]) -> list[Action]:
        if context.is_shutdown:
            return []
        _refuse_a_second(context, node.node_name)
        if context.locals.event.goal_state != goal:
            raise BringupError(f"{node.node_name} could not be {name}")
        return then

    def first(start_state: str, name: str, goal: str, then: list[Action]) -> Action:
        """What follows from the first transition out of a state."""
        result = OpaqueFunction(function=outcome, args=[name, goal, then])
        return RegisterEventHandler(
            OnStateTransition(
                target_lifecycle_node=node,
                start_state=start_state,
                entities=[result],
                handle_once=True,
            )
        )

    if not activate:
        return [
            node,
            first("configuring", "configured", "inactive", []),
            OpaqueFunction(function=_configure, args=[node]),
        ]
    return [
        node,
        first(
            "configuring", "configured", "inactive", [_change(node, Transition.TRANSITION_ACTIVATE)]
        ),
        first("activating", "activated", "active", []),
        OpaqueFunction(function=_configure, args=[node]),
    ]


def _configure(context: LaunchContext, node: LifecycleNode) -> list[Action]:
    """Configure a node when it has answered a question.

    A node that answers knows whoever asked, and those who have listened to its transitions since before that. Before it
    does, its transitions may go unheard, and one that fails at once makes no others.
    """
    client = get_ros_node(context).create_client(GetState, f"{node.node_name}/get_state")
    answers: list[Future] = []

    def ask(context: LaunchContext) -> list[Action]:
        if context.is_shutdown:
            return []
        for answer in answers:
            response = answer.result() if answer.done() else None
            if response is not None:
                _refuse_a_second(context, node.node_name, response.current_state.label)
                return [_change(node, Transition.TRANSITION_CONFIGURE)]
        if client.service_is_ready():
            answers.append(client.call_async(GetState.Request()))
        return [TimerAction(period=ASKING, actions=[OpaqueFunction(function=ask)])]

    return ask(context)


def _refuse_a_second(context: LaunchContext, name: str, state: str = NEW) -> None:
    """Refuse a node of the same name: both would be configured, or one by the word of the other.

    One that was there before may answer first; then it is the state that tells.
    """
    nodes = get_ros_node(context).get_node_names_and_namespaces()
    names = [f"{namespace.rstrip('/')}/{node}" for node, namespace in nodes]
    if names.count(name) > 1 or state != NEW:
        raise BringupError(
            f"another node {name} is already there: end it (one that was killed disappears after "
            "some seconds), or give this launch a namespace:=NAME of its own"
            + ("" if state == NEW else f"; it is {state} (or its parameter autostart is set)")
        )


def _change(node: LifecycleNode, transition: int) -> EmitEvent:
    return EmitEvent(
        event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition)
    )
