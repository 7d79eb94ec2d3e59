# SPDX-License-Identifier: Apache-2.0
"""The stages and kernels of the control tick: from a state and the time to torques."""

from ...compiled.jit import kernel, real, stage
from ...compiled.lanes import W
from ...compiled.workspace import workspace_at
from ...dynamics import kinematics, rnea
from ...dynamics.rows import clear
from ...dynamics.state import copy, take_configuration
from ...osim.blocks import times_support
from ...osim.jacobian import bias_acceleration
from ...osim.tick import respond
from ..fields import (
    AFTER,
    BEFORE,
    BRAKING,
    GRAVITY_MODE,
    NO_TORQUE,
    RAW_MODE,
    VELOCITY_MODE,
    Law,
)
from ..safety.door import leave, time_to_move
from .demands import apply_task_laws, find_errors, hold_contacts, take_raw_force, task_motion
from .friction import add_friction
from .integral import grow_integrals
from .joint_limits import find_candidates, limit_joints
from .joints import base_columns, find_posture_acceleration, inertia_times, select_bias
from .limits import add_levels, command, progress, scale_levels
from .reference import sample_posture, sample_tasks
from .sole import contact_wrenches
from .torque import solve
from .velocity import find_posture_velocity, to_velocities

LONGEST_STEP = 0.1  # [s] that an integral grows in one tick
FAR = 1e70  # [s] no time is
law_at = workspace_at(Law)
SOLUTIONS = 6  # at most: without joint limits, with the one that this exceeds most, and so on


@stage(Law)
def take_state(law):
    """Kinematics, velocities, h, Jdot v, and `pose` and `velocity` of the tasks, for tree.q and tree.v.

    The order is binding: `task_motion` reads the forces of single bodies, which `joint_forces` sums in place, and
    `bias_acceleration` reads the sum.
    """
    tree = law.space.tree
    kinematics.kinematics(tree)
    rnea.motion(tree)
    task_motion(law)
    rnea.joint_forces(tree, tree.h)
    bias_acceleration(law.space)


@stage(Law)
def operational_space(law):
    """J, Lambda^-1, base columns, J H^-1 of what the mode projects, and joints near their limits. Needs `take_state`.

    Writes `h_compensated`, `row_bias`, `row_speed`, `J_base`, `H_base`, `near_limit_count` and what `find_candidates`
    does; space.Jx is J H^-1 tau0 in raw mode. No joint has an activation yet.
    """
    space, tree, activation = law.space, law.space.tree, law.activation
    mode, bias_in_law, x = law.present_mode, law.present_bias_in_law == 1, tree.x
    select_bias(law)
    if bias_in_law:
        copy(law.h_compensated, x, law.nv)
        respond(space)
        copy(space.Jx, law.row_bias, law.m)
    if mode == RAW_MODE or not bias_in_law:
        for i in range(law.nv):
            x[i] = 0.0
        if mode == RAW_MODE:
            joint_v, place, tau0 = law.joint_v, law.joint_command, law.raw_tau0
            for j in range(law.k):
                x[joint_v[j]] = tau0[place[j]]
        respond(space)
    times_support(space, space.J, tree.v, law.row_speed)
    if law.base > 0:
        base_columns(law)
    for j in range(law.k):
        activation[j] = 0.0
    law.near_limit_count = find_candidates(law) if mode != GRAVITY_MODE else 0


@stage(Law, real, real)
def desired_accelerations(law, time, dt):
    """Sample the references, find the errors, and write what contacts, tasks and posture ask for.

    That is `row_desired`, `row_applied`, `posture_acceleration`, `posture_force` and `row_posture`; in gravity mode the
    contacts' rows only, in mode velocity velocities instead. dt is the time since the last tick [s], by which integrals
    grow. Needs `operational_space`.
    """
    mode, space = law.present_mode, law.space
    hold_contacts(law)
    if mode == GRAVITY_MODE:
        return
    sample_tasks(law, time)
    find_errors(law)
    if mode == RAW_MODE:
        take_raw_force(law)
        return
    law.error_clipped = apply_task_laws(law, min(max(dt, 0.0), LONGEST_STEP))
    sample_posture(law, time)
    if mode == VELOCITY_MODE:
        find_posture_velocity(law)
    else:
        find_posture_acceleration(law)
    times_support(space, space.J, law.posture_acceleration, law.row_posture)


