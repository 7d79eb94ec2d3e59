# SPDX-License-Identifier: Apache-2.0
"""The memory of an operational space: tasks over a tree, and what a method computes of them.

A *block* is up to six rows of one task; its rows are lanes. The *support* of a block is the coordinates it depends on
and their ancestors, in rising order; the place of one in that list is its *slot*. For a task on one frame the support
is a path of lambda_e, so slot = depth, and L's rows by depth line up with it. J, Y_d and Y_D hold one register a slot,
block after block. A *leg* is a body that a block depends on: one for a frame, two for a relative task, none for the
centre of mass. A *way* is the nodes that the recursive methods carry a block's rows through, in the tree of clusters
(`dynamics.clusters`): a path for a frame, the union of two for a relative task, all nodes for the centre of mass.
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
from ..dynamics.fields import Tree
from .method import Method

BY_ROWS = -2  # `meeting` of two blocks whose share of Lambda^-1 is a product of carried rows


class Space(Workspace):
    """The tasks of a robot, and its operational-space quantities."""

    tree = part(Tree, "the robot")
    method = part(Method, "the method in use")

    # ---- sizes ----
    nv = count("coordinates of the velocity")
    m = count("rows of all tasks")
    blocks = count("blocks")
    legs = count("legs of all blocks")
    leg_places = count("nodes of all legs")
    registers = count("slots of all blocks")
    way_nodes = count("nodes of all ways")
    n = count("nodes of the tree")
    listed_pairs = count("slots that two blocks share, where not both are on paths")

    # ---- the tasks ----
    gathers = constant("", "1 if some block is not on one frame", int)
    needs_composite = setting("", "1 if the Jacobian needs composite inertias", int)
    block_kind = constant("blocks", "FRAME, RELATIVE or CENTER of `tasks`", int)
    block_reference = constant("blocks", "the frame that it is seen from, -1 for the world", int)
    block_rows = constant("blocks", "number of rows", int)
    block_row = constant("blocks", "first row among m", int)
    block_first = constant("blocks", "first register of J", int)
    block_slots = constant("blocks", "number of slots", int)
    block_leg = constant("blocks", "first leg", int)
    block_legs = constant("blocks", "number of legs", int)
    block_on_path = constant("blocks", "1 if the support is one path of lambda_e", int)
    leg_end = constant("legs", "the node at the end of each leg, n for the world", int)
    leg_start = constant("legs", "first of its places in leg_node", int)
    leg_length = constant("legs", "number of its nodes", int)
    leg_node = constant("leg_places", "the nodes that the block's motion depends on", int)
    leg_register = constant("leg_places", "the register of J that the node contributes to", int)
    support = constant("registers", "the coordinate of each slot", int)
    slot_parent = constant("registers", "the register of the parent coordinate, -1 at a root", int)
    way_first = constant("blocks", "first of its places in way_node", int)
    way_length = constant("blocks", "number of its nodes", int)
    way_node = constant("way_nodes", "the nodes of each way, base to tips", int)
    way_register = constant("way_nodes", "the register of the node's coordinate", int)
    way_closes = constant(
        "way_nodes", "1 at the lowest node of a cluster on the way, which is passed last", int
    )
    meeting = constant(
        "blocks, blocks",
        "the node where the ways of two frames meet, -1 for separate robots; BY_ROWS of all others",
        int,
    )
    meeting_place = constant("blocks, blocks", "the place of that node on the first one's way", int)
    block_by_rows = constant("blocks", "1 if Y is needed for a pair BY_ROWS", int)
    common = constant(
        "blocks, blocks",
        "length of the common path of two path blocks; -1 - first pair otherwise",
        int,
    )
    pairs = constant(
        "blocks, blocks", "number of common coordinates where not both are on paths", int
    )
    pair = constant("listed_pairs, 2", "registers of the same coordinate in two blocks", int)
    selection = constant(
        "6 * blocks, 8", "by lane: the rows' weights of linear and angular motion, column by column"
    )
    point = constant("blocks, 3", "the frame's point in its node's axes")

    # ---- the singular rule, see `singular` ----
    scale = constant(
        "m + 8",
        "root of the typical diagonal of Lambda^-1, which makes rows of other units comparable",
    )
    trip = setting(
        "",
        "quick bound of the eigenvalues below which a close one is taken; below 0: no test at all",
    )
    damping = setting(
        "", "eigenvalue below which a direction is damped, as a fraction of the typical response"
    )
    cut = setting("", "eigenvalue below which a direction is lost")

    # ---- what is given ----
    F = state("m + 8", "task forces [N, Nm]")

    # ---- results ----
    K = result(
        "6 * max(legs, 1), 8",
        "by lane: task rows from the spatial velocity of the leg's body (K_c)",
    )
    carried = scratch(
        "6 * (n + 1), 8",
        "by lane: rows that each node carries, where a way is no path; or how it responds to them",
    )
    response = scratch("nv, 8", "by lane: H^-1 J^T of one block, by coordinate")
    J = result("registers, 8", "by lane: the Jacobian")
    Y_d = result("registers, 8", "by lane: Y_d = J L_d^-1, or Y = J L^-1")
    Y_D = result("registers, 8", "by lane: Y_D = Y_d D^-1, or Y")
    Lambda_inv = result(
        "m + 8, m + 8", "J H^-1 J^T, upper triangle of blocks; a register may overrun both ends"
    )
    Jx = result("m + 8", "J H^-1 tau0")
    U = result("m + 8, m + 8", "Lambda^-1 = U^T D U: U above the diagonal, 1/D on it")
    DU = scratch("m + 8, m + 8", "D U")
    rest = scratch("m + 8", "what is left of J H^-1 tau0 while the factorisation goes on")
    column_sums = scratch("m + 8", "of M^-1, see `regular.quick_bound`")
    Lambda_Jx = result("m + 8", "Lambda J H^-1 tau0")
    Lambda = result("m + 8, m + 8", "the operational-space inertia, damped where it is singular")
    Lambda_truncated = result(
        "m + 8, m + 8", "pseudo-inverse of Lambda^-1 over the directions that are left"
    )
    eigenvectors = scratch("m + 8, m + 8", "of the scaled Lambda^-1, row by row")
    eigenvalues = scratch("m + 8", "of the scaled Lambda^-1, then their inverses")
    off_diagonal = scratch("m + 8", "of the tridiagonal form")
    unit = scratch("m + 8", "1 / scale")
    gain = scratch("m + 8", "damped inverses of the eigenvalues")
    tau = result("nv", "tau0 as given, then the torque")
    Jdot_v = result("m + 8", "bias acceleration")
    Jbar = result("nv + 8, m + 8", "H^-1 J^T Lambda")
    Jbar_T = result("m + 8, nv + 8", "its transpose")
    N_T = result("nv, nv", "transpose of N = 1 - Jbar J")
    J_dense = result("m, nv", "the Jacobian as a matrix")
    is_regular = result("", "1 if Lambda^-1 was factored, 0 if its eigenvalues were needed", int)
    rank = result("", "independent directions of the tasks", int)
    is_damped = result("", "1 if a direction is damped", int)
    H_is = state("", "PLAIN, LTDL, LTL or ARTICULATED: what is there of H", int)
    done = state("", "bits of `tick`: which results are those of the state at hand", int)

    # ---- stages ----
    task_jacobian = call("(space): J")
    carried_rows = call("(space): Y of all blocks that are not on one frame, by recursion")
    solve_articulated = call("(space): the innovations and accelerations of x")
    factored = call("(space): U, or the eigenvalues where Lambda^-1 is singular")
    results = call("(space, wanted): what is wanted and not done")
