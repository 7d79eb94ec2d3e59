"""Arms that example-robot-data does not have, as models of our own: published kinematics and limits, round inertias.

Each table has a row a joint: name, origin xyz [m] and rpy [rad] in the link before, axis, position limits [rad],
effort [Nm], velocity [rad/s], and the mass of the link that it moves [kg]; the last row is the flange. Masses of UR5e,
iiwa 14 and Gen3 are the makers' to a few per cent, those of OpenArm an estimate; a link's inertia is that of a rod as
long as the way to the next joint. So these are for gains and start poses, never for the gravity of a real arm.
"""

from __future__ import annotations

from functools import cache
from math import pi

import numpy as np

from helpers.support import load_quietly, urdf_path
from opspace_ctrl import Model

Z = (0, 0, 1)
UR5E = [
    ("shoulder_pan_joint", (0, 0, 0.1625), (0, 0, 0), Z, (-6.28, 6.28), 150, pi, 3.76),
    ("shoulder_lift_joint", (0, 0, 0), (pi / 2, 0, 0), Z, (-6.28, 6.28), 150, pi, 8.06),
    ("elbow_joint", (-0.425, 0, 0), (0, 0, 0), Z, (-3.14, 3.14), 150, pi, 2.85),
    ("wrist_1_joint", (-0.3922, 0, 0.1333), (0, 0, 0), Z, (-6.28, 6.28), 28, pi, 1.37),
    ("wrist_2_joint", (0, -0.0997, 0), (pi / 2, 0, 0), Z, (-6.28, 6.28), 28, pi, 1.3),
    ("wrist_3_joint", (0, 0.0996, 0), (pi / 2, pi, pi), Z, (-6.28, 6.28), 28, pi, 0.37),
    ("tool0", (0, 0, 0), (0, 0, 0)),
]
IIWA14 = [
    ("lbr_A1", (0, 0, 0.1575), (0, 0, 0), Z, (-2.97, 2.97), 320, 1.48, 4.0),
    ("lbr_A2", (0, 0, 0.2025), (pi / 2, 0, pi), Z, (-2.09, 2.09), 320, 1.48, 4.0),
    ("lbr_A3", (0, 0.2045, 0), (pi / 2, 0, pi), Z, (-2.97, 2.97), 176, 1.75, 3.0),
    ("lbr_A4", (0, 0, 0.2155), (pi / 2, 0, 0), Z, (-2.09, 2.09), 176, 1.31, 2.7),
    ("lbr_A5", (0, 0.1845, 0), (-pi / 2, pi, 0), Z, (-2.97, 2.97), 110, 2.27, 1.7),
    ("lbr_A6", (0, 0, 0.2155), (pi / 2, 0, 0), Z, (-2.09, 2.09), 40, 2.36, 1.8),
    ("lbr_A7", (0, 0.081, 0), (-pi / 2, pi, 0), Z, (-3.05, 3.05), 40, 2.36, 0.3),
    ("lbr_link_ee", (0, 0, 0.045), (0, 0, 0)),
]
GEN3 = [
    ("joint_1", (0, 0, 0.1564), (pi, 0, 0), Z, None, 39, 1.39, 1.38),
    ("joint_2", (0, 0.0054, -0.1284), (pi / 2, 0, 0), Z, (-2.41, 2.41), 39, 1.39, 1.16),
    ("joint_3", (0, -0.2104, -0.0064), (-pi / 2, 0, 0), Z, None, 39, 1.39, 1.16),
    ("joint_4", (0, 0.0064, -0.2104), (pi / 2, 0, 0), Z, (-2.66, 2.66), 39, 1.39, 0.93),
    ("joint_5", (0, -0.2084, -0.0064), (-pi / 2, 0, 0), Z, None, 9, 1.22, 0.68),
    ("joint_6", (0, 0, -0.1059), (pi / 2, 0, 0), Z, (-2.23, 2.23), 9, 1.22, 0.68),
    ("joint_7", (0, -0.1059, 0), (-pi / 2, 0, 0), Z, None, 9, 1.22, 0.5),
    ("end_effector_link", (0, 0, -0.0615), (pi, 0, 0)),
]
X, Y = (1, 0, 0), (0, 1, 0)
OPENARM = [
    ("openarm_right_joint1", (0, -0.0625, 0), (0, 0, 0), Y, (-1.40, 3.49), 40, 16.7, 1.2),
    ("openarm_right_joint2", (0, -0.06, 0), (-0.5676, 0, 0), X, (-0.74, 2.75), 40, 16.7, 0.6),
    ("openarm_right_joint3", (0, 0, -0.0663), (0, 0, 1.5708), Z, (-0.01, 3.14), 27, 5.4, 1.0),
    ("openarm_right_joint4", (0, 0, -0.1538), (0, -1.6582, 0), Y, (-1.66, 0.785), 27, 5.4, 0.6),
    ("openarm_right_joint5", (0, 0, -0.0955), (0, 0, -0.0644), Z, (-1.54, 1.6), 7, 20.9, 0.6),
    ("openarm_right_joint6", (0, 0, -0.1205), (0, -0.4847, 0), Y, (-0.3, 1.27), 7, 20.9, 0.4),
    ("openarm_right_joint7", (0, 0, 0), (1.5677, 0, 0), X, (-0.03, 3.138), 7, 20.9, 0.5),
    ("openarm_right_hand_tcp", (0, 0, -0.15), (0, 0, 0)),
]
TABLES = {"ur5e": UR5E, "iiwa14": IIWA14, "gen3": GEN3, "openarm": OPENARM}


