# SPDX-License-Identifier: Apache-2.0
"""Operational-space dynamics and control for ROS 2."""

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import OpspaceError

if TYPE_CHECKING:
    from . import algebra, control, dynamics, model, osim, sim  # noqa: F401
    from .control.contacts import Contact
    from .control.controller import Controller
    from .control.posture import Posture
    from .control.tasks import CenterOfMassTask, OrientationTask, PoseTask, PositionTask
    from .dynamics import (
        bias_forces,
        forward_dynamics,
        frame_jacobian,
        frame_pose,
        inverse_dynamics,
        mass_matrix,
    )
    from .model import Model, load_mjcf, load_robot, load_urdf
    from .osim import CenterOfMass, OperationalSpace, Task
    from .sim.simulator import Simulator

__all__ = [
    "CenterOfMass",
    "CenterOfMassTask",
    "Contact",
    "Controller",
    "Model",
    "OperationalSpace",
    "OpspaceError",
    "OrientationTask",
    "PoseTask",
    "PositionTask",
    "Posture",
    "Simulator",
    "Task",
    "bias_forces",
    "forward_dynamics",
    "frame_jacobian",
    "frame_pose",
    "inverse_dynamics",
    "load_mjcf",
    "load_robot",
    "load_urdf",
    "mass_matrix",
]

# NumPy and Numba take half a second to import: whoever only loads a model does not wait for Numba, and the commands
# have their signal handlers before either.
_HOMES: dict[str, set[str]] = {
    "model": {"Model", "load_mjcf", "load_robot", "load_urdf"},
    "dynamics": {
        "bias_forces",
        "forward_dynamics",
        "frame_jacobian",
        "frame_pose",
        "inverse_dynamics",
        "mass_matrix",
    },
    "osim": {"CenterOfMass", "OperationalSpace", "Task"},
    "control.contacts": {"Contact"},
    "control.controller": {"Controller"},
    "control.posture": {"Posture"},
    "control.tasks": {"CenterOfMassTask", "OrientationTask", "PoseTask", "PositionTask"},
    "sim.simulator": {"Simulator"},
}
_LAYERS = ("model", "dynamics", "osim", "control", "sim", "algebra")


if not TYPE_CHECKING:  # or a type checker would believe that every name is there

    def __getattr__(name: str) -> object:
        """The public names and the layers, imported when first asked for."""
        for home, names in _HOMES.items():
            if name in names:
                value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
                return value
        if name in _LAYERS:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_LAYERS]
