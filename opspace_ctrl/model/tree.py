# SPDX-License-Identifier: Apache-2.0
"""From links and joints to moving bodies: fixed and frozen joints lumped, bodies numbered depth first."""

from dataclasses import dataclass, replace

import numpy as np

from .joints import JointType, joint_placement
from .specs import JointSpec, LinkSpec, RobotSpec


@dataclass(frozen=True, eq=False)
class Frame:
    """A link's frame: its pose in the axes of the body that carries it (-1: in the world)."""

    name: str
    body: int
    rotation: np.ndarray
    translation: np.ndarray


@dataclass(frozen=True, eq=False)
class Body:
    """A moving body: the joint that moves it, the joint's pose in the parent body, and the lumped inertia."""

    joint: JointSpec
    place: Frame
    mass: float
    com: np.ndarray
    inertia: np.ndarray

    @property
    def is_base(self) -> bool:
        """Is its joint a floating base?"""
        return self.joint.is_base


def floating_base(name: str, root: str) -> JointSpec:
    """The joint that frees the root link of a robot with a floating base."""
    return JointSpec(
        name=name,
        joint_type=JointType.FLOATING,
        parent="",
        child=root,
        rotation=np.eye(3),
        translation=np.zeros(3),
        axis=np.array([0.0, 0.0, 1.0]),
        is_base=True,
    )


def without_world(robot: RobotSpec, root: str) -> tuple[RobotSpec, str]:
    """The robot without an empty root link whose one joint is a floating one, and the root that is left.

    Such a file says itself what a floating base says; taken together they would free a link without mass.
    """
    massless = next(link.mass == 0.0 for link in robot.links if link.name == root)
    on_root = [joint for joint in robot.joints if joint.parent == root]
    if not massless or len(on_root) != 1 or on_root[0].joint_type != JointType.FLOATING:
        return robot, root
    (first,) = on_root
    if first.translation.any() or not np.array_equal(first.rotation, np.eye(3)):
        return robot, root
    links = tuple(link for link in robot.links if link.name != root)
    joints = tuple(joint for joint in robot.joints if joint is not first)
    return replace(robot, links=links, joints=joints), first.child


def grow(
    robot: RobotSpec,
    root: str,
    base: JointSpec | None,
    frozen: dict[str, np.ndarray],
    first: int = 0,
) -> tuple[list[Body], list[Frame]]:
    """Number the moving bodies of a robot base to tip, depth first, siblings in document order.

    Args:
        robot: a valid tree.
        root: its root link.
        base: the joint that frees the root, None for a fixed base.
        frozen: coordinates of the joints that are held.
        first: number of the first body, for a robot that follows others in a forest.

    Returns:
        Bodies in their order, and one frame for every link in document order.
    """
    below: dict[str, list[JointSpec]] = {link.name: [] for link in robot.links}
    for joint in robot.joints:
        below[joint.parent].append(joint)
    world = Frame("", -1, np.eye(3), np.zeros(3))
    movers: list[JointSpec] = []
    places: list[Frame] = []
    frames: dict[str, Frame] = {}
    pending: list[JointSpec] = []

    def carry(link: str, place: Frame, mover: JointSpec | None) -> None:
        """Put a link where it is: on the body that `place` is on, or on a new one that `mover` moves."""
        if mover is not None:
            movers.append(mover)
            places.append(place)
            place = Frame(link, first + len(movers) - 1, np.eye(3), np.zeros(3))
        frames[link] = Frame(link, place.body, place.rotation, place.translation)
        pending.extend(reversed(below[link]))

    carry(root, world, base)
    while pending:
        joint = pending.pop()
        place = _moved(frames[joint.parent], joint.rotation, joint.translation)
        if joint.name in frozen:
            place = _moved(
                place, *joint_placement(joint.joint_type, joint.axis, frozen[joint.name])
            )
        carry(joint.child, place, joint if joint.moves and joint.name not in frozen else None)

    carried: list[list[LinkSpec]] = [[] for _ in movers]
    for link in robot.links:
        if frames[link.name].body >= 0:
            carried[frames[link.name].body - first].append(link)
    bodies = []
    for mover, place, links in zip(movers, places, carried):
        mass, com, inertia = lump(links, frames)
        bodies.append(Body(mover, place, mass, com, inertia))
    return bodies, [frames[link.name] for link in robot.links]


def _moved(frame: Frame, R: np.ndarray, p: np.ndarray) -> Frame:
    return Frame(frame.name, frame.body, frame.rotation @ R, frame.translation + frame.rotation @ p)


def lump(links: list[LinkSpec], frames: dict[str, Frame]) -> tuple[float, np.ndarray, np.ndarray]:
    """One inertia for links that move together.

    m = sum m_i, c = sum m_i c_i / m, I = sum R_i I_i R_i^T + m_i (|d_i|^2 1 - d_i d_i^T) with d_i = c_i - c.

    Returns:
        Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2], in body axes.
    """
    mass = sum(link.mass for link in links)
    coms = [frames[link.name].translation + frames[link.name].rotation @ link.com for link in links]
    com = np.zeros(3)
    if mass > 0.0:
        for link, c in zip(links, coms):
            com += link.mass / mass * c
    inertia = np.zeros((3, 3))
    for link, c in zip(links, coms):
        R, d = frames[link.name].rotation, c - com
        inertia += R @ link.inertia @ R.T + link.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, com, 0.5 * (inertia + inertia.T)
