# SPDX-License-Identifier: Apache-2.0
"""`Contact`: a frame of the robot that the ground holds. Its parameters are declared as those of tasks are."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..declaration import Settings, fixed, live
from ..osim.tasks import Task

__all__ = ["Contact"]

ContactRows: TypeAlias = Literal["pose", "position"]
ContactAxes: TypeAlias = Literal["frame", "world"]


@dataclass(frozen=True, kw_only=True)
class Contact(Settings, prefix="contact."):
    """A support contact, which comes before every task.

    Attributes:
        name: What the user calls it; unique.
    """

    name: str = field(kw_only=False)
    frame: str = fixed(
        "", "Frame that stands on the ground; empty: the one named like the contact."
    )
    axes: ContactAxes = fixed(
        "frame", "Whose z axis is the normal of the ground: the frame's or the world's."
    )
    rows: ContactRows = fixed("pose", "pose: a sole, six rows; position: a point, three.")
    enabled: bool = live(True, "Does it carry? It comes and goes over `fade`.", law=True)
    friction: float = live(0.6, "Coefficient of friction.", "", 0.0, 10.0, law=True)
    front: float = live(0.1, "Reach of the sole along +x of its frame.", "m", 0.0, 10.0, law=True)
    back: float = live(0.1, "Reach along -x.", "m", 0.0, 10.0, law=True)
    left: float = live(0.05, "Reach along +y.", "m", 0.0, 10.0, law=True)
    right: float = live(0.05, "Reach along -y.", "m", 0.0, 10.0, law=True)
    minimum_force: float = live(
        5.0, "Normal force below which it is reported as lifting.", "N", 0.0, 1e5, law=True
    )
    damping: float = live(
        10.0, "Damping of what is left of its velocity.", "1/s", 0.0, 1e4, law=True
    )

    def own_prefix(self) -> str:
        """The name, as of "left_foot.friction"."""
        return f"{self.name}."

    @property
    def held_frame(self) -> str:
        """The frame that is given, or the one named like the contact."""
        return self.frame or self.name

    def task(self) -> Task:
        """The same as a task of `osim`."""
        return Task(self.held_frame, self.rows)
