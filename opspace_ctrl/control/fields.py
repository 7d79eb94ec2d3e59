# SPDX-License-Identifier: Apache-2.0
"""The memory that the control law works on: what one tick reads, decides and leaves to the next.

Sizes: t tasks and c contacts in the user's order, k joint coordinates in the order of v without the
floating base ("model order"), L levels of tasks, m rows of the operational space. Six-vectors are
linear first, in world axes (for a task that is relative to a frame: in that frame's axes).

Blocks of the operational space: first the contacts, in the user's order, then the tasks, level by
level. The *stack* is the rows that the hierarchy eliminates, in this order:
    contacts that carry
    passive rows: base motions that the contacts leave free
    joint limits
    levels of tasks
*Reported levels*: 0 bias, contacts and passive rows; 1 joint limits; 2 .. L + 1 tasks; L + 2
posture.

A `setting` may be written at any time, and the next tick uses it; kernels expect finite numbers in
the ranges given. Most are declared with their parameters, in `tasks`, `contacts`, `posture`,
`options` and `settings`: `<t>.stiffness` is `task_stiffness` here, `limits.damping` is
`limits_damping`. What one stage leaves to another in the same tick is a result; `state` is what the
next tick depends on, and no more. Storage orders are those of `dynamics.fields`; rows "by lane" have
zeros in the lanes that nobody writes, and kernels rely on these.
"""

from ..compiled.workspace import (
    Workspace,
    call,
    constant,
    count,
    part,
    result,
    scratch,
    setting,
    state,
)
from ..declaration import Settings
from ..osim.fields import Space
from .contacts import Contact
from .declared import declared_fields
from .options import Compensation, Limits, Payload
from .posture import Posture
from .safety.door import Door
from .safety.settings import SafetySettings
from .settings import ControllerSettings
from .targets.references import References
from .tasks import ControlTask

__all__ = [
    "AFTER",
    "BALANCED",
    "BEFORE",
    "BRAKING",
    "CENTRE",
    "CONE",
    "FRAME_AXES",
    "GIVEN_KIND",
    "GRAVITY",
    "GRAVITY_MODE",
    "IMPEDANCE_LAW",
    "INERTIA_LAW",
    "LIMIT_KIND",
    "LIMIT_ROW",
    "NO_TORQUE",
    "RAW_MODE",
    "SOLVED_KIND",
    "TASKS_MODE",
    "TORSION",
    "UNILATERAL",
    "VELOCITY_MODE",
    "WORLD_AXES",
    "ZERO",
    "Law",
]

TASKS_MODE, RAW_MODE, GRAVITY_MODE, VELOCITY_MODE = 0, 1, 2, 3  # `mode`
ZERO, BALANCED = 0, 1  # `internal_forces`
NO_TORQUE, GRAVITY, BRAKING = 0, 1, 2  # safe commands
INERTIA_LAW, IMPEDANCE_LAW = 0, 1  # `task_law`
FRAME_AXES, WORLD_AXES = 0, 1  # `contact_axes`
SOLVED_KIND, GIVEN_KIND, LIMIT_KIND = 0, 1, 2  # `stack_level_kind`
UNILATERAL, CONE, CENTRE, TORSION = 0, 1, 2, 3  # columns of `contact_margin`
BEFORE, AFTER = 0, 1  # rows of `included`
LIMIT_ROW = -100  # `stack_row` of the first listed joint; the next are below


# One for each task, one for each contact, and what is there once; and how long lists of numbers are.
_GROUPS: dict[type[Settings], tuple[str, str]] = {
    ControlTask: ("t", "6"),
    Contact: ("c", "6"),
    ControllerSettings: ("", ""),
    Compensation: ("", ""),
    Payload: ("", "3"),
    Limits: ("", ""),
    Posture: ("", "p"),
    SafetySettings: ("", ""),
}
_DECLARED = {
    name: each
    for group, (size, list_size) in _GROUPS.items()
    for name, each in declared_fields(group, size, list_size=list_size).items()
}


