"""Sampling of the references: programs of quintic segments (see `targets.segments`), at the time of the tick."""

from __future__ import annotations

from ...compiled.jit import kernel
from ...dynamics.kinematics import rotation_of
from ...dynamics.spatial import row_times
from .orientation import exponential, rotation_rates

# Columns of a row of a program, see `targets.segments`; plain numbers, since kernels want them.
START = 0
END = 1
POSITION = 2
QUATERNION = 20
ROTATION = 24
COLUMNS = 44
FIRST_JOINT = 2  # column of the first coefficient in a row of the posture's program


@kernel
def present_row(program, time):
    """The row of a program that `time` falls in, and the time in it; outside the program a row's end, at rest.

    Row 0 holds the number of rows and the row found last, since time moves on and a search from the start does not pay.

    Returns:
        Row, time since its start, and 1.0 in the program or 0.0 outside.
    """
    last = int(program[0, 0])
    k = min(max(int(program[0, 1]), 1), last)
    while k > 1 and time < program[k, START]:
        k -= 1
    while k < last and time >= program[k + 1, START]:
        k += 1
    program[0, 1] = float(k)
    moving = 1.0 if program[1, START] <= time < program[last, END] else 0.0
    return k, min(max(time, program[k, START]), program[k, END]) - program[k, START], moving


@kernel
def quintic(program, k, column, s):
    """Value, first and second derivative of the polynomial whose six coefficients start at a column of row k."""
    c0, c1, c2 = program[k, column], program[k, column + 1], program[k, column + 2]
    c3, c4, c5 = program[k, column + 3], program[k, column + 4], program[k, column + 5]
    return (
        c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5)))),
        c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5))),
        2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)),
    )


@kernel
def sample_tasks(law, time):
    """TARGET, TARGET_VELOCITY and TARGET_ACCELERATION of every task: R = exp([r]) R0, world axes."""
    address = law.program
    pose, velocity = law.target, law.target_velocity
    acceleration = law.target_acceleration
    for i in range(law.t):
        program = floats_at(address[i], COLUMNS)
        k, s, moving = present_row(program, time)
        for c in range(3):
            p, v, a = quintic(program, k, POSITION + 6 * c, s)
            pose[i, 9 + c], velocity[i, c], acceleration[i, c] = p, moving * v, moving * a
        if law.task_frame[i] >= 0:
            _sample_rotation(program, k, s, moving, pose, velocity, acceleration, i)


@kernel
def _sample_rotation(program, k, s, moving, pose, velocity, acceleration, i):
    x, dx, ddx = quintic(program, k, ROTATION, s)
    y, dy, ddy = quintic(program, k, ROTATION + 6, s)
    z, dz, ddz = quintic(program, k, ROTATION + 12, s)
    s0, s1, s2 = rotation_of(
        program[k, QUATERNION],
        program[k, QUATERNION + 1],
        program[k, QUATERNION + 2],
        program[k, QUATERNION + 3],
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
    """POSTURE: positions, velocities and accelerations (k,) that the joints should have."""
    k = law.k
    program = floats_at(law.program[law.t], FIRST_JOINT + 6 * k)
    row, s, moving = present_row(program, time)
    for j in range(k):
        p, v, a = quintic(program, row, FIRST_JOINT + 6 * j, s)
        (
            law.posture_target[j],
            law.posture_target_velocity[j],
            law.posture_target_acceleration[j],
        ) = p, moving * v, moving * a
