# SPDX-License-Identifier: Apache-2.0
"""The robots of the wheel that `opspace init` is tried on, and those for which it is known to fall short."""

from __future__ import annotations

from .urdf_text import joint, limit, link, robot

# Legged robots: tried standing on their feet.
FLOATING = (
    "a1 go1 go2 b1 b1-z1 laikago hyq_no_sensors solo solo12 anymal-kinova "
    "anymal_b_simple_description/anymal anymal_c_simple_description/anymal g1_29dof_rev_1_0 "
    "g1_29dof_with_hand_rev_1_0 talos_reduced talos_reduced_box talos_reduced_corrected talos_full_v2 "
    "talos_full_v2_box icub icub_reduced romeo_small alexander_v1.lowerBodyOnly centauro"
).split()

# {robot: why}. The rest must pass.
SHORT = {
    "allegro_left_hand": "10 Nm of dry friction on fingers with 15 Nm",
    "allegro_right_hand": "10 Nm of dry friction on fingers with 15 Nm",
    "alex_psyonic_hands": "its left hand mimics joints that are not there",
    "b1-z1": "1 Nm of dry friction on a wrist without inertia",
    "double_pendulum": "its effort limits are 0",
    "double_pendulum_continuous": "its effort limits are 0",
    "double_pendulum_simple": "its effort limits are 0",
    "iris": "its effort limits are 0",
    "iris_simple": "it has no joint",
    "pr2": "its arms are carried by springs, which URDF does not know",
    "quadrotor_base": "it has no joint",
    "simple_humanoid": "its waist needs 125 % of its effort limit to hold the start",
    "simple_humanoid_classical": "its waist needs 125 % of its effort limit to hold the start",
    "tiago_no_hand": "1 Nm of dry friction on a wrist without inertia",
    "tiago_pro": "1 Nm of dry friction on a wrist without inertia",
    "ur3": "an empty file",
    "xarm7": "1 Nm of dry friction on a wrist without inertia",
}


def forearm():
    """URDF of an arm that ends at its forearm, whose frame lies on the axes of the last two joints."""
    parts = [
        link("base"),
        link("shoulder"),
        link("blade", mass=0.5),
        link("upper", xyz="0 0 -0.15"),
    ]
    parts.append(link("lower", xyz="0.1 0 -0.02"))
    bounds = limit(-2.0, 2.0, effort=60.0, velocity=2.0)
    chain = (
        ("pitch", "shoulder", "0 1 0"),
        ("roll", "blade", "1 0 0"),
        ("yaw", "upper", "0 0 1"),
        ("elbow", "lower", "0 1 0"),
    )
    parent = "base"
    for name, child, axis in chain:
        xyz = {"pitch": "0 0 1", "elbow": "0 0 -0.3"}.get(name, "0 0 0")
        parts.append(joint(name, parent, child, "revolute", xyz, axis=axis, extra=bounds))
        parent = child
    return robot(*parts)
