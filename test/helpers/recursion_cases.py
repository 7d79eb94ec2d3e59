# SPDX-License-Identifier: Apache-2.0
"""What the tests of the papers' recursions share: states of robots, and their operators as dense matrices."""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np
from oracles.random_trees import random_model
from oracles.reference import derived_tolerance

from helpers.support import load_quietly, urdf_path
from opspace_ctrl import Model, dynamics, load_robot
from opspace_ctrl.algebra.recursions.smoother import FilterSmoother

ONE_DOF = ("revolute", "continuous", "prismatic")
_TREES = {
    "fixed tree": {"seed": 1, "bodies": 14},
    "fixed tree without armature": {"seed": 2, "bodies": 14, "armature": False},
    "floating tree": {"seed": 3, "bodies": 12, "base": "floating"},
    "floating tree without armature": {
        "seed": 4,
        "bodies": 12,
        "base": "floating",
        "armature": False,
    },
    "chain": {"seed": 5, "bodies": 20, "shape": "chain", "types": ONE_DOF},
    "floating chain": {
        "seed": 6,
        "bodies": 20,
        "shape": "chain",
        "types": ONE_DOF,
        "base": "floating",
    },
    "star": {"seed": 7, "bodies": 8, "shape": "star"},
    "forest": {"seed": 8, "bodies": 6, "forest": 2, "base": "floating"},
}
_ROBOTS = {
    "ur5 with armature": ("ur5_robot", "fixed", 0.1),
    "tiago without hand": ("tiago_no_hand", "fixed", None),
    "floating talos": ("talos_reduced", "floating", None),
}
NAMES = (*_TREES, *_ROBOTS, "free_flyer")
FLOATING = tuple(name for name in NAMES if name.startswith(("floating", "forest", "free")))


@cache
def model_of(name: str) -> Model:
    if name in _TREES:
        return random_model(**_TREES[name])
    if name == "free_flyer":
        return load_robot(name)
    source, base, armature = _ROBOTS[name]
    return load_quietly(urdf_path(source), base, armature=armature)


class Case:
    """A robot in a random state, pushed at two frames."""

    def __init__(self, name: str, seed: int = 0):
        self.model = model = model_of(name)
        rng = np.random.default_rng([seed, model.nv])
        self.q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv), 1.0)
        self.v, self.tau = rng.normal(size=(2, model.nv))
        self.tau *= 5.0
        frames = rng.choice(model.body_names, 2, replace=False)
        self.external = {str(frame): rng.normal(0.0, 3.0, 6) for frame in frames}

    @cached_property
    def H(self):
        return dynamics.mass_matrix(self.model, self.q)

    @cached_property
    def h(self):
        """Bias forces less what the external wrenches do."""
        return dynamics.inverse_dynamics(
            self.model, self.q, self.v, np.zeros(self.model.nv), self.external
        )

    @cached_property
    def a(self):
        return np.linalg.solve(self.H, self.tau - self.h)

    @cached_property
    def tolerance(self):
        return derived_tolerance(self.H)

    @cached_property
    def smoother(self):
        return FilterSmoother(self.model, self.q, self.v, self.tau, self.external)

    @cached_property
    def links(self):
        """Classical accelerations (N, 6) of the links, from the dense solution."""
        return np.array(
            [
                dynamics.frame_acceleration(self.model, self.q, self.v, self.a, name)
                for name in self.model.body_names
            ]
        )


class Dense:
    """The operators of the papers as matrices, by node: phi = 1 between neighbours in our axes."""

    def __init__(self, s: FilterSmoother):
        n = len(s.D)
        one, self.s = np.eye(6 * n), s
        self.H, self.G, self.M, self.P = (
            np.zeros(shape) for shape in ((n, 6 * n), (6 * n, n), *[(6 * n, 6 * n)] * 2)
        )
        self.E_phi = np.zeros((6 * n, 6 * n))
        for k, p in enumerate(s.parent):
            mine = slice(6 * k, 6 * k + 6)
            self.H[k, mine], self.G[mine, k], self.M[mine, mine], self.P[mine, mine] = (
                s.H[k],
                s.G[k],
                s.M[k],
                s.P[k],
            )
            if p >= 0:
                self.E_phi[6 * p : 6 * p + 6, mine] = np.eye(6)
        self.D = np.diag(s.D)
        self.L = one - self.G @ self.H
        self.phi, self.psi = (
            np.linalg.inv(one - self.E_phi),
            np.linalg.inv(one - self.E_phi @ self.L),
        )
        self.Phi, self.Psi = self.phi - one, self.psi @ self.E_phi
        self.whiten = np.eye(n) - self.H @ self.Psi @ self.G

    def by_node(self, x):
        """A vector by coordinate, by node."""
        return np.asarray(x)[self.s.coordinate]


def assert_near(found, expected, tolerance, size=None):
    """The largest difference is at most `tolerance` of the largest expected entry (or `size`)."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    size = max(np.abs(expected).max(initial=0.0), 1.0) if size is None else size
    error = np.abs(found - expected).max(initial=0.0)
    assert error <= tolerance * size, f"off by {error:.2e}, more than {tolerance:.1e} of {size:.2e}"
