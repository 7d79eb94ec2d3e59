# SPDX-License-Identifier: Apache-2.0
"""Names that SDF accepts: unique among the links, joints and frames of a model, and none of its reserved words."""

import re
from collections.abc import Iterable


def sdf_name(name: str) -> str:
    """The name without what SDF or a topic's name gives a meaning: spaces, "::", "world", "__" at both ends."""
    name = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII)
    return f"{name}_" if name == "world" or re.fullmatch(r"__.*__", name) else name


def unique_names(
    joints: Iterable[str], links: Iterable[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """SDF names of joints and of links, {name in the URDF: name in the SDF}.

    A URDF may call a link and a joint alike, SDF may not. Joints keep their names: topics and ros2_control use them.
    """
    taken: set[str] = set()

    def take(name: str, ending: str) -> str:
        free = sdf_name(name)
        while free in taken:
            free += ending
        taken.add(free)
        return free

    joint_names = {name: take(name, "_joint") for name in joints}
    return joint_names, {name: take(name, "_link") for name in links}
