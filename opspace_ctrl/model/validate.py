# SPDX-License-Identifier: Apache-2.0
"""What must hold of a robot's links and joints before a tree is grown from them."""

import warnings
from collections import Counter

import numpy as np

from ..errors import InertiaError, InertiaWarning, TreeError, listed, quoted
from .specs import JointSpec, LinkSpec, RobotSpec

# How far principal moments may be on the wrong side, since URDF numbers are rounded: relative to the largest,
# and in [kg m^2], far less than a milligram a millimetre across has.
INERTIA_TOLERANCE = 1e-6
INERTIA_FLOOR = 1e-16


def find_root(robot: RobotSpec) -> str:
    """The root link of a robot whose joints form one tree over its links.

    Raises:
        TreeError: a repeated name, a missing link, a link with two parents, no root, two roots, or a cycle.
    """
    links = [link.name for link in robot.links]
    if not links:
        raise TreeError(f"robot {quoted(robot.name)} has no links")
    _refuse_repeats("link", links)
    _refuse_repeats("joint", [joint.name for joint in robot.joints])
    known = set(links)
    parent_joint: dict[str, JointSpec] = {}
    for joint in robot.joints:
        for end in (joint.parent, joint.child):
            if end not in known:
                raise TreeError(
                    f"joint {quoted(joint.name)} connects the missing link {quoted(end)}; "
                    f"links: {listed(links)}"
                )
        if joint.child in parent_joint:
            raise TreeError(
                f"link {quoted(joint.child)} is the child of two joints, "
                f"{quoted(parent_joint[joint.child].name)} and {quoted(joint.name)}"
            )
        parent_joint[joint.child] = joint
    roots = [link for link in links if link not in parent_joint]
    if not roots:
        raise TreeError(
            f"robot {quoted(robot.name)} has no root link: every link is the child of a joint"
        )
    if len(roots) > 1:
        raise TreeError(
            f"robot {quoted(robot.name)} has {len(roots)} root links, {listed(roots)}: one is valid"
        )
    _refuse_cycle(parent_joint, links, roots[0])
    return roots[0]


def _refuse_repeats(kind: str, names: list[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise TreeError(f"{kind} name {quoted(repeated[0])} is used twice; names must be unique")


def _refuse_cycle(parent_joint: dict[str, JointSpec], links: list[str], root: str) -> None:
    """With one root and one parent each, a link that does not lead up to the root leads round a cycle."""
    reaches_root = {root}
    for link in links:
        path: set[str] = set()
        while link not in reaches_root:
            if link in path:
                raise TreeError(f"the joints form a cycle through link {quoted(link)}")
            path.add(link)
            link = parent_joint[link].parent
        reaches_root |= path


def unique_across(robots: list[RobotSpec]) -> None:
    """The names of a forest must differ between its robots.

    Raises:
        TreeError: naming the link or joint, and `prefixes` as the remedy.
    """
    for kind in ("links", "joints"):
        counts = Counter(item.name for robot in robots for item in getattr(robot, kind))
        repeated = [name for name, count in counts.items() if count > 1]
        if repeated:
            raise TreeError(
                f"{kind[:-1]} {quoted(repeated[0])} is in two robots of the forest; "
                "give prefixes=[...]"
            )


def judge_inertias(robot: RobotSpec, strict: bool) -> None:
    """Warn of inertias no rigid body has: not positive semi-definite, or A + B < C for principal moments.

    Raises:
        InertiaError: instead of the InertiaWarning, if `strict`.
    """
    doubts = [
        f"link {quoted(link.name)} ({doubt})" for link in robot.links if (doubt := _doubt(link))
    ]
    if not doubts:
        return
    message = f"robot {quoted(robot.name)}, doubtful inertia: {'; '.join(doubts)}"
    if strict:
        raise InertiaError(message)
    warnings.warn(message, InertiaWarning, stacklevel=4)  # whoever calls load_urdf or load_mjcf


def _doubt(link: LinkSpec) -> str:
    smallest, middle, largest = moments = np.linalg.eigvalsh(link.inertia)
    slack = INERTIA_TOLERANCE * np.abs(moments).max() + INERTIA_FLOOR
    text = ", ".join(f"{moment:.4g}" for moment in moments)
    if smallest < -slack:
        return f"not positive semi-definite: principal moments {text} kg m^2"
    if smallest + middle < largest - slack:
        return f"breaks the triangle inequality: principal moments {text} kg m^2"
    return ""
