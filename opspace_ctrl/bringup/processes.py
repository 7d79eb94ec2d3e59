"""A process that a launch file starts, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["OPTIONAL", "REQUIRED", "TASK", "Process"]

REQUIRED = "required"  # when it ends, everything ends
OPTIONAL = "optional"  # it may end
TASK = "task"  # it ends by itself; when it fails, everything ends


@dataclass(frozen=True)
class Process:
    """A node, or a command where there is no package.

    Attributes:
        package, executable: what is started; without a package `executable` is a command on the path.
        name: of the node or command, unique in its plan.
        parameters: parameter files and {name: value}, later ones before earlier ones.
        arguments: of the command line, before the ROS arguments.
        remappings: (from, to).
        is_lifecycle: it is configured when it runs.
        activate: it is activated when it is configured.
        role: REQUIRED, OPTIONAL or TASK.
        after: name of a task that must have ended well before.
        log_level: of the node; empty: its own.
        keeps_name: the executable names its nodes itself; a name from outside would become that of all of them.
        environment: variables that it gets besides ours.
        grace: how long it may take to end when it is interrupted [s]; 0: as long as launch grants everybody.
    """

    package: str
    executable: str
    name: str
    parameters: tuple[Path | Mapping[str, Any], ...] = ()
    arguments: tuple[str, ...] = ()
    remappings: tuple[tuple[str, str], ...] = ()
    is_lifecycle: bool = False
    activate: bool = False
    role: str = REQUIRED
    after: str = ""
    log_level: str = ""
    keeps_name: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    grace: float = 0.0
