"""Worlds, models and bridge files for Gazebo, for any robot."""

from opspace_ctrl.gazebo.files import gazebo_files
from opspace_ctrl.gazebo.generation import GENERATIONS
from opspace_ctrl.gazebo.settings import WorldSettings
from opspace_ctrl.gazebo.start import world_settings, write_files

__all__ = ["GENERATIONS", "WorldSettings", "gazebo_files", "world_settings", "write_files"]
