# SPDX-License-Identifier: Apache-2.0
"""From settings to the live numbers of the tick that depend on the robot, or on several settings at once.

All others are declared with `law=True`, and written as they are (`ControlLaw.take`).
"""

from typing import Any

from ..errors import Mistakes, SettingsError, listed, quoted
from ..model import Model
from . import entries
from .core import Core
from .settings import ControllerSettings, check_kind
from .targets.posture_target import PostureTarget

__all__ = ["check_fit", "write_live"]


def write_live(
    core: Core, settings: ControllerSettings, posture: PostureTarget, before: ControllerSettings
) -> None:
    """Write every live number that differs from `before`, which the core has; what was checked cannot fail."""
    law = core.law
    law.take(settings, before)
    entries.derive(law.address)
    law.posture_stiffness, law.posture_damping = posture.gains()
    posture.write(law.references)
    payload = _payload(settings)
    if payload != _payload(before):
        core.set_payload(*payload)


def check_fit(model: Model, settings: ControllerSettings) -> None:
    """Do settings fit the robot?

    Raises:
        OpspaceError: Joints or frames that it does not have, a wrong number of joints; all mistakes at once.
    """
    check_kind(ControllerSettings, "settings", settings)
    mistakes = Mistakes()
    with mistakes:
        settings.check_robot(model)
    with mistakes:
        PostureTarget(model, settings.posture)
    with mistakes:
        _check_payload(model, settings)
    mistakes.tell()


def _check_payload(model: Model, settings: ControllerSettings) -> None:
    """Can the robot carry the payload where it is said to be?

    Raises:
        SettingsError: There is no such frame, none is given, or it does not move.
    """
    frame, mass, own = _payload_frame(settings), settings.payload.mass, settings.payload.frame
    if own and own not in model.frame_names:
        raise SettingsError(
            f"payload.frame: no frame {quoted(own)}; valid are {listed(model.frame_names)}"
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


def _payload(settings: ControllerSettings) -> tuple[str | None, float, Any]:
    """Frame, mass and centre of what is carried."""
    payload = settings.payload
    frame = _payload_frame(settings) if payload.mass > 0.0 else None
    return frame, payload.mass, payload.centre


def _payload_frame(settings: ControllerSettings) -> str | None:
    """The frame that is given, or the first task's."""
    own = [task.moved_frame for task in settings.tasks]
    return next((frame for frame in (settings.payload.frame, *own) if frame), None)
