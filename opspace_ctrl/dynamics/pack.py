"""From an immutable `Model` to a workspace: the expanded connectivity graph, and constants in the order of `layout`."""

from __future__ import annotations

import numpy as np

from ..model import JointType, Model
from ..model.joints import planar_axes
from . import layout as at
from .layout import FIRST, LAST, MEMBER, SINGLE, Workspace

__all__ = ["Nodes", "pack"]

# For each joint of several nodes: is node e a rotation (1) or a translation (0)?
_NODE_IS_ROTATION = {JointType.PLANAR: (0, 0, 1), JointType.FLOATING: (0, 0, 0, 1, 1, 1)}


class Nodes:
    """The expanded connectivity graph of a model: one node a degree of freedom, mimic followers included.

    Attributes:
        first, last: (N,) first and last node of each body's joint.
        parent, depth: (n,) parent node (-1 = world) and number of nodes above.
        coordinate: (n,) entry of v that moves the node.
        axes: (N, 3, 3) rotation Q from the body's axes to those of its node, in which the joint axis is z.
    """

    def __init__(self, model: Model):
        self.model = model
        sizes = [len(_NODE_IS_ROTATION.get(t, (0,))) for t in model.joint_type]
        self.last = np.cumsum(sizes) - 1
        self.first = self.last - sizes + 1
        self.n = int(np.sum(sizes))
        self.body = np.repeat(np.arange(len(sizes)), sizes)
        self.coordinate = model.v_index[self.body] + np.arange(self.n) - self.first[self.body]
        before = np.array([self.last[p] if p >= 0 else -1 for p in model.parent], dtype=int)
        self.before = before[self.body]
        is_first = np.arange(self.n) == self.first[self.body]
        self.parent = np.where(is_first, self.before, np.arange(self.n) - 1)
        self.depth = np.zeros(self.n, int)
        for i, p in enumerate(self.parent):
            self.depth[i] = 0 if p < 0 else self.depth[p] + 1
        self.axes = np.array(
            [_node_axes(t, a) for t, a in zip(model.joint_type, model.axis)]
        ).reshape(-1, 3, 3)

    def path(self, node: int) -> list[int]:
        """The nodes from the root to `node` (empty for the world, -1)."""
        found = []
        while node >= 0:
            found.append(int(node))
            node = self.parent[node]
        return found[::-1]


def _node_axes(joint_type: int, axis: np.ndarray) -> np.ndarray:
    if int(joint_type) == JointType.FLOATING:
        return np.eye(3)
    return planar_axes(axis)


def pack(model: Model) -> Workspace:
    """A workspace for every kernel of `dynamics/` on `model`."""
    nodes, work = Nodes(model), Workspace()
    for slot, value in (
        (at.NODES, nodes.n),
        (at.NV, model.nv),
        (at.NQ, model.nq),
        (at.MIMIC, int(model.is_mimic.any())),
    ):
        work.set_count(slot, value)
    _connectivity(work, model, nodes)
    _constants(work, model, nodes)
    _frames(work, model, nodes)
    _state(work, model, nodes)
    work.allocate()
    for slot in (at.SPARE, at.SPARE_TOO):
        work.keep(slot, np.empty(model.nv))
    if not model.is_mimic.any():  # nodes are coordinates
        for slot, other in ((at.H, at.HN), (at.RATE, at.V), (at.RATE_DERIVATIVE, at.A)):
            work.same(slot, other)
    work[at.R][[0, 4, 8], nodes.n] = work[at.POSE][nodes.n, [0, 5, 10]] = (
        1.0  # the world's orientation
    )
    work[at.ACCELERATION][
        3:, nodes.n
    ] = -model.gravity  # gravity as an upward acceleration of the world
    return work


