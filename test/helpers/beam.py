# SPDX-License-Identifier: Apache-2.0
"""The free flyer that holds a beam with both tools: a closed chain on a floating base."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from helpers.sim_cases import PASSIVE
from opspace_ctrl import frame_pose, load_robot, load_urdf
from opspace_ctrl.algebra.closure import ClosedChain, Closure
from opspace_ctrl.sim.settings import SimulatorSettings
from opspace_ctrl.sim.simulator import Simulator

BEAM = """<robot name="beam"><link name="middle"><inertial><mass value="12"/>
    <inertia ixx="0.44" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.44"/></inertial></link>
  <link name="left"/><link name="right"/>
  <joint name="to_left" type="fixed"><parent link="middle"/><child link="left"/><origin xyz="0 0.33 0"/></joint>
  <joint name="to_right" type="fixed"><parent link="middle"/><child link="right"/><origin xyz="0 -0.33 0"/></joint>
</robot>"""
BENT = {"shoulder_yaw": 0.6, "elbow_yaw": -1.2, "wrist_yaw": 0.6}
HELD = ("left_tool beam_left", "right_tool beam_right")


def beam_carrier(rows="", **options):
    """The free flyer that holds a beam with both tools, and the same as a closed chain."""
    model = load_urdf(
        [load_robot("free_flyer").source, BEAM],
        "floating",
        gravity=(0, 0, 0),
        prefixes=["", "beam_"],
    )
    q = model.neutral()
    for name, angle in BENT.items():
        for side, sign in (("left", 1.0), ("right", -1.0)):
            q[model.q_index[model.body_joint_names.index(f"{side}_{name}")]] = sign * angle
    tools = [frame_pose(model, q, f"{side}_tool")[0] for side in ("left", "right")]
    middle = np.mean(tools, axis=0)
    settings = SimulatorSettings(
        closures=[f"{held} {rows}" for held in HELD],
        initial_positions=q[7:21],
        initial_pose=[*q[:7], *middle, 0, 0, 0, 1],
        **{**PASSIVE, **options},
    )
    sim = Simulator.from_settings(model, settings)
    turns = [
        rotation(frame_pose(model, sim.q, f"beam_{s}")[1]).T
        @ rotation(frame_pose(model, sim.q, f"{s}_tool")[1])
        for s in ("left", "right")
    ]
    closures = [Closure(*held.split(), rows or "pose", turn) for held, turn in zip(HELD, turns)]
    return sim, ClosedChain(model, closures)


def rotation(quaternion):
    return Rotation.from_quat(quaternion).as_matrix()


def closed_state(sim, chain, seed=0, speed=0.2):
    v = chain.close_velocity(sim.q, speed * np.random.default_rng(seed).normal(size=sim.model.nv))
    sim.reset(sim.q.copy(), v)
    return v
