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

from ...dynamics import layout as dyn
from ...dynamics.frames import center_of_mass, center_of_mass_motion, frame_point, point_velocity
from ...dynamics.layout import count, floats, ints
from ...dynamics.spatial import add, dot, get3, row_times, scale, sub
from ...jit import kernel
from ...lanes import load, splat, store
from ...osim import layout as osim
from ...osim.jacobian import seen_from
from .. import layout as at
from .orientation import logarithm

WORLD = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@kernel
def frame_rotation(w, f):
    """Rows of the world orientation of frame f; the world's own for -1."""
    if f < 0:
        return WORLD
    node, X, R = ints(w, dyn.FRAME_NODE)[f], floats(w, dyn.FRAME_PLACEMENT), floats(w, dyn.R)
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
def measure(w):
    """POSE and VELOCITY of every task; needs kinematics and velocities."""
    task, pose, velocity = ints(w, at.TASK), floats(w, at.POSE), floats(w, at.VELOCITY)
    for i in range(count(w, at.TASKS)):
        if task[i, at.T_FRAME] < 0:
            out = floats(w, at.SCRATCH)
            center_of_mass(w, out)
            pose[i, 9], pose[i, 10], pose[i, 11] = out[0], out[1], out[2]
            center_of_mass_motion(w, out[3], out)
            velocity[i, 0], velocity[i, 1], velocity[i, 2] = out[0], out[1], out[2]
            continue
        rows, p, v, omega = _frame_state(w, task[i, at.T_FRAME], task[i, at.T_REFERENCE])
        for r in range(3):
            pose[i, 3 * r], pose[i, 3 * r + 1], pose[i, 3 * r + 2] = rows[r]
        pose[i, 9], pose[i, 10], pose[i, 11] = p
        velocity[i, 0], velocity[i, 1], velocity[i, 2] = v
        velocity[i, 3], velocity[i, 4], velocity[i, 5] = omega


@kernel
def _frame_state(w, f, reference):
    """Rotation (rows), position, velocity and angular velocity of a frame in the world or seen from another."""
    node, vel, origin, tree = (
        ints(w, dyn.FRAME_NODE),
        floats(w, dyn.VELOCITY),
        floats(w, dyn.ORIGIN),
        ints(w, dyn.TREE),
    )
    rows, p, n = frame_rotation(w, f), frame_point(w, f), node[f]
    v, omega = point_velocity(w, n, p), get3(vel, 0, n)
    if reference < 0:
        t = tree[n]
        return rows, add(p, (origin[t, 0], origin[t, 1], origin[t, 2])), v, omega
    axes, other = frame_rotation(w, reference), node[reference]
    p = seen_from(w, n, other, p)
    v, omega = sub(v, point_velocity(w, other, p)), sub(omega, get3(vel, 0, other))
    return (
        turned(axes, rows),
        row_times(sub(p, frame_point(w, reference)), axes[0], axes[1], axes[2]),
        row_times(v, axes[0], axes[1], axes[2]),
        row_times(omega, axes[0], axes[1], axes[2]),
    )


@kernel
def find_errors(w):
    """ERROR = wanted - present: a difference, and log(R_d R^T) in the axes of the task's rows."""
    task, pose, target = ints(w, at.TASK), floats(w, at.POSE), floats(w, at.TARGET)
    error, side = floats(w, at.ERROR), floats(w, at.ERROR_SIDE)
    for i in range(count(w, at.TASKS)):
        for c in range(3):
            error[i, c] = target[i, 9 + c] - pose[i, 9 + c]
        if task[i, at.T_FRAME] < 0:
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
def ask(w, dt):
    """WANTED and PUSH, row by row, of every task; INTEGRAL moves on by dt.

    Returns:
        How many tasks had their error shortened.
    """
    task, order, limit, error = (
        ints(w, at.TASK),
        ints(w, at.ORDER),
        floats(w, at.ERROR_LIMIT),
        floats(w, at.ERROR),
    )
    velocity, target_velocity = floats(w, at.VELOCITY), floats(w, at.TARGET_VELOCITY)
    acceleration, clipped = floats(w, at.TARGET_ACCELERATION), 0.0
    # in the order of the blocks, since registers overrun into the next
    for place in range(count(w, at.TASKS)):
        i = order[place]
        a0, a1, a2 = _axes(w, i)
        wanted, push = splat(0.0), splat(0.0)
        for half in range(2):
            c = 3 * half
            e = _row(error, i, c)
            short = _shortened(e, limit[i, half])
            clipped += 1.0 if short[0] != e[0] or short[1] != e[1] or short[2] != e[2] else 0.0
            v = _row(velocity, i, c)
            slip = row_times(sub(_row(target_velocity, i, c), v), a0, a1, a2)
            a = _motion(
                w,
                i,
                c,
                row_times(short, a0, a1, a2),
                slip,
                row_times(_row(acceleration, i, c), a0, a1, a2),
                row_times(v, a0, a1, a2),
            )
            f = _force(w, i, c, a0, a1, a2, dt)
            _put_applied(w, i, c, (dot(a0, f), dot(a1, f), dot(a2, f)))
            wanted = wanted + _rows_of(
                w, task[i, at.T_BLOCK], c, (dot(a0, a), dot(a1, a), dot(a2, a))
            )
            push = push + _rows_of(w, task[i, at.T_BLOCK], c, (dot(a0, f), dot(a1, f), dot(a2, f)))
        row = ints(w, osim.BLOCK)[task[i, at.T_BLOCK], osim.B_ROW]
        store(floats(w, at.WANTED), 0, row, wanted)
        store(floats(w, at.PUSH), 0, row, push)
    return clipped


