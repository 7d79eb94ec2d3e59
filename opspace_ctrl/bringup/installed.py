# SPDX-License-Identifier: Apache-2.0
"""Which ROS packages are installed here."""

import os

__all__ = ["debian_package", "is_installed"]


def is_installed(package: str) -> bool:
    """Does the ament index know this package?"""
    try:
        from ament_index_python import PackageNotFoundError, get_package_prefix
    except ImportError:
        return False
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def debian_package(package: str) -> str:
    """What brings a ROS package, such as ros-jazzy-ros-gz-bridge."""
    return f"ros-{os.environ.get('ROS_DISTRO', '$ROS_DISTRO')}-{package.replace('_', '-')}"