@kernel
def reset_report(law):
    """Zeros into the numbers of the report."""
    law.ramped = 0.0
    law.faded = 0.0
    law.clipped = 0
    law.bias_saturated = 0
    law.rate_limited = 0.0
    law.worst_margin = 0.0
    law.joints_limited = 0
    law.is_damped = 0
    law.not_finite = 0
    law.error_clipped = 0
    law.base_residual = 0.0


@kernel
def reset_levels(law):
    """Zeros where the levels are added up."""
    levels, damped = law.L + 3, law.level_damped
    clear(law.level_torque, levels, law.k)
    clear(law.level_contact_force, levels, law.m)
    for level in range(levels):
        damped[level] = 0.0
    law.base_residual = 0.0


@kernel
def fade(law, time):
    """Say which contacts and tasks are `included` before and after the present fade, and each one's weight.

    A change that comes during a fade waits for its end. Returns how far the fade is, 0 .. 1.
    """
    included, contacts, tasks = law.included, law.c, law.t
    contact_on, task_on = law.contact_enabled, law.task_enabled
    contact_weight, task_weight = law.contact_weight, law.task_weight
    has_started = law.has_started == 1
    done = progress(time - law.fade_start, law.fade)
    if done >= 1.0 or not has_started:
        changed = False
        for i in range(contacts + tasks):
            asked = contact_on[i] if i < contacts else task_on[i - contacts]
            included[BEFORE, i] = included[AFTER, i]
            included[AFTER, i] = 1.0 if asked > 0.5 else 0.0
            changed = changed or included[AFTER, i] != included[BEFORE, i]
        done = 1.0
        if not has_started:
            law.fade_start = -FAR  # what is on at the start is in at once
        elif changed:
            law.fade_start = time
            done = progress(0.0, law.fade)
    for i in range(contacts + tasks):
        weight = done * included[AFTER, i] + (1.0 - done) * included[BEFORE, i]
        if i < contacts:
            contact_weight[i] = weight
        else:
            task_weight[i - contacts] = weight
    return done


@kernel
def _solve_again(law, weight):
    """`solve` what is chosen; `level_rank` is that of the last solution."""
    rank = law.level_rank
    for level in range(law.L + 3):
        rank[level] = 0.0
    solve(law, weight)


@kernel
def solve_sets(law, done, alone):
    """Add up the solutions of the sets that count: BEFORE with 1 - done and AFTER with done.

    Or, `alone`, that of the contacts which are switched on.
    """
    chosen, included, on = law.chosen, law.included, law.contact_enabled
    contacts, tasks = law.c, law.t
    if alone:
        for i in range(contacts + tasks):
            chosen[i] = 1.0 if i < contacts and on[i] > 0.5 else 0.0
        _solve_again(law, 1.0)
        return
    for which in range(2):
        weight = done if which == AFTER else 1.0 - done
        if weight > 0.0:
            for i in range(contacts + tasks):
                chosen[i] = included[which, i]
            _solve_again(law, weight)


@kernel
def compute(law, q, v, time, dt, alone):
    """Everything up to the levels' torques at (q, v); `alone`, bias and contacts at rest. Returns how far the fade is.

    Solves without joint limits, then again with the joint that exceeds its bound most, at most SOLUTIONS times.
    """
    tree = law.space.tree
    law.present_mode = GRAVITY_MODE if alone else law.mode
    law.present_bias_in_law = 0 if alone else law.bias_in_law
    reset_report(law)
    take_configuration(tree, q)
    present = tree.v
    for i in range(law.nv):
        present[i] = 0.0 if alone else v[i]
    take_state(law)
    operational_space(law)
    desired_accelerations(law, time, dt)
    done = 1.0 if alone else fade(law, time)
    law.limit_rows = 0
    for solution in range(SOLUTIONS):
        reset_levels(law)
        solve_sets(law, done, alone)
        if law.near_limit_count == 0 or solution == SOLUTIONS - 1:
            break
        limit_joints(law)
        if law.has_grown == 0:
            break
    law.joints_limited = law.limit_rows
    add_friction(law)
    if law.present_mode == VELOCITY_MODE:
        to_velocities(law)
    return done


