"""Operational-space dynamics and control for ROS 2."""

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import OpspaceError

if TYPE_CHECKING:
    from opspace_ctrl.dynamics import (
        bias_forces,
        forward_dynamics,
        frame_jacobian,
        frame_pose,
        inverse_dynamics,
        mass_matrix,
    )
    from opspace_ctrl.model import Model, load_mjcf, load_robot, load_urdf
    from opspace_ctrl.osim import CenterOfMass, OperationalSpace, Task

__all__ = [
    "CenterOfMass",
    "Model",
    "OperationalSpace",
    "OpspaceError",
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
_LAYERS: dict[str, set[str]] = {
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
    "algebra": set(),
}


def __getattr__(name: str):
    """The layers, imported when first asked for."""
    for layer, names in _LAYERS.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"{__name__}.{layer}"), name)
            return value
        if name == layer:
            return import_module(f"{__name__}.{layer}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_LAYERS]
