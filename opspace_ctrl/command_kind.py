# SPDX-License-Identifier: Apache-2.0
"""What a robot's drives take, efforts or velocities: its limits, and the topic that it comes on."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .model import Model

__all__ = ["CommandKind", "command_limits", "command_topic", "plural"]

CommandKind: TypeAlias = Literal["effort", "velocity"]


def command_limits(model: Model, kind: CommandKind) -> NDArray[np.float64]:
    """The URDF's limits (k,) [Nm or N; rad/s or m/s] of what is commanded; inf where there is none."""
    return model.velocity_limits if kind == "velocity" else model.effort_limits


def command_topic(kind: CommandKind) -> str:
    """Where commands go: that of a forward_command_controller of this kind."""
    return f"{kind}_controller/commands"


def plural(kind: CommandKind) -> str:
    """Several of them, in words."""
    return "velocities" if kind == "velocity" else "efforts"
