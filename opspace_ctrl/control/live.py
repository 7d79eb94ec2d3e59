"""From settings to the live numbers of the tick: the only place that writes them."""

from __future__ import annotations

import numpy as np

from ..errors import SettingsError, listed, quoted
from ..model import Model
from .core import Core
from .fields import BALANCED, GRAVITY_MODE, RAW_MODE, TASKS_MODE, ZERO, Law
from .settings import ControllerSettings
from .targets.posture_target import PostureTarget

__all__ = ["check_payload", "write_live"]

MODES = {"tasks": TASKS_MODE, "raw": RAW_MODE, "gravity": GRAVITY_MODE}
INTERNAL = {"zero": ZERO, "balanced": BALANCED}
LARGEST_MARGIN = 0.1  # of a joint's range


def write_live(
    core: Core, model: Model, settings: ControllerSettings, posture: PostureTarget
) -> None:
    """Write every setting that is a live number; what was checked before cannot fail."""
    law = core.law
    _write_tasks(law, settings)
    _write_contacts(law, settings)
    _write_limits(law, model, settings)
    law.posture_stiffness, law.posture_damping = posture.gains()
    law.posture_error = settings.posture.error_clip
    _write_options(law, settings)
    _write_payload(core, settings)


def _write_tasks(law: Law, settings: ControllerSettings) -> None:
    for i, task in enumerate(settings.tasks):
        law.task_on[i] = task.enabled
        law.stiffness[i] = task.stiffness
        law.damping[i] = task.damping
        law.motion[i] = task.motion
        law.error_limit[i] = task.error_clip
        law.force_gain[i] = task.force_gain
        law.integral_gain[i] = task.force_integral
        law.integral_limit[i] = task.force_limit
        law.force_damping[i] = task.force_damping


def _write_contacts(law: Law, settings: ControllerSettings) -> None:
    for i, contact in enumerate(settings.contacts):
        law.contact_on[i] = contact.enabled
        law.contact_damping[i] = contact.damping
        law.mu[i] = contact.friction
        law.half_lengths[i] = contact.half_lengths
        law.sole_centre[i] = contact.centre
        law.minimum_force[i] = contact.minimum_force


def _write_limits(law: Law, model: Model, settings: ControllerSettings) -> None:
    limits = settings.limits
    lower, upper = model.position_limits.T
    finite = np.isfinite(model.velocity_limits)
    law.effort_limits = limits.effort_scale * model.effort_limits
    law.rate_limits = limits.torque_rate
    law.position_margin = np.minimum(limits.margin, LARGEST_MARGIN * (upper - lower))
    law.velocity_margin = limits.speed_margin * np.where(finite, model.velocity_limits, 0.0)
    law.limit_stiffness = limits.stiffness
    law.limit_damping = limits.damping
    law.braking = settings.safety.safe_damping
    law.coulomb_speed = settings.compensation.friction_speed


def _write_options(law: Law, settings: ControllerSettings) -> None:
    added = settings.compensation
    in_law = not added.bias and settings.mode == "tasks"  # F = Lambda (a - beta) instead of h
    law.mode = MODES[settings.mode]
    law.internal_forces = INTERNAL[settings.internal_forces]
    law.ramp_time = settings.ramp
    law.fade_time = settings.fade
    law.singular_damping = settings.limits.singular_damping
    law.singular_cut = settings.limits.singular_cut
    law.bias_in_law = in_law
    law.gravity_share = added.gravity and (added.bias or in_law)
    law.coriolis_share = added.coriolis and (added.bias or in_law)
    law.friction_share = added.friction


def _write_payload(core: Core, settings: ControllerSettings) -> None:
    added = settings.compensation
    core.set_payload(
        _payload_frame(settings) if added.payload_mass > 0.0 else None,
        added.payload_mass,
        added.payload_centre,
    )


def check_payload(model: Model, settings: ControllerSettings) -> None:
    """Can the robot carry the payload where it is said to be?

    Raises:
        SettingsError: There is no such frame, none is given, or it does not move.
    """
    frame, mass = _payload_frame(settings), settings.compensation.payload_mass
    if frame and frame not in model.frame_names:
        raise SettingsError(
            f"payload.frame: no frame {quoted(frame)}; valid are {listed(model.frame_names)}"
        )
    if mass > 0.0 and frame is None:
        raise SettingsError(
            f"payload.mass: {mass:g} kg, but payload.frame is empty and no task has a frame"
        )
    if mass > 0.0 and frame and model.frame_body[model.frame_index(frame)] < 0:
        moving = [name for name, body in zip(model.frame_names, model.frame_body) if body >= 0]
        raise SettingsError(
            f"payload.frame: {quoted(frame)} does not move; valid are {listed(moving)}"
        )


def _payload_frame(settings: ControllerSettings) -> str | None:
    """The frame that is given, or the first task's."""
    frames = [settings.compensation.payload_frame, *(task.spec.frame for task in settings.tasks)]
    return next((frame for frame in frames if frame), None)
