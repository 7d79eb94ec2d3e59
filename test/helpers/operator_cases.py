# SPDX-License-Identifier: Apache-2.0
"""Models to try the spatial operators on, and the operators as matrices written from their definitions."""

from __future__ import annotations

from functools import cache

import numpy as np
from oracles.random_trees import random_model, random_motion
from oracles.reference import Reference, derived_tolerance, skew

from helpers.support import load_quietly, urdf_path
from opspace_ctrl import Model, load_robot
from opspace_ctrl.algebra.operators import SpatialOperators, evaluate
from opspace_ctrl.algebra.operators.algebra import Adjoint, Atom, Identity, Product, Scaled

TREES = {
    f"{shape} {seed}, {base}, {armature}": (seed, base, shape, armature == "armature")
    for seed, base, shape, armature in (
        (1, "fixed", "tree", "armature"),
        (2, "fixed", "tree", "no armature"),
        (3, "floating", "tree", "armature"),
        (4, "floating", "tree", "no armature"),
        (5, "fixed", "chain", "armature"),
        (6, "floating", "chain", "no armature"),
        (7, "fixed", "star", "armature"),
        (8, "any", "tree", "armature"),
        (9, "any", "tree", "no armature"),
    )
}
ROBOTS = {
    f"{name}, {base}, armature {armature}": (name, base, armature)
    for name, base, armature in (
        ("g1_29dof_rev_1_0", "floating", 0.0),
        ("ur5_robot", "fixed", 0.3),
        ("kinova", "fixed", 0.0),
        ("talos_reduced", "fixed", 0.05),
        ("solo12", "floating", 0.01),
    )
}
SHIPPED = ("arm7", "asimo", "free_flyer")
CASES = [*TREES, *ROBOTS, *SHIPPED]
CHAINS = [
    *(case for case in TREES if case.startswith("chain")),
    "ur5_robot, fixed, armature 0.3",
    "arm7",
]
FLYERS = [case for case in CASES if "floating" in case or case in ("asimo", "free_flyer")]


@cache
def model_of(case: str) -> Model:
    if case in TREES:
        seed, base, shape, armature = TREES[case]
        robots = 2 if base == "any" else 1
        return random_model(
            seed, bodies=11, base=base, shape=shape, armature=armature, forest=robots
        )
    if case in ROBOTS:
        name, base, armature = ROBOTS[case]
        return load_quietly(urdf_path(name), base, armature=armature or None)
    return load_robot(case)


def tips(model: Model) -> list[str]:
    """The links without children, a frame of the world, and one fixed to a link where there is one."""
    frames = [name for i, name in enumerate(model.body_names) if not model.children(i)]
    fixed = [name for name, body in zip(model.frame_names, model.frame_body) if body < 0]
    lumped = [
        name for name in model.frame_names if name not in model.body_names and name not in fixed
    ]
    return [*frames, *fixed[:1], *lumped[-1:]]


@cache
def operators_of(case: str) -> SpatialOperators:
    """The operators of a case at its own random configuration, with `tips` as frames."""
    model = model_of(case)
    return SpatialOperators(model, random_motion(model, 11)[0], tips(model))


@cache
def mass_matrix_of(case: str) -> np.ndarray:
    """H from the vector algebra of `Reference`."""
    return Reference(model_of(case), random_motion(model_of(case), 11)[0]).mass_matrix()


_SIZES: dict = {}  # absolute values of the named operators met so far


def magnitude(operator) -> np.ndarray:
    """The operator with every factor and term replaced by its absolute values: what rounding is relative to."""
    if isinstance(operator, Atom | Adjoint | Identity):
        key = operator.rows, str(operator)
        if key not in _SIZES:
            _SIZES[key] = np.abs(operator.dense())
        return _SIZES[key]
    if isinstance(operator, Scaled):
        return abs(operator.factor) * magnitude(operator.operator)
    if isinstance(operator, Product):
        result = magnitude(operator.parts[0])
        for factor in operator.parts[1:]:
            result = result @ magnitude(factor)
        return result
    return sum(magnitude(term) for term in operator.parts)


def assert_identity(case: str, equation: str) -> None:
    """Both sides of "left = right" are the same matrix, relative to the size of their factors."""
    left, right = equation.split(" = ")
    difference = evaluate(f"{left} - ({right})", operators_of(case))
    scale = magnitude(difference)
    # what cancels inside a factor (1 - 1 in taubar) has lost its own size: it counts as a thousandth of the largest
    error = np.abs(difference.dense()) / (scale + 1e-3 * scale.max(initial=1e-300))
    tolerance = derived_tolerance(mass_matrix_of(case))
    assert scale.max(initial=1.0) > 0.0
    assert error.max(initial=0.0) <= tolerance, (
        f"{equation}: off by {error.max():.2e}, allowed {tolerance:.2e}"
    )


