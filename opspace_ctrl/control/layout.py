"""What the controller adds to a workspace (see `dynamics.layout` for the storage orders and `osim.layout` for blocks).

Blocks of the operational space: first the contacts, in the user's order, then the tasks, level by level. The *stack* is
the rows that the hierarchy eliminates, in this order:
    contacts that carry | passive rows (base motions that the contacts leave free) | joint limits | levels of tasks
Levels of the report: 0 bias, contacts and passive rows; 1 joint limits; 2 .. L + 1 tasks; L + 2 posture.
"""

from __future__ import annotations

from itertools import count as count_from

from ..osim import layout as osim

_slot = count_from(osim.END).__next__

# ---- addresses of the stages ----
TAKE_STATE = _slot()
OPERATIONAL_SPACE = _slot()
WISHES = _slot()
BUILD = _slot()
ELIMINATE = _slot()
EIGENVALUE_PATH = _slot()
SUPPLY = _slot()
SOLVE = _slot()
LIMIT_JOINTS = _slot()
FINISH = _slot()

# ---- counts ----
TASKS = _slot()
CONTACTS = _slot()
JOINTS = _slot()  # k: joint coordinates
BASE = _slot()  # coordinates of the floating base: 6 or 0
LEVELS = _slot()  # L

# ---- what is fixed: integers ----
TASK = _slot()  # (t, 8): columns below
T_BLOCK, T_FRAME, T_REFERENCE, T_AXES, T_ROW, T_ROWS, T_LAW = range(7)
#   frame -1: centre of mass; reference, axes -1: none; first row and rows in the user's order
INERTIA_LAW, IMPEDANCE_LAW = 0, 1
CONTACT = _slot()  # (c, 4): columns below
C_BLOCK, C_FRAME, C_ROWS, C_AXES = range(4)
FRAME_AXES, WORLD_AXES = 0, 1
LEVEL = _slot()  # (L, 2): first place in ORDER and number of tasks
ORDER = _slot()  # flat (t): the tasks by level
JOINT = _slot()  # (k, 3): entry of v, entry of q (-1: it has no single one), place in the command
J_V, J_Q, J_COMMAND = range(3)
# (blocks, 6): the register of J that belongs to a base coordinate, -1 if there is none
BASE_REGISTER = _slot()
# flat (L + 3): the least response that is typical of each level, the unit of DAMPING and CUT
TYPICAL = _slot()
# flat (t + 1): address of each task's program, then of the posture's; row 0: (rows, present row)
PROGRAM = _slot()

# ---- what is live: see `core.Core` ----
OPTION = _slot()  # flat: names below
(MODE, GRAVITY, CORIOLIS, FRICTION, BETA, RAMP, FADE, DAMPING, CUT, INTERNAL, TRUNCATE) = range(11)
OPTIONS = 11
#   MODE: what is computed.  GRAVITY, CORIOLIS, FRICTION: 0..1, how much of each is compensated.  BETA: 1 = the bias is
#   not added to the torque but in F = Lambda (a - beta).  RAMP, FADE [s].  DAMPING, CUT: fractions of TYPICAL, see
#   `law.inverse`.  INTERNAL: how contacts share what the motion leaves open.  TRUNCATE: 1 = the null space
#   keeps a direction until CUT and loses it at once; 0 = it fades before.
TASKS_MODE, RAW_MODE, GRAVITY_MODE = 0.0, 1.0, 2.0
ZERO, BALANCED = 0.0, 1.0
TASK_ON = _slot()
STIFFNESS = _slot()
DAMPING_GAIN = _slot()
ERROR_LIMIT = _slot()
MOTION = _slot()
WRENCH = _slot()
MEASURED = _slot()
MEASURED_ON = _slot()
FORCE_GAIN = _slot()
INTEGRAL_GAIN = _slot()
INTEGRAL_LIMIT = _slot()
FORCE_DAMPING = _slot()
CONTACT_ON = _slot()
CONTACT_DAMPING = _slot()
MU = _slot()
HALF_LENGTHS = _slot()
SOLE_CENTRE = _slot()
MINIMUM_FORCE = _slot()
LIMIT = _slot()  # (rows below, k), model order
(
    EFFORT,
    SPEED,
    LOWER,
    UPPER,
    RATE,
    POSITION_MARGIN,
    SPEED_MARGIN,
    REPULSION,
    REPULSION_DAMPING,
    VISCOUS,
    COULOMB,
    COULOMB_SPEED,
    POSTURE_STIFFNESS,
    POSTURE_DAMPING,
    POSTURE_ERROR,
) = range(15)
RAW_FORCE = _slot()  # flat (rows of tasks), the user's order
RAW_TAU0 = _slot()  # flat (k), the order of the command

