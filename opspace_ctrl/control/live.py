# SPDX-License-Identifier: Apache-2.0
"""From settings to the live numbers of the tick that depend on the robot, or on several settings at once.

All others are declared with `law=True`, and written as they are (`ControlLaw.take`).
"""

from ..errors import Mistakes, SettingsError, listed, quoted
from ..model import Model
from . import entries
from .build import carriers, first_frame
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
    law.asked_payload_frame = carriers(core.model).index(settings.payload.frame)
    entries.derive(law.address)
    posture.take(law.references)


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
    own, mass = settings.payload.frame, settings.payload.mass
    frame = own or first_frame(settings.tasks)
    if own and own not in model.frame_names:
        raise SettingsError(
            f"payload.frame: no frame {quoted(own)}; valid are {listed(model.frame_names)}"
        )
    if mass > 0.0 and not frame:
        raise SettingsError(
            f"payload.mass: {mass:g} kg, but payload.frame is empty and no task has a frame"
        )
    moving = carriers(model)[1:]
    if frame and frame not in moving and (mass > 0.0 or own):
        raise SettingsError(
            f"payload.frame: {quoted(frame)} does not move; valid are {listed(moving)}"
        )
