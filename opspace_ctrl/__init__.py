"""Operational-space dynamics and control for ROS 2."""
from opspace_ctrl.dynamics import (
    bias_forces,
    forward_dynamics,
    frame_jacobian,
    frame_pose,
    inverse_dynamics,
    mass_matrix,
)
from opspace_ctrl.errors import OpspaceError
from opspace_ctrl.model import Model, load_robot, load_urdf
from opspace_ctrl.osim import CenterOfMass, OperationalSpace, Task

__all__ = ["CenterOfMass", "Model", "OperationalSpace", "OpspaceError", "Task", "bias_forces", "forward_dynamics",
           "frame_jacobian", "frame_pose", "inverse_dynamics", "load_robot", "load_urdf", "mass_matrix"]
