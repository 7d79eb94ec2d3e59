# SPDX-License-Identifier: Apache-2.0
"""From an immutable `Model` to a `Tree`: connectivity and constants as the kernels want them."""

from typing import Any

import numpy as np

from ..model import Model
from ..model.configuration import quaternions
from ..model.connectivity import support
from ..model.joints import motion_subspace
from .clusters import cluster_tables
from .fields import FIRST, LAST, MEMBER, SINGLE, Tree
from .nodes import Nodes


class RobotTree(Tree):
    """A `Tree` of a model.

    Attributes:
        nodes: The nodes that it is made of.
        forward_methods: Methods of forward dynamics by name, with memory for this robot.
    """

    def __init__(self, model: Model):
        self.nodes = nodes = Nodes(model)
        self.forward_methods: dict[str, Any] = {}
        super().__init__(
            n=nodes.n,
            nv=model.nv,
            nq=model.nq,
            D=int(max(nodes.depth, default=0)) + 1,
            trees=len(nodes.roots()),
            leaves=len(nodes.leaves()),
            **_connectivity(nodes),
            **cluster_tables(nodes.parent, nodes.coordinate),
            **_joints(nodes),
            **_coordinates(nodes),
            **_constants(nodes),
            **_frames(nodes),
        )
        if self.merges == 0:  # nodes are coordinates
            self.share("H_nodes", "H")
            self.share("S_A", "S")
            self.share("rate", "v")
            self.share("rate_derivative", "a")
        self.R[[0, 4, 8], nodes.n] = 1.0  # the world's orientation
        self.pose[nodes.n, [0, 5, 10]] = 1.0
        self.acceleration[
            3:, nodes.n
        ] = -model.gravity  # gravity as an upward acceleration of the world


def _connectivity(nodes: Nodes) -> dict[str, Any]:
    """Parents, trees, leaves, and the paths to the leaves as stretches of neighbours."""
    n = nodes.n
    roots = nodes.roots()
    tree_number = np.full(n + 1, len(roots))
    for i, p in enumerate(nodes.parent):
        tree_number[i] = roots.index(i) if p < 0 else tree_number[p]
    leaf = np.zeros(n, int)
    runs = []
    for k, end in enumerate(nodes.leaves()):
        path = nodes.path(end)
        leaf[path] = k
        runs += [(k, *run) for run in _runs(path)]
    return {
        "parent": np.where(nodes.parent < 0, n, nodes.parent),
        "before": np.where(nodes.before < 0, n, nodes.before),
        "coordinate": nodes.coordinate,
        "depth": nodes.depth,
        "tree_number": tree_number,
        "leaf": leaf,
        "runs": len(runs),
        "run": np.array(runs).reshape(-1, 4),
    }


def _joints(nodes: Nodes) -> dict[str, Any]:
    """Tables that tell joints of one node from those of several, and list the latter (`group`)."""
    model = nodes.model
    kind = np.full(nodes.n, SINGLE)
    position = model.q_index[nodes.body]
    groups: list[tuple[int, ...]] = []
    quaternion = dict(quaternions(model))
    for i, joint_type in enumerate(model.joint_type):
        first, last = nodes.first[i], nodes.last[i]
        if last > first:
            kind[first : last + 1] = FIRST, *[MEMBER] * (last - first - 1), LAST
            position[first] = len(groups)
            size, start = last - first + 1, model.q_index[i]
            groups.append((joint_type, first, start, size, quaternion.get(i, -1)))
    group = np.array(groups).reshape(-1, 5)
    return {"kind": kind, "position": position, "groups": len(groups), "group": group}


def _coordinates(nodes: Nodes) -> dict[str, Any]:
    """lambda_e by coordinate, and with mimic joints the list of H_ij to add up: H = G^T H_free G."""
    model = nodes.model
    lambda_e = model.parent_expanded
    paths = [support(lambda_e, i) for i in range(model.nv)]
    depth_e = np.array([len(path) - 1 for path in paths], int)
    path_e = np.zeros((model.nv, max(depth_e, default=0) + 1), int)
    for row, path in zip(path_e, paths):
        row[: len(path)] = path
    steps = _steps(lambda_e, depth_e)
    merge, factor = _merges(nodes, depth_e) if model.is_mimic.any() else ([], [])
    return {
        "D_e": path_e.shape[1],
        "lambda_e": lambda_e,
        "depth_e": depth_e,
        "path_e": path_e,
        "steps": len(steps),
        "step": steps,
        "merges": len(merge),
        "merge": np.array(merge).reshape(-1, 4),
        "merge_factor": factor,
    }


