# SPDX-License-Identifier: Apache-2.0
"""What each task asks for: its errors, and from them accelerations (inertia law) or forces (impedance, force axes).

In the task's axes A, with the selection o = 1 - `task_force_axes` (1 = motion, 0 = force),
    inertia law   a = A (o (A^T a_d + Kd A^T e_v + Kp (A^T e_x + y)) - (1 - o) D A^T v)
    impedance     F = A o (Kd A^T e_v + Kp (A^T e_x + y))       or D e_v of `damping` where Kd is not given
    force axes    F = A (1 - o) (F_d + K_f (F_d - F_m) + K_i integral of (F_d - F_m))
    velocity      xdot = A (A^T v_d + Kp/Kd A^T e_x)        the speed at which spring and damper are in balance
y is the integral of the error, see `integral`. Rows are never dropped: along a force axis the motion part asks for no
acceleration, so that no derivative of A enters, and in contact the force is F_d alone.
"""

import math

from ...compiled.jit import kernel
from ...compiled.lanes import W, splat
from ...dynamics.frames import (
    WORLD,
    center_of_mass,
    center_of_mass_motion,
    frame_point,
    point_velocity,
    rotation_or_world,
)
from ...dynamics.so3 import logarithm
from ...dynamics.spatial import add, dot, get3, row_times, scale, sub
from ...osim.jacobian import seen_from
from ...osim.tasks import CENTER
from ..fields import INERTIA_LAW, VELOCITY_MODE
from .damping import NOT_FOUND, damping_is_found, prepare_damping
from .rows import rows_of
from .velocity import balanced_rate


@kernel
def turned(a, b):
    """A^T B of two rotations given by rows."""
    a0, a1, a2 = a
    b0, b1, b2 = b
    return (
        row_times((a0[0], a1[0], a2[0]), b0, b1, b2),
        row_times((a0[1], a1[1], a2[1]), b0, b1, b2),
        row_times((a0[2], a1[2], a2[2]), b0, b1, b2),
    )


@kernel
def task_motion(law):
    """Write `pose` and `velocity` of every task. Needs kinematics, velocities and each body's own force."""
    pose, velocity, out = law.pose, law.velocity, law.com_motion
    frame, reference, space = law.task_frame, law.task_reference, law.space
    for i in range(law.t):
        if space.block_kind[law.task_block[i]] == CENTER:
            center_of_mass(space.tree, out)
            pose[i, 9], pose[i, 10], pose[i, 11] = out[0], out[1], out[2]
            center_of_mass_motion(space.tree, out[3], out)
            velocity[i, 0], velocity[i, 1], velocity[i, 2] = out[0], out[1], out[2]
            continue
        rows, p, v, omega = _frame_state(space, frame[i], reference[i])
        for r in range(3):
            pose[i, 3 * r], pose[i, 3 * r + 1], pose[i, 3 * r + 2] = rows[r]
        pose[i, 9], pose[i, 10], pose[i, 11] = p
        velocity[i, 0], velocity[i, 1], velocity[i, 2] = v
        velocity[i, 3], velocity[i, 4], velocity[i, 5] = omega


@kernel
def _frame_state(space, f, reference):
    """Rotation (rows), position, velocity and angular velocity of a frame in the world or seen from another."""
    tree = space.tree
    node, vel, origin = tree.frame_node, tree.velocity, tree.origin
    rows, p, n = rotation_or_world(tree, f), frame_point(tree, f), node[f]
    v, omega = point_velocity(tree, n, p), get3(vel, 0, n)
    if reference < 0:
        t = tree.tree_number[n]
        return rows, add(p, (origin[t, 0], origin[t, 1], origin[t, 2])), v, omega
    axes, other = rotation_or_world(tree, reference), node[reference]
    p = seen_from(space, n, other, p)
    v, omega = sub(v, point_velocity(tree, other, p)), sub(omega, get3(vel, 0, other))
    return (
        turned(axes, rows),
        row_times(sub(p, frame_point(tree, reference)), axes[0], axes[1], axes[2]),
        row_times(v, axes[0], axes[1], axes[2]),
        row_times(omega, axes[0], axes[1], axes[2]),
    )


