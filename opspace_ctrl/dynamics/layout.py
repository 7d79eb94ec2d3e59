"""What a workspace holds and how: the one place that documents the memory the kernels work on.

A *node* is one degree of freedom of the expanded connectivity graph ([Featherstone2010], figure 3), mimic followers
included: a floating joint is a chain of six nodes, of which only the last carries inertia. Column `n`, after the last
node, is the fixed world. A *coordinate* is an entry of v; without mimic joints nodes and coordinates are the same.

Four storage orders are used, and nothing else:
  by node   (k, n+1)   component by node: eight nodes fill a register, so inertias and forces go eight nodes at a time
  by depth  (n, D)     row i of a branch-sparse matrix; column d belongs to the ancestor of i at depth d. The ancestors
                       of a node are a prefix of its path, so parent-chasing loops become contiguous rows
  by lane   (k, 8)     a 6-vector, or a column of up to 6 task rows, in the lanes of one register
  flat      (k,)       everything else
Spatial vectors are angular first, in world axes, at the origin of their tree: the point where the root body is now (a
world origin would cost six digits to a robot 1 km away).
"""

from __future__ import annotations

from itertools import count as count_from

import numpy as np
from numba import types

from .. import vector
from ..compile_ahead import together
from ..jit import address_of, kernel
from ..lanes import WIDTH, call, floats_at, ints_at

__all__ = [
    "Workspace",
    "clear",
    "count",
    "floats",
    "ints",
    "padded",
    "set_count",
    "stage",
    "stages",
]

_slot = count_from(0).__next__

# ---- addresses: what marks an array of doubles, what makes one, vectors to hand out again, and the stages ----
NDARRAY = _slot()
FLOAT64 = _slot()
NEW_ARRAY = _slot()
SPARE = _slot()
SPARE_TOO = _slot()
KINEMATICS = _slot()
MOTION = _slot()
MASS_MATRIX = _slot()
LTDL = _slot()
ARTICULATED = _slot()

# ---- counts ----
NODES = _slot()
NV = _slot()
NQ = _slot()
RUNS = _slot()
GROUPS = _slot()
MIMIC = _slot()
MERGES = _slot()
STEPS = _slot()
HAS_EXTERNAL = _slot()  # 1 if EXTERNAL is not zero

# ---- the robot: integers ----
PARENT = _slot()  # flat: parent node, n for the world
KIND = _slot()  # flat: SINGLE, or FIRST, MEMBER, LAST node of a joint with several
BEFORE = _slot()  # flat: the node before the joint of this node (its parent's last node)
COORDINATE = _slot()  # flat: the entry of v that moves the node
POSITION = _slot()  # flat: the entry of q that moves a SINGLE node; the row of GROUP of a FIRST one
TREE = _slot()  # flat (n+1): which tree the node belongs to
DEPTH = _slot()  # flat: nodes above it
LEAF = _slot()  # flat: a leaf below or at the node
RUN = _slot()  # (runs, 4): leaf, first depth, first node, length of each stretch of neighbours on a path to a leaf
# (groups, 4): joint type, first node, first entry of q, number of nodes of each multi-node joint
GROUP = _slot()
LAMBDA_E = _slot()  # flat (nv): the parent coordinate; elimination tree when there are mimic joints
DEPTH_E = _slot()  # flat (nv): coordinates above it
PATH_E = _slot()  # (nv, D): the coordinates from the root to each, by depth
# flat (steps): the order in which coordinates are eliminated, alone or with their parent k - 1
STEP = _slot()
# (k, 4): node i, depth of its ancestor j, row and column of H that H_ij is added to (mimic only)
MERGE = _slot()
FRAME_NODE = _slot()  # flat: the node a frame is fixed to, n for the world

# ---- the robot: numbers ----
# (n, 12): axes x, y, z and position of the joint frame in the parent; z is the joint's axis
PLACEMENT = _slot()
# by node (10): mass, centre (3), xx xy xz yy yz zz about the centre, in body axes
INERTIA = _slot()
REVOLUTE = _slot()  # by node (1): 1 for a rotation about z, 0 for a translation along z
MULTIPLIER = _slot()
OFFSET = _slot()  # by node (1): joint position = multiplier q + offset
ARMATURE = _slot()  # flat (nv)
MERGE_FACTOR = _slot()  # flat (k): what H_ij is multiplied with on the way
GRAVITY = _slot()  # flat (3)
FRAME_PLACEMENT = _slot()  # (frames, 12): rotation and position in the node's body axes

