# SPDX-License-Identifier: Apache-2.0
"""What several tests share: the robots of the example-robot-data wheel, and Pinocchio beside our model."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
import pinocchio as pin

from opspace_ctrl import Model, load_urdf
from opspace_ctrl.errors import InertiaWarning, MimicError, SingularInertiaError, UrdfSyntaxError
from opspace_ctrl.model import JointType

BASES = ("fixed", "floating")

# Robots of the wheel that do not load as they are: the error, and what it must name.
REFUSED = {
    "alex_psyonic_hands": (
        MimicError,
        "index_q1",
    ),  # its left hand mimics joints without their Left_ prefix
    "romeo": (SingularInertiaError, "Hand"),  # massless fingers
    "romeo_laas_small": (SingularInertiaError, "r_gripper_joint"),  # massless grippers
    "ur3": (UrdfSyntaxError, "name"),  # an empty <robot>
}


@cache
def urdf_paths() -> dict[str, Path]:
    """Every URDF of the example-robot-data wheel, by file name (and package where that is not unique)."""
    files = metadata.distribution("example-robot-data").files or []
    paths = sorted(Path(file.locate()).resolve() for file in files if file.suffix == ".urdf")
    stems = [path.stem for path in paths]
    return {
        path.stem if stems.count(path.stem) == 1 else f"{path.parents[1].name}/{path.stem}": path
        for path in paths
    }


def urdf_path(name: str) -> Path:
    """The URDF file of a robot of the wheel."""
    return urdf_paths()[name]


def robots() -> list[str]:
    """The robots of the wheel that load as they are."""
    return [name for name in urdf_paths() if name not in REFUSED]


def load_quietly(source, *args, **options) -> Model:
    """load_urdf without the warnings about doubtful inertias, which real robots have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InertiaWarning)
        return load_urdf(source, *args, **options)


def load_pair(name: str, base: str = "fixed", **options) -> tuple[Model, PinTwin]:
    """A robot of the wheel as our model and as Pinocchio's; options as for load_urdf, but not `locked`."""
    model = load_quietly(urdf_path(name), base, **options)
    return model, PinTwin(model, pin_model(urdf_path(name).read_text(), base))


def pin_model(xml: str, base: str = "fixed") -> pin.Model:
    """Pinocchio's model of a URDF text; mimic joints stay free in it."""
    if base == "fixed":
        return pin.buildModelFromXML(xml)
    return pin.buildModelFromXML(xml, pin.JointModelFreeFlyer())


class PinTwin:
    """Pinocchio's model of the same robot, and the maps from our q and v to its own.

    Pinocchio sorts siblings by name, writes a continuous joint as (cos, sin), and gives mimic followers
    coordinates. So v_pin = G v, hence H = G^T H_pin G and tau = G^T tau_pin.

    Attributes:
        model, data: Pinocchio's, with our gravity and armature.
        G: (pin nv, nv).
    """

    def __init__(self, model: Model, twin: pin.Model) -> None:
        self.ours = model
        self.model = twin
        self.model.gravity.linear = model.gravity.copy()
        self.G = np.zeros((twin.nv, model.nv))
        armature = np.zeros(twin.nv)
        for body, joint in self._pairs():
            rows = joint.idx_v + np.arange(joint.nv)
            columns = model.v_index[body] + np.arange(joint.nv)
            self.G[rows, columns] = model.multiplier[body]
            if not model.is_mimic[body]:
                armature[rows] = model.armature[columns]  # ours holds the followers' share already
        self.model.armature = armature
        self.data = self.model.createData()

    def _pairs(self):
        for body, name in enumerate(self.ours.body_joint_names):
            yield body, self.model.joints[self.model.getJointId(name)]

    def q(self, q: np.ndarray) -> np.ndarray:
        """Our configuration (nq,) in Pinocchio's coordinates."""
        q_pin = pin.neutral(self.model)
        for body, joint in self._pairs():
            at = self.ours.q_index[body]
            if self.ours.joint_type[body] == JointType.FLOATING:
                q_pin[joint.idx_q : joint.idx_q + 7] = q[at : at + 7]
            elif self.ours.joint_type[body] == JointType.PLANAR:
                x, y, theta = q[at : at + 3]
                q_pin[joint.idx_q : joint.idx_q + 4] = x, y, np.cos(theta), np.sin(theta)
            else:
                position = self.ours.multiplier[body] * q[at] + self.ours.offset[body]
                is_circle = joint.nq == 2
                q_pin[joint.idx_q : joint.idx_q + joint.nq] = (
                    [np.cos(position), np.sin(position)] if is_circle else position
                )
        return q_pin

    def v(self, v: np.ndarray) -> np.ndarray:
        """Our velocity (nv,) in Pinocchio's coordinates."""
        return self.G @ v
