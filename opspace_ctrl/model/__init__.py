"""The robot: URDF or xacro text becomes an immutable Model."""

from .joints import JointType
from .loader import load_robot, load_urdf
from .model import Model

__all__ = ["JointType", "Model", "load_robot", "load_urdf"]