# ---- the state ----
Q = _slot()
V = _slot()
A = _slot()  # flat: configuration, velocity, acceleration as given
DISPLACEMENT = _slot()  # by node (1): translation along z
ANGLE = _slot()  # by node (1): rotation about z
SINE = _slot()
COSINE = _slot()  # by node (1): of the angle
# (n + 8, 16): axes x, y, z and position from the tree's origin of the body, in four lanes each
POSE = _slot()
R = _slot()  # by node (9): orientation of the body, row major
P = _slot()  # by node (3): position from the tree's origin
ORIGIN = _slot()  # (trees + 1, 3): the trees' origins in the world; the last is the world's own
S = _slot()  # by node (6): motion subspace
IW = _slot()  # by node (10): m, m c (3), xx xy xz yy yz zz about the tree's origin
IC = _slot()  # by node (10): the same of the composite body
RATE = _slot()  # by node (1): joint velocity
RATE_DERIVATIVE = _slot()  # by node (1): its derivative
VELOCITY = _slot()  # by node (6)
ACCELERATION = _slot()  # by node (6), minus gravity
FORCE = _slot()  # by node (6)
EXTERNAL = _slot()  # by node (6): external wrench on the body
JOINT_FORCE = _slot()  # by node (1): S^T FORCE
FC = _slot()  # by node (6): IC S
SP = _slot()  # (6 leaves, D): S along the path to each leaf, component by depth
# by depth (n, D): H of the nodes (the same memory as H when there are no mimic joints)
HN = _slot()
H = _slot()  # by depth (nv, D): H, then L and D of its factorisation
DINV = _slot()  # flat (nv): 1 / D
BIAS = _slot()  # flat (nv): h
ACC = _slot()  # flat (nv): accelerations found
W = _slot()  # flat (nv): L^-T tau0
IA = _slot()  # by lane (6 n, 8): articulated-body inertia, row by row
U = _slot()  # by lane (n, 8): IA S
DA = _slot()  # flat (n): 1 / (S^T U + armature)
PA = _slot()  # by lane (n, 8): articulated bias force
EPS = _slot()  # flat (n): joint force not yet spent (innovation)
FA = _slot()  # by lane (n + 1, 8): spatial acceleration
SL = _slot()  # by lane (n, 8): S
BC = _slot()  # by node (36): B of the Coriolis factorisation, summed over the subtree
DENSE = _slot()  # (max(nv, 6), nv): a dense result
# by node (6): a(k), the acceleration that the velocities alone cause across a joint
HINGE = _slot()

# ---- the dual recursions of a free flyer, laid out when first asked for ([Jain1995]) ----
DUAL = _slot()  # by lane (6 (n + 1), 8): S(k), the rest of the robot felt through the hinge of k
DUAL_FORCE = _slot()  # by lane (n + 1, 8): z_s(k)
SUM = _slot()  # by lane (6 (n + 1), 8): inertias gathered at a node so far
SUM_FORCE = _slot()  # by lane (n + 1, 8): residual forces gathered at a node so far
DUAL_U = _slot()  # by lane (n + 1, 8): S+ S
DUAL_DINV = _slot()  # flat (n): 1 / D_s
DUAL_EPS = _slot()  # flat (n): eps_s
LINK = _slot()  # by lane (6, 8): [P + S | -(z + z_s)] of one link
FIRST_FREE = _slot()  # what osim and the methods add starts here
SLOTS = 320  # length of the header
SINGLE, FIRST, MEMBER, LAST = 0, 1, 2, 3


@kernel
def floats(w, slot):
    """The numbers in `slot` of workspace `w`."""
    header = ints_at(w, 2)
    return floats_at(header[slot, 0], header[slot, 1])


@kernel
def ints(w, slot):
    """The integers in `slot` of workspace `w`."""
    header = ints_at(w, 2)
    return ints_at(header[slot, 0], header[slot, 1])


@kernel
def count(w, slot):
    """The count in `slot` of workspace `w`."""
    return ints_at(w, 2)[slot, 0]


@kernel
def set_count(w, slot, value):
    """Put a count into `slot` of workspace `w`."""
    ints_at(w, 2)[slot, 0] = value


_stages: dict[int, tuple] = {}


def stage(slot: int):
    """Compile a kernel `f(w)` once, apart: callers find it through `slot` of the workspace they hand it.

    What a kernel calls is otherwise compiled into it, and the large stages that every entry shares would be compiled
    again for each: minutes instead of seconds. The call through the header costs two nanoseconds.
    """

    def decorate(func):
        _stages[slot] = kernel(func), types.void(types.int64)
        return _through_header(slot, func)

    return decorate


def stages() -> list[tuple]:
    """All stages of the modules that are imported, for `compile_ahead.together`: every workspace has them."""
    return list(_stages.values())