def _connectivity(work: Workspace, model: Model, nodes: Nodes) -> None:
    n, world = nodes.n, nodes.n
    work.put(at.PARENT, np.where(nodes.parent < 0, world, nodes.parent), int)
    work.put(at.BEFORE, np.where(nodes.before < 0, world, nodes.before), int)
    work.put(at.COORDINATE, nodes.coordinate, int)
    work.put(at.DEPTH, nodes.depth, int)
    kind, position, groups = np.full(n, SINGLE), model.q_index[nodes.body], []
    for i, joint_type in enumerate(model.joint_type):
        first, last = nodes.first[i], nodes.last[i]
        if joint_type in _NODE_IS_ROTATION:
            kind[first : last + 1] = FIRST, *[MEMBER] * (last - first - 1), LAST
            position[first] = len(groups)
            groups.append((joint_type, first, model.q_index[i], last - first + 1))
    work.put(at.KIND, kind, int)
    work.put(at.POSITION, position, int)
    work.put(at.GROUP, np.array(groups or [(0, 0, 0, 0)]), int)
    work.set_count(at.GROUPS, len(groups))
    roots = [i for i in range(n) if nodes.parent[i] < 0]
    tree = np.full(n + 1, len(roots))
    for i in range(n):
        tree[i] = roots.index(i) if nodes.parent[i] < 0 else tree[nodes.parent[i]]
    work.put(at.TREE, tree, int)
    leaves = sorted(set(range(n)) - set(nodes.parent.tolist()))
    paths = [nodes.path(leaf) for leaf in leaves]
    leaf_of = np.zeros(n, int)
    for k, path in enumerate(paths):
        leaf_of[path] = k
    work.put(at.LEAF, leaf_of, int)
    runs = [(k, *run) for k, path in enumerate(paths) for run in _runs(path)]
    work.put(at.RUN, runs or [(0, 0, 0, 0)], int)
    work.set_count(at.RUNS, len(runs))
    _coordinates(work, model, nodes)


def _coordinates(work: Workspace, model: Model, nodes: Nodes) -> None:
    """lambda_e by coordinate, and with mimic joints the list of H_ij to add up: H = G^T H_free G."""
    lambda_e = model.parent_expanded
    paths: list[list[int]] = []
    for i, p in enumerate(lambda_e):
        paths.append([*(paths[p] if p >= 0 else []), i])
    depth_e = np.array([len(p) - 1 for p in paths], int)
    work.put(at.LAMBDA_E, lambda_e, int)
    work.put(at.DEPTH_E, depth_e, int)
    work.put(at.PATH_E, _ragged(paths), int)
    steps = _steps(lambda_e, depth_e)
    work.put(at.STEP, steps, int)
    work.set_count(at.STEPS, len(steps))
    if not model.is_mimic.any():
        return
    merge, factor = [], []
    multiplier = model.multiplier[nodes.body]
    for i in range(nodes.n):
        for j in nodes.path(i):
            a, b = sorted((nodes.coordinate[i], nodes.coordinate[j]))
            merge.append((i, nodes.depth[j], b, depth_e[a]))
            factor.append(multiplier[i] * multiplier[j] * (2.0 if a == b and i != j else 1.0))
    work.put(at.MERGE, merge, int)
    work.put(at.MERGE_FACTOR, factor)
    work.set_count(at.MERGES, len(merge))
    work.zeros(at.H, model.nv, max(depth_e) + 1)


def _constants(work: Workspace, model: Model, nodes: Nodes) -> None:
    n = nodes.n
    placement, inertia = np.zeros((n, 12)), np.zeros((10, n + 1))
    by_node = {slot: np.zeros((1, n + 1)) for slot in (at.REVOLUTE, at.MULTIPLIER, at.OFFSET)}
    for i, joint_type in enumerate(model.joint_type):
        first, last, Q = nodes.first[i], nodes.last[i], nodes.axes[i]
        before = nodes.axes[model.parent[i]].T if model.parent[i] >= 0 else np.eye(3)
        placement[first, :9] = (before @ model.placement_rotation[i] @ Q).T.ravel()
        placement[first, 9:] = before @ model.placement_translation[i]
        inertia[0, last] = model.mass[i]
        inertia[1:4, last] = Q.T @ model.com[i]
        inertia[4:, last] = (Q.T @ model.inertia[i] @ Q)[np.triu_indices(3)]
        rotation = _NODE_IS_ROTATION.get(joint_type, (int(joint_type) == JointType.REVOLUTE,))
        by_node[at.REVOLUTE][0, first : last + 1] = rotation
        by_node[at.MULTIPLIER][0, first : last + 1] = model.multiplier[i]
        by_node[at.OFFSET][0, first : last + 1] = model.offset[i]
    work.put(at.PLACEMENT, placement)
    work.put(at.INERTIA, inertia)
    for slot, values in by_node.items():
        work.put(slot, values)
    work.put(at.ARMATURE, model.armature)
    work.put(at.GRAVITY, model.gravity)


