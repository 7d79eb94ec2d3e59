"""Worlds, models and bridge files for Gazebo."""
