"""Worlds, models and bridge files for Gazebo, for any robot."""

from opspace_ctrl.gazebo.files import gazebo_files
from opspace_ctrl.gazebo.generation import GENERATIONS
from opspace_ctrl.gazebo.settings import WorldSettings

__all__ = ["GENERATIONS", "WorldSettings", "gazebo_files"]