@kernel
def find_errors(law):
    """Write `error` = target - pose: a difference, and log(R_d R^T) in the axes of the task's rows.

    Needs `pose`, `target`; `error_side` is where the last rotation error was, and becomes this one.
    """
    pose, target, frame = law.pose, law.target, law.task_frame
    error, side = law.error, law.error_side
    for i in range(law.t):
        for c in range(3):
            error[i, c] = target[i, 9 + c] - pose[i, 9 + c]
        if frame[i] < 0:
            continue
        r0, r1, r2 = three(pose, i, 0), three(pose, i, 3), three(pose, i, 6)
        d0, d1, d2 = three(target, i, 0), three(target, i, 3), three(target, i, 6)
        e = logarithm(
            (dot(d0, r0), dot(d0, r1), dot(d0, r2)),
            (dot(d1, r0), dot(d1, r1), dot(d1, r2)),
            (dot(d2, r0), dot(d2, r1), dot(d2, r2)),
            three(side, i, 0),
        )
        error[i, 3], error[i, 4], error[i, 5] = e
        side[i, 0], side[i, 1], side[i, 2] = e


@kernel
def three(a, i, c):
    """Three neighbours of row i from column c on."""
    return a[i, c], a[i, c + 1], a[i, c + 2]


@kernel
def shortened_to(x, limit):
    """x, or x shortened to a length; and whether it was."""
    length = math.sqrt(dot(x, x))
    if length > limit:
        return scale(limit / length, x), True
    return x, False


@kernel
def apply_task_laws(law, dt):
    """Write what every task asks for, `row_desired`, `row_applied` and `applied`; the force `integral` grows by dt.

    Needs `error`, `velocity` and the targets' motion. Returns how many tasks had an error shortened.
    """
    order, block = law.task_order, law.task_block
    error, velocity, applied = law.error, law.velocity, law.applied
    target_velocity, acceleration = law.target_velocity, law.target_acceleration
    row_desired, row_applied, block_row = law.row_desired, law.row_applied, law.space.block_row
    row_ratio, error_integral, shortened = law.row_ratio, law.error_integral, 0
    # in the order of the blocks, since registers overrun into the next
    for place in range(law.t):
        i = order[place]
        b = block[i]
        a0, a1, a2 = task_axes(law, i)
        desired, force = splat(0.0), splat(0.0)
        is_short = False
        for half in range(2):
            c = 3 * half
            limit = law.task_error_clip[i] if half == 0 else law.task_error_clip_angle[i]
            e, was_shortened = shortened_to(three(error, i, c), limit)
            is_short = is_short or was_shortened
            v = three(velocity, i, c)
            slip = sub(three(target_velocity, i, c), v)
            a = _motion(
                law,
                i,
                c,
                add(row_times(e, a0, a1, a2), three(error_integral, i, c)),
                row_times(slip, a0, a1, a2),
                row_times(three(acceleration, i, c), a0, a1, a2),
                row_times(v, a0, a1, a2),
            )
            f = _force(law, i, c, a0, a1, a2, dt)
            f = (dot(a0, f), dot(a1, f), dot(a2, f))
            applied[i, c], applied[i, c + 1], applied[i, c + 2] = f
            desired = desired + rows_of(law, b, c, (dot(a0, a), dot(a1, a), dot(a2, a)))
            force = force + rows_of(law, b, c, f)
        shortened += 1 if is_short else 0
        r = block_row[b]
        if damping_is_found(law, i):
            prepare_damping(law, i, b, a0, a1, a2)
        else:
            for k in range(r, r + law.task_size[i]):
                row_ratio[k] = NOT_FOUND
        row_desired[r : r + W] = desired
        row_applied[r : r + W] = force
    return shortened


