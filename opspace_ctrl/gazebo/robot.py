# SPDX-License-Identifier: Apache-2.0
"""A robot as an SDF model whose joint zeros are its start.

Gazebo honours no initial joint position in SDF, and a joint's zero is where the links' poses put it. So the links are
placed as the robot starts, and position limits are shifted: Gazebo's position = the model's position - start. A joint's
axis is the same before and after a motion about it, so nothing else changes.

Links on fixed joints are lumped as in our own model; they stay as frames, and their shapes stay where they are. A
mimic follower stands still at its start, for Gazebo's default engine couples no joints.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ..errors import GazeboError, quoted
from ..model import JointType, Model
from ..model.joints import joint_placement
from ..model.tree import Frame, lump
from ..model.urdf import parse_urdf
from ..model.xml_safety import parse_xml
from .inertia import MIN_MASS, physical
from .names import sdf_name, unique_names
from .shapes import Shapes
from .xml import Content, add, add_pose

TYPES = {JointType.REVOLUTE: "revolute", JointType.PRISMATIC: "prismatic"}


@dataclass(frozen=True, eq=False)
class RobotSdf:
    """A robot for Gazebo.

    Attributes:
        element: the SDF <model>.
        name: its name.
        base_link: its root link, as the URDF calls it.
        joints: {name in the URDF: name in Gazebo} of the joints with a coordinate, in the model's order.
        offsets: (k,) the model's position = Gazebo's position + offset [rad or m].
        notes: sentences on what Gazebo cannot have as it is.
    """

    element: Element
    name: str
    base_link: str
    joints: dict[str, str]
    offsets: np.ndarray
    notes: tuple[str, ...]


def robot_sdf(model: Model, start: np.ndarray, folder: Path | None = None) -> RobotSdf:
    """Write the model so that it begins at the configuration `start` (nq,).

    Args:
        model: one robot; a floating base has its pose in `start`.
        start: the configuration.
        folder: where the URDF lies, to find its meshes.

    Raises:
        GazeboError: a forest, a planar or floating joint inside the tree, or armature.
    """
    _refuse(model)
    return _Builder(model, start, folder).build()


def _refuse(model: Model) -> None:
    if not model.source:
        raise GazeboError(f"{quoted(model.name)} is not from URDF, which is what Gazebo is given")
    if not isinstance(model.source, str):
        raise GazeboError(
            "Gazebo takes one robot a model; write each robot of the forest by itself"
        )
    for name, kind, body in zip(model.body_joint_names, model.joint_type, range(len(model.parent))):
        if kind not in TYPES and not _is_base(model, body):
            raise GazeboError(
                f"joint {quoted(name)} is {JointType(kind).name.lower()}; of a URDF's joints Gazebo has "
                "revolute, continuous, prismatic and fixed ones"
            )
    if model.armature.any():
        raise GazeboError("the model has armature, which SDF cannot express; load it without")


def _is_base(model: Model, body: int) -> bool:
    first = model.v_index[body]
    return model.joint_type[body] == JointType.FLOATING and bool(model.is_base_coordinate[first])


class _Builder:
    """The parts of a <model>, put together by `build`."""

    def __init__(self, model: Model, start: np.ndarray, folder: Path | None) -> None:
        self.model, self.start = model, start
        document = parse_xml(str(model.source))
        self.shapes = Shapes(document, folder)
        self.spec = parse_urdf(str(model.source))
        self.specs = {joint.name: joint for joint in self.spec.joints}
        children = {joint.child for joint in self.spec.joints}
        self.root = next(link.name for link in self.spec.links if link.name not in children)
        self.is_floating = bool(len(model.parent)) and _is_base(model, 0)
        moving = [
            name for body, name in enumerate(model.body_joint_names) if not _is_base(model, body)
        ]
        self.joint_names, self.link_names = unique_names(
            ["fixed_to_world", *moving], model.frame_names
        )
        self.notes: list[str] = []

    def build(self) -> RobotSdf:
        """The model with its links, frames and joints; the plugins are added by others."""
        model = self.model
        name = sdf_name(model.name)
        element = Element("model", {"name": name, "canonical_link": self.link_names[self.root]})
        add(element, "self_collide", False)
        if not self.is_floating:
            self._add_world(element)
        for body in range(len(model.parent)):
            self._add_link(element, body)
        self._add_frames(element)
        for body in range(len(model.parent)):
            if not _is_base(model, body):
                self._add_joint(element, body)
        self.notes += [
            f"mesh {mesh} was not found: its shape is left out" for mesh in self.shapes.missing
        ]
        rows = [
            self._position(body)
            for body in range(len(model.parent))
            if not model.is_mimic[body] and not _is_base(model, body)
        ]
        joints = {joint: self.joint_names[joint] for joint in model.joint_names}
        return RobotSdf(
            element, name, self.root, joints, np.array(rows, dtype=float), tuple(self.notes)
        )

    def _position(self, body: int) -> float:
        model = self.model
        return float(model.multiplier[body] * self.start[model.q_index[body]] + model.offset[body])

    def _frames(self) -> Iterator[tuple[str, int, np.ndarray, np.ndarray]]:
        """(link, body that carries it, rotation, translation) of every link."""
        model = self.model
        return zip(
            model.frame_names, model.frame_body, model.frame_rotation, model.frame_translation
        )

    def _add_world(self, element: Element) -> None:
        """The root link and all that is fixed to it, fastened to the world."""
        frames = {name: Frame(name, body, R, p) for name, body, R, p in self._frames() if body < 0}
        link = add(element, "link", name=self.link_names[self.root])
        self._add_inertial(
            link,
            self.root,
            *lump([part for part in self.spec.links if part.name in frames], frames),
        )
        self._add_shapes(link, -1)
        ends = {"parent": "world", "child": self.link_names[self.root]}
        add(element, "joint", ends, name=self.joint_names["fixed_to_world"], type="fixed")

    def _add_link(self, element: Element, body: int) -> None:
        model = self.model
        name = model.body_names[body]
        link = add(element, "link", name=self.link_names[name])
        R, p = model.placement_rotation[body], model.placement_translation[body]
        if _is_base(model, body):
            self._place_base(element, body)
        else:
            at = np.array([self._position(body)])
            Rq, pq = joint_placement(model.joint_type[body], model.axis[body], at)
            add_pose(link, R @ Rq, p + R @ pq, relative_to=self._parent_link(body))
        self._add_inertial(link, name, model.mass[body], model.com[body], model.inertia[body])
        self._add_shapes(link, body)

    def _place_base(self, element: Element, body: int) -> None:
        """The model's pose is that of the base: OdometryPublisher reports the model's."""
        at = int(self.model.q_index[body])
        R, p = joint_placement(JointType.FLOATING, self.model.axis[body], self.start[at : at + 7])
        add_pose(element, R, p)

    def _parent_link(self, body: int) -> str:
        parent = self.model.parent[body]
        return self.link_names[self.root if parent < 0 else self.model.body_names[parent]]

    def _add_inertial(
        self, link: Element, name: str, mass: float, com: np.ndarray, inertia: np.ndarray
    ) -> None:
        real_mass, real, changed = physical(mass, inertia)
        if changed:
            what = "has an impossible inertia, made possible"
            if mass < MIN_MASS:
                what = f"has no mass and gets {MIN_MASS:g} kg"
            self.notes.append(f"link {name} {what}: Gazebo refuses it otherwise")
        inertial = add(link, "inertial")
        add_pose(inertial, np.eye(3), com)
        add(inertial, "mass", [real_mass])
        upper = zip(*np.triu_indices(3))
        add(inertial, "inertia", {f"i{'xyz'[i]}{'xyz'[j]}": [real[i, j]] for i, j in upper})

    def _add_shapes(self, link: Element, body: int) -> None:
        for name, carrier, R, p in self._frames():
            if carrier == body:
                self.shapes.add_to(link, name, R, p)

    def _add_frames(self, element: Element) -> None:
        """Links that are fixed to others."""
        for name, body, R, p in self._frames():
            carrier = self.root if body < 0 else self.model.body_names[body]
            if name != carrier:
                frame = add(
                    element,
                    "frame",
                    name=self.link_names[name],
                    attached_to=self.link_names[carrier],
                )
                add_pose(frame, R, p)

    def _add_joint(self, element: Element, body: int) -> None:
        model = self.model
        name, follows = model.body_joint_names[body], bool(model.is_mimic[body])
        kind = "fixed" if follows else TYPES[JointType(model.joint_type[body])]
        ends = {
            "parent": self._parent_link(body),
            "child": self.link_names[model.body_names[body]],
        }
        joint = add(element, "joint", ends, name=self.joint_names[name], type=kind)
        if follows:
            self.notes.append(
                f"joint {name} mimics another: it stands still at {self._position(body):g} in Gazebo"
            )
            return
        at = int(model.v_index[body])
        row = at - int(model.is_base_coordinate[:at].sum())
        lower, upper = model.position_limits[row] - self._position(body)
        limits = {
            "lower": lower,
            "upper": upper,
            "effort": model.effort_limits[row],
            "velocity": model.velocity_limits[row],
        }
        own = self.specs[name]
        content: Content = {
            "xyz": model.axis[body],
            "limit": {tag: [value] for tag, value in limits.items() if np.isfinite(value)},
            # the joint's own: the model's coordinate has that of its followers too, which stand still here
            "dynamics": {"damping": [own.damping], "friction": [own.friction]},
        }
        add(joint, "axis", content)
