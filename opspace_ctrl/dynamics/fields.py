# SPDX-License-Identifier: Apache-2.0
"""The memory that kernels of rigid-body dynamics work on.

A *node* is one degree of freedom of the expanded connectivity graph ([Featherstone2010], figure 3), mimic followers
included: a floating joint is a chain of six nodes, of which only the last carries inertia. Node `n`, after the last, is
the fixed world. A *coordinate* is an entry of v; without mimic joints nodes and coordinates are the same.

Four storage orders are used, and nothing else:
  by node   (k, n + 1)  component by node: eight nodes fill a register, so inertias and forces go eight nodes at a time
  by depth  (n, D)      row i of a branch-sparse matrix; column d belongs to the ancestor of i at depth d. The ancestors
                        of a node are a prefix of its path, so parent-chasing loops become contiguous rows
  by lane   (k, 8)      a 6-vector, or a column of up to 6 task rows, in the lanes of one register
  flat      (k,)        everything else
Spatial vectors are angular first, in world axes, at the origin of their tree: the point where the root body is now (a
world origin would cost six digits to a robot 1 km away). A spatial inertia is ten numbers: m, m c (3) and xx, xy, xz,
yy, yz, zz about that origin.
"""

from ..compiled.workspace import Workspace, call, constant, count, result, scratch, setting, state

SINGLE, FIRST, MEMBER, LAST = 0, 1, 2, 3  # `kind` of a node: alone in its joint, or one of several


class Tree(Workspace):
    """A robot's tree and its motion."""

    # ---- sizes ----
    n = count("nodes")
    nv = count("coordinates of the velocity")
    nq = count("coordinates of the configuration")
    D = count("nodes on the longest path to a leaf")
    D_e = count("coordinates on the longest path of lambda_e")
    trees = count("trees of the forest")
    leaves = count("leaves")
    runs = count("stretches of neighbours on the paths to the leaves")
    groups = count("joints with several nodes")
    merges = count("entries of H that mimic joints add to others; 0 without mimic joints")
    steps = count("steps of the elimination")
    frames = count("frames")

    # ---- connectivity ----
    parent = constant("n", "parent node, n for the world", int)
    kind = constant("n", "SINGLE, or FIRST, MEMBER, LAST node of a joint with several", int)
    before = constant("n", "the node before the joint of this node (its parent's last node)", int)
    coordinate = constant("n", "the entry of v that moves the node", int)
    position = constant(
        "n", "the entry of q that moves a SINGLE node; the row of `group` of a FIRST one", int
    )
    tree_number = constant("n + 1", "which tree the node belongs to", int)
    depth = constant("n", "nodes above it", int)
    leaf = constant("n", "a leaf below or at the node", int)
    run = constant("runs, 4", "leaf, first depth, first node and length of each stretch", int)
    group = constant(
        "groups, 5",
        "joint type, first node, first entry of q, number of nodes, and the entry of q at which a"
        " unit quaternion begins, -1 if there is none",
        int,
    )
    lambda_e = constant(
        "nv", "the parent coordinate, -1 at a root; with mimic joints the elimination tree's", int
    )
    depth_e = constant("nv", "coordinates above it", int)
    path_e = constant("nv, D_e", "the coordinates from the root to each, by depth", int)
    parent_A = constant(
        "n", "the node that a node's cluster hangs on, n for the world: see `clusters`", int
    )
    members = constant(
        "n", "nodes of the cluster that it leads: 1 alone, 0 if another one leads it", int
    )
    next_member = constant("n", "the next node of its cluster, n after the last", int)
    step = constant(
        "steps",
        "the order in which coordinates are eliminated, alone or with their parent k - 1",
        int,
    )
    merge = constant(
        "merges, 4",
        "node i, depth of its ancestor j, row and column of H that H_ij is added to",
        int,
    )
    merge_factor = constant("merges", "what H_ij is multiplied with on the way")
    frame_node = constant("frames", "the node a frame is fixed to, n for the world", int)

    # ---- the robot ----
    placement = constant(
        "n, 12", "axes x, y, z and position of the joint frame in the parent; z is the joint's axis"
    )
    inertia = setting(
        "10, n + 1", "by node: mass, centre (3), xx xy xz yy yz zz about the centre, in body axes"
    )
    revolute = constant("n + 1", "1 for a rotation about z, 0 for a translation along z")
    multiplier = constant("n + 1", "joint position = multiplier q + offset")
    offset = constant("n + 1", "see multiplier")
    armature = setting("nv", "rotor inertias [kg m^2, kg]")
    gravity = constant("3", "[m/s^2]")
    frame_placement = constant("frames, 12", "rotation and position in the node's body axes")

    # ---- the state as given ----
    q = state("nq", "configuration")
    v = state("nv", "velocity")
    a = state("nv", "acceleration")
    tau = state("nv", "joint forces [Nm, N]")
    external = state("6, n + 1", "by node: external wrench on the body")
    has_external = state("", "1 if `external` is not zero", int)

    # ---- kinematics ----
    displacement = scratch("n + 1", "translation along z [m]")
    angle = scratch("n + 1", "rotation about z [rad]")
    sine = scratch("n + 1", "of the angle")
    cosine = scratch("n + 1", "of the angle")
    pose = result(
        "n + 8, 16",
        "axes x, y, z of the body and its position from the tree's origin, in four lanes each",
    )
    R = result("9, n + 1", "by node: orientation of the body, row major")
    p = result("3, n + 1", "by node: position from the tree's origin [m]")
    origin = result("trees + 1, 3", "the trees' origins in the world; the last is the world's own")
    S = result("6, n + 1", "by node: motion subspace")
    S_A = result(
        "6, n + 1",
        "by node: motion from where its cluster hangs; without mimic joints another name of S",
    )
    S_lanes = result("n, 8", "by lane: the same")
    S_path = result(
        "6 * max(leaves, 1), D + 8", "S along the path to each leaf, component by depth"
    )
    I = result(
        "10, n + 1",
        "by node: spatial inertia at the tree's origin, world axes: mass, mass times centre (3),"
        " xx xy xz yy yz zz",
    )

    # ---- motion and forces ----
    rate = result("n + 1", "joint velocity by node")
    rate_derivative = result("n + 1", "its derivative")
    velocity = result("6, n + 1", "by node: spatial velocity")
    acceleration = result("6, n + 1", "by node: spatial acceleration, less gravity")
    hinge = result(
        "6, n + 1", "by node: a(k), the acceleration that the velocities alone cause across a joint"
    )
    force = result("6, n + 1", "by node: spatial force on the body, then of the subtree")
    joint_force = result("n + 1", "S^T force")
    h = result("nv", "bias forces")
    qdd = result("nv", "accelerations found")

    # ---- inertia ----
    Ic = result("10, n + 1", "by node: spatial inertia of the composite body")
    F = result("6, n + 1", "by node: Ic S")
    H_nodes = result("n, D", "by depth: H of the nodes; without mimic joints another name of H")
    H = result("nv, D_e", "by depth: joint-space inertia, then L and D of its factorisation")
    D_inv = result("nv", "1 / D of H = L^T D L, or 1 / L_kk of H = L^T L")
    x = state("nv", "right-hand side; after the factorisation L^-T x")
    B = result("36, n + 1", "by node: B of the Coriolis factorisation, summed over the subtree")
    dense = result("max(nv, 6), nv", "a dense result: H, C or a Jacobian")

    # ---- articulated bodies ----
    IA = result("6 * (n + 1), 8", "by lane: articulated-body inertia, row by row")
    U = result("n, 8", "by lane: IA S")
    DA_inv = result("n", "1 / (S^T U + armature)")
    pA = result("n + 1, 8", "by lane: articulated bias force")
    eps = result("n", "joint force not yet spent (innovation)")
    alpha = result("n + 1, 8", "by lane: spatial acceleration")

    # ---- stages ----
    kinematics = call("(tree): what depends on q alone")
    motion = call("(tree): velocities, accelerations and body forces for dv/dt = 0")
    mass_matrix = call("(tree): H")
    ltdl = call("(tree): H = L^T D L")
    articulated_inertias = call("(tree): IA, U, DA_inv")