@kernel
def task_axes(law, i):
    """Rows of the axes of task i in the axes of its rows."""
    f, tree = law.task_axes[i], law.space.tree
    if f < 0:
        return WORLD
    return turned(rotation_or_world(tree, law.task_reference[i]), rotation_or_world(tree, f))


@kernel
def _motion(law, i, c, e, slip, a, v):
    """The motion part along three axes from component c on, in the task's axes."""
    kp, kd, f = law.task_stiffness, law.task_damping, law.task_force_axes
    if law.present_mode == VELOCITY_MODE:
        return (
            slip[0] + v[0] + balanced_rate(kp[i, c], kd[i, c]) * e[0],
            slip[1] + v[1] + balanced_rate(kp[i, c + 1], kd[i, c + 1]) * e[1],
            slip[2] + v[2] + balanced_rate(kp[i, c + 2], kd[i, c + 2]) * e[2],
        )
    d = law.task_force_damping[i]
    feed = 1.0 if law.task_law[i] == INERTIA_LAW else 0.0
    x = (1.0 - f[i, c]) * (feed * a[0] + max(kd[i, c], 0.0) * slip[0] + kp[i, c] * e[0]) - f[
        i, c
    ] * d * v[0]
    c += 1
    y = (1.0 - f[i, c]) * (feed * a[1] + max(kd[i, c], 0.0) * slip[1] + kp[i, c] * e[1]) - f[
        i, c
    ] * d * v[1]
    c += 1
    z = (1.0 - f[i, c]) * (feed * a[2] + max(kd[i, c], 0.0) * slip[2] + kp[i, c] * e[2]) - f[
        i, c
    ] * d * v[2]
    return x, y, z


@kernel
def _force(law, i, c, a0, a1, a2, dt):
    """The force part along three axes from component c on, in the task's axes."""
    wrench, measured = law.wrench, law.measured
    closed = law.measured_on[i]
    f = row_times(three(wrench, i, c), a0, a1, a2)
    missing = sub(f, row_times(three(measured, i, c), a0, a1, a2))
    return (
        _force_axis(law, i, c, f[0], closed * missing[0], dt),
        _force_axis(law, i, c + 1, f[1], closed * missing[1], dt),
        _force_axis(law, i, c + 2, f[2], closed * missing[2], dt),
    )


@kernel
def _force_axis(law, i, c, f, missing, dt):
    """(1 - o) (F_d + K_f e + integral) of one axis, the integral clipped; e = F_d - F_m, or 0 with the loop open."""
    integral, most, share = law.integral, law.task_force_limit[i], law.task_force_axes[i, c]
    grown = integral[i, c] + dt * share * law.task_force_integral[i] * missing
    integral[i, c] = min(max(grown, -most), most)
    return share * (f + law.task_force_gain[i] * missing + integral[i, c])


@kernel
def hold_contacts(law):
    """Write `row_desired` of the contacts' rows: what is left of their velocity dies out. Needs `row_speed`."""
    damping, block, size = law.contact_damping, law.contact_block, law.contact_size
    desired, speed, block_row = law.row_desired, law.row_speed, law.space.block_row
    for c in range(law.c):
        first = block_row[block[c]]
        for r in range(first, first + size[c]):
            desired[r] = -damping[c] * speed[r]


@kernel
def take_raw_force(law):
    """Write `row_desired` = `raw_force` and `row_applied` = 0 for the rows of the tasks."""
    desired, applied, force = law.row_desired, law.row_applied, law.raw_force
    block, start, size = law.task_block, law.task_start, law.task_size
    block_row = law.space.block_row
    for i in range(law.t):
        first = block_row[block[i]]
        for r in range(size[i]):
            desired[first + r], applied[first + r] = force[start[i] + r], 0.0