class Law(Workspace, declared=_DECLARED):
    """The controller of one robot: its contacts, tasks and posture, and one tick of it."""

    space = part(Space, "the operational space of contacts and tasks")
    door = part(Door, "what every command leaves through")
    references = part(References, "what tasks and posture shall do from now on")

    # ---- sizes ----
    t = count("tasks")
    c = count("contacts")
    k = count("joint coordinates: those of v without the floating base")
    nq = count("coordinates of the configuration")
    nv = count("coordinates of the velocity")
    n = count("nodes of the tree")
    base = count("coordinates of the floating base: 6, or 0 without one")
    L = count("levels of tasks")
    p = count("joints that the posture is given for")
    carriers = count("frames that may carry a payload, and the usual one before them")
    blocks = count("blocks of the operational space, a contact or a task each")
    m = count("rows of the operational space")
    contact_rows = count("rows of all contacts")
    task_rows = count("rows of all tasks")
    stack = count("rows of the stack at most, m + 6 + k, and 8 that registers may overrun")

    # ---- structure: the tasks ----
    task_block = constant("t", "the block of each task", int)
    task_frame = constant(
        "t", "its frame, -1 for the whole robot: then `space.block_kind` says what of it", int
    )
    task_reference = constant("t", "the frame it is relative to, -1 for the world", int)
    task_axes = constant(
        "t", "the frame in whose axes gains and selection are, -1 for those of its rows", int
    )
    task_start = constant("t", "its first row in the user's order", int)
    task_size = constant("t", "its number of rows", int)
    task_law = constant("t", "INERTIA_LAW or IMPEDANCE_LAW", int)
    task_order = constant("t", "the tasks by level", int)
    selection_inverse = constant(
        "6 * t, 8", "by lane: the pseudo-inverse of its selection, rows to a six-vector"
    )
    level_first = constant("L", "the first place of a level in `task_order`", int)
    level_tasks = constant("L", "the number of its tasks", int)

    # ---- structure: contacts, joints, base ----
    contact_block = constant("c", "the block of each contact", int)
    contact_frame = constant("c", "its frame", int)
    contact_size = constant("c", "its rows: 3 (a point) or 6 (a sole)", int)
    contact_axes = constant("c", "z of FRAME_AXES or WORLD_AXES is its normal", int)
    joint_v = constant("k", "the entry of v that belongs to a joint coordinate", int)
    joint_q = constant("k", "the entry of q, -1 where there is no single one", int)
    joint_command = constant("k", "its place in the command", int)
    posture_joint = constant(
        "p", "the joint coordinate of each joint of the posture, -1 where it has several", int
    )
    carrier = constant(
        "carriers", "frame; the first: that of the first task, -1 if it has none", int
    )
    base_register = constant(
        "blocks, 6", "the register of J that belongs to a base coordinate, -1 if there is none", int
    )
    typical_response = constant(
        "L + 3",
        "the least response that is typical of each reported level, the unit of `singularity_damping`"
        " and `singularity_cut`; measured when the law is built",
    )

    # ---- settings that are not declared with the parameters ----
    gravity_share = setting("", "0 .. 1, how much of gravity is compensated")
    coriolis_share = setting("", "0 .. 1, how much of the Coriolis and centrifugal forces is")
    bias_in_law = setting(
        "",
        "1 = the bias is not added to the torque but enters F = Lambda (a - beta); 0 = added",
        int,
    )
    truncate_null_space = setting(
        "", "1 = the null space keeps a direction until the cut; 0 = it fades before", int
    )
    wrench = setting(
        "t, 6", "F_d [N, Nm] that the robot shall exert on its environment along force axes"
    )
    measured = setting("t, 6", "F_m [N, Nm] that it does exert")
    measured_on = setting("t", "1 = the force loop is closed on `measured`, 0 = it is open")
    hard_limits = constant(
        "k",
        "the URDF's limits of what is commanded: efforts [Nm or N], in mode velocity velocities [rad/s"
        " or m/s]; inf where none",
    )
    command_limits = setting("k", "the share of them that is used")
    command_rate = setting("", "largest change of a command [Nm/s or N/s; rad/s^2 or m/s^2]")
    velocity_limits = setting("k", "largest speed [rad/s or m/s]; inf where none")
    position_lower = setting("k", "lower limit [rad or m]; -inf where none")
    position_upper = setting("k", "upper limit [rad or m]; inf where none")
    position_margin = setting(
        "k", "before a position limit, where its repulsion begins [rad or m]; 0: none"
    )
    velocity_margin = setting(
        "k", "before a velocity limit, where its repulsion begins [rad/s or m/s]; 0: none"
    )
    viscous = setting("k", "joint friction per speed [Nms/rad or Ns/m]")
    coulomb = setting("k", "dry friction [Nm or N]")
    task_damping = setting(
        "t, 6", "Kd; negative: by the inertia that the tick finds, see `damping`"
    )
    posture_stiffness = setting("k", "Kp of the posture [1/s^2]; 0: the joint is only damped")
    posture_damping = setting("k", "Kd of the posture [1/s]")
    asked_payload_frame = setting("", "place in `carrier`", int)
    loaded_node = setting("", "the node that carries a payload, -1: none does", int)
    unloaded = setting("10", "its tree.inertia without it")
    raw_force = setting("task_rows", "raw mode: F [N, Nm], rows of the tasks in the user's order")
    raw_tau0 = setting("k", "raw mode: tau0 [Nm or N] in the order of the command")

    wrench_end = setting("t", "when `wrench` goes stale [s]; inf: never")
    measured_end = setting("t", "when `measured` does")
    force_end = setting("", "when `raw_force` does")
    tau0_end = setting("", "when `raw_tau0` does")

    # ---- the state that a call is about ----
    given_q = scratch("nq", "configuration, looked at before it is taken")
    given_v = scratch("nv", "velocity, likewise")
    status = result("", "OK or REFUSED of `dynamics.state`: what became of the last call", int)

    # ---- what one tick leaves to the next ----
    has_begun = state("", "1: it was told to start, so that there is a posture to leave", int)
    has_started = state("", "1 after the first tick", int)
    start_time = state("", "of the first tick [s], where the ramp begins")
    last_time = state("", "of the last tick [s]; before the first, of the start")
    fade_start = state("", "when the last change of contacts or tasks began to fade [s]")
    included = state(
        "2, c + t", "1 for contacts and tasks that are in, BEFORE and AFTER the present fade"
    )
    error_side = state(
        "t, 3", "the last rotation error [rad]: which side of pi it was on, see `so3.logarithm`"
    )
    integral = state("t, 6", "integral part of the force loop, in the task's axes [N, Nm]")
    error_integral = state(
        "t, 6", "integral of the error, in the task's axes: an error that is added to it [m, rad]"
    )
    turns = state(
        "t, 2",
        "how often the error of each half has turned round, see `integral`",
    )
    turned_error = state("t, 6", "the error after the last turn, in the axes of the rows [m, rad]")
    swing = state("t, 2", "largest error of each half since the last turn [m, rad]")
    last_swing = state("t, 2", "likewise between the last two turns")
    integral_rest = state(
        "L + 1", "time since an integral of a level above the l-th has grown, L: of any level [s]"
    )

    # ---- the law of other tasks that this one follows: torques pass over from it ----
    is_following = state("", "1 while they do", int)
    followed = state("", "the address of that law; 0: its last torques stand for it", int)
    follow_start = state("", "when they began to [s]")
    followed_torque = state("k", "what it asks for, model order [Nm or N]")
    followed_wrench = state("c, 6", "`contact_wrench` of it [N, Nm]")

    # ---- what this tick computes ----
    present_mode = result("", "`mode` when the tick began; GRAVITY_MODE in a safe command", int)
    present_bias_in_law = result("", "`bias_in_law` when the tick began; 0 in a safe command", int)

    # ---- tasks in this tick ----
    pose = result(
        "t, 12", "rotation (9, row major; zeros for the centre of mass) and position (3) [m]"
    )
    velocity = result("t, 6", "[m/s, rad/s]")
    target = result("t, 12", "the pose that the program asks for, likewise")
    target_velocity = result("t, 6", "[m/s, rad/s]")
    target_acceleration = result("t, 6", "[m/s^2, rad/s^2]")
    error = result("t, 6", "target - pose, log(R_d R^T) [m, rad], before it is shortened")
    applied = result("t, 6", "wrench of the force axes, feed-forward and loop [N, Nm]")
    task_weight = result("t", "1 = fully in, 0 = out, in between while it fades")
    contact_weight = result("c", "likewise")
    com_motion = scratch(
        "6", "centre of mass: position (3) [m] and mass [kg]; then velocity and acceleration (3)"
    )

    # ---- rows of the operational space in this tick ----
    row_desired = result(
        "m",
        "a_d of a row [m/s^2, rad/s^2]; by impedance and in raw mode its force [N, Nm]; in mode velocity"
        " its velocity [m/s, rad/s]",
    )
    row_applied = result("m", "force of the force axes [N, Nm], added to what the level finds")
    row_speed = result("m", "J v [m/s, rad/s]")
    row_slip = result(
        "m + 8", "J v_d - J v of the rows whose damping is found by `damping` [m/s, rad/s]"
    )
    row_ratio = result("m", "their damping ratio; negative for all other rows")
    row_stiffness = result("m, 8", "by lane: their row of K in the block of their task")
    row_first = result("m", "the first row of that block", int)
    row_growth = scratch("m + 8", "of `error_integral` in this tick [m, rad]")
    row_reference = scratch("m + 8", "velocity that the targets ask of a row [m/s, rad/s]")
    row_posture = result("m", "J a of `posture_acceleration`, the base at rest")
    row_bias = result("m", "J H^-1 of `h_compensated`; valid while `present_bias_in_law` is 1")
    row_force = scratch("m + 8", "forces of one level by row: what J^T is multiplied with [N, Nm]")
    row_response = scratch("m", "J H^-1 e_j of one joint near its limit")

    # ---- joint space in this tick ----
    h_compensated = result("nv", "the part of the bias forces that is compensated [Nm, N]")
    J_base = result("m, 8", "by lane: base columns of J, row by row")
    H_base = result("nv, 8", "by lane: base columns of H")
    posture_target = result("k", "q_d of the posture's program [rad or m]")
    posture_target_velocity = result("k", "v_d [rad/s or m/s]")
    posture_target_acceleration = result("k", "a_d [rad/s^2 or m/s^2]")
    posture_acceleration = result(
        "nv",
        "a that the posture asks for, the base at rest [rad/s^2 or m/s^2]; in mode velocity qdot0",
    )
    posture_force = result("nv", "H a of the posture [Nm, N]")
    joint_reference = scratch("nv", "velocity that the targets ask of a joint [rad/s or m/s]")
    body_acceleration = scratch(
        "6, n + 1", "by node: S a summed from the base, for H a; the world's stays zero"
    )

    # ---- joints near their limits in this tick ----
    near_limit_count = result("", "how many joints are near a limit and looked at", int)
    near_limit = result("k", "these joints; first those with an activation", int)
    limit_rows = result("", "how many have an activation: rows of the stack", int)
    has_grown = result("", "1 if `limit_joints` let a joint in, or its activation grow", int)
    activation = result("k", "0 .. 1, weight of the row that holds a joint at its limit")
    limit_side = result("k", "where that limit is, +1 or -1")
    acceleration_bound = result(
        "k",
        "the acceleration that may not be exceeded on that side [rad/s^2 or m/s^2]; in mode velocity the"
        " velocity",
    )
    nearness = result("k", "0 far from the limit, 1 near it")
    excess_span = result("k", "excess of acceleration at which the row is fully in")
    H_inv = result("k, nv", "H^-1 e_j of the joints of `near_limit`, a row each")
    net_torque = scratch("nv", "torques of all levels less `h_compensated`, in `limit_joints`")

    # ---- the stack: its rows and levels ----
    chosen = scratch("c + t", "1 for contacts and tasks that the present solution contains")
    stack_rows = result("", "rows of the stack", int)
    stack_levels = result("", "levels of the stack", int)
    stack_contact_rows = result("", "its first rows: contacts that carry", int)
    passive_rows = result("", "its next rows: base motions that the contacts leave free", int)
    stack_row = result(
        "stack",
        "row of the operational space; -1 - p for passive row p; LIMIT_ROW - p for place p of"
        " `near_limit`",
        int,
    )
    stack_level_start = result("L + 3 + k", "first row of a level of the stack", int)
    stack_level_end = result("L + 3 + k", "the row after its last", int)
    stack_level_kind = result("L + 3 + k", "SOLVED_KIND, GIVEN_KIND or LIMIT_KIND", int)
    stack_level_report = result("L + 3 + k", "the reported level that it belongs to", int)

    # ---- the stack: the hierarchy, see `hierarchy` ----
    gram = result("stack, stack", "A = J H^-1 J^T of the stack, then S, its Schur complements")
    coupling = result("stack, stack", "P_k S_kj for the rows j below level k")
    P = result("stack, stack", "P_k on the diagonal: makes the null space")
    Q = scratch("stack, stack", "Q_k on the diagonal: makes the force")
    stack_scale = result("stack", "root of the typical response of each row")
    r = result(
        "stack", "acceleration that a row needs when only the bias acts; or the force given for it"
    )
    s = scratch("stack", "acceleration that the levels above have already caused")
    F = result("stack", "F_k of every level")
    F_posture = scratch("stack", "what each level takes back of the posture")
    stack_posture = scratch(
        "stack", "acceleration of every row by the posture, less what the levels took back so far"
    )
    w = scratch("stack", "row forces of one level, with those that it needs above")

    # ---- the stack: the inverse of one level, see `inverse` ----
    scaled = scratch(
        "stack, stack",
        "the level in units of typical responses; the two rows after its own are scratch too",
    )
    eigenvalues = scratch("stack", "of `scaled`")
    eigenvectors = scratch("stack, stack", "a row each")
    off_diagonal = scratch("stack", "of the tridiagonal form")

    # ---- the stack: the damping of one level, see `damping` ----
    damped_row = scratch("stack", "its rows whose damping is found", int)
    axis_rows = scratch("8", "the rows of a task for a unit vector along one of its axes")
    response_factor = scratch("stack, stack", "L, S = L L^T of these rows in typical responses")
    mode_slip = scratch("stack", "L^-1 e_v")
    mode_force = scratch("stack", "U diag(2 w) U^T L^-1 e_v, then the force")

    # ---- the base and its contacts, see `base` ----
    base_rank = result("", "rank of the base columns of the contacts that carry", int)
    base_order = result("6", "the base coordinates, those that carry the rank first", int)
    G = result(
        "contact_rows, 8",
        "by lane: base columns of the contacts that carry, in `base_order`; zero beyond the rank",
    )
    G_factors = result("6, 8", "by lane: G^T G, then its pivoted factors")
    Z = result("6, 8", "base motions that the contacts leave free, G Z = 0, a column each")
    W_inv_G = result("contact_rows, 8", "by lane: W^-1 G, how contacts share a force of the base")
    GWG_factors = result("6, 8", "by lane: L D L^T of G^T W^-1 G")
    base_wrench = scratch("8", "force that a level needs at the base [N, Nm]")
    base_solution = scratch("8", "(G^T W^-1 G)^-1 `base_wrench`, in `base_order`")
    base_passive = scratch("8", "base motion Z y of the passive rows")
    base_follow = scratch("8", "base motion with which that of the posture keeps the contacts")
    base_follow_right = scratch("8", "-G^T J_s a, then forward substituted, in `base_order`")

    # ---- results by reported level ----
    generalised_force = scratch("nv", "of one level, before it is the level's torque [Nm, N]")
    level_torque = result(
        "L + 3, k",
        "before scaling, model order [Nm or N]; in mode velocity H^-1 of it, a velocity [rad/s or m/s]",
    )
    level_contact_force = result("L + 3, m", "contact forces, rows of all contacts [N, Nm]")
    level_scale = result("L + 3", "what was left of the level's torque")
    level_rank = result("L + 3", "independent rows")
    level_damped = result("L + 3", "1 if a direction is damped or lost")

    # ---- results: contacts and command ----
    contact_wrench = result("c, 6", "of the ground on the robot at the frame, world axes [N, Nm]")
    contact_margin = result(
        "c, 4", "UNILATERAL [N], CONE, CENTRE, TORSION (1: unloaded, 0: on the limit)"
    )
    wanted_torque = result(
        "k", "the command that is to leave through the door, model order; see `hard_limits`"
    )
    change = scratch("k", "of the torques in this tick, model order [Nm or N]")
    saturated = result("k", "1 where the torque is at its limit, model order")

    # ---- the report ----
    ramped = result("", "0 .. 1, how far the ramp is")
    faded = result("", "0 .. 1, how far the fade is")
    passed = result("", "0 .. 1, how far torques have passed over from the law that this follows")
    clipped = result("", "joints cut to the limit of their command at last", int)
    bias_saturated = result("", "joints whose level 0 alone is beyond the effort limit", int)
    rate_limited = result("", "least share of the wanted change that a joint was allowed; 1: all")
    worst_margin = result("", "least CONE, CENTRE or TORSION")
    joints_limited = result("", "joints that a limit holds", int)
    is_damped = result("", "reported levels with a damped direction", int)
    not_finite = result("", "1 if a torque was not finite, and the last ones were kept", int)
    error_clipped = result("", "tasks whose error of position or orientation was shortened", int)
    base_residual = result("", "largest of what the contacts cannot supply to the base [N, Nm]")

    # ---- stages ----
    tick = call("(law, time, steady): one control tick at the state that is given")
    safe = call("(law, kind, time, steady): one safe command, likewise")
    measure = call("(law): poses and velocities of the tasks, likewise")
    hold = call("(law, time): tasks and posture stay where they are, likewise")
    restart = call("(law, time): likewise, and the next tick is the first")
    derive = call("(law): limits, margins, gains, shares and inertias that follow from settings")
    take_state = call("(law): kinematics, velocities, h, Jdot v, poses and velocities of the tasks")
    operational_space = call(
        "(law): J, Lambda^-1, the compensated bias, base columns, and joints near their limits"
    )
    desired_accelerations = call(
        "(law, time, dt): references, errors, and what contacts, tasks and posture ask for"
    )
    solve = call("(law, weight): adds torques and contact forces of the contacts and tasks chosen")
    build_stack = call("(law): rows, levels, A and r of the stack")
    eliminate = call("(law): F of every level, and the Schur complements")
    damp_critically = call(
        "(law, start, end, report): adds the damping that fits the inertia to F of a level"
    )
    invert_by_eigenvalues = call(
        "(law, start, size, e, cut, report): P and Q of a level that is singular or nearly so"
    )
    add_level_torque = call(
        "(law, level, weight): the torque of a level, less what the contacts supply of it"
    )
    limit_joints = call("(law): activation of the joint that exceeds its bound most")
    sum_levels = call("(law): from the levels to what the law asks for")
    send = call("(law, elapsed): from that to the command")
