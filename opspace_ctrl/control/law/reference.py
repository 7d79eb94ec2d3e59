"""Sampling of the references: programs of quintic segments (see `targets.segments`), at the time of the tick."""

from __future__ import annotations

from ...compiled.jit import kernel
from ...compiled.workspace import workspace_at
from ...dynamics.so3 import exponential, rotation_of, rotation_rates
from ...dynamics.spatial import row_times
from ..fields import Program

# Columns of a program's table, see `targets.segments`; plain numbers, since kernels want them.
START = 0
END = 1
POSITION = 2
QUATERNION = 20
ROTATION = 24
FIRST_JOINT = 2  # column of the first coefficient in the posture's program

program_at = workspace_at(Program)


@kernel
def present_row(program, time):
    """The row of a program that `time` falls in, and the time in it; outside the program a row's end, at rest.

    Time moves on, so the search begins at `present`, where the last one ended; writes it.

    Returns:
        Row, time since its start, and 1.0 in the program or 0.0 outside.
    """
    table, last = program.table, program.rows - 1
    k = program.present
    while k > 0 and time < table[k, START]:
        k -= 1
    while k < last and time >= table[k + 1, START]:
        k += 1
    program.present = k
    moving = 1.0 if table[0, START] <= time < table[last, END] else 0.0
    return k, min(max(time, table[k, START]), table[k, END]) - table[k, START], moving


@kernel
def quintic(table, k, column, s):
    """Value, first and second derivative of the polynomial whose six coefficients start at a column of row k."""
    c0, c1, c2 = table[k, column], table[k, column + 1], table[k, column + 2]
    c3, c4, c5 = table[k, column + 3], table[k, column + 4], table[k, column + 5]
    return (
        c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5)))),
        c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5))),
        2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)),
    )


@kernel
def sample_tasks(law, time):
    """Write `target`, `target_velocity` and `target_acceleration` of every task: R = exp([r]) R0, world axes."""
    address, frame, pose = law.program, law.task_frame, law.target
    velocity, acceleration = law.target_velocity, law.target_acceleration
    for i in range(law.t):
        program = program_at(address[i])
        table = program.table
        k, s, moving = present_row(program, time)
        for c in range(3):
            p, v, a = quintic(table, k, POSITION + 6 * c, s)
            pose[i, 9 + c], velocity[i, c], acceleration[i, c] = p, moving * v, moving * a
        if frame[i] >= 0:
            _sample_rotation(table, k, s, moving, pose, velocity, acceleration, i)


@kernel
def _sample_rotation(table, k, s, moving, pose, velocity, acceleration, i):
    """Orientation, angular velocity and acceleration of row i from row k of a program, s after its start."""
    x, dx, ddx = quintic(table, k, ROTATION, s)
    y, dy, ddy = quintic(table, k, ROTATION + 6, s)
    z, dz, ddz = quintic(table, k, ROTATION + 12, s)
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
    acceleration, program = law.posture_target_acceleration, program_at(law.program[law.t])
    table = program.table
    k, s, moving = present_row(program, time)
    for j in range(law.k):
        p, v, a = quintic(table, k, FIRST_JOINT + 6 * j, s)
        position[j], velocity[j], acceleration[j] = p, moving * v, moving * a
