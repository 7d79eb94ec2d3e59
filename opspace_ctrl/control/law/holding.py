# SPDX-License-Identifier: Apache-2.0
"""Where a controller begins: every task holds where it is, the posture is that of the robot, nothing is streamed."""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...dynamics.rows import clear
from ...dynamics.so3 import quaternion_of
from ..targets.postures import rest_posture, start_posture
from ..targets.references import AT, MOTION, RATE, TURNED, VELOCITY
from ..targets.stops import rest
from .integral import forget_turns


@kernel
def present_motion(law, i, motion):
    """Write pose and twist of a task, without acceleration. Needs `take_state`."""
    pose, velocity = law.pose, law.velocity
    for c in range(MOTION):
        motion[c] = 0.0
    motion[TURNED + 3] = 1.0
    r0 = (pose[i, 0], pose[i, 1], pose[i, 2])
    r1 = (pose[i, 3], pose[i, 4], pose[i, 5])
    r2 = (pose[i, 6], pose[i, 7], pose[i, 8])
    if law.task_frame[i] >= 0:
        turned = quaternion_of(r0, r1, r2)
        for c in range(4):
            motion[TURNED + c] = turned[c]
    for c in range(3):
        motion[AT + c] = pose[i, 9 + c]
        motion[VELOCITY + c], motion[RATE + c] = velocity[i, c], velocity[i, 3 + c]


@kernel
def clear_streams(law):
    """Take back every wrench, measured wrench, F and tau0."""
    for i in range(law.t):
        for c in range(6):
            law.wrench[i, c] = 0.0
        law.measured_on[i] = 0.0
        law.wrench_end[i], law.measured_end[i] = math.inf, math.inf
    for i in range(law.task_rows):
        law.raw_force[i] = 0.0
    for j in range(law.k):
        law.raw_tau0[j] = 0.0
    law.force_end, law.tau0_end = math.inf, math.inf


@kernel
def expire_streams(law, time):
    """Take back what has ended."""
    for i in range(law.t):
        if time >= law.wrench_end[i]:
            law.wrench_end[i] = math.inf
            for c in range(6):
                law.wrench[i, c] = 0.0
        if time >= law.measured_end[i]:
            law.measured_end[i] = math.inf
            law.measured_on[i] = 0.0  # its last value does not matter then
    if time >= law.force_end:
        law.force_end = math.inf
        for i in range(law.task_rows):
            law.raw_force[i] = 0.0
    if time >= law.tau0_end:
        law.tau0_end = math.inf
        for j in range(law.k):
            law.raw_tau0[j] = 0.0


@kernel
def hold_tasks(law, time):
    """Let every task come to rest from where it is. Needs `take_state`."""
    own = law.references
    for i in range(law.t):
        present_motion(law, i, own.now)
        rest(own, i, time)


@kernel
def hold_all(law, time):
    """Let tasks and posture stay where they are, and nothing that was streamed count. Needs `take_state`."""
    hold_tasks(law, time)
    rest_posture(law.references, law.given_q, time)
    clear_streams(law)


@kernel
def begin_again(law, time):
    """Forget what the last tick left, and hold; the posture goes where the settings say. Needs `take_state`."""
    hold_tasks(law, time)
    start_posture(law.references, law.given_q, time)
    clear_streams(law)
    law.has_begun, law.has_started = 1, 0
    law.start_time, law.last_time, law.fade_start = 0.0, time, 0.0
    law.is_following, law.followed, law.follow_start = 0, 0, 0.0
    for j in range(law.k):
        law.followed_torque[j] = 0.0
    clear(law.followed_wrench, law.c, 6)
    clear(law.included, 2, law.c + law.t)
    clear(law.error_side, law.t, 3)
    clear(law.integral, law.t, 6)
    clear(law.error_integral, law.t, 6)
    forget_turns(law)
    for level in range(law.L + 1):
        law.integral_rest[level] = 0.0
    clear(law.error, law.t, 6)
    for i in range(law.t):
        for c in range(12):
            law.target[i, c] = law.pose[i, c]
