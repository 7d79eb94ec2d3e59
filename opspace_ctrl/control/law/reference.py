# SPDX-License-Identifier: Apache-2.0
"""Sampling of the references: programs of quintic segments (see `targets.references`), at the time of the tick."""

from ...compiled.jit import kernel
from ...dynamics.so3 import exponential, rotation_of, rotation_rates
from ...dynamics.spatial import row_times
from ..targets.programs import polynomial, present_row
from ..targets.references import FIRST_JOINT, POSITION, QUATERNION, ROTATION


@kernel
def sample_tasks(law, time):
    """Write `target`, `target_velocity` and `target_acceleration` of every task: R = exp([r]) R0, world axes."""
    own, frame, pose = law.references, law.task_frame, law.target
    velocity, acceleration = law.target_velocity, law.target_acceleration
    table, rows, present = own.table, own.rows, own.present
    for i in range(law.t):
        first = i * own.capacity
        k, s, moving = present_row(table, first, rows[i], present[i], time)
        present[i] = k
        k += first
        for c in range(3):
            p, v, a = polynomial(table, k, POSITION + 6 * c, s)
            pose[i, 9 + c], velocity[i, c], acceleration[i, c] = p, moving * v, moving * a
        if frame[i] >= 0:
            _sample_rotation(table, k, s, moving, pose, velocity, acceleration, i)


@kernel
def _sample_rotation(table, k, s, moving, pose, velocity, acceleration, i):
    """Orientation, angular velocity and acceleration of row i from row k of a program, s after its start."""
    x, dx, ddx = polynomial(table, k, ROTATION, s)
    y, dy, ddy = polynomial(table, k, ROTATION + 6, s)
    z, dz, ddz = polynomial(table, k, ROTATION + 12, s)
    s0, s1, s2 = rotation_of(
        table[k, QUATERNION],
        table[k, QUATERNION + 1],
        table[k, QUATERNION + 2],
        table[k, QUATERNION + 3],
    )
    e0, e1, e2 = exponential((x, y, z))
    pose[i, 0], pose[i, 1], pose[i, 2] = row_times(e0, s0, s1, s2)
    pose[i, 3], pose[i, 4], pose[i, 5] = row_times(e1, s0, s1, s2)
    pose[i, 6], pose[i, 7], pose[i, 8] = row_times(e2, s0, s1, s2)
    rate, change = rotation_rates((x, y, z), (dx, dy, dz), (ddx, ddy, ddz))
    for c in range(3):
        velocity[i, 3 + c], acceleration[i, 3 + c] = moving * rate[c], moving * change[c]


@kernel
def sample_posture(law, time):
    """Write `posture_target`, and its velocity and acceleration: what the joints should have."""
    position, velocity = law.posture_target, law.posture_target_velocity
    acceleration, own = law.posture_target_acceleration, law.references
    table = own.posture_table
    k, s, moving = present_row(table, 0, own.posture_rows, own.posture_present, time)
    own.posture_present = k
    for j in range(law.k):
        p, v, a = polynomial(table, k, FIRST_JOINT + 6 * j, s)
        position[j], velocity[j], acceleration[j] = p, moving * v, moving * a
