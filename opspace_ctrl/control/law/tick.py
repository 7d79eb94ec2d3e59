"""The control tick: state and time in, torques out, in one compiled call. Nothing here allocates or raises."""

from __future__ import annotations

from numba.types import boolean, float64, int64

from ...dynamics import kinematics, rnea
from ...dynamics import layout as dyn
from ...dynamics.layout import clear, count, floats, ints, stage
from ...dynamics.state import OK, REFUSED, copy, is_configuration, is_usable, take_configuration
from ...jit import entry, kernel
from ...osim import layout as osim
from ...osim.blocks import times_support
from ...osim.jacobian import bias_acceleration
from ...osim.tick import inertia_inv
from ...vector import floats_of, vector
from .. import layout as at
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


@stage(at.TAKE_STATE)
def take_state(w):
    """Kinematics, velocities, h, Jdot v, and the tasks' poses, for the Q and V at hand."""
    kinematics.kinematics(w)
    rnea.motion(w)
    measure(w)
    rnea.joint_forces(w, floats(w, dyn.BIAS))
    bias_acceleration(w)


@stage(at.OPERATIONAL_SPACE)
def operational_space(w):
    """J, Lambda^-1, base columns and J H^-1 of what the mode projects; joints near their limits."""
    option, none = floats(w, at.OPTION), floats(w, at.GENERALISED)
    nv, m, bias = count(w, dyn.NV), count(w, osim.M), floats(w, at.ROW_BIAS)
    select_bias(w)
    if option[at.BETA] == 1.0:
        inertia_inv(w, floats(w, at.H_SELECTED))
        copy(floats(w, osim.X), bias, m)
    if option[at.BETA] != 1.0 or option[at.MODE] == at.RAW_MODE:
        for i in range(nv):
            none[i] = 0.0
        if option[at.MODE] == at.RAW_MODE:
            joint, tau0 = ints(w, at.JOINT), floats(w, at.RAW_TAU0)
            for j in range(count(w, at.JOINTS)):
                none[joint[j, at.J_V]] = tau0[joint[j, at.J_COMMAND]]
        inertia_inv(w, none)
    times_support(w, floats(w, osim.J), floats(w, dyn.V), floats(w, at.ROW_SPEED))
    if count(w, at.BASE) > 0:
        base_columns(w)
    number = ints(w, at.NUMBERS)
    number[at.N_CANDIDATES] = find_candidates(w) if option[at.MODE] != at.GRAVITY_MODE else 0


@kernel
def reset_levels(w):
    """Zeros where the levels are added up."""
    levels, report = count(w, at.LEVELS) + 3, floats(w, at.REPORT_SLOT)
    clear(floats(w, at.LEVEL_TORQUE), levels, count(w, at.JOINTS))
    clear(floats(w, at.LEVEL_CONTACT), levels, count(w, osim.M))
    rank, damped = floats(w, at.LEVEL_RANK), floats(w, at.LEVEL_DAMPED)
    for level in range(levels):
        rank[level], damped[level] = 0.0, 0.0
    report[at.BASE_RESIDUAL] = 0.0


@kernel
def fade(w, time):
    """SETS and weights for this tick; how far the fade is. A change asked for during a fade begins after it."""
    sets, state, contacts, tasks = (
        floats(w, at.SETS),
        floats(w, at.STATE),
        count(w, at.CONTACTS),
        count(w, at.TASKS),
    )
    on, wanted = floats(w, at.CONTACT_ON), floats(w, at.TASK_ON)
    done = progress(time - state[at.FADE_START], floats(w, at.OPTION)[at.FADE])
    if done >= 1.0 or state[at.STARTED] == 0.0:
        changed = False
        for i in range(contacts + tasks):
            sets[BEFORE, i] = sets[AFTER, i]
            asked = on[i] if i < contacts else wanted[i - contacts]
            sets[AFTER, i] = 1.0 if asked > 0.5 else 0.0
            changed = changed or sets[AFTER, i] != sets[BEFORE, i]
        done = 1.0
        if state[at.STARTED] == 0.0:
            state[at.FADE_START] = -FAR  # what is on at the start is in at once
        if changed and state[at.STARTED] == 1.0:
            state[at.FADE_START] = time
            done = progress(0.0, floats(w, at.OPTION)[at.FADE])
    for i in range(contacts):
        floats(w, at.CONTACT_WEIGHT)[i] = done * sets[AFTER, i] + (1.0 - done) * sets[BEFORE, i]
    for i in range(tasks):
        floats(w, at.TASK_WEIGHT)[i] = (
            done * sets[AFTER, contacts + i] + (1.0 - done) * sets[BEFORE, contacts + i]
        )
    return done


