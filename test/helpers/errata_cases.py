# SPDX-License-Identifier: Apache-2.0
"""An arm as the papers draw it: a chain of revolute joints without armature, link 1 the tip; operators as matrices."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from oracles.random_trees import random_model

from opspace_ctrl import dynamics
from opspace_ctrl.algebra.free_flyer import link_state, link_tree, two_filters
from opspace_ctrl.algebra.operators import SpatialOperators

FAR = 1e-3  # a printed form that fails is off by more than this share


def error(found, expected) -> float:
    """The largest difference in the largest expected number."""
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())


class Arm:
    """Operators of a chain in the papers' order, and the terms of its equation of motion; f(0) acts on the outside."""

    def __init__(self, bodies: int = 6, types=("revolute",), seed: int = 5):
        self.model = random_model(seed, bodies, types=types, shape="chain", armature=False)
        rng = np.random.default_rng(seed)
        self.q = rng.uniform(-1.0, 1.0, self.model.nq)
        self.v, self.tau = rng.normal(size=(2, self.model.nv))
        self.f = rng.normal(size=6)
        tip = self.model.body_names[-1]
        self.operators = SpatialOperators(self.model, self.q, [tip])
        order = self.operators.tip_to_base
        for name in (
            "H",
            "phi",
            "Phi",
            "psi",
            "Psi",
            "M",
            "P",
            "D",
            "G",
            "K",
            "E_phi",
            "E_psi",
            "B",
            "J",
        ):
            setattr(self, name, order(getattr(self.operators, name)).dense())
        a, b = self.operators.bias(self.v)
        self.a, self.b = (x.reshape(-1, 6)[::-1].ravel() for x in (a, b))
        self.T, self.thetadot = self.tau[::-1], self.v[::-1]
        self.I, self.one = np.eye(self.model.nv), np.eye(len(self.M))
        self.mass = self.H @ self.phi @ self.M @ self.phi.T @ self.H.T
        self.D_inv = np.linalg.inv(self.D)

    @cached_property
    def qdd(self):
        """M^-1 (T - C - J* f(0)) in the papers' order."""
        wrench = {self.model.body_names[-1]: -np.roll(self.f, 3)}
        h = dynamics.inverse_dynamics(self.model, self.q, self.v, np.zeros(self.model.nv), wrench)
        return np.linalg.solve(dynamics.mass_matrix(self.model, self.q), self.tau - h)[::-1]

    def block(self, matrix, k):
        """The 6 columns, or rows, of link k = 1 ... N as a slice of `matrix`'s body side."""
        return matrix[6 * (k - 1) : 6 * k]

    def at(self, name, i, j):
        """phi(i, j) or psi(i, j); links count from 1."""
        return getattr(self, name)[6 * (i - 1) : 6 * i, 6 * (j - 1) : 6 * j]

    def link(self, k):
        """H (1, 6), G (6, 1), D of link k."""
        mine = slice(6 * (k - 1), 6 * k)
        return self.H[k - 1 : k, mine], self.G[mine, k - 1 : k], self.D[k - 1, k - 1]

    def smooth(self, nu):
        """qdd from residuals, outward ((52)-(54) of 000)."""
        N, out, lam = len(nu), np.empty(len(nu)), np.zeros(6)
        for k in range(N, 0, -1):
            H, G, _ = self.link(k)
            across = self.at("phi", k + 1, k).T @ lam if k < N else lam
            out[k - 1] = nu[k - 1] - (G.T @ across)[0]
            lam = across + H[0] * out[k - 1]
        return out


class Flyer:
    """A free-flying chain of links with all quantities of both filters, and its true accelerations."""

    def __init__(self, bodies: int = 6, seed: int = 3):
        self.model = random_model(
            seed, bodies, types=("revolute",), shape="chain", base="floating", armature=False
        )
        rng = np.random.default_rng(seed)
        self.q = self.model.integrate(
            self.model.neutral(), rng.uniform(-1.0, 1.0, self.model.nv), 1.0
        )
        self.v, self.tau = rng.normal(size=(2, self.model.nv))
        self.tree = link_tree(self.model, link_state(self.model, self.q, self.v), self.tau)
        self.filters = two_filters(self.tree)
        self.qdd = dynamics.forward_dynamics(self.model, self.q, self.v, self.tau)