@cache
def published_arm(name: str, prefix: str = "") -> Model:
    """The model that a shipped parameter file is tested on: `name` is the file's."""
    if (
        name == "fr3"
    ):  # a Panda's kinematics and, but for limits that are a little wider, its drives
        text = urdf_path("panda").read_text().replace("panda_", "fr3_")
        return load_quietly(text, locked={"fr3_finger_joint1": 0.0})
    return load_quietly(urdf_of(name, prefix))


def urdf_of(name: str, prefix: str = "") -> str:
    """The URDF of a table; of "two_arms", two UR5e on one stand."""
    if name == "two_arms":
        arms = [_chain(UR5E, side, (0, y, 0)) for side, y in (("left_", 0.3), ("right_", -0.3))]
        return f'<robot name="two_arms"><link name="stand"/>{"".join(arms)}</robot>'
    return f'<robot name="{name}"><link name="stand"/>{_chain(TABLES[name], prefix, (0, 0, 0))}</robot>'


def _chain(rows, prefix, place) -> str:
    parts, parent = [], "stand"
    for k, (name, xyz, rpy, *rest) in enumerate(rows):
        xyz = np.add(xyz, place) if k == 0 else xyz
        origin = f'<origin xyz="{_text(xyz)}" rpy="{_text(rpy)}"/>'
        if not rest:
            parts.append(f'<link name="{prefix}{name}"/>')
            joint, kind, child, inside = f"{prefix}{name}_fixed", "fixed", f"{prefix}{name}", ""
        else:
            axis, limits, effort, velocity, mass = rest
            child, joint = f"{prefix}link_{k + 1}", f"{prefix}{name}"
            parts.append(_link(child, mass, np.array(rows[k + 1][1], dtype=float)))
            kind = "revolute" if limits else "continuous"
            low, high = limits or (0, 0)
            inside = f"""<axis xyz="{_text(axis)}"/><limit lower="{low}" upper="{high}"
              effort="{effort}" velocity="{velocity}"/>"""
        parts.append(
            f"""<joint name="{joint}" type="{kind}"><parent link="{parent}"/>
            <child link="{child}"/>{origin}{inside}</joint>"""
        )
        parent = child
    return "".join(parts)


def _link(name: str, mass: float, reach: np.ndarray) -> str:
    """A rod of this mass, 8 cm thick, to where the next joint is."""
    length2 = float(reach @ reach)
    inertia = mass * (length2 * np.eye(3) - np.outer(reach, reach)) / 12.0
    inertia += mass * 0.04**2 / 2.0 * np.eye(3)
    values = {f"i{'xyz'[i]}{'xyz'[j]}": inertia[i, j] for i in range(3) for j in range(i, 3)}
    numbers = " ".join(f'{key}="{value:.6g}"' for key, value in values.items())
    return f"""<link name="{name}"><inertial><origin xyz="{_text(reach / 2)}"/>
      <mass value="{mass}"/><inertia {numbers}/></inertial></link>"""


def _text(values) -> str:
    return " ".join(f"{float(each):.6g}" for each in values)
