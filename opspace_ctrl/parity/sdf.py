# SPDX-License-Identifier: Apache-2.0
"""load_sdf: the first model of an SDF document as the same Model as a URDF, its root held."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import numpy as np
from numpy.typing import NDArray

from ..errors import OpspaceError, listed, quoted
from ..model import JointType, Model
from ..model.loader import checked_gravity, model_of
from ..model.rotations import from_quaternion, from_rpy
from ..model.specs import JointSpec, LinkSpec, RobotSpec
from ..model.validate import find_root
from ..model.xml_safety import parse_xml

__all__ = ["SdfError", "load_sdf"]

TYPES = {
    "revolute": JointType.REVOLUTE,
    "continuous": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
    "fixed": JointType.FIXED,
}
WORLD = "world"
NO_LIMIT = 1e15  # SDF writes 1e16 where there is none
Pose = tuple[NDArray[np.float64], NDArray[np.float64]]  # R (3, 3), p (3,)
IDENTITY: Pose = (np.eye(3), np.zeros(3))


class SdfError(OpspaceError):
    """A document is no SDF, or has what this reader does not know."""


def load_sdf(text: str) -> Model:
    """The first <model> of an SDF document.

    A link's axes become those of the joint that moves it, as URDF has them; all numbers are turned accordingly.

    Raises:
        SdfError: Naming the element that is wrong, or of a kind that is not read.
        OpspaceError: The links and joints are no tree, or an inertia is wrong.
    """
    parse_xml(text)  # refuses what is unsafe, and drops text, in which SDF has its numbers
    root = fromstring(text.encode())
    model = root if root.tag == "model" else next(root.iter("model"), None)
    if root.tag not in ("sdf", "model") or model is None:
        raise SdfError(f"the document is a <{root.tag[:40]}> without a <model>, not SDF")
    gravity = _numbers(root.findtext("world/gravity", "0 0 -9.81"), 3, "gravity")
    robot = _Reader(model).robot()
    return model_of(
        [robot],
        [find_root(robot)],
        [None],
        lambda joints: {},
        gravity=checked_gravity(gravity),
        locked=None,
        strict=False,
        source=text,
    )


class _Reader:
    """Links and joints of an SDF model, all poses in the model's axes first."""

    def __init__(self, model: Element):
        self.name = model.get("name", "model")
        self._parts = {
            each.get("name", ""): each
            for tag in ("link", "joint", "frame")
            for each in model.findall(tag)
        }
        self._links, self._joints = model.findall("link"), model.findall("joint")
        self._known: dict[str, Pose] = {"__model__": IDENTITY, "": IDENTITY, WORLD: IDENTITY}

    def robot(self) -> RobotSpec:
        """The tree; links that nothing holds are held by the world."""
        own = {joint.findtext("child", "").strip(): joint for joint in self._joints}
        links = [LinkSpec(WORLD, 0.0, np.zeros(3), np.zeros((3, 3)))]
        joints = []
        for link in self._links:
            name = link.get("name", "")
            joint = own.get(name)
            frame = self._pose(name) if joint is None else self._pose(joint.get("name", ""))
            links.append(self._link(link, frame))
        for joint in self._joints:
            joints.append(self._joint(joint, own))
        for link in self._links:
            name = link.get("name", "")
            if name not in own:
                R, p = self._pose(name)
                axis = np.array([0.0, 0.0, 1.0])
                fixed = JointType.FIXED
                joints.append(JointSpec(f"{name}_to_world", fixed, WORLD, name, R, p, axis))
        return RobotSpec(self.name, tuple(links), tuple(joints))

    def _pose(self, name: str) -> Pose:
        """Pose of a link, joint or frame in the model's axes.

        Raises:
            SdfError: There is no such element, or poses are given relative to each other.
        """
        if name not in self._known:
            if name not in self._parts:
                raise SdfError(f"no frame {quoted(name)}; there are {listed(self._parts)}")
            self._known[name] = IDENTITY  # a circle ends here instead of going on for ever
            self._known[name] = self._found(self._parts[name])
        return self._known[name]

    def _found(self, element: Element) -> Pose:
        pose = element.find("pose")
        relative = "" if pose is None else pose.get("relative_to", "")
        if not relative and element.tag == "joint":
            relative = element.findtext("child", "").strip()
        if not relative and element.tag == "frame":
            relative = element.get("attached_to", "")
        return _product(self._pose(relative), _read_pose(element))

    def _link(self, link: Element, frame: Pose) -> LinkSpec:
        """The link's inertia in the axes of `frame`."""
        name, inertial = link.get("name", ""), link.find("inertial")
        if inertial is None:
            return LinkSpec(name, 0.0, np.zeros(3), np.zeros((3, 3)))
        R, p = _product(_inverse(frame), _product(self._pose(name), _read_pose(inertial)))
        inertia = np.zeros((3, 3))
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            text = inertial.findtext(f"inertia/i{'xyz'[i]}{'xyz'[j]}", "0")
            inertia[i, j] = inertia[j, i] = _numbers(text, 1, name)[0]
        mass = float(_numbers(inertial.findtext("mass", "1"), 1, name)[0])
        return LinkSpec(name, mass, p, R @ inertia @ R.T)

    def _joint(self, joint: Element, own: dict[str, Element]) -> JointSpec:
        name, kind = joint.get("name", ""), joint.get("type", "")
        if kind not in TYPES:
            raise SdfError(
                f"joint {quoted(name)} is of type {quoted(kind)}; read are {listed(TYPES)}"
            )
        parent, child = (joint.findtext(each, "").strip() for each in ("parent", "child"))
        above = own.get(parent)
        frame = self._pose(parent) if above is None else self._pose(above.get("name", ""))
        R, p = _product(_inverse(frame), self._pose(name))
        axis = joint.find("axis")
        if axis is None:
            axis = Element("axis")
        xyz = axis.find("xyz")
        direction = np.array([0.0, 0.0, 1.0]) if xyz is None else _numbers(xyz.text, 3, name)
        if xyz is not None and xyz.get("expressed_in"):
            turned = self._pose(xyz.get("expressed_in", ""))[0] @ direction
            direction = self._pose(name)[0].T @ turned
        unit = direction / np.linalg.norm(direction)
        spec = JointSpec(name, TYPES[kind], parent, child, R, p, unit)
        return replace(
            spec,
            lower=_number(axis, "limit/lower", -np.inf),
            upper=_number(axis, "limit/upper", np.inf),
            velocity=_number(axis, "limit/velocity", np.inf, least=0.0),
            effort=_number(axis, "limit/effort", np.inf, least=0.0),
            damping=_number(axis, "dynamics/damping", 0.0),
            friction=_number(axis, "dynamics/friction", 0.0),
        )


