"""The control tick: state and time in, torques out, in one compiled call. Nothing here allocates or raises."""

from __future__ import annotations

from numba.types import boolean, float64, int64

from ...compiled.jit import entry, kernel, stage
from ...dynamics import kinematics, rnea
from ...dynamics.rows import clear
from ...dynamics.state import OK, REFUSED, copy, is_configuration, is_usable, take_configuration
from ...osim.blocks import times_support
from ...osim.jacobian import bias_acceleration
from ...osim.tick import inertia_inv
from ..fields import GRAVITY_MODE, RAW_MODE, REPORT, Law
from .demands import ask, find_errors, hold_contacts, measure, take_raw_force
from .joint_limits import find_candidates, limit_joints
from .joints import base_columns, posture, select_bias
from .limits import command, progress, scale_levels
from .reference import sample_posture, sample_tasks
from .sole import contact_wrenches
from .torque import solve

BEFORE, AFTER, NOW = 0, 1, 2  # rows of SETS
LONGEST_STEP = 0.1  # [s] that an integral grows in one tick
FAR = 1e70  # [s] no time is
SOLUTIONS = 6  # at most: without joint limits, with the one that this exceeds most, and so on


@stage(Law)
def take_state(law):
    """Kinematics, velocities, h, Jdot v, and the tasks' poses, for the Q and V at hand."""
    kinematics.kinematics(law.space.tree)
    rnea.motion(law.space.tree)
    measure(law)
    rnea.joint_forces(law.space.tree, law.space.tree.h)
    bias_acceleration(law.space)


@stage(Law)
def operational_space(law):
    """J, Lambda^-1, base columns and J H^-1 of what the mode projects; joints near their limits."""
    none = law.projected_torque
    nv, m, bias = law.space.tree.nv, law.space.m, law.row_bias
    select_bias(law)
    if law.bias_in_law == 1.0:
        inertia_inv(law.space, law.h_compensated)
        copy(law.space.Jx, bias, m)
    if law.bias_in_law != 1.0 or law.mode == RAW_MODE:
        for i in range(nv):
            none[i] = 0.0
        if law.mode == RAW_MODE:
            tau0 = law.raw_tau0
            for j in range(law.k):
                none[law.joint_v[j]] = tau0[law.joint_command[j]]
        inertia_inv(law.space, none)
    times_support(law.space, law.space.J, law.space.tree.v, law.row_speed)
    if law.base > 0:
        base_columns(law)
    law.near_limit_count = find_candidates(law) if law.mode != GRAVITY_MODE else 0


@kernel
def reset_levels(law):
    """Zeros where the levels are added up."""
    levels = law.L + 3
    clear(law.level_torque, levels, law.k)
    clear(law.level_contact_force, levels, law.space.m)
    rank, damped = law.level_rank, law.level_damped
    for level in range(levels):
        rank[level], damped[level] = 0.0, 0.0
    law.base_residual = 0.0


@kernel
def fade(law, time):
    """SETS and weights for this tick; how far the fade is. A change asked for during a fade begins after it."""
    sets, contacts, tasks = law.included, law.c, law.t
    on, wanted = law.contact_on, law.task_on
    done = progress(time - law.fade_start, law.fade_time)
    if done >= 1.0 or law.has_started == 0.0:
        changed = False
        for i in range(contacts + tasks):
            sets[BEFORE, i] = sets[AFTER, i]
            asked = on[i] if i < contacts else wanted[i - contacts]
            sets[AFTER, i] = 1.0 if asked > 0.5 else 0.0
            changed = changed or sets[AFTER, i] != sets[BEFORE, i]
        done = 1.0
        if law.has_started == 0.0:
            law.fade_start = -FAR  # what is on at the start is in at once
        if changed and law.has_started == 1.0:
            law.fade_start = time
            done = progress(0.0, law.fade_time)
    for i in range(contacts):
        law.contact_weight[i] = done * sets[AFTER, i] + (1.0 - done) * sets[BEFORE, i]
    for i in range(tasks):
        law.task_weight[i] = (
            done * sets[AFTER, contacts + i] + (1.0 - done) * sets[BEFORE, contacts + i]
        )
    return done