def _frames(work: Workspace, model: Model, nodes: Nodes) -> None:
    body = model.frame_body
    fixed = body < 0
    Q = np.where(
        fixed[:, None, None], np.eye(3), nodes.axes[body] if len(nodes.axes) else np.eye(3)
    )
    Qt = np.swapaxes(Q, 1, 2)
    rotation = Qt @ model.frame_rotation
    translation = np.einsum("fij,fj->fi", Qt, model.frame_translation)
    work.put(
        at.FRAME_NODE, np.where(fixed, nodes.n, nodes.last[body] if len(nodes.last) else 0), int
    )
    work.put(at.FRAME_PLACEMENT, np.hstack([rotation.reshape(-1, 9), translation]))


def _state(work: Workspace, model: Model, nodes: Nodes) -> None:
    n, depth = nodes.n, int(max(nodes.depth, default=0)) + 1
    rows = {
        at.DISPLACEMENT: 1,
        at.ANGLE: 1,
        at.RATE: 1,
        at.RATE_DERIVATIVE: 1,
        at.JOINT_FORCE: 1,
        at.P: 3,
        at.SINE: 1,
        at.COSINE: 1,
        at.S: 6,
        at.VELOCITY: 6,
        at.ACCELERATION: 6,
        at.HINGE: 6,
        at.FORCE: 6,
        at.EXTERNAL: 6,
        at.FC: 6,
        at.R: 9,
        at.IW: 10,
        at.IC: 10,
        at.BC: 36,
    }
    for slot, k in rows.items():
        work.zeros(slot, k, n + 1)
    trees = sum(1 for p in nodes.parent if p < 0)
    leaves = len(set(range(n)) - set(nodes.parent.tolist()))
    work.zeros(at.ORIGIN, trees + 1, 3)
    work.zeros(at.SP, 6 * max(leaves, 1), depth + 8)  # a run may overrun the path
    work.zeros(at.POSE, n + 8, 16)
    work.zeros(at.HN, n, depth)
    work.zeros(at.Q, model.nq)
    for slot in (at.V, at.A, at.DINV, at.BIAS, at.ACC, at.W):
        work.zeros(slot, model.nv)
    work.zeros(at.IA, 6 * (n + 1), 8)
    work.zeros(at.U, n, 8)
    work.zeros(at.PA, n + 1, 8)
    work.zeros(at.FA, n + 1, 8)
    work.zeros(at.DA, n)
    work.zeros(at.EPS, n)
    work.zeros(at.SL, n, 8)
    work.zeros(at.DENSE, max(model.nv, 6), model.nv)


def _runs(path: list[int]) -> list[tuple[int, int, int]]:
    """Stretches of neighbours in a path: place in it, first node, length."""
    starts = [d for d in range(len(path)) if d == 0 or path[d] != path[d - 1] + 1]
    return [(d, path[d], end - d) for d, end in zip(starts, [*starts[1:], len(path)])]


def _steps(lambda_e: np.ndarray, depth_e: np.ndarray) -> list[int]:
    """Coordinates to eliminate, each with its parent if that is the one before; the deepest first, so limbs alternate.

    Descendants come before: they are deeper, or of the same depth (children of the parent) and numbered higher.
    """
    steps, k = [], len(lambda_e) - 1
    while k >= 0:
        steps.append(k)
        k -= 2 if k > 0 and lambda_e[k] == k - 1 else 1
    return sorted(steps, key=lambda k: (-depth_e[k], -k))


def _ragged(paths: list[list[int]]) -> np.ndarray:
    """Lists of different lengths as a rectangle."""
    table = np.zeros((max(len(paths), 1), max((len(p) for p in paths), default=1)), int)
    for row, path in zip(table, paths):
        row[: len(path)] = path
    return table
