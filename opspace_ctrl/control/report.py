# SPDX-License-Identifier: Apache-2.0
"""`Report`: what the last tick did, as numbers with names."""

from .core import read_only
from .fields import CENTRE, CONE, TORSION, UNILATERAL, Law
from .settings import ControllerSettings

__all__ = ["Report"]

_MARGINS = {"unilateral": UNILATERAL, "cone": CONE, "centre": CENTRE, "torsion": TORSION}


class Report:
    """Views of the last tick; they change with the next one.

    Attributes:
        tasks: Names of the tasks.
        levels: Names of the levels: bias, limits, one a level of tasks (their names joined by +), posture.
        contacts, joints: Names of the contacts, and of the joints in model order.
        scale, rank, damped: (levels,) how much of its torque was left, independent rows, 1 if its inertia was damped.
        contact_wrench, margins: (contacts, 6) [N, Nm] of the ground on the robot; (contacts, 4) `law.contact_margin`.
        target: (tasks, 12) where each task should have been: rotation, row by row, and position [m].
        saturated, limited: (joints,) model order: 1 at the effort limit; activation of the joint limits.
        law: Where the single numbers are ("the report" of `fields.Law`): `law.worst_margin`.
        clipped_targets: Tasks whose last target was changed because it was too far or too fast.
    """

    def __init__(self, law: Law, settings: ControllerSettings, joints: tuple[str, ...]):
        levels = ["+".join(settings.tasks[i].name for i in level) for level in settings.levels()]
        self.law, self.tasks = law, tuple(task.name for task in settings.tasks)
        self.levels = ("bias", "limits", *levels, "posture")
        self.contacts, self.joints = tuple(contact.name for contact in settings.contacts), joints
        self.target = read_only(law.target)
        self.scale = read_only(law.level_scale)
        self.rank = read_only(law.level_rank)
        self.damped = read_only(law.level_damped)
        self.contact_wrench = read_only(law.contact_wrench)
        self.margins = read_only(law.contact_margin)
        self.saturated = read_only(law.saturated)
        self.limited = read_only(law.activation)
        self.clipped_targets: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, float]:
        """All numbers by flat names, for diagnostics and logs."""
        law = self.law
        out = {
            "ramped": law.ramped,
            "faded": law.faded,
            "passed": law.passed,
            "clipped": law.clipped,
            "bias_saturated": law.bias_saturated,
            "rate_limited": law.rate_limited,
            "worst_margin": law.worst_margin,
            "joints_limited": law.joints_limited,
            "is_damped": law.is_damped,
            "not_finite": law.not_finite,
            "error_clipped": law.error_clipped,
            "base_residual": law.base_residual,
        }
        for i, level in enumerate(self.levels):
            out[f"{level}.scale"] = self.scale[i]
            out[f"{level}.rank"] = self.rank[i]
            out[f"{level}.damped"] = self.damped[i]
        for i, contact in enumerate(self.contacts):
            out[f"{contact}.normal_force"] = self.contact_wrench[i, 2]
            for margin, column in _MARGINS.items():
                out[f"{contact}.{margin}"] = self.margins[i, column]
        for i, joint in enumerate(self.joints):
            if self.saturated[i]:
                out[f"{joint}.saturated"] = self.saturated[i]
            if self.limited[i]:
                out[f"{joint}.limited"] = self.limited[i]
        return {name: float(value) for name, value in out.items()}
