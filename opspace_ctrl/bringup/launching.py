"""From a plan to launch actions: the only module here that imports launch and launch_ros.

Lifecycle nodes are configured when they run and activated when they are configured. When a required process ends, a
task fails, or a transition that was asked for here fails, everything is shut down in order; unless the process ended
well, launch says why and has the exit code 1.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
    TimerAction,
)
from launch.event_handlers import OnProcessExit, OnShutdown
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.ros_adapters import get_ros_node
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import GetState
from rclpy.task import Future

from ..errors import BringupError
from .arguments import Argument, arguments
from .plan import plan
from .processes import OPTIONAL, TASK, Process

__all__ = ["launch_description"]

ASKING = 0.25  # [s] between two questions to a node that has not answered yet


def launch_description(launch: str) -> LaunchDescription:
    """What a file in launch/ returns: the arguments of the launch and all that it starts."""
    start = OpaqueFunction(function=_start, kwargs={"launch": launch})
    return LaunchDescription([*(_declared(argument) for argument in arguments(launch)), start])


def _declared(argument: Argument) -> DeclareLaunchArgument:
    choices = {"choices": list(argument.choices)} if argument.choices else {}
    return DeclareLaunchArgument(
        argument.name, default_value=argument.default, description=argument.description, **choices
    )


def _start(context: LaunchContext, launch: str) -> list[Action]:
    """The actions of the plan that the arguments ask for."""
    given = {
        argument.name: LaunchConfiguration(argument.name).perform(context)
        for argument in arguments(launch)
    }
    scratch = Path(tempfile.mkdtemp(prefix="opspace_"))
    try:
        processes = {process.name: process for process in plan(launch, given, scratch)}
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    clean = OnShutdown(
        on_shutdown=lambda event, context: shutil.rmtree(scratch, ignore_errors=True)
    )
    actions: list[Action] = [RegisterEventHandler(clean)]
    started = {name: _action(process, given["namespace"]) for name, process in processes.items()}
    begin = {
        name: [started[name], *_transitions(process, started[name])]
        for name, process in processes.items()
    }
    for name, process in processes.items():
        if process.role != OPTIONAL:
            then = [
                action
                for other in processes.values()
                if other.after == name
                for action in begin[other.name]
            ]
            actions.append(RegisterEventHandler(_when_ended(process, started[name], then)))
        if not process.after:
            actions += begin[name]
    return actions


def _action(process: Process, namespace: str) -> ExecuteProcess:
    """The action that starts a process."""
    options: dict[str, Any] = {"output": "screen", "additional_env": dict(process.environment)}
    if process.grace:
        options["sigterm_timeout"] = str(process.grace)
    if not process.package:
        return ExecuteProcess(
            cmd=[process.executable, *process.arguments], name=process.name, **options
        )
    if not process.keeps_name:
        options["name"] = process.name
    if process.log_level:
        options["ros_arguments"] = ["--log-level", process.log_level]
    kind = LifecycleNode if process.is_lifecycle else Node
    return kind(
        package=process.package,
        executable=process.executable,
        namespace=namespace,
        parameters=[_parameters(source) for source in process.parameters],
        arguments=list(process.arguments),
        remappings=list(process.remappings),
        **options,
    )


def _parameters(source: Path | Mapping[str, Any]) -> str | dict[str, Any]:
    """A parameter file, or values; launch reads text as YAML unless it is told that it is text."""
    if isinstance(source, Path):
        return str(source)
    return {
        name: ParameterValue(value, value_type=str) if isinstance(value, str) else value
        for name, value in source.items()
    }


def _transitions(process: Process, node: Action) -> list[Action]:
    """Configure a lifecycle node, activate it when it is configured, and give up when it fails."""
    if not process.is_lifecycle:
        return []

    def when(before: str, after: str | None, action: Action) -> Action:
        return RegisterEventHandler(
            OnStateTransition(
                target_lifecycle_node=node, start_state=before, goal_state=after, entities=[action]
            )
        )

    actions = [
        when("configuring", "unconfigured", _failure(f"{process.name} could not be configured")),
        when("errorprocessing", None, _failure(f"{process.name} failed in a transition")),
    ]
    if process.activate:  # whoever activates it by hand may try again
        actions += [
            when("configuring", "inactive", _change(node, Transition.TRANSITION_ACTIVATE)),
            when("activating", "inactive", _failure(f"{process.name} could not be activated")),
        ]
    return [*actions, OpaqueFunction(function=_configure, args=[node])]


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
        if any(answer.done() for answer in answers):
            return [_change(node, Transition.TRANSITION_CONFIGURE)]
        if client.service_is_ready():
            answers.append(client.call_async(GetState.Request()))
        return [TimerAction(period=ASKING, actions=[OpaqueFunction(function=ask)])]

    return ask(context)


def _failure(reason: str) -> OpaqueFunction:
    """Shut everything down with this reason; an exception is what gives launch another exit code than 0."""

    def fail(context: LaunchContext) -> None:
        if not context.is_shutdown:
            raise BringupError(reason)

    return OpaqueFunction(function=fail)


def _change(node: Action, transition: int) -> EmitEvent:
    return EmitEvent(
        event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition)
    )


def _when_ended(process: Process, action: Action, then: list[Action]) -> OnProcessExit:
    """Go on when a task has ended well; end everything when it failed, or when a required process has ended."""

    def decide(event, context: LaunchContext) -> list[Action]:
        if context.is_shutdown:  # it ends because everything does
            return []
        if process.role == TASK and event.returncode == 0:
            return then
        reason = f"{process.name} has ended with exit code {event.returncode}"
        return [Shutdown(reason=reason) if event.returncode == 0 else _failure(reason)]

    return OnProcessExit(target_action=action, on_exit=decide)
