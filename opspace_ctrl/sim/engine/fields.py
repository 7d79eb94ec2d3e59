# SPDX-License-Identifier: Apache-2.0
"""The memory of the native simulator: one step of a robot, with its joints' own laws, contacts and closures.

`tree.q`, `tree.v` and `tree.armature` are the state and the inertia that the present stage of the step works with:
`tree.armature` is the rotors' with the slope of the joints' laws in it, see `joints`; `tree.tau` is the generalised
force that `forward` is handed. `space.tree` is the same tree. Contact points come first among
the blocks of `space` (three rows each: normal and two tangents of the ground), closures after them, so that
`space.Lambda_inv` is the Delassus matrix A = J H^-1 J^T of all of them. Rows of points are r = 3 p, 3 p + 1, 3 p + 2.

A *single* is a coordinate that adds (revolute or prismatic); a *manifold* is a joint that moves by an exponential.
"""

from ...compiled.workspace import (
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
from ...dynamics.fields import Tree
from ...dynamics.forward_method import ForwardMethod
from ...osim.fields import Space


class Inverse(Workspace):
    """H^-1 by the factors that a forward dynamics leaves: those of `inverse`. Stages take the engine and this."""

    solve = call("(engine, inverse): response = H^-1 tree.x; makes its factors itself")
    delassus = call(
        "(engine, inverse): space.Y_d and Lambda_inv; makes its factors unless has_factors"
    )
    respond = call("(engine, inverse): response = H^-1 J^T f, given Y_d^T f; needs `delassus`")


class Engine(Workspace):
    """A robot that is simulated."""

    tree = part(Tree, "the robot")
    space = part(Space, "operational space of contacts and closures; only if there are any")
    forward = part(
        ForwardMethod, "the forward dynamics: tree.qdd from tree.v, tree.tau and tree.external"
    )

    inverse = part(Inverse, "H^-1 by the factors of the forward dynamics")

    # ---- sizes ----
    nv = count("coordinates of the velocity")
    nq = count("coordinates of the configuration")
    joints = count("joint coordinates, floating bases excluded")
    singles = count("coordinates that add")
    manifolds = count("joints that move by an exponential: planar, spherical and floating ones")
    pushes = count("places for wrenches from outside")
    points = count("contact points")
    closures = count("loop closures")
    closure_rows = count("rows of the closures")
    rows = count("rows of contacts and closures, 3 points + closure_rows; 0 if there are none")

    # ---- the forward dynamics: these change together with `forward` and `inverse` ----
    has_factors = setting("", "1 if `forward` leaves the factors of `inverse` in the tree", int)
    has_motion = setting("", "1 if `forward` leaves the motion with dv/dt = 0 in the tree", int)

    # ---- what is chosen when the simulator is made ----
    dt = constant("", "length of a step [s]")
    has_losses = constant("", "1 if some joint has Coulomb friction or a limit", int)
    max_sweeps = constant("", "the most Gauss-Seidel sweeps that a solve may take", int)
    creep = constant("", "what a joint that sticks may creep [rad/s, m/s]")
    correction = constant("", "share of a position error that a step takes away")

    # ---- the robot ----
    joint_coordinate = constant("joints", "entry of v of each joint coordinate", int)
    effort_limit = constant("joints", "largest effort [Nm, N]; infinite if there is none")
    single_q = constant("singles", "entry of q of each single", int)
    single_v = constant("singles", "entry of v of each single", int)
    lower_limit = constant("singles", "of the position [rad, m]; -infinite if there is none")
    upper_limit = constant("singles", "of the position [rad, m]; infinite if there is none")
    speed_limit = constant("singles", "largest velocity [rad/s, m/s]; infinite if there is none")
    manifold_kind = constant("manifolds", "joint type, FLOATING, SPHERICAL or PLANAR", int)
    manifold_q = constant("manifolds", "first entry of q", int)
    manifold_v = constant("manifolds", "first entry of v", int)
    rotor = constant("nv", "rotor inertias of the robot itself [kg m^2, kg]")
    damping = constant("nv", "viscous damping [Nm s/rad, N s/m]")
    friction = constant("nv", "Coulomb friction [Nm, N]")
    stop_slope = constant("nv", "slope of the force of a stop or a brake [Nm s/rad, N s/m]")

    # ---- the ground ----
    mu = constant("", "coefficient of friction")
    ground_height = constant("", "along the normal, from the world's origin [m]")
    ground_axes = constant("3, 3", "row by row: unit normal and two tangents, in the world")

    # ---- the closures ----
    closure_first = constant("closures", "first frame", int)
    closure_second = constant("closures", "second frame, in whose axes the rows are", int)
    closure_row = constant("closures", "first row among `rows`", int)
    closure_kind = constant("closures", "POSE, POSITION or ORIENTATION of `loops`", int)

    # ---- the state beside tree.q and tree.v: kept by save, put back by restore, zeroed by reset ----
    applied = state("joints", "efforts of the last step, after saturation [Nm, N]")
    slide = state("nv", "-1, 0, 1: the joint slides back, sticks, slides forth")
    stop = state(
        "singles", "1 at the lower limit of position or velocity, -1 at the upper one, 0 at none"
    )
    impulse = state(
        "rows + 8", "of the last step, by row [Ns, Nms]; read six at a time, so past the end too"
    )
    mode = state("points", "OPEN, STICKS or SLIDES of `active_set`", int)
    slide_direction = state("points, 2", "of friction on points that slide, along the tangents")
    closure_rotation = state(
        "closures, 9", "orientation of the first frame in the second that is kept; row major"
    )
    push_frame = state("pushes", "the frame that a wrench from outside acts on", int)
    push_steps = state(
        "pushes", "steps that it acts from now on; 0: place is free, infinity: for good"
    )
    push_wrench = state("pushes, 6", "force [N], torque [Nm]; world axes, at the frame's origin")
    last_push_frame = state("pushes", "push_frame as it was in the last step", int)
    last_push_steps = state("pushes", "push_steps as it was in the last step; 0: nothing acted")
    last_push_wrench = state("pushes, 6", "push_wrench as it was in the last step")
    q_start = state("nq", "configuration before the last step")
    v_start = state("nv", "velocity before the last step")

    # ---- the same once more, so that a step that cannot be made changes nothing: see `kept` ----
    state_words = constant("", "length of the two below", int)
    state_now = scratch("0", "all fields above, from applied to v_start, bit for bit", int)
    state_kept = scratch("0", "a copy of them from before the step", int)

    # ---- what is called from outside, see `moves` ----
    given_effort = scratch(
        "joints", "efforts of the coming step, as they are given, or that hold [Nm, N]"
    )
    status = result("", "of the last call from C: OK, REFUSED or LEFT_RANGE", int)

    # ---- one step: results ----
    q_next = result("nq", "configuration after the step")
    v_next = result("nv", "velocity after the step, or as found so far")
    joint_rounds = result("", "solves until every joint was in its piece, see `joints`", int)

    # ---- one step: joints ----
    tau = scratch("nv", "efforts after saturation, by coordinate; zero on floating bases")
    slope = scratch("nv", "of a joint's force in its present piece, level - slope v_next")
    level = scratch("nv", "see slope")
    brake_velocity = scratch(
        "nv", "what brakes bring each coordinate to, as given to `entries.hold` [rad/s, m/s]"
    )
    is_braked = scratch("", "1 while the brakes are on", int)
    no_force = constant("nv", "zeros")

    # ---- one step: integration ----
    shift = scratch("nv", "a displacement on the Lie algebra: q (+) shift")
    stage_rate = scratch("4, nv", "du/dt of the Runge-Kutta stages, q = q_start (+) u")
    stage_acceleration = scratch("4, nv", "dv/dt of the Runge-Kutta stages")
    v_free = scratch("nv", "velocity that the smooth forces alone give")

    # ---- contacts ----
    gap = result("points", "height above the ground [m]")
    is_near = result("", "1 if something may touch in the step or is closed; space.J is there", int)
    is_free = result("", "1 if nothing is closed, touches or is about to; of `check_free`", int)
    is_solved = result("", "1 if the step had impulses; then Y_d and A are its own", int)
    active = scratch("points", "1 if the point takes part in the step", int)
    row_velocity = scratch(
        "rows + 8",
        "b: velocity of every row without impulses, for normals with gap / dt [m/s, rad/s]",
    )
    row_displacement = scratch("rows + 8", "the same of the correction of positions [m, rad]")
    contact_velocity = scratch(
        "3 * points", "u = A f + b of the points' rows, for the impulses f found so far"
    )
    pseudo_impulse = scratch("rows + 8", "impulses that move positions alone")
    response = scratch("nv", "H^-1 times impulses, given in tree.x or as J^T f")

    # ---- contacts by their modes, see `active_set` ----
    mode_rounds = result("", "solves until every point was in its mode", int)
    picked_row = scratch("3 * points", "row of A of each row of the linear system", int)
    mode_matrix = scratch("3 * points, 3 * points", "matrix of the linear system")
    mode_solution = scratch("3 * points", "its right-hand side, then its solution")

    # ---- closures, see `loops`: rows c of contacts and b of closures ----
    first_pose = scratch("12", "of a closure's first frame: orientation (row major), position")
    second_pose = scratch("12", "of its second frame")
    closure_factor = scratch("closure_rows, closure_rows", "L of A_bb = L L^T")
    closure_coupling = scratch("closure_rows, 3 * points", "X = L^-1 A_bc")
    contact_matrix = scratch("3 * points, 3 * points", "A' = A_cc - X^T X: what contacts feel")

    # ---- stages ----
    integrator = call("(engine): q_next and v_next from tree.q, tree.v and tau")
    semi_implicit = call("(engine): the step with contacts, whatever the integrator")
    place_constraints = call("(engine): gap, is_near and, if something is near, space.J")
    check_free = call("(engine): the same, and is_free; no impulses if it is")
    constrain = call("(engine): v_next after the impulses of contacts and closures")
    correct_positions = call("(engine): shift, less a share of depths and openings")
