"""What tasks add to a workspace (see `dynamics.layout` for the storage orders).

A *block* is up to six rows of one task; its rows are lanes. The *support* of a block is the coordinates it depends on
and their ancestors, in rising order; the place of one in that list is its *slot*. For a task on one frame the support
is a path of lambda_e, so slot = depth, and L's rows by depth line up with it. J, Y_d and Y_D hold one register a slot,
block after block. A *leg* is a body that a block depends on: one for a frame, two for a relative task, none for the
centre of mass.
"""

from __future__ import annotations

from itertools import count as count_from

from ..dynamics.layout import FIRST_FREE

_slot = count_from(FIRST_FREE).__next__

# ---- addresses of the stages ----
TASK_JACOBIAN = _slot()
FACTORED = _slot()
RESULTS = _slot()

# ---- counts ----
BLOCKS = _slot()
M = _slot()  # rows of all tasks
DONE = _slot()  # bits of `tick`: which results are those of the state at hand
WANTED = _slot()  # and which are asked for
READ = _slot()  # and which have been read of the state at hand
COMPOSITE = _slot()  # 1 if a block is the centre of mass, which needs composite inertias

# ---- addresses of the array objects that show results to Python ----
TORQUE_VIEW = _slot()
JACOBIAN_VIEW = _slot()
JDOT_V_VIEW = _slot()
BIAS_VIEW = _slot()
INERTIA_INV_VIEW = _slot()
INERTIA_VIEW = _slot()
JBAR_VIEW = _slot()
NULL_SPACE_VIEW = _slot()
STATUS_VIEW = _slot()

# ---- the tasks: integers ----
BLOCK = _slot()  # (blocks, 8): columns below
B_KIND, B_ROWS, B_ROW, B_FIRST, B_SLOTS, B_LEG, B_LEGS, B_PATH = range(8)
#   kind; number of rows; first row among M; first register in J; number of slots; first leg; legs; 1 if on a path
FRAME, RELATIVE, CENTER = 0, 1, 2
LEG = _slot()  # (legs, 4): columns below
L_NODE, L_START, L_LENGTH, L_BLOCK = range(4)
LEG_NODE = _slot()  # flat: nodes of each leg that the block's motion depends on
LEG_REGISTER = _slot()  # flat: the register of J that node contributes to
SUPPORT = _slot()  # flat by register: the coordinate of each slot
SLOT_PARENT = _slot()  # flat by register: the register of the parent coordinate, -1 at a root
# (blocks, blocks): length of the common path of two path blocks; -1 - first pair otherwise
COMMON = _slot()
PAIRS = _slot()  # (blocks, blocks): number of common coordinates when not both are paths
PAIR = _slot()  # (k, 2): registers of the same coordinate in two blocks

# ---- the tasks: numbers ----
WEIGHT = _slot()  # by lane (6 blocks, 8): the selection, column by column
POINT = _slot()  # (blocks, 12): the frame's point (3) in its node's axes, and the reference's rotation (9) in its own
SCALE = _slot()  # flat (m): root of the typical diagonal of Lambda^-1, which makes rows of different units comparable
THRESHOLD = _slot()  # flat (3): columns below, as fractions of the typical response
# below which a quick bound of the eigenvalues is not enough; they are damped; and lost
TRIP, DAMPING, CUT = range(3)

# ---- results ----
K = _slot()  # by lane (6 legs, 8): task rows from the spatial velocity of the leg's body (K_c of osim-methods)
J = _slot()  # by lane (registers, 8)
YD_LOWER = _slot()  # by lane (registers, 8): Y_d, or Y
YD = _slot()  # by lane (registers, 8): Y_D
LI = _slot()  # (m, m): Lambda^-1, upper triangle of blocks
FACTOR = _slot()  # (m, m): U of Lambda^-1 = U^T D U, 1/D on the diagonal
X = _slot()  # flat (m): J H^-1 tau0
SOLUTION = _slot()  # flat (m): Lambda J H^-1 tau0
FORCE = _slot()  # flat (m): F as given
TORQUE = _slot()  # flat (nv): tau0 as given, then the result
JDOT_V = _slot()  # flat (m): bias acceleration
LAMBDA = _slot()  # (m, m): the operational-space inertia, damped when singular
TRUNCATED = _slot()  # (m, m): the pseudo-inverse of Lambda^-1 over the directions that are left
JBAR = _slot()  # (nv, m)
JBAR_T = _slot()  # (m, nv)
N_T = _slot()  # (nv, nv): N^T
J_DENSE = _slot()  # (m, nv)
# (m, m): D U of the factorisation; where that is singular, eigenvectors, row by row
VECTORS = _slot()
VALUES = _slot()  # flat (m): eigenvalues
OFF_DIAGONAL = _slot()  # flat (m): scratch of the eigenvalue iteration
STATUS = _slot()  # flat (4): columns below
REGULAR, RANK, DAMPED, H_IS = range(4)
PLAIN, LTDL, LTL = range(3)  # what H_IS: not factored, or how

# ---- the method in use: its kernel and its own tables, side by side so that it changes in one write ----
INERTIA_INV = _slot()  # address of the method's kernel
LEAVES_H = _slot()  # what the method leaves in H
METHOD = _slot()  # METHOD .. METHOD + 7
END = METHOD + 8
