"""From a plan to launch actions: the only module here that imports launch and launch_ros.

Lifecycle nodes are configured when they run and activated when they are configured. When a required process ends, a
task fails, or a transition of a lifecycle node fails, everything is shut down in order.
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

from opspace_ctrl.bringup.arguments import Argument, arguments
from opspace_ctrl.bringup.plan import plan
from opspace_ctrl.bringup.processes import OPTIONAL, TASK, Process

__all__ = ["launch_description"]

# (state before, state after) of transitions that did not come off; None is any state.
FAILURES = (("configuring", "unconfigured"), ("activating", "inactive"), ("errorprocessing", None))

HEARING = 0.5  # [s] between two looks at whether a node's transitions are heard


def launch_description(launch: str) -> LaunchDescription:
    """What a file in launch/ returns: the arguments of the launch and all that it starts."""
    start = OpaqueFunction(function=_start, kwargs={"launch": launch})
    return LaunchDescription([*(_declared(argument) for argument in arguments(launch)), start])


def _declared(argument: Argument) -> DeclareLaunchArgument:
    choices = {"choices": list(argument.choices)} if argument.choices else {}
    return DeclareLaunchArgument(argument.name, default_value=argument.default, description=argument.description,
                                 **choices)


def _start(context: LaunchContext, launch: str) -> list[Action]:
    """The actions of the plan that the arguments ask for."""
    given = {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in arguments(launch)}
    scratch = Path(tempfile.mkdtemp(prefix="opspace_"))
    clean = OnShutdown(on_shutdown=lambda event, context: shutil.rmtree(scratch, ignore_errors=True))
    actions: list[Action] = [RegisterEventHandler(clean)]
    processes = {process.name: process for process in plan(launch, given, scratch)}
    started = {name: _action(process, given["namespace"]) for name, process in processes.items()}
    begin = {name: [started[name], *_transitions(process, started[name])] for name, process in processes.items()}
    for name, process in processes.items():
        if process.role != OPTIONAL:
            then = [action for other in processes.values() if other.after == name for action in begin[other.name]]
            actions.append(RegisterEventHandler(_when_ended(process, started[name], then)))
        if not process.after:
            actions += begin[name]
    return actions


def _action(process: Process, namespace: str) -> ExecuteProcess:
    """The action that starts a process."""
    options: dict[str, Any] = {"output": "screen"}
    if not process.package:
        return ExecuteProcess(cmd=[process.executable, *process.arguments], name=process.name, **options)
    if process.role != TASK:  # a spawner finds a name of its own
        options["name"] = process.name
    if process.log_level:
        options["ros_arguments"] = ["--log-level", process.log_level]
    kind = LifecycleNode if process.is_lifecycle else Node
    return kind(package=process.package, executable=process.executable, namespace=namespace,
                parameters=[_parameters(source) for source in process.parameters],
                arguments=list(process.arguments), remappings=list(process.remappings), **options)


def _parameters(source: Path | Mapping[str, Any]) -> str | dict[str, Any]:
    """A parameter file, or values; launch reads text as YAML unless it is told that it is text."""
    if isinstance(source, Path):
        return str(source)
    return {name: ParameterValue(value, value_type=str) if isinstance(value, str) else value
            for name, value in source.items()}


def _transitions(process: Process, node: Action) -> list[Action]:
    """Configure a lifecycle node, activate it when it is configured, and give up when it fails."""
    if not process.is_lifecycle:
        return []
    handlers = [OnStateTransition(target_lifecycle_node=node, start_state=before, goal_state=after,
                                  entities=[Shutdown(reason=f"{process.name} failed while {before}")])
                for before, after in FAILURES]
    if process.activate:
        handlers.append(OnStateTransition(
            target_lifecycle_node=node, start_state="configuring", goal_state="inactive",
            entities=[_change(node, Transition.TRANSITION_ACTIVATE)]))
    return [*(RegisterEventHandler(handler) for handler in handlers),
            OpaqueFunction(function=_configure, args=[node, False])]


def _configure(context: LaunchContext, node: LifecycleNode, was_heard: bool) -> list[Action]:
    """Configure a node when its transitions are heard: one that fails at once would go unnoticed before."""
    is_heard = get_ros_node(context).count_publishers(f"{node.node_name}/transition_event") > 0
    if was_heard and is_heard:  # for a whole period, so that the other end knows us as well
        return [_change(node, Transition.TRANSITION_CONFIGURE)]
    again = OpaqueFunction(function=_configure, args=[node, is_heard])
    return [TimerAction(period=HEARING, actions=[again])]


def _change(node: Action, transition: int) -> EmitEvent:
    return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))


def _when_ended(process: Process, action: Action, then: list[Action]) -> OnProcessExit:
    """Go on when a task has ended well; end everything when it failed, or when a required process has ended."""
    def decide(event, context: LaunchContext) -> list[Action]:
        if context.is_shutdown:  # it ends because everything does
            return []
        if process.role == TASK and event.returncode == 0:
            return then
        return [Shutdown(reason=f"{process.name} has ended with exit code {event.returncode}")]
    return OnProcessExit(target_action=action, on_exit=decide)
