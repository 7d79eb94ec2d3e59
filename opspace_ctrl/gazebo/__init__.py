# SPDX-License-Identifier: Apache-2.0
"""Worlds, models and bridge files for Gazebo, for any robot."""

from .files import gazebo_files
from .generation import GENERATIONS
from .settings import WorldSettings
from .start import world_settings, write_files

__all__ = ["GENERATIONS", "WorldSettings", "gazebo_files", "world_settings", "write_files"]
