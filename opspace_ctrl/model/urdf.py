# SPDX-License-Identifier: Apache-2.0
"""URDF text to a RobotSpec, through urdf_parser_py."""

from xml.etree.ElementTree import tostring

import numpy as np

from ..errors import InertiaError, JointError, LimitError, UrdfSyntaxError, quoted
from .elements import reduce_urdf
from .joints import NV, QUATERNION, URDF_TYPES, JointType
from .rotations import from_rpy
from .specs import JointSpec, LinkSpec, MimicSpec, RobotSpec
from .spelling import unknown_parts
from .xml_safety import parse_xml


def parse_urdf(text: str, prefix: str = "") -> RobotSpec:
    """The links and joints of a URDF document, names prefixed, in document order.

    Args:
        text: the URDF.
        prefix: put before the name of every link and joint.

    Raises:
        UrdfSyntaxError, UnsafeXmlError: the document.
        JointError, LimitError, MimicError, InertiaError: an element of it.
    """
    # here, because it takes longer to import than to parse a robot
    from urdf_parser_py.urdf import URDF

    root = parse_xml(text)
    reduced = reduce_urdf(root)
    words = [joint.get("type", "") for joint in reduced.iter("joint")]
    for joint in reduced.iter("joint"):
        joint.set("type", "floating")  # the parser's own list of types need not be ours
    try:
        robot = URDF.from_xml_string(tostring(reduced, encoding="unicode"))
    except Exception as error:  # the parser raises ParseError, AssertionError, TypeError ... alike
        raise UrdfSyntaxError(f"urdf_parser_py: {quoted(str(error))}") from None
    return RobotSpec(
        name=prefix + robot.name,
        links=tuple(_link(link, prefix) for link in robot.links),
        joints=tuple(_joint(joint, word, prefix) for joint, word in zip(robot.joints, words)),
        unknown_parts=unknown_parts(root),
    )


def _pose(origin) -> tuple[np.ndarray, np.ndarray]:
    if origin is None:
        return np.eye(3), np.zeros(3)
    return from_rpy(origin.rpy), np.array(origin.xyz, dtype=float)


def _link(link, prefix: str) -> LinkSpec:
    inertial = link.inertial
    if inertial is None:
        return LinkSpec(prefix + link.name, 0.0, np.zeros(3), np.zeros((3, 3)))
    if inertial.mass < 0.0:
        raise InertiaError(
            f"link {quoted(prefix + link.name)} has the negative mass {inertial.mass} kg"
        )
    R, com = _pose(inertial.origin)
    if inertial.inertia is None:
        return LinkSpec(prefix + link.name, inertial.mass, com, np.zeros((3, 3)))
    with np.errstate(all="ignore"):
        inertia = R @ np.array(inertial.inertia.to_matrix()) @ R.T
        inertia = 0.5 * (inertia + inertia.T)
    if not np.isfinite(inertia).all():
        raise InertiaError(f"link {quoted(prefix + link.name)}: its inertia overflows")
    return LinkSpec(prefix + link.name, inertial.mass, com, inertia)


def _joint(joint, word: str, prefix: str) -> JointSpec:
    name = prefix + joint.name
    joint_type = URDF_TYPES[word]
    rotation, translation = _pose(joint.origin)
    lower, upper, velocity, effort = _limits(joint, word, name)
    mimic = joint.mimic
    damping = (joint.dynamics and joint.dynamics.damping) or 0.0
    friction = (joint.dynamics and joint.dynamics.friction) or 0.0
    if damping < 0.0 or friction < 0.0:
        raise JointError(
            f"joint {quoted(name)}: damping {damping} and friction {friction} must not be negative"
        )
    return JointSpec(
        name=name,
        joint_type=joint_type,
        parent=prefix + joint.parent,
        child=prefix + joint.child,
        rotation=rotation,
        translation=translation,
        axis=_axis(joint, joint_type, name),
        lower=lower,
        upper=upper,
        velocity=velocity,
        effort=effort,
        damping=damping,
        friction=friction,
        mimic=None
        if mimic is None
        else MimicSpec(
            prefix + mimic.joint,
            1.0 if mimic.multiplier is None else mimic.multiplier,
            0.0 if mimic.offset is None else mimic.offset,
        ),
    )


def _axis(joint, joint_type: JointType, name: str) -> np.ndarray:
    if joint_type in QUATERNION:
        return np.array([0.0, 0.0, 1.0])
    if joint.axis is None:
        return np.array([1.0, 0.0, 0.0])  # URDF's default
    axis = np.array(joint.axis, dtype=float)
    largest = np.abs(axis).max()
    if largest == 0.0:
        raise JointError(
            f"joint {quoted(name)} has a zero axis; leave <axis> out for the default 1 0 0"
        )
    axis /= largest  # first, so that the norm neither underflows nor overflows
    return axis / np.linalg.norm(axis)


def _limits(joint, word: str, name: str) -> tuple[float, float, float, float]:
    """lower, upper, velocity, effort; infinite where URDF gives them no meaning."""
    limit = joint.limit
    if limit is None:
        return -np.inf, np.inf, np.inf, np.inf
    if limit.lower > limit.upper:
        raise LimitError(
            f"joint {quoted(name)}: lower limit {limit.lower} is above upper {limit.upper}"
        )
    if limit.velocity < 0.0 or limit.effort < 0.0:
        raise LimitError(
            f"joint {quoted(name)}: velocity {limit.velocity} and effort {limit.effort} "
            "must not be negative"
        )
    if NV[URDF_TYPES[word]] > 1:
        return -np.inf, np.inf, np.inf, np.inf
    lower, upper = (-np.inf, np.inf) if word == "continuous" else (limit.lower, limit.upper)
    return lower, upper, limit.velocity, limit.effort
