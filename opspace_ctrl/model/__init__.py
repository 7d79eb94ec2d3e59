# SPDX-License-Identifier: Apache-2.0
"""The robot: URDF, xacro or MJCF text becomes an immutable Model."""

from .joints import JointType
from .loader import load_robot, load_urdf
from .mjcf import load_mjcf
from .model import Model, check_model

__all__ = ["JointType", "Model", "check_model", "load_mjcf", "load_robot", "load_urdf"]
