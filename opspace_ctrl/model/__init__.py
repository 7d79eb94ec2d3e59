"""What the robot is: URDF or xacro text to an immutable Model."""

from opspace_ctrl.model.joints import JointType
from opspace_ctrl.model.loader import load_robot, load_urdf
from opspace_ctrl.model.model import Model

__all__ = ["JointType", "Model", "load_robot", "load_urdf"]
