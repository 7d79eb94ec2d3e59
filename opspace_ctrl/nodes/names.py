# SPDX-License-Identifier: Apache-2.0
"""Names of the robot's parts as parts of ROS names."""

import re

__all__ = ["ros_name"]


def ros_name(text: str) -> str:
    """The text as one part of a ROS name: what ROS forbids becomes an underscore, and no digit comes first."""
    name = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_]", "_", text))
    return f"_{name}" if name[:1].isdigit() or not name else name
