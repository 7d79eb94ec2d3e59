"""What the simulator adds to a workspace (see `dynamics.layout` and `osim.layout` for what is there before).

Q, V and ARMATURE of `dynamics.layout` are the state and the inertia that the present step works with. Contact points
come first among the blocks of `osim.layout` (three rows each: normal and two tangents of the ground), loop closures
after them, so that one inverse operational-space inertia is the Delassus matrix of all of them.
"""

from __future__ import annotations

from itertools import count as count_from

from ...osim.layout import END as _FIRST_FREE

_slot = count_from(_FIRST_FREE).__next__

# ---- addresses: what is chosen when the simulator is made ----
FORWARD = _slot()  # forward dynamics `int64(int64)`: Q placed, V, EXTERNAL and DRIVE to ACC
INTEGRATOR = _slot()  # one step `int64(int64)`: Q, V to Q_NEXT, V_NEXT
SEMI_IMPLICIT = _slot()  # the step with contacts, whatever the integrator
PLACE = _slot()
IS_FREE = _slot()
CONSTRAIN = _slot()
CORRECT = _slot()  # what `constraints` does in a step, if there are contacts or closures

# ---- counts ----
JOINTS = _slot()  # joint coordinates, floating bases excluded
SINGLES = _slot()  # coordinates that add
MANIFOLDS = _slot()  # joints that move by an exponential
PUSHES = _slot()  # places for wrenches
HAS_LOSSES = _slot()  # 1 if some joint has Coulomb friction or a position limit
LEAVES_FACTORS = _slot()  # 1 if FORWARD leaves H factored
POINTS = _slot()  # contact points
ROWS = _slot()  # rows of contacts and closures, 0 if there are none
CLOSED_ROWS = _slot()  # rows of the closures alone
CLOSURES = _slot()
SWEEPS = _slot()  # the most Gauss-Seidel sweeps a solve may take

# ---- the robot ----
JOINT_COORDINATE = _slot()  # flat (k): entry of v of each joint coordinate
EFFORT = _slot()  # flat (k): effort limits
SINGLE = _slot()  # (singles, 2): entry of q, entry of v
MANIFOLD = _slot()  # (manifolds, 3): joint type, first entry of q, first of v
ROTOR = _slot()  # flat (nv): armature alone
DAMPING = _slot()  # flat (nv)
FRICTION = _slot()  # flat (nv): Coulomb friction
STIFF = _slot()  # flat (nv): slope of a stop or brake [N s/m or N m s/rad]
LIMIT = _slot()  # (singles, 2): position limits
SCALARS = _slot()  # flat (8): columns below
STEP, CREEP, CORRECTION, MU, HEIGHT = range(5)
GROUND = _slot()  # (3, 3): normal and two tangents of the ground

# ---- one step ----
TAU = _slot()  # flat (nv): efforts after saturation
APPLIED = _slot()  # flat (k): the same by joint coordinate
DRIVE = _slot()  # flat (nv): generalised force handed to FORWARD
SLOPE = _slot()
LEVEL = _slot()  # flat (nv): the joint law in its present piece, force = LEVEL - SLOPE v_next
SLIDE = _slot()  # flat (nv): -1, 0, 1: a joint slides back, sticks, slides forth
STOP = _slot()  # flat (singles): 1 at the lower limit, -1 at the upper one, 0 at none
BRAKE = _slot()  # flat (nv): velocity that the brakes ask for
BRAKED = _slot()  # flat (1): 1 while brakes are on
PUSH = _slot()  # (pushes, 8): frame, steps left, wrench; no push if no steps are left
LAST_PUSH = _slot()  # (pushes, 8): PUSH as it was in the last step
Q_NEXT = _slot()
V_NEXT = _slot()
Q_START = _slot()
V_START = _slot()  # flat: the state before the last step
STAGE_V = _slot()  # (4, nv): velocities of the Runge-Kutta stages, on the Lie algebra
STAGE_A = _slot()  # (4, nv): their accelerations
SHIFT = _slot()  # flat (nv): a displacement on the Lie algebra
FREE_V = _slot()  # flat (nv): velocity that the smooth forces alone give
NOTHING = _slot()  # flat (nv): zeros

# ---- contacts and closures: the Delassus matrix J H^-1 J^T is LI of `osim.layout`, J, Y_d and Y_D are there too ----
GAP = _slot()  # flat (points): height above the ground
ACTIVE = _slot()  # flat (points): 1 if the point takes part in the step
MODE = _slot()  # flat (points): open, sticks or slides, see `active_set`
DIRECTION = _slot()  # (points, 2): of friction on points that slide, along the tangents
PICK = _slot()  # flat (rows), integers: rows of the linear system
SYSTEM = _slot()  # (rows, rows): its matrix
FOUND = _slot()  # flat (rows): its right-hand side, then solution
LOOP = _slot()  # (closures, 4): first frame, second frame, first row, kind of rows
LOOP_TURN = _slot()  # (closures, 9): orientation of the first frame in the second that is kept
POSE = _slot()  # (2, 12): orientation and position of two frames
SCHUR = _slot()  # (rows, rows): what the contacts feel of it when the closures give way
CROSS = _slot()  # (closed rows, rows): L^-1 of the closures' rows of it
CHOLESKY = _slot()  # (closed rows, closed rows): its factor L over the closures
RESIDUAL = _slot()  # flat (rows): relative velocity with the impulses found so far
RHS = _slot()  # flat (rows): relative velocity without them
IMPULSE = _slot()  # flat (rows): impulses of the step
PSEUDO = _slot()  # flat (rows): impulses that move positions alone
RESPONSE = _slot()  # flat (nv): H^-1 J^T times impulses
STATUS = _slot()  # flat (8): columns below
SWEEPS_USED, LAST_CHANGE, PIECES_USED, IS_NEAR, IS_SOLVED, MODES_USED = range(6)
