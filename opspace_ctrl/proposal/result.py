# SPDX-License-Identifier: Apache-2.0
"""What is proposed for a robot: parameters, and a note for each guess."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..model import Model

__all__ = ["BODY_TASKS", "Note", "Proposal"]

BODY_TASKS = ("com", "trunk")  # of a robot that stands, before those of its limbs


@dataclass(frozen=True)
class Note:
    """A guess: what was taken, and why."""

    subject: str
    taken: str
    reason: str


@dataclass(frozen=True)
class Proposal:
    """A configuration for a robot.

    Attributes:
        model: The robot, passive joints locked.
        controller, simulator: Parameters by name, nested as in a file.
        notes: All guesses, in order.
        warnings: What the user should look at before hardware moves.
    """

    model: Model
    controller: dict[str, Any]
    simulator: dict[str, Any]
    notes: list[Note]
    warnings: list[str] = field(default_factory=list)

    @property
    def moved(self) -> list[str]:
        """The tasks that a user would send targets to."""
        return [name for name in self.controller["tasks"] if name not in BODY_TASKS] or ["com"]