# ---- tasks of the present tick ----
POSE = _slot()  # (t, 12): rotation and position
TARGET = _slot()  # (t, 12)
VELOCITY = _slot()  # (t, 6)
TARGET_VELOCITY = _slot()  # (t, 6)
TARGET_ACCELERATION = _slot()  # (t, 6)
ERROR = _slot()  # (t, 6)
ERROR_SIDE = _slot()  # (t, 3): the last rotation error, which side of pi it was on
INTEGRAL = _slot()  # (t, 6)
APPLIED = _slot()  # (t, 6)
SCRATCH = _slot()  # flat (12)
POSTURE = _slot()  # (3, k): position, velocity, acceleration of the posture's program
WANTED = _slot()  # flat (m): acceleration or force that each row of a task asks for
PUSH = _slot()  # flat (m): force of the force axes, row by row
ROW_SPEED = _slot()  # flat (m): J v
ROW_POSTURE = _slot()  # flat (m): J a of the posture with the base at rest
ROW_BIAS = _slot()  # flat (m): J H^-1 of the bias that is not compensated

# ---- the robot in the present tick ----
H_SELECTED = _slot()  # flat (nv): the part of the bias that is compensated
JB = _slot()  # by lane (m, 8): base columns of J, row by row
HB = _slot()  # by lane (nv, 8): base columns of H
# flat (nv): H times the acceleration that the posture asks for (dynamics A), base at rest
HA_POSTURE = _slot()
ACTIVATION = _slot()  # flat (k): weight of the rows of the joint limits
REPULSE = _slot()  # flat (k): the acceleration that a joint may not exceed on the side of its limit
SIDE = _slot()  # flat (k): where that limit is, +1 or -1
ZONE = _slot()  # flat (k): 0 far from the limit, 1 near it
EXCESS_SPAN = _slot()  # flat (k): excess of acceleration at which the row is fully in
LIMITED_JOINT = _slot()  # flat (k), integers: joints near a limit; first those with an activation
H_INV = _slot()  # (k, nv): H^-1 e_j of these joints

# ---- the stack ----
# (3, c + t): contacts and tasks that are in, before and after the fade, and while evaluated
SETS = _slot()
STACK_LEVEL = _slot()  # (L + 3 + k, 4): columns below
S_START, S_END, S_KIND, S_LEVEL = range(4)
SOLVED_KIND, GIVEN_KIND, LIMIT_KIND = 0, 1, 2
# flat: row of the operational space, -1 - passive row, or -100 - place in LIMITED_JOINT
STACK_ROW = _slot()
GRAM = _slot()  # (stack, stack): A, then its Schur complements
COUPLING = _slot()  # (stack, stack): P_k S_k,lower
INVERSE = _slot()  # (stack, stack): P_k on the diagonal
DAMPED_INVERSE = _slot()  # (stack, stack): Q_k on the diagonal
ROW_SCALE = _slot()  # flat: root of the typical response of each row
RIGHT = _slot()  # flat: r
SPENT = _slot()  # flat: s, what the levels above have already caused
FORCE = _slot()  # flat: F
BACK = _slot()  # flat: row forces of one level with those it needs above
SCALED = _slot()  # (stack, stack): one level, its rows in units of their typical response
EIGENVECTORS = _slot()  # (stack, stack)
EIGENVALUES = _slot()
OFF_DIAGONAL = _slot()
FULL = _slot()  # flat (m): row forces in the order of the operational space
NUMBERS = _slot()  # flat, integers: names below
(
    N_LEVELS,
    N_ROWS,
    N_CONTACT_ROWS,
    N_PASSIVE,
    N_LIMITED,
    N_RANK,
    N_SET,
    N_START,
    N_SIZE,
    N_REPORT,
    N_CANDIDATES,
    N_GROWN,
) = range(12)
#   levels and rows of the stack; its rows of contacts; passive rows; joints held by limits; rank of the contacts' base
#   columns; the row of SETS, and the level, that is worked on; joints near limits; those that came in or grew