@stage(Law)
def sum_levels(law):
    """From the levels to `wanted_torque` and contact wrenches, and what was scaled. Needs `ramped`, `passed`."""
    damped, count = law.level_damped, 0
    for level in range(law.L + 3):
        count += 1 if damped[level] > 0.0 else 0
    law.is_damped = count
    scale_levels(law, law.ramped)
    add_levels(law)
    contact_wrenches(law)


@stage(Law, real)
def send(law, elapsed):
    """From `wanted_torque` to the command, and what was limited on the way; elapsed: see `time_to_move`.

    If a torque is not finite the last command stands.
    """
    command(law, elapsed)
    if law.not_finite == 0:
        leave(law, elapsed)


@kernel
def run_law(law, q, v, time):
    """One tick at (q, v) but for the command: writes `wanted_torque`, the report, and the state of the next tick."""
    has_started = law.has_started == 1
    if not has_started:
        law.start_time = time
    dt = max(time - law.last_time, 0.0) if has_started else 0.0
    law.passed = progress(time - law.follow_start, law.fade) if law.is_following == 1 else 1.0
    law.faded = compute(law, q, v, time, dt, False)
    law.ramped = progress(time - law.start_time, law.ramp)
    sum_levels(law)
    law.has_started = 1
    law.last_time = time


@kernel
def run_tick(law, q, v, time, steady):
    """One tick at (q, v), and first one of the law that is followed, until all torque has passed over from that."""
    torque, wrench = law.followed_torque, law.followed_wrench
    is_behind = law.is_following == 1 and law.followed != 0
    elapsed = max(time - law.last_time, 0.0) if law.has_started == 1 else 0.0
    for turn in range(0 if is_behind else 1, 2):
        one = law_at(law.followed) if turn == 0 else law
        run_law(one, q, v, time)
        if turn == 0:
            found = one.contact_wrench
            copy(one.wanted_torque, torque, law.k)
            for c in range(law.c):
                wrench[c, 0:W] = found[c, 0:W]
    if law.passed >= 1.0:
        law.is_following = 0
        law.followed = 0
    moving = time_to_move(law.door, time, steady)
    if law.mode == VELOCITY_MODE:
        moving = max(moving, 0.0)  # FREE is for gravity, which must be carried at once
    send(law, moving)
    grow_integrals(law, min(elapsed, LONGEST_STEP))


@kernel
def run_safe(law, kind, q, v, time, steady):
    """A command that needs no target: nothing, gravity as the contacts carry it, or that and what brakes the joints.

    Gravity is level 0 at rest: no Coriolis force and no friction, whatever v is. The braking torque is H a with
    a = -`safe_damping` v of the joints. A velocity is zero, whatever is asked for. Overwrites results of the last tick,
    but no state.
    """
    wanted, torque, joint_v = law.wanted_torque, law.level_torque, law.joint_v
    if law.mode == VELOCITY_MODE:
        kind = NO_TORQUE
    if kind == NO_TORQUE:
        for j in range(law.k):
            wanted[j] = 0.0
    else:
        compute(law, q, v, 0.0, 0.0, True)
        for j in range(law.k):
            wanted[j] = torque[0, j]
    if kind == BRAKING:
        a, force = law.posture_acceleration, law.posture_force
        for i in range(law.nv):
            a[i] = -law.safe_damping * v[i] if i >= law.base else 0.0
        inertia_times(law, a, force)
        for j in range(law.k):
            wanted[j] += force[joint_v[j]]
    leave(law, time_to_move(law.door, time, steady))