def _merges(nodes: Nodes, depth_e: np.ndarray) -> tuple[list, list]:
    """For every entry of the free H: its row and depth, the row and depth of H that it is added to, and its factor."""
    merge, factor = [], []
    multiplier = nodes.model.multiplier[nodes.body]
    for i in range(nodes.n):
        for j in nodes.path(i):
            a, b = sorted((nodes.coordinate[i], nodes.coordinate[j]))
            merge.append((i, nodes.depth[j], b, depth_e[a]))
            factor.append(multiplier[i] * multiplier[j] * (2.0 if a == b and i != j else 1.0))
    return merge, factor


def _steps(lambda_e: np.ndarray, depth_e: np.ndarray) -> list[int]:
    """Coordinates to eliminate, each with its parent if that is the one before; the deepest first, so limbs alternate.

    Descendants come before: they are deeper, or of the same depth (children of the parent) and numbered higher.
    """
    steps, k = [], len(lambda_e) - 1
    while k >= 0:
        steps.append(k)
        k -= 2 if k > 0 and lambda_e[k] == k - 1 else 1
    return sorted(steps, key=lambda k: (-depth_e[k], -k))


def _constants(nodes: Nodes) -> dict[str, Any]:
    """Placements, inertias and what makes a joint turn or slide."""
    model, n = nodes.model, nodes.n
    placement, inertia = np.zeros((n, 12)), np.zeros((10, n + 1))
    revolute, multiplier, offset = np.zeros((3, n + 1))
    for i, joint_type in enumerate(model.joint_type):
        first, last, Q = nodes.first[i], nodes.last[i], nodes.axes[i]
        own = np.s_[first : last + 1]
        before = nodes.axes[model.parent[i]].T if model.parent[i] >= 0 else np.eye(3)
        placement[first, :9] = (before @ model.placement_rotation[i] @ Q).T.ravel()
        placement[first, 9:] = before @ model.placement_translation[i]
        inertia[0, last] = model.mass[i]
        inertia[1:4, last] = Q.T @ model.com[i]
        inertia[4:, last] = (Q.T @ model.inertia[i] @ Q)[np.triu_indices(3)]
        revolute[own] = motion_subspace(joint_type, model.axis[i])[:3].any(axis=0)
        multiplier[own] = model.multiplier[i]
        offset[own] = model.offset[i]
    return {
        "placement": placement,
        "inertia": inertia,
        "revolute": revolute,
        "multiplier": multiplier,
        "offset": offset,
        "armature": model.armature,
        "gravity": model.gravity,
    }


def _frames(nodes: Nodes) -> dict[str, Any]:
    """The node of every frame, and where on it the frame is."""
    model = nodes.model
    body = model.frame_body
    fixed = body < 0
    axes = nodes.axes[body] if len(nodes.axes) else np.eye(3)
    Qt = np.swapaxes(np.where(fixed[:, None, None], np.eye(3), axes), 1, 2)
    rotation = (Qt @ model.frame_rotation).reshape(-1, 9)
    translation = np.einsum("fij,fj->fi", Qt, model.frame_translation)
    return {
        "frames": len(body),
        "frame_node": np.where(fixed, nodes.n, nodes.last[body] if len(nodes.last) else 0),
        "frame_placement": np.hstack([rotation, translation]),
    }


def _runs(path: list[int]) -> list[tuple[int, int, int]]:
    """Stretches of neighbours in a path: place in it, first node, length."""
    starts = [d for d in range(len(path)) if d == 0 or path[d] != path[d - 1] + 1]
    return [(d, path[d], end - d) for d, end in zip(starts, [*starts[1:], len(path)])]
