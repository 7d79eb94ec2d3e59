# SPDX-License-Identifier: Apache-2.0
"""What the tests of the robots in urdf/ share: their home poses and the same URDFs in Pinocchio."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ElementTree

import numpy as np
import pinocchio as pin

from opspace_ctrl import load_robot
from opspace_ctrl.data import shipped_path
from opspace_ctrl.parameter_file import node_parameters

ROBOTS = ("arm7", "asimo", "free_flyer")
SIDES = ("left", "right")
CORNERS = ("front_left", "front_right", "rear_right", "rear_left")

_LEG = {"hip_pitch": -0.35, "knee_pitch": 0.7, "ankle_pitch": -0.35}
_ARM = {"shoulder_pitch": 0.3, "shoulder_roll": 0.2, "elbow_pitch": -1.4}
_SPACE_ARM = {"shoulder_yaw": 0.9, "elbow_yaw": -1.6, "wrist_yaw": 0.7}


def both_sides(joints):
    """{left_joint, right_joint: position} of the left side's pose and its mirror image."""
    pose = {f"left_{joint}": position for joint, position in joints.items()}
    mirrored = {j: p if j.endswith(("_pitch", "_flexion")) else -p for j, p in joints.items()}
    return pose | {f"right_{joint}": position for joint, position in mirrored.items()}


# As in the head of each URDF.
HOME = {
    "arm7": {"joint2": 0.35, "joint4": 1.55, "joint6": np.pi - 1.9},
    "asimo": both_sides(_LEG | _ARM),
    "free_flyer": both_sides(_SPACE_ARM),
}


@functools.cache
def ours(name):
    """The robot as the package loads it."""
    return load_robot(name)


@functools.cache
def pinocchio_of(name):
    """(model, data) of the same URDF in Pinocchio, floating unless it is the arm."""
    root = () if name == "arm7" else (pin.JointModelFreeFlyer(),)
    model = pin.buildModelFromXML(ours(name).source, *root)
    return model, model.createData()


def xml_of(name):
    return ElementTree.fromstring(ours(name).source)


def link_of(name, link):
    return xml_of(name).find(f"link[@name='{link}']")


def vector(element, key):
    return np.array([float(x) for x in element.get(key).split()])


def origin(element):
    """(translation, rotation) of an element's <origin>."""
    tag = element.find("origin")
    if tag is None:
        return np.zeros(3), np.eye(3)
    rotation = pin.rpy.rpyToMatrix(*vector(tag, "rpy")) if tag.get("rpy") else np.eye(3)
    return vector(tag, "xyz"), rotation


def configuration(name, joints):
    """q of the named joint positions, the rest and a floating base at zero."""
    model, _ = pinocchio_of(name)
    q = pin.neutral(model)
    for joint, position in joints.items():
        q[model.joints[model.getJointId(joint)].idx_q] = position
    return q


def home(name):
    """q of the home pose, asimo standing on z = 0."""
    q = configuration(name, HOME[name])
    return on_the_ground(q) if name == "asimo" else q


def start_of(name):
    """({joint: position}, base position) where the shipped parameters of the simulator let the robot start."""
    values = node_parameters(shipped_path("config", f"{name}.yaml"), "opspace_simulator")
    return dict(zip(ours(name).joint_names, values["initial_positions"])), values.get(
        "initial_pose", [0.0] * 7
    )[:3]


def on_the_ground(q):
    """q of asimo lifted so that its left sole is at z = 0."""
    q = q.copy()
    q[2] -= placement("asimo", q, "left_foot").translation[2]
    return q


def placement(name, q, frame):
    """Pose of a frame in the world (pin.SE3)."""
    model, data = pinocchio_of(name)
    pin.framesForwardKinematics(model, data, q)
    return data.oMf[model.getFrameId(frame)].copy()


def jacobian(name, q, frame):
    """Jacobian of a frame (6, nv), world axes, linear first."""
    model, data = pinocchio_of(name)
    return pin.computeFrameJacobian(
        model, data, q, model.getFrameId(frame), pin.LOCAL_WORLD_ALIGNED
    )


def gravity_torque(name, q):
    return pin.computeGeneralizedGravity(*pinocchio_of(name), q)


def mass_matrix(name, q):
    upper = np.triu(pin.crba(*pinocchio_of(name), q))
    return upper + np.triu(upper, 1).T