@kernel
def _axes(w, i):
    """Rows of the axes of task i in the axes of its rows."""
    task = ints(w, at.TASK)
    if task[i, at.T_AXES] < 0:
        return WORLD
    axes = frame_rotation(w, task[i, at.T_AXES])
    return turned(frame_rotation(w, task[i, at.T_REFERENCE]), axes)


@kernel
def _motion(w, i, c, e, slip, a, v):
    """The motion part along three axes from component c on, in the task's axes."""
    kp, kd, o = floats(w, at.STIFFNESS), floats(w, at.DAMPING_GAIN), floats(w, at.MOTION)
    d = floats(w, at.FORCE_DAMPING)
    feed = 1.0 if ints(w, at.TASK)[i, at.T_LAW] == at.INERTIA_LAW else 0.0
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
def _force(w, i, c, a0, a1, a2, dt):
    """The force part along three axes from component c on, in the task's axes."""
    wanted, measured = floats(w, at.WRENCH), floats(w, at.MEASURED)
    closed = floats(w, at.MEASURED_ON)[i]
    f = row_times(_row(wanted, i, c), a0, a1, a2)
    missing = sub(f, row_times(_row(measured, i, c), a0, a1, a2))
    return (
        _force_axis(w, i, c, f[0], closed * missing[0], dt),
        _force_axis(w, i, c + 1, f[1], closed * missing[1], dt),
        _force_axis(w, i, c + 2, f[2], closed * missing[2], dt),
    )


@kernel
def _force_axis(w, i, c, f, missing, dt):
    integral, most, share = (
        floats(w, at.INTEGRAL),
        floats(w, at.INTEGRAL_LIMIT),
        1.0 - floats(w, at.MOTION)[i, c],
    )
    grown = integral[i, c] + dt * share * floats(w, at.INTEGRAL_GAIN)[i, c] * missing
    integral[i, c] = min(max(grown, -most[i, c]), most[i, c])
    return share * (f + floats(w, at.FORCE_GAIN)[i, c] * missing + integral[i, c])


@kernel
def _put_applied(w, i, c, f):
    applied = floats(w, at.APPLIED)
    applied[i, c], applied[i, c + 1], applied[i, c + 2] = f


@kernel
def _rows_of(w, b, c, x):
    """Rows of block b that the three components from c on make."""
    weight = floats(w, osim.WEIGHT)
    return (
        x[0] * load(weight, 6 * b + c, 0)
        + x[1] * load(weight, 6 * b + c + 1, 0)
        + x[2] * load(weight, 6 * b + c + 2, 0)
    )


@kernel
def hold_contacts(w):
    """WANTED of the contacts' rows: what is left of their velocity dies out."""
    contact, block, damping = (
        ints(w, at.CONTACT),
        ints(w, osim.BLOCK),
        floats(w, at.CONTACT_DAMPING),
    )
    wanted, speed = floats(w, at.WANTED), floats(w, at.ROW_SPEED)
    for c in range(count(w, at.CONTACTS)):
        row = block[contact[c, at.C_BLOCK], osim.B_ROW]
        for r in range(row, row + contact[c, at.C_ROWS]):
            wanted[r] = -damping[c] * speed[r]


@kernel
def take_raw_force(w):
    """WANTED = the F from outside, PUSH = 0."""
    task, block, force = ints(w, at.TASK), ints(w, osim.BLOCK), floats(w, at.RAW_FORCE)
    wanted, push = floats(w, at.WANTED), floats(w, at.PUSH)
    for i in range(count(w, at.TASKS)):
        for r in range(task[i, at.T_ROWS]):
            row = block[task[i, at.T_BLOCK], osim.B_ROW] + r
            wanted[row], push[row] = force[task[i, at.T_ROW] + r], 0.0