class Dual(Workspace):
    """The dual recursions of a free flyer: each node sees the rest of its robot ([Jain1995]).

    Handed to kernels beside the tree: `dual_inertias(tree, dual)`. S and z_s are the paper's symbols; the motion
    subspace, which the paper calls H*, is `tree.S`.
    """

    n = count("nodes of the tree")
    visits = count("clusters that the recursion visits")
    visit = constant("visits", "their first nodes, rising: with each those it hangs on", int)
    is_branching = constant("n + 1", "1 if several clusters hang on the node", int)
    S = result(
        "6 * (n + 1), 8", "by lane: S(k), inertia of all but the subtree of k through its hinge"
    )
    z_s = result("n + 1, 8", "by lane: z_s(k), residual force of the same")
    U_s = result("n + 1, 8", "by lane: u = S+ S_k")
    D_s_inv = result("n", "1 / D_s, D_s = S_k^T u + armature")
    eps_s = result("n", "eps_s = T + S_k^T z_s+")
    C = scratch(
        "6, 1", "how a member of a cluster moves from another, for a unit of its coordinate"
    )
    S_gathered = scratch(
        "6 * (n + 1), 8", "by lane: P+ of the children seen so far; outward with M + S of the node"
    )
    z_gathered = scratch(
        "n + 1, 8", "by lane: z+ of the children seen so far; outward with xi + z_s of the node"
    )
    link = scratch("6, 8", "by lane: [P + S | -(z + z_s)] of one link, then solved in lane 6")