@stage(Law)
def wishes(law):
    """References, errors, and what contacts, tasks and posture ask for."""
    time, dt = law.tick_time, law.dt
    hold_contacts(law)
    if law.mode == GRAVITY_MODE:
        return
    sample_tasks(law, time)
    find_errors(law)
    if law.mode == RAW_MODE:
        take_raw_force(law)
    else:
        law.error_clipped = ask(law, min(max(dt, 0.0), LONGEST_STEP))
        sample_posture(law, time)
        posture(law)
        times_support(law.space, law.space.J, law.posture_acceleration, law.row_posture)


@kernel
def solve_sets(law, done, alone):
    """Every set that has a weight: the two of a fade, or (alone) the contacts that are wanted."""
    sets, on = law.included, law.contact_on
    for i in range(law.c):
        sets[NOW, i] = 1.0 if on[i] > 0.5 else 0.0
    for which in range(3):
        weight = 1.0 if which == NOW else done if which == AFTER else 1.0 - done
        if (which == NOW) == alone and weight > 0.0:
            for level in range(law.L + 3):
                law.level_rank[level] = 0.0
            law.set_weight, law.which_set = weight, which
            solve(law)


@kernel
def compute(law, q, v, time, dt, alone):
    """The levels' torques at a state; how far the fade is."""
    for i in range(REPORT):
        report[i] = 0.0
    take_configuration(law.space.tree, q)
    copy(floats_of(v), law.space.tree.v, law.space.tree.nv)
    law.tick_time, law.dt = time, dt
    take_state(law)
    operational_space(law)
    wishes(law)
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
    return done


@stage(Law)
def finish(law):
    """From the levels to the command, and what was limited on the way."""
    for level in range(law.L + 3):
        law.is_damped += law.level_damped[level]
    scale_levels(law, law.ramped)
    contact_wrenches(law)
    command(law, law.dt)


@kernel
def hold(law, q, v):
    """HELD = level 0 alone, with the bias, clipped; nothing that the next tick depends on changes."""
    mode, beta = law.mode, law.bias_in_law
    law.mode, law.bias_in_law = GRAVITY_MODE, 0.0
    compute(law, q, v, 0.0, 0.0, True)
    law.mode, law.bias_in_law = mode, beta
    torque, held = law.level_torque, law.tau_held
    for j in range(law.k):
        held[law.joint_command[j]] = min(
            max(torque[0, j], -law.effort_limits[j]), law.effort_limits[j]
        )


@entry(int64(vector, vector, float64, boolean, int64))
def tick(q, v, time, holding, law):
    """One control tick, or (holding) HELD alone; REFUSED, with nothing changed, if an input is unusable."""
    if not (
        is_configuration(law.space.tree, q)
        and is_usable(law.space.tree, v, law.space.tree.nv)
        and abs(time) < FAR
    ):
        return REFUSED
    if holding:
        hold(law, q, v)
        return OK
    started = law.has_started == 1.0
    if not started:
        law.start_time = time
    dt = max(time - law.last_time, 0.0) if started else -1.0
    done = compute(law, q, v, time, dt, False)
    law.faded, law.ramped = (done, progress(time - law.start_time, law.ramp_time))
    finish(law)
    law.has_started, law.last_time = 1.0, time
    return OK


@entry(int64(vector, vector, int64))
def look(q, v, law):
    """Poses and velocities of the tasks alone."""
    if not (
        is_configuration(law.space.tree, q) and is_usable(law.space.tree, v, law.space.tree.nv)
    ):
        return REFUSED
    take_configuration(law.space.tree, q)
    copy(floats_of(v), law.space.tree.v, law.space.tree.nv)
    take_state(law)
    return OK