@stage(at.WISHES)
def wishes(w):
    """References, errors, and what contacts, tasks and posture ask for."""
    time, dt = floats(w, at.STATE)[at.TIME], floats(w, at.STATE)[at.STEP]
    hold_contacts(w)
    if floats(w, at.OPTION)[at.MODE] == at.GRAVITY_MODE:
        return
    sample_tasks(w, time)
    find_errors(w)
    if floats(w, at.OPTION)[at.MODE] == at.RAW_MODE:
        take_raw_force(w)
    else:
        floats(w, at.REPORT_SLOT)[at.ERROR_CLIPPED] = ask(w, min(max(dt, 0.0), LONGEST_STEP))
        sample_posture(w, time)
        posture(w)
        times_support(w, floats(w, osim.J), floats(w, dyn.A), floats(w, at.ROW_POSTURE))


@kernel
def solve_sets(w, done, alone):
    """Every set that has a weight: the two of a fade, or (alone) the contacts that are wanted."""
    sets, on = floats(w, at.SETS), floats(w, at.CONTACT_ON)
    for i in range(count(w, at.CONTACTS)):
        sets[NOW, i] = 1.0 if on[i] > 0.5 else 0.0
    for which in range(3):
        weight = 1.0 if which == NOW else done if which == AFTER else 1.0 - done
        if (which == NOW) == alone and weight > 0.0:
            for level in range(count(w, at.LEVELS) + 3):
                floats(w, at.LEVEL_RANK)[level] = 0.0
            floats(w, at.STATE)[at.WEIGHT], ints(w, at.NUMBERS)[at.N_SET] = weight, which
            solve(w)


@kernel
def compute(w, q, v, time, dt, alone):
    """The levels' torques at a state; how far the fade is."""
    number, report = ints(w, at.NUMBERS), floats(w, at.REPORT_SLOT)
    for i in range(at.REPORT):
        report[i] = 0.0
    take_configuration(w, q)
    copy(floats_of(v), floats(w, dyn.V), count(w, dyn.NV))
    floats(w, at.STATE)[at.TIME], floats(w, at.STATE)[at.STEP] = time, dt
    take_state(w)
    operational_space(w)
    wishes(w)
    done = 1.0 if alone else fade(w, time)
    number[at.N_LIMITED] = 0
    for solution in range(SOLUTIONS):
        reset_levels(w)
        solve_sets(w, done, alone)
        if number[at.N_CANDIDATES] == 0 or solution == SOLUTIONS - 1:
            break
        limit_joints(w)
        if number[at.N_GROWN] == 0:
            break
    report[at.JOINTS_LIMITED] = number[at.N_LIMITED]
    return done


@stage(at.FINISH)
def finish(w):
    """From the levels to the command, and what was limited on the way."""
    report = floats(w, at.REPORT_SLOT)
    for level in range(count(w, at.LEVELS) + 3):
        report[at.IS_DAMPED] += floats(w, at.LEVEL_DAMPED)[level]
    scale_levels(w, report[at.RAMPED])
    contact_wrenches(w)
    command(w, floats(w, at.STATE)[at.STEP])


@kernel
def hold(w, q, v):
    """HELD = level 0 alone, with the bias, clipped; nothing that the next tick depends on changes."""
    option, joint, limit = floats(w, at.OPTION), ints(w, at.JOINT), floats(w, at.LIMIT)
    mode, beta = option[at.MODE], option[at.BETA]
    option[at.MODE], option[at.BETA] = at.GRAVITY_MODE, 0.0
    compute(w, q, v, 0.0, 0.0, True)
    option[at.MODE], option[at.BETA] = mode, beta
    torque, held = floats(w, at.LEVEL_TORQUE), floats(w, at.HELD)
    for j in range(count(w, at.JOINTS)):
        held[joint[j, at.J_COMMAND]] = min(
            max(torque[0, j], -limit[at.EFFORT, j]), limit[at.EFFORT, j]
        )


@entry(int64(vector, vector, float64, boolean, int64))
def tick(q, v, time, holding, w):
    """One control tick, or (holding) HELD alone; REFUSED, with nothing changed, if an input is unusable."""
    if not (is_configuration(w, q) and is_usable(w, v, count(w, dyn.NV)) and abs(time) < FAR):
        return REFUSED
    if holding:
        hold(w, q, v)
        return OK
    state, report = floats(w, at.STATE), floats(w, at.REPORT_SLOT)
    started = state[at.STARTED] == 1.0
    if not started:
        state[at.START_TIME] = time
    dt = max(time - state[at.LAST_TIME], 0.0) if started else -1.0
    done = compute(w, q, v, time, dt, False)
    report[at.FADED], report[at.RAMPED] = (
        done,
        progress(time - state[at.START_TIME], floats(w, at.OPTION)[at.RAMP]),
    )
    finish(w)
    state[at.STARTED], state[at.LAST_TIME] = 1.0, time
    return OK


@entry(int64(vector, vector, int64))
def look(q, v, w):
    """Poses and velocities of the tasks alone."""
    if not (is_configuration(w, q) and is_usable(w, v, count(w, dyn.NV))):
        return REFUSED
    take_configuration(w, q)
    copy(floats_of(v), floats(w, dyn.V), count(w, dyn.NV))
    take_state(w)
    return OK