class Dense:
    """The operators as matrices, straight from the papers' definitions; poses from `Reference`, trees by ancestry."""

    def __init__(self, model: Model, q: np.ndarray, frames: list[str]):
        reference, N, nv = Reference(model, q), len(model.parent), model.nv
        p = reference.p
        first = np.cumsum([0, *(len(S.T) for S in reference_axes(model, reference))])
        H_free = np.zeros((first[-1], 6 * N))
        for k, S in enumerate(reference_axes(model, reference)):
            H_free[first[k] : first[k + 1], 6 * k : 6 * k + 6] = S.T
        self.H = reference.G.T @ H_free
        self.E_phi, self.phi, self.M = (np.zeros((6 * N, 6 * N)) for _ in range(3))
        for k in range(N):
            mine = slice(6 * k, 6 * k + 6)
            for i in model.support(k):
                self.phi[6 * i : 6 * i + 6, mine] = force_transform(p[k] - p[i])
                if i == model.parent[k]:
                    self.E_phi[6 * i : 6 * i + 6, mine] = force_transform(p[k] - p[i])
            self.M[mine, mine] = spatial_inertia(model, k, reference.R[k])
        self.A = np.diag(model.armature)
        self.B = np.zeros((6 * N, 6 * len(frames)))
        for f, name in enumerate(frames):
            body = model.frame_body[model.frame_index(name)]
            if body >= 0:
                self.B[6 * body : 6 * body + 6, 6 * f : 6 * f + 6] = force_transform(
                    reference.frame(name)[1] - p[body]
                )
        self.J = self.B.T @ self.phi.T @ self.H.T
        self.Phi = self.phi - np.eye(6 * N)
        self.r = block_diagonal(self.phi @ self.M @ self.phi.T, 6)
        if not model.is_mimic.any():
            self._riccati(model)
        self.mass_matrix = self.H @ self.phi @ self.M @ self.phi.T @ self.H.T + np.diag(
            model.armature
        )
        assert self.mass_matrix.shape == (nv, nv)

    def _riccati(self, model: Model) -> None:
        """P is the fixed point of P = M + E_phi (P - P H* D^-1 H P) E_phi*, reached after depth steps."""
        P = self.M
        for _ in range(len(model.parent) + 1):
            D = self.H @ P @ self.H.T + self.A
            G = P @ self.H.T @ np.linalg.inv(D)
            P = self.M + self.E_phi @ (P - G @ self.H @ P) @ self.E_phi.T
        one = np.eye(len(P))
        self.P, self.D, self.G = P, D, G
        self.taubar = one - G @ self.H
        self.P_plus = self.taubar @ P
        self.K, self.E_psi = self.E_phi @ G, self.E_phi @ self.taubar
        self.psi = np.linalg.inv(one - self.E_psi)
        self.Psi = self.psi @ self.E_phi
        self.Omega = self.psi.T @ self.H.T @ np.linalg.inv(D) @ self.H @ self.psi
        self.Upsilon = block_diagonal(self.Omega, 6)


def force_transform(l: np.ndarray) -> np.ndarray:
    """[moment; force] at the end of l, seen at its beginning."""
    return np.block([[np.eye(3), skew(l)], [np.zeros((3, 3)), np.eye(3)]])


def spatial_inertia(model: Model, k: int, R: np.ndarray) -> np.ndarray:
    """About the origin of body k, world axes: J of a rigid body's centre, J^T [I, m] J."""
    J = np.block([[np.eye(3), np.zeros((3, 3))], [-skew(R @ model.com[k]), np.eye(3)]])
    at_center = np.zeros((6, 6))
    at_center[:3, :3], at_center[3:, 3:] = R @ model.inertia[k] @ R.T, model.mass[k] * np.eye(3)
    return J.T @ at_center @ J


def reference_axes(model: Model, reference: Reference) -> list[np.ndarray]:
    """H*(k) (6, freedoms), angular first: how body k moves beyond its parent, from `Reference`'s Jacobians."""
    axes, first = [], 0
    for k in range(len(model.parent)):
        size = {0: 1, 1: 1, 2: 3, 3: 6}[int(model.joint_type[k])]
        own = reference.J_free[k][:, first : first + size]
        axes.append(np.vstack([own[3:], own[:3]]))
        first += size
    return axes


def block_diagonal(matrix: np.ndarray, size: int) -> np.ndarray:
    """The blocks on the diagonal alone."""
    result = np.zeros_like(matrix)
    for k in range(0, len(matrix), size):
        result[k : k + size, k : k + size] = matrix[k : k + size, k : k + size]
    return result
