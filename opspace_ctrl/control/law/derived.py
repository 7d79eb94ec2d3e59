# SPDX-License-Identifier: Apache-2.0
"""Numbers of the tick that follow from settings and from the robot."""

from __future__ import annotations

import math

from ...compiled.jit import kernel, stage
from ..fields import IMPEDANCE_LAW, TASKS_MODE, VELOCITY_MODE, Law
from ..targets.postures import approach_settings

__all__ = ["derive"]

LARGEST_MARGIN = 0.1  # of a joint's range
SLOWEST = 1e-6  # [rad/s or m/s] a velocity limit that is lower, as the zero of many URDFs, is none


@stage(Law)
def derive(law):
    """Write what follows from the settings, after one of them was written; a posture that is new is approached."""
    derive_limits(law)
    derive_shares(law)
    derive_task_damping(law)
    derive_posture(law)
    load(law)


@kernel
def derive_limits(law):
    """Limits and rate of the command, and the margins of the joints."""
    scale, margin, share = law.effort_scale, law.limits_margin, law.limits_speed_margin
    limits, position, velocity = law.command_limits, law.position_margin, law.velocity_margin
    law.command_rate = law.torque_rate_limit
    if law.mode == VELOCITY_MODE:
        scale, law.command_rate = law.velocity_scale, law.velocity_rate_limit
    for j in range(law.k):
        limits[j] = scale * law.hard_limits[j]
        room = law.position_upper[j] - law.position_lower[j]
        position[j] = min(margin, LARGEST_MARGIN * room)
        fastest = law.velocity_limits[j]
        velocity[j] = share * fastest if fastest < math.inf else 0.0


@kernel
def derive_shares(law):
    """What of the bias is compensated where."""
    is_added = law.compensate > 0.5
    in_law = not is_added and law.mode == TASKS_MODE  # F = Lambda (a - beta) instead of h
    law.bias_in_law = 1 if in_law else 0
    is_there = is_added or in_law
    law.gravity_share = 1.0 if law.compensation_gravity > 0.5 and is_there else 0.0
    law.coriolis_share = 1.0 if law.compensation_coriolis > 0.5 and is_there else 0.0


@kernel
def critical(stiffness, ratio):
    """The damping [1/s] of a stiffness [1/s^2] on a unit mass."""
    return 2.0 * ratio * math.sqrt(stiffness)


@kernel
def derive_task_damping(law):
    """Kd of every task: as given, or by its damping ratio."""
    given, damping, kp = law.asked_task_damping, law.task_damping, law.task_stiffness
    for i in range(law.t):
        for c in range(6):
            if not math.isnan(given[i, c]):
                damping[i, c] = given[i, c]
            elif law.task_law[i] == IMPEDANCE_LAW:
                damping[i, c] = -1.0
            else:
                damping[i, c] = critical(kp[i, c], law.task_damping_ratio[i])


@kernel
def derive_posture(law):
    """Gains of every joint, how fast it is, and where the settings want it; joints that they leave out are damped."""
    own, kp, kd, speed = (
        law.references,
        law.posture_stiffness,
        law.posture_damping,
        law.asked_posture_speed,
    )
    stiffness, damping, position = (
        law.asked_posture_stiffness,
        law.asked_posture_damping,
        law.asked_posture_positions,
    )
    for j in range(law.k):
        kp[j], kd[j] = 0.0, law.asked_null_damping
        fastest = law.velocity_limits[j]
        own.joint_speed[j] = min(speed, fastest) if fastest > SLOWEST else speed
    is_new = False
    for n in range(law.p):
        j = law.posture_joint[n]
        if j < 0:
            continue
        if law.asked_posture_enabled > 0.5:
            kp[j] = stiffness[n]
            kd[j] = critical(kp[j], 1.0) if math.isnan(damping[n]) else damping[n]
        is_given, wanted = not math.isnan(position[n]), position[n]
        was_given = own.posture_given[j] == 1 and own.posture_position[j] == wanted
        is_new = is_new or (is_given and not was_given)
        own.posture_given[j] = 1 if is_given else 0
        own.posture_position[j] = wanted if is_given else 0.0
    if is_new and law.has_begun == 1:
        approach_settings(own, law.last_time)


@kernel
def load(law):
    """Let the payload sit on the body of its frame: tree.inertia of that with it, of the one before without."""
    tree, kept, mass, centre = (
        law.space.tree,
        law.unloaded,
        law.asked_payload_mass,
        law.asked_payload_centre,
    )
    inertia, placed, before = tree.inertia, tree.frame_placement, law.loaded_node
    frame, node = law.carrier[law.asked_payload_frame], -1
    if mass > 0.0 and frame >= 0 and tree.frame_node[frame] < tree.n:
        node = tree.frame_node[frame]
    if before >= 0 and before != node:
        for c in range(10):
            inertia[c, before] = kept[c]
    law.loaded_node = node
    if node < 0:
        return
    if before != node:
        for c in range(10):
            kept[c] = inertia[c, node]
    x = (
        placed[frame, 9]
        + placed[frame, 0] * centre[0]
        + placed[frame, 1] * centre[1]
        + placed[frame, 2] * centre[2]
    )
    y = (
        placed[frame, 10]
        + placed[frame, 3] * centre[0]
        + placed[frame, 4] * centre[1]
        + placed[frame, 5] * centre[2]
    )
    z = (
        placed[frame, 11]
        + placed[frame, 6] * centre[0]
        + placed[frame, 7] * centre[1]
        + placed[frame, 8] * centre[2]
    )
    # two points of masses m and M at a distance d turn like one of m M / (m + M) at d
    x, y, z = x - kept[1], y - kept[2], z - kept[3]
    share = mass / (kept[0] + mass)
    reduced = share * kept[0]
    inertia[0, node] = kept[0] + mass
    inertia[1, node], inertia[2, node], inertia[3, node] = (
        kept[1] + share * x,
        kept[2] + share * y,
        kept[3] + share * z,
    )
    inertia[4, node] = kept[4] + reduced * (y * y + z * z)
    inertia[5, node] = kept[5] - reduced * (x * y)
    inertia[6, node] = kept[6] - reduced * (x * z)
    inertia[7, node] = kept[7] + reduced * (x * x + z * z)
    inertia[8, node] = kept[8] - reduced * (y * z)
    inertia[9, node] = kept[9] + reduced * (x * x + y * y)
