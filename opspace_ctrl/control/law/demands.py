"""What each task asks for: its errors, and from them accelerations (inertia law) or forces (impedance, force axes).

In the task's axes A, with the selection o (1 = motion, 0 = force),
    inertia law   a = A (o (A^T a_d + Kd A^T e_v + Kp A^T e_x) - (1 - o) D A^T v)
    impedance     F = A o (Kd A^T e_v + Kp A^T e_x)
    force axes    F = A (1 - o) (F_d + K_f (F_d - F_m) + K_i integral of (F_d - F_m))
Rows are never dropped: along a force axis the motion part asks for no acceleration, so that no derivative of A enters,
and in contact the force is F_d alone.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...compiled.lanes import W, splat
from ...dynamics.frames import center_of_mass, center_of_mass_motion, frame_point, point_velocity
from ...dynamics.spatial import add, dot, get3, row_times, scale, sub
from ...osim.jacobian import seen_from
from ..fields import INERTIA_LAW
from .orientation import logarithm

WORLD = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@kernel
def frame_rotation(law, f):
    """Rows of the world orientation of frame f; the world's own for -1."""
    if f < 0:
        return WORLD
    node, X, R = law.space.tree.frame_node[f], law.space.tree.frame_placement, law.space.tree.R
    x0, x1, x2 = (
        (X[f, 0], X[f, 1], X[f, 2]),
        (X[f, 3], X[f, 4], X[f, 5]),
        (X[f, 6], X[f, 7], X[f, 8]),
    )
    return (
        row_times(get3(R, 0, node), x0, x1, x2),
        row_times(get3(R, 3, node), x0, x1, x2),
        row_times(get3(R, 6, node), x0, x1, x2),
    )


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
def measure(law):
    """POSE and VELOCITY of every task; needs kinematics and velocities."""
    pose, velocity = law.pose, law.velocity
    for i in range(law.t):
        if law.task_frame[i] < 0:
            out = law.com_motion
            center_of_mass(law.space.tree, out)
            pose[i, 9], pose[i, 10], pose[i, 11] = out[0], out[1], out[2]
            center_of_mass_motion(law.space.tree, out[3], out)
            velocity[i, 0], velocity[i, 1], velocity[i, 2] = out[0], out[1], out[2]
            continue
        rows, p, v, omega = _frame_state(law, law.task_frame[i], law.task_reference[i])
        for r in range(3):
            pose[i, 3 * r], pose[i, 3 * r + 1], pose[i, 3 * r + 2] = rows[r]
        pose[i, 9], pose[i, 10], pose[i, 11] = p
        velocity[i, 0], velocity[i, 1], velocity[i, 2] = v
        velocity[i, 3], velocity[i, 4], velocity[i, 5] = omega


@kernel
def _frame_state(law, f, reference):
    """Rotation (rows), position, velocity and angular velocity of a frame in the world or seen from another."""
    node = law.space.tree.frame_node
    vel = law.space.tree.velocity
    origin = law.space.tree.origin
    tree = law.space.tree.tree_number
    rows, p, n = frame_rotation(law, f), frame_point(law.space.tree, f), node[f]
    v, omega = point_velocity(law.space.tree, n, p), get3(vel, 0, n)
    if reference < 0:
        t = tree[n]
        return rows, add(p, (origin[t, 0], origin[t, 1], origin[t, 2])), v, omega
    axes, other = frame_rotation(law, reference), node[reference]
    p = seen_from(law.space, n, other, p)
    v, omega = sub(v, point_velocity(law.space.tree, other, p)), sub(omega, get3(vel, 0, other))
    return (
        turned(axes, rows),
        row_times(sub(p, frame_point(law.space.tree, reference)), axes[0], axes[1], axes[2]),
        row_times(v, axes[0], axes[1], axes[2]),
        row_times(omega, axes[0], axes[1], axes[2]),
    )


@kernel
def find_errors(law):
    """ERROR = wanted - present: a difference, and log(R_d R^T) in the axes of the task's rows."""
    pose, target = law.pose, law.target
    error, side = law.error, law.error_side
    for i in range(law.t):
        for c in range(3):
            error[i, c] = target[i, 9 + c] - pose[i, 9 + c]
        if law.task_frame[i] < 0:
            continue
        r0, r1, r2 = _row(pose, i, 0), _row(pose, i, 3), _row(pose, i, 6)
        d0, d1, d2 = _row(target, i, 0), _row(target, i, 3), _row(target, i, 6)
        e = logarithm(
            (dot(d0, r0), dot(d0, r1), dot(d0, r2)),
            (dot(d1, r0), dot(d1, r1), dot(d1, r2)),
            (dot(d2, r0), dot(d2, r1), dot(d2, r2)),
            _row(side, i, 0),
        )
        error[i, 3], error[i, 4], error[i, 5] = e
        side[i, 0], side[i, 1], side[i, 2] = e


@kernel
def _row(a, i, c):
    return a[i, c], a[i, c + 1], a[i, c + 2]


@kernel
def _shortened(x, limit):
    """x, or x shortened to a length."""
    length = math.sqrt(dot(x, x))
    return scale(limit / length, x) if length > limit else x