def _number(axis: Element, path: str, otherwise: float, least: float = -np.inf) -> float:
    """A number of a joint's axis; what is below `least` or beyond NO_LIMIT counts as not given."""
    text = axis.findtext(path, "")
    value = float(_numbers(text, 1, path)[0]) if text.strip() not in ("", "inf", "-inf") else np.nan
    return value if abs(value) < NO_LIMIT and value >= least else otherwise


def _read_pose(element: Element) -> Pose:
    """The <pose> of an element: x y z and roll pitch yaw (in degrees if it says so), or a quaternion x y z w."""
    pose, where = element.find("pose"), element.get("name", element.tag)
    if pose is None or not (pose.text or "").strip():
        return IDENTITY
    if pose.get("rotation_format") == "quat_xyzw":
        values = _numbers(pose.text, 7, where)
        return from_quaternion(values[3:] / np.linalg.norm(values[3:])), values[:3]
    values = _numbers(pose.text, 6, where)
    angles = np.radians(values[3:]) if pose.get("degrees") == "true" else values[3:]
    return from_rpy(angles), values[:3]


def _numbers(text: str | None, count: int, where: str) -> NDArray[np.float64]:
    try:
        values = np.array((text or "").split(), dtype=float)
    except ValueError:
        values = np.zeros(0)
    if len(values) != count or not np.isfinite(values).all():
        raise SdfError(f"{quoted(where)}: {quoted(text)} is not {count} finite numbers")
    return values


def _product(a: Pose, b: Pose) -> Pose:
    return a[0] @ b[0], a[1] + a[0] @ b[1]


def _inverse(a: Pose) -> Pose:
    return a[0].T, -a[0].T @ a[1]
