# SPDX-License-Identifier: Apache-2.0
"""What the tests of the simulator share."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from helpers.shipped_robots import CORNERS, HOME, SIDES
from opspace_ctrl import frame_jacobian, frame_pose, load_robot, mass_matrix
from opspace_ctrl.sim.simulator import Simulator

FREE = {
    "joint_limits": False,
    "velocity_limits": False,
    "joint_friction": False,
    "effort_limits": False,
}
PASSIVE = {**FREE, "joint_damping": False}
SOLES = tuple(f"{side}_foot_{corner}" for side in SIDES for corner in CORNERS)


def box(mass=2.0, half=(0.1, 0.05, 0.05)):
    """URDF of a box of even density with a frame `sole` in the middle of its lower face."""
    x, y, z = np.square(half)
    inertia = mass / 3.0 * np.array([y + z, x + z, x + y])
    return f"""<robot name="box">
      <link name="body"><inertial><mass value="{mass}"/>
        <inertia ixx="{inertia[0]}" iyy="{inertia[1]}" izz="{inertia[2]}" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="sole"/>
      <joint name="below" type="fixed"><parent link="body"/><child link="sole"/><origin xyz="0 0 {-half[2]}"/></joint>
    </robot>"""


def pendulum(friction=0.0, damping=0.0, effort=1e3, lower=-10.0, upper=10.0):
    """URDF of a horizontal bar of 1 kg, 1 m, that turns about y at its end: I = 1/3, gravity torque 4.905 cos(q)."""
    return f"""<robot name="pendulum">
      <link name="base"/>
      <link name="bar"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
        <inertia ixx="0.001" iyy="{1 / 12}" izz="{1 / 12}" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="revolute"><parent link="base"/><child link="bar"/><axis xyz="0 -1 0"/>
        <limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="100"/>
        <dynamics damping="{damping}" friction="{friction}"/></joint>
    </robot>"""


def standing(lift=0.0, **options):
    """asimo in its home pose on its eight corners, lifted off the ground, at rest."""
    sim = Simulator(
        load_robot("asimo"),
        contacts=SOLES,
        initial_positions=HOME["asimo"],
        **options,
    )
    if lift:
        q = sim.q.copy()
        q[2] += lift
        sim.reset(q)
    return sim


def posture_controller(sim):
    """Joint PD to where the joints are now: stiff legs, limbs with the inertia they have."""
    joints, start = len(sim.tau), sim.q[-len(sim.tau) :].copy()
    own = np.diag(mass_matrix(sim.model, sim.q))[-joints:]
    is_leg = np.array(
        [
            any(word in name for word in ("hip", "knee", "ankle", "waist"))
            for name in sim.model.joint_names
        ]
    )
    stiffness, damping = np.where(is_leg, 600.0, 900.0 * own), np.where(is_leg, 20.0, 60.0 * own)
    return lambda: stiffness * (start - sim.q[-joints:]) - damping * sim.v[-joints:]


def point_rows(sim, q):
    """Jacobian of all contact points and their heights, by the public functions."""
    rows, gaps, normal = [], [], sim._engine.ground_axes[0]
    for contact in sim._contacts:
        J = frame_jacobian(sim.model, q, contact.frame)
        position, quaternion = frame_pose(sim.model, q, contact.frame)
        for point in Rotation.from_quat(quaternion).apply(contact.points):
            rows.append(J[:3] - np.cross(point, J[3:], axisb=0, axisc=0))
            gaps.append(normal @ (position + point) - sim.settings.ground_height)
    return np.vstack(rows), gaps
