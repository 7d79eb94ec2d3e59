"""`Report`: what the last tick did, as numbers with names."""

from __future__ import annotations

from .core import Core
from .structure import Structure

__all__ = ["Report"]

_NUMBERS = (
    "ramped",
    "faded",
    "clipped",
    "bias_saturated",
    "rate_limited",
    "worst_margin",
    "joints_limited",
    "is_damped",
    "not_finite",
    "error_clipped",
    "base_residual",
)


class Report:
    """Views of the last tick; they change with the next one.

    Attributes:
        levels: Names of the levels: bias, limits, one a level of tasks (their names joined by +), posture.
        scale, rank, damped: (levels,) how much of its torque was left, independent rows, 1 if its inertia was damped.
        contact_wrench, margins: (contacts, 6) [N, Nm] of the ground on the robot; (contacts, 4) see `layout`.
        saturated, limited: (joints,) model order: 1 at the effort limit; activation of the joint limits.
        numbers: (layout.REPORT,) see `layout`.
        clipped_targets: Tasks whose last target was changed because it was too far or too fast.
    """

    def __init__(self, core: Core, structure: Structure, joints: tuple[str, ...]):
        tasks = ["+".join(structure.tasks[i].name for i in level) for level in structure.levels()]
        self.levels = ("bias", "limits", *tasks, "posture")
        self.contacts, self.joints = tuple(contact.name for contact in structure.contacts), joints
        self.scale, self.rank, self.damped = core.scale, core.rank, core.damped
        self.contact_wrench, self.margins = core.contact_wrench, core.margins
        self.saturated, self.limited, self.numbers = core.saturated, core.limited, core.report
        self.clipped_targets: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, float]:
        """All numbers by flat names, for diagnostics and logs."""
        out = {name: float(self.numbers[getattr(layout, name.upper())]) for name in _NUMBERS}
        for i, level in enumerate(self.levels):
            out[f"{level}.scale"], out[f"{level}.rank"] = float(self.scale[i]), float(self.rank[i])
            out[f"{level}.damped"] = float(self.damped[i])
        for i, contact in enumerate(self.contacts):
            out[f"{contact}.normal_force"] = float(self.contact_wrench[i, 2])
            for margin in ("unilateral", "cone", "centre", "torsion"):
                out[f"{contact}.{margin}"] = float(self.margins[i, getattr(layout, margin.upper())])
        for i, joint in enumerate(self.joints):
            if self.saturated[i]:
                out[f"{joint}.saturated"] = float(self.saturated[i])
            if self.limited[i]:
                out[f"{joint}.limited"] = float(self.limited[i])
        return out