# ---- the base and its contacts ----
# by lane (contact rows, 8): base columns of the contacts that carry, in the order of PERMUTATION
G = _slot()
Z = _slot()  # (6, 8): base motions that the contacts leave free, column by column
NORMAL = _slot()  # (6, 8): G^T G, then its pivoted factors
PERMUTATION = _slot()  # flat (6), integers
SHARE = _slot()  # (contact rows, 8): W^-1 G of the independent base coordinates
SHARE_FACTOR = _slot()  # (6, 8): factor of G^T W^-1 G
BASE_VECTOR = _slot()  # (4, 8): rows below
V_WRENCH, V_FILL, V_MOTION, V_SOLVED = range(4)

# ---- results ----
LEVEL_TORQUE = _slot()  # (L + 3, k)
LEVEL_CONTACT = _slot()  # (L + 3, contact rows): contact forces of each level, rows of all contacts
GENERALISED = _slot()  # flat (nv)
SCALE = _slot()  # flat (L + 3)
LEVEL_RANK = _slot()
LEVEL_DAMPED = _slot()
CONTACT_WRENCH = _slot()  # (c, 6)
MARGIN = _slot()  # (c, 4)
UNILATERAL, CONE, CENTRE, TORSION = range(4)
CONTACT_WEIGHT = _slot()
TASK_WEIGHT = _slot()
SATURATED = _slot()
CHANGE = _slot()  # flat (k): of the torques in this tick
TAU = _slot()  # flat (k), the order of the command
HELD = _slot()  # flat (k), likewise: level 0 alone, when asked for
STATE = _slot()  # flat: what one tick leaves to the next, and its parts to each other; names below
(
    STARTED,
    START_TIME,
    LAST_TIME,
    FADE_START,
    TIME,
    STEP,
    WEIGHT,
    SIGN,
    FOUND_RANK,
    FOUND_DAMPED,
    LEVEL_DAMPING,
    LEVEL_CUT,
) = range(12)
REPORT_SLOT = _slot()  # flat: names below
(
    RAMPED,
    FADED,
    CLIPPED,
    BIAS_SATURATED,
    RATE_LIMITED,
    WORST_MARGIN,
    JOINTS_LIMITED,
    IS_DAMPED,
    NOT_FINITE,
    ERROR_CLIPPED,
    BASE_RESIDUAL,
) = range(11)
REPORT = 11
#   RAMPED, FADED: 0..1, how far the ramp and the fade are.  CLIPPED: joints cut to their limits at last.
#   BIAS_SATURATED: joints whose level 0 alone is beyond the limit.  RATE_LIMITED: share of the wanted change that was
#   made.  WORST_MARGIN: least CONE, CENTRE or TORSION.  JOINTS_LIMITED: joints inside a margin.  IS_DAMPED: levels with
#   a damped direction.  NOT_FINITE: 1 if a torque was not finite and the last one was kept.  ERROR_CLIPPED: tasks whose
#   error was shortened.  BASE_RESIDUAL [N, Nm]: what the contacts cannot supply to the base.
