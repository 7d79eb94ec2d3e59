"""From settings to the live numbers of the tick: the only place that writes them."""

from __future__ import annotations

import numpy as np

from ..errors import SettingsError, listed, quoted
from ..model import Model
from .core import Core
from .fields import (
    BALANCED,
    BETA,
    CORIOLIS,
    CUT,
    DAMPING,
    FADE,
    FRICTION,
    GRAVITY,
    GRAVITY_MODE,
    INTERNAL,
    MODE,
    RAMP,
    RAW_MODE,
    TASKS_MODE,
    ZERO,
)
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
    _write_tasks(core, settings)
    _write_contacts(core, settings)
    _write_limits(core, model, settings)
    core.posture_stiffness[:], core.posture_damping[:] = posture.gains()
    core.posture_error[:] = settings.posture.error_clip
    _write_options(core, settings)
    _write_payload(core, settings)


def _write_tasks(core: Core, settings: ControllerSettings) -> None:
    for i, task in enumerate(settings.tasks):
        core.task_on[i] = task.enabled
        core.stiffness[i], core.damping[i], core.motion[i] = (
            task.stiffness,
            task.damping,
            task.motion,
        )
        core.error_limit[i] = task.error_clip
        core.force_gain[i], core.integral_gain[i] = task.force_gain, task.force_integral
        core.integral_limit[i], core.force_damping[i] = task.force_limit, task.force_damping


def _write_contacts(core: Core, settings: ControllerSettings) -> None:
    for i, contact in enumerate(settings.contacts):
        core.contact_on[i], core.friction[i] = contact.enabled, contact.friction
        core.contact_damping[i] = contact.damping
        core.half_lengths[i], core.sole_centre[i] = contact.half_lengths, contact.centre
        core.minimum_force[i] = contact.minimum_force


def _write_limits(core: Core, model: Model, settings: ControllerSettings) -> None:
    limits = settings.limits
    core.effort_limits[:] = limits.effort_scale * model.effort_limits
    core.rate_limits[:] = limits.torque_rate
    lower, upper = model.position_limits.T
    core.position_margin[:] = np.minimum(limits.margin, LARGEST_MARGIN * (upper - lower))
    finite = np.isfinite(model.velocity_limits)
    core.velocity_margin[:] = np.where(
        finite, limits.speed_margin * np.where(finite, model.velocity_limits, 0.0), 0.0
    )
    core.limit_stiffness[:], core.limit_damping[:] = limits.stiffness, limits.damping
    core.coulomb_speed[:] = settings.compensation.friction_speed


def _write_options(core: Core, settings: ControllerSettings) -> None:
    added, option = settings.compensation, core.options
    in_law = not added.bias and settings.mode == "tasks"  # F = Lambda (a - beta) instead of h
    option[MODE], option[INTERNAL] = (MODES[settings.mode], INTERNAL[settings.internal_forces])
    option[RAMP], option[FADE] = settings.ramp, settings.fade
    option[DAMPING], option[CUT] = (settings.limits.singular_damping, settings.limits.singular_cut)
    option[BETA] = in_law
    option[GRAVITY] = added.gravity and (added.bias or in_law)
    option[CORIOLIS] = added.coriolis and (added.bias or in_law)
    option[FRICTION] = added.friction


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
    if mass > 0.0 and model.frame_body[model.frame_index(frame)] < 0:
        moving = [name for name, body in zip(model.frame_names, model.frame_body) if body >= 0]
        raise SettingsError(
            f"payload.frame: {quoted(frame)} does not move; valid are {listed(moving)}"
        )


def _payload_frame(settings: ControllerSettings) -> str | None:
    """The frame that is given, or the first task's."""
    frames = [settings.compensation.payload_frame, *(task.spec.frame for task in settings.tasks)]
    return next((frame for frame in frames if frame), None)
