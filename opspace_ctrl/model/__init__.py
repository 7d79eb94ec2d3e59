"""The robot: URDF, xacro or MJCF text becomes an immutable Model."""

from .joints import JointType
from .loader import load_robot, load_urdf
from .mjcf import load_mjcf
from .model import Model

__all__ = ["JointType", "Model", "load_mjcf", "load_robot", "load_urdf"]
