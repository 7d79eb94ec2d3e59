# SPDX-License-Identifier: Apache-2.0
"""Arms that example-robot-data does not have, as models of our own: published kinematics and limits, round inertias.

Each table has a row a joint: name, origin xyz [m] and rpy [rad] in the link before, axis, position limits [rad],
effort [Nm], velocity [rad/s], and the mass of the link that it moves [kg]; the last row is the flange. A link's inertia
is that of a rod as long as the way to the next joint, so these are for gains and start poses, never for the gravity of
a real arm.

`opspace parity` found the axes of all joints, their position and velocity limits and the masses as in what the makers
publish: Universal_Robots_ROS2_Description (ur5e), franka_description (fr3 with its hand), lbr_fri_ros2_stack (iiwa14),
ros2_kortex (gen3 with 7 joints, no gripper) and openarm_description (v10, the right arm of two). Tools are where theirs
are, to 0.01 mm. Effort limits are theirs but for the iiwa 14: its URDF says 200 Nm each, these are unconfirmed.
"""

from __future__ import annotations

from functools import cache
from math import pi

import numpy as np

from helpers.support import load_quietly
from opspace_ctrl import Model

Z = (0, 0, 1)
UR5E = [
    ("shoulder_pan_joint", (0, 0, 0.1625), (0, 0, pi), Z, (-2 * pi, 2 * pi), 150, pi, 3.761),
    ("shoulder_lift_joint", (0, 0, 0), (pi / 2, 0, 0), Z, (-2 * pi, 2 * pi), 150, pi, 8.058),
    ("elbow_joint", (-0.425, 0, 0), (0, 0, 0), Z, (-pi, pi), 150, pi, 2.846),
    ("wrist_1_joint", (-0.3922, 0, 0.1333), (0, 0, 0), Z, (-2 * pi, 2 * pi), 28, pi, 1.37),
    ("wrist_2_joint", (0, -0.0997, 0), (pi / 2, 0, 0), Z, (-2 * pi, 2 * pi), 28, pi, 1.3),
    ("wrist_3_joint", (0, 0.0996, 0), (pi / 2, pi, pi), Z, (-2 * pi, 2 * pi), 28, pi, 0.365),
    ("tool0", (0, 0, 0), (0, 0, 0)),
]
FR3 = [
    ("fr3_joint1", (0, 0, 0.333), (0, 0, 0), Z, (-2.7437, 2.7437), 87, 2.62, 2.93),
    ("fr3_joint2", (0, 0, 0), (-pi / 2, 0, 0), Z, (-1.7837, 1.7837), 87, 2.62, 2.94),
    ("fr3_joint3", (0, -0.316, 0), (pi / 2, 0, 0), Z, (-2.9007, 2.9007), 87, 2.62, 2.24),
    ("fr3_joint4", (0.0825, 0, 0), (pi / 2, 0, 0), Z, (-3.0421, -0.1518), 87, 2.62, 2.62),
    ("fr3_joint5", (-0.0825, 0.384, 0), (-pi / 2, 0, 0), Z, (-2.8065, 2.8065), 12, 5.26, 2.33),
    ("fr3_joint6", (0, 0, 0), (pi / 2, 0, 0), Z, (0.5445, 4.5169), 12, 4.18, 1.82),
    ("fr3_joint7", (0.088, 0, 0), (pi / 2, 0, 0), Z, (-3.0159, 3.0159), 12, 5.26, 1.28),
    ("fr3_hand_tcp", (0, 0, 0.2104), (0, 0, -pi / 4)),
]
IIWA14 = [
    ("lbr_A1", (0, 0, 0.1575), (0, 0, 0), Z, (-2.9671, 2.9671), 320, 1.4835, 5.29),
    ("lbr_A2", (0, 0, 0.2025), (pi / 2, 0, pi), Z, (-2.0944, 2.0944), 320, 1.4835, 5.69),
    ("lbr_A3", (0, 0.2045, 0), (pi / 2, 0, pi), Z, (-2.9671, 2.9671), 176, 1.7453, 3.46),
    ("lbr_A4", (0, 0, 0.2155), (pi / 2, 0, 0), Z, (-2.0944, 2.0944), 176, 1.309, 4.12),
    ("lbr_A5", (0, 0.1845, 0), (-pi / 2, pi, 0), Z, (-2.9671, 2.9671), 110, 2.2689, 1.56),
    ("lbr_A6", (0, 0, 0.2155), (pi / 2, 0, 0), Z, (-2.0944, 2.0944), 40, 2.3562, 2.46),
    ("lbr_A7", (0, 0.081, 0), (-pi / 2, pi, 0), Z, (-3.0543, 3.0543), 40, 2.3562, 0.265),
    ("lbr_link_ee", (0, 0, 0.045), (0, 0, 0)),
]
GEN3 = [
    ("joint_1", (0, 0, 0.15643), (pi, 0, 0), Z, None, 39, 1.3963, 1.38),
    ("joint_2", (0, 0.005375, -0.12838), (pi / 2, 0, 0), Z, (-2.24, 2.24), 39, 1.3963, 1.16),
    ("joint_3", (0, -0.21038, -0.006375), (-pi / 2, 0, 0), Z, None, 39, 1.3963, 1.16),
    ("joint_4", (0, 0.006375, -0.21038), (pi / 2, 0, 0), Z, (-2.57, 2.57), 39, 1.3963, 0.93),
    ("joint_5", (0, -0.20843, -0.006375), (-pi / 2, 0, 0), Z, None, 9, 1.2218, 0.68),
    ("joint_6", (0, 0.000175, -0.10593), (pi / 2, 0, 0), Z, (-2.09, 2.09), 9, 1.2218, 0.68),
    ("joint_7", (0, -0.10593, -0.000175), (-pi / 2, 0, 0), Z, None, 9, 1.2218, 0.364),
    ("end_effector_link", (0, 0, -0.061525), (pi, 0, 0)),
]
X, Y = (1, 0, 0), (0, 1, 0)
OPENARM = [
    ("openarm_right_joint1", (0, -0.0935, 0.698), (pi / 2, 0, 0), Z, (-1.3963, 3.4907), 40, 16.755, 1.14),
    ("openarm_right_joint2", (-0.0301, 0, 0.06), (pi / 2, 0, 0), (-1, 0, 0), (-0.1745, 3.3161), 40, 16.755, 0.278),
    ("openarm_right_joint3", (0.0301, 0, 0.06625), (0, 0, 0), Z, (-1.5708, 1.5708), 27, 5.4454, 1.07),
    ("openarm_right_joint4", (0, 0.0315, 0.15375), (0, 0, 0), Y, (0, 2.4435), 27, 5.4454, 0.56),
    ("openarm_right_joint5", (0, -0.0315, 0.0955), (0, 0, 0), Z, (-1.5708, 1.5708), 7, 20.944, 0.55),
    ("openarm_right_joint6", (0.0375, 0, 0.1205), (0, 0, 0), X, (-0.7854, 0.7854), 7, 20.944, 0.385),
    ("openarm_right_joint7", (-0.0375, 0, 0), (0, 0, 0), Y, (-1.5708, 1.5708), 7, 20.944, 0.686),
    ("openarm_right_hand_tcp", (0, -0.0045, 0.1801), (0, 0, 0)),
]  # fmt: skip
TABLES = {"ur5e": UR5E, "fr3": FR3, "iiwa14": IIWA14, "gen3": GEN3, "openarm": OPENARM}


@cache
def published_arm(name: str, prefix: str = "") -> Model:
    """The model that a shipped parameter file is tested on: `name` is the file's."""
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