@kernel
def ask(law, dt):
    """WANTED and PUSH, row by row, of every task; INTEGRAL moves on by dt.

    Returns:
        How many tasks had their error shortened.
    """
    order, limit, error = law.task_order, law.error_limit, law.error
    velocity, target_velocity = law.velocity, law.target_velocity
    acceleration, clipped = law.target_acceleration, 0.0
    # in the order of the blocks, since registers overrun into the next
    for place in range(law.t):
        i = order[place]
        a0, a1, a2 = _axes(law, i)
        wanted, push = splat(0.0), splat(0.0)
        for half in range(2):
            c = 3 * half
            e = _row(error, i, c)
            short = _shortened(e, limit[i, half])
            clipped += 1.0 if short[0] != e[0] or short[1] != e[1] or short[2] != e[2] else 0.0
            v = _row(velocity, i, c)
            slip = row_times(sub(_row(target_velocity, i, c), v), a0, a1, a2)
            a = _motion(
                law,
                i,
                c,
                row_times(short, a0, a1, a2),
                slip,
                row_times(_row(acceleration, i, c), a0, a1, a2),
                row_times(v, a0, a1, a2),
            )
            f = _force(law, i, c, a0, a1, a2, dt)
            _put_applied(law, i, c, (dot(a0, f), dot(a1, f), dot(a2, f)))
            wanted = wanted + _rows_of(
                law, law.task_block[i], c, (dot(a0, a), dot(a1, a), dot(a2, a))
            )
            push = push + _rows_of(law, law.task_block[i], c, (dot(a0, f), dot(a1, f), dot(a2, f)))
        row = law.space.block_row[law.task_block[i]]
        law.row_desired[row : row + W] = wanted
        law.row_applied[row : row + W] = push
    return clipped


@kernel
def _axes(law, i):
    """Rows of the axes of task i in the axes of its rows."""
    if law.task_axes[i] < 0:
        return WORLD
    axes = frame_rotation(law, law.task_axes[i])
    return turned(frame_rotation(law, law.task_reference[i]), axes)


@kernel
def _motion(law, i, c, e, slip, a, v):
    """The motion part along three axes from component c on, in the task's axes."""
    kp, kd, o = law.stiffness, law.damping, law.motion
    d = law.force_damping
    feed = 1.0 if law.task_law[i] == INERTIA_LAW else 0.0
    x = (
        o[i, c] * (feed * a[0] + kd[i, c] * slip[0] + kp[i, c] * e[0])
        - (1.0 - o[i, c]) * d[i, c] * v[0]
    )
    c += 1
    y = (
        o[i, c] * (feed * a[1] + kd[i, c] * slip[1] + kp[i, c] * e[1])
        - (1.0 - o[i, c]) * d[i, c] * v[1]
    )
    c += 1
    z = (
        o[i, c] * (feed * a[2] + kd[i, c] * slip[2] + kp[i, c] * e[2])
        - (1.0 - o[i, c]) * d[i, c] * v[2]
    )
    return x, y, z


@kernel
def _force(law, i, c, a0, a1, a2, dt):
    """The force part along three axes from component c on, in the task's axes."""
    wanted, measured = law.wrench, law.measured
    closed = law.measured_on[i]
    f = row_times(_row(wanted, i, c), a0, a1, a2)
    missing = sub(f, row_times(_row(measured, i, c), a0, a1, a2))
    return (
        _force_axis(law, i, c, f[0], closed * missing[0], dt),
        _force_axis(law, i, c + 1, f[1], closed * missing[1], dt),
        _force_axis(law, i, c + 2, f[2], closed * missing[2], dt),
    )


@kernel
def _force_axis(law, i, c, f, missing, dt):
    integral, most, share = (law.integral, law.integral_limit, 1.0 - law.motion[i, c])
    grown = integral[i, c] + dt * share * law.integral_gain[i, c] * missing
    integral[i, c] = min(max(grown, -most[i, c]), most[i, c])
    return share * (f + law.force_gain[i, c] * missing + integral[i, c])


@kernel
def _put_applied(law, i, c, f):
    applied = law.applied
    applied[i, c], applied[i, c + 1], applied[i, c + 2] = f


@kernel
def _rows_of(law, b, c, x):
    """Rows of block b that the three components from c on make."""
    weight = law.space.selection
    return (
        x[0] * weight[6 * b + c, 0:W]
        + x[1] * weight[6 * b + c + 1, 0:W]
        + x[2] * weight[6 * b + c + 2, 0:W]
    )


@kernel
def hold_contacts(law):
    """WANTED of the contacts' rows: what is left of their velocity dies out."""
    damping = law.contact_damping
    wanted, speed = law.row_desired, law.row_speed
    for c in range(law.c):
        row = law.space.block_row[law.contact_block[c]]
        for r in range(row, row + law.contact_size[c]):
            wanted[r] = -damping[c] * speed[r]


@kernel
def take_raw_force(law):
    """WANTED = the F from outside, PUSH = 0."""
    force = law.raw_force
    wanted, push = law.row_desired, law.row_applied
    for i in range(law.t):
        for r in range(law.task_size[i]):
            row = law.space.block_row[law.task_block[i]] + r
            wanted[row], push[row] = force[law.task_start[i] + r], 0.0