def _through_header(slot: int, func):
    def call_stage(w):
        call(count(w, slot), w)

    call_stage.__doc__ = func.__doc__
    call_stage.__qualname__ = (
        f"{func.__qualname__}.stage"  # a symbol in the machine code, so unique
    )
    return kernel(call_stage)


@kernel
def clear(a, rows, columns):
    """Zeros into the first rows and columns of a matrix."""
    for i in range(rows):
        for j in range(columns):
            a[i, j] = 0.0


def padded(size: int) -> int:
    """`size` rounded up to whole registers."""
    return -(-size // WIDTH) * WIDTH


class Workspace:
    """Named arrays in one block of memory, and the header through which kernels find them.

    Attributes:
        address: What a kernel is called with. Valid as long as the workspace lives.
        head: The header as an array, which keeps the memory that it points to.
    """

    def __init__(self):
        self.head = _aligned(2 * SLOTS, np.int64).reshape(SLOTS, 2).view(_Header)
        self.head.kept = []
        self._header = self.head.view(np.ndarray)
        self._pending: dict[int, np.ndarray] = {}
        self._arrays: dict[int, np.ndarray] = {}
        self.address = int(self._header.ctypes.data)
        for slot, value in (
            (NDARRAY, vector.NDARRAY),
            (FLOAT64, vector.FLOAT64),
            (NEW_ARRAY, vector.NEW_ARRAY),
        ):
            self.set_count(slot, value)
        together(stages())
        for slot, of_stage in _stages.items():
            self.set_count(slot, address_of(*of_stage))

    def set_count(self, slot: int, value: int) -> None:
        """Put a plain integer in `slot`."""
        self._header[slot, 0] = value

    def count(self, slot: int) -> int:
        """The plain integer in `slot`."""
        return int(self._header[slot, 0])

    def put(self, slot: int, array, like=np.float64) -> None:
        """Ask for a copy of `array` (one or two dimensions) in `slot`; `allocate` makes it."""
        self._pending[slot] = np.asarray(array, dtype=like)

    def keep(self, slot: int, array: np.ndarray) -> None:
        """Put the address of an array object in `slot`: of the object, not of its numbers."""
        self.head.kept.append(array)
        self.set_count(slot, id(array))

    def zeros(self, slot: int, *shape: int) -> None:
        """Ask for zeros in `slot`; `allocate` makes them."""
        self._pending[slot] = np.zeros(shape)

    def same(self, slot: int, other: int) -> None:
        """Let `slot` be another name of `other`."""
        self._header[slot], self._arrays[slot] = self._header[other], self._arrays[other]

    def allocate(self) -> None:
        """Lay everything asked for side by side: rows start on a register, and a register may overrun the last."""
        strides = {s: padded(a.shape[-1]) if a.ndim > 1 else 1 for s, a in self._pending.items()}
        sizes = {s: padded(a.shape[0] * strides[s]) + WIDTH for s, a in self._pending.items()}
        block = _aligned(sum(sizes.values()) + WIDTH, np.float64)
        self.head.kept.append(block)
        start = 0
        for slot, array in self._pending.items():
            part = block[start : start + sizes[slot]].view(array.dtype)
            rows = part[: array.shape[0] * strides[slot]].reshape(array.shape[0], strides[slot])
            view = rows[:, : array.shape[-1]] if array.ndim > 1 else rows[:, 0]
            view[...] = array
            self._arrays[slot] = view
            self._header[slot] = part.ctypes.data, strides[slot]
            start += sizes[slot]
        self._pending.clear()

    def header(self, start: int, end: int) -> np.ndarray:
        """A copy of the header's entries for slots start .. end - 1."""
        return self._header[start:end].copy()

    def set_header(self, start: int, entries: np.ndarray) -> None:
        """Point the slots from `start` on to what a copied header says, all at once."""
        self._header[start : start + len(entries)] = entries

    def __contains__(self, slot: int) -> bool:
        """Whether `slot` holds an array."""
        return slot in self._arrays

    def __reduce__(self):
        raise TypeError(
            "a Workspace is memory that kernels hold addresses of: it cannot be copied or pickled"
        )

    def __getitem__(self, slot: int) -> np.ndarray:
        """The array in `slot`, a live view."""
        return self._arrays[slot]


class _Header(np.ndarray):
    """The header of a workspace; who holds it, as a function bound to the workspace, holds all its memory."""

    kept: list[np.ndarray]


def _aligned(size: int, dtype) -> np.ndarray:
    """Zeros that start on a cache line."""
    block = np.zeros(8 * size + 64, np.uint8)
    start = -block.ctypes.data % 64
    return block[start : start + 8 * size].view(dtype)
