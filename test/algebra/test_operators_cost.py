# SPDX-License-Identifier: Apache-2.0
"""Applying an operator costs O(N): counted in operations of the recursions, sweeps and memory, up to 1000 links."""

import runpy
import tracemalloc
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.urdf_text import arm, joint, link, robot

from opspace_ctrl import load_urdf
from opspace_ctrl.algebra.counts.operations import count
from opspace_ctrl.algebra.operators import SpatialOperators, evaluate, sweeps
from opspace_ctrl.algebra.operators.symbols import SYMBOLS

SIZES = (125, 250, 500, 1000)
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "operators.py"


def branched(n):
    """Links on the one of half their number: a binary tree."""
    parts = [link(f"l{i}") for i in range(n + 1)]
    return robot(
        *parts, *(joint(f"j{i}", f"l{i // 2}", f"l{i}", axis="0 1 0") for i in range(1, n + 1))
    )


@cache
def operators(n, shape="chain"):
    model = load_urdf(arm(n) if shape == "chain" else branched(n), armature=0.1)
    q = 0.3 * np.random.default_rng(0).normal(size=model.nq)
    return SpatialOperators(model, q, [model.body_names[-1]])


def riccati(quantities):
    N = len(quantities.parent)
    return (
        sweeps.articulated,
        quantities.parent,
        quantities.phi,
        quantities.axes,
        quantities.dofs,
        np.full((N, 6), 0.1),
        quantities.M.copy(),
        *(np.zeros((N, 6, 6)) for _ in range(4)),
    )


RECURSIONS = {
    "inward (phi, psi)": lambda o, x: (sweeps.inward, o.parent, o.phi, x),
    "outward (phi*, psi*)": lambda o, x: (sweeps.outward, o.parent, o.phi, x),
    "composite (r)": lambda o, x: (sweeps.composite, o.parent, o.phi, o.M.copy()),
    "dual composite (Upsilon)": lambda o, x: (
        sweeps.dual_composite,
        o.parent,
        o.psi,
        o.Upsilon.copy(),
    ),
    "articulated (P, D, G)": lambda o, x: riccati(o),
}


@pytest.mark.parametrize("shape", ["chain", "tree"])
@pytest.mark.parametrize("name", RECURSIONS)
def test_000_X_B_operations_of_a_recursion_grow_by_the_same_number_with_every_link(name, shape):
    """000 X.B: O(N)."""
    costs = []
    for n in SIZES:
        quantities = operators(n, shape).quantities
        cost, _ = count(*RECURSIONS[name](quantities, np.ones((n, 6, 1))))
        costs.append(cost.total)
    per_link = np.diff(costs) / np.diff(SIZES)
    assert np.all(per_link == per_link[0]) and per_link[0] > 0.0
    # the root has no parent to pass on to
    assert 0.0 <= per_link[0] * SIZES[0] - costs[0] <= per_link[0]


class Steps:
    """Counts the recursions and the links they visit, and runs them."""

    def __init__(self, monkeypatch):
        self.links = 0
        for name in ("inward", "outward"):
            monkeypatch.setattr(sweeps, name, self._counting(getattr(sweeps, name)))

    def _counting(self, sweep):
        def counted(parent, transition, x):
            self.links += len(parent)
            return sweep(parent, transition, x)

        return counted


EXPRESSIONS = {
    "H phi M phi* H* + A": 2,
    "(I - H Psi G)* D^-1 (I - H Psi G)": 2,
    "(H phi M phi* H* + A)^-1": 2,
    "B* Omega B": 2,
    "J": 1,
    "phi^-1 + K H": 0,
    "(I + H phi K) D (I + H phi K)*": 2,
}


@pytest.mark.parametrize("shape", ["chain", "tree"])
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_is_a_fixed_number_of_sweeps_whatever_the_size(monkeypatch, text, shape):
    for n in SIZES:
        operator = evaluate(text, operators(n, shape))
        steps = Steps(monkeypatch)
        operator @ np.ones(operator.shape[1])
        monkeypatch.undo()
        assert steps.links == EXPRESSIONS[text] * n


@pytest.mark.parametrize("name", SYMBOLS)
def test_memory_to_build_and_apply_an_operator_grows_linearly(name):
    """A matrix of 1000 links would take 288 MB in body space, 8 MB in joint space."""
    peaks = []
    for n in (250, 1000):
        operators(n)
        tracemalloc.start()
        fresh = SpatialOperators(
            operators(n).model, operators(n).quantities.model.neutral(), operators(n).frames
        )
        operator = getattr(fresh, name)
        result = operator @ np.ones(operator.shape[1])
        assert np.isfinite(result).all()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 6.0 * peaks[0]
    assert peaks[1] < 8e6


@pytest.mark.parametrize("shape", ["chain", "tree"])
def test_timings_cover_every_operator_and_adjoint(shape):
    times = runpy.run_path(str(BENCHMARK))["operator_growth"](shape, sizes=(4, 8))
    assert {*SYMBOLS, *(f"{name}*" for name in SYMBOLS), "SpatialOperators"} <= times.keys()
    assert all(set(by_size) == {4, 8} and min(by_size.values()) > 0.0 for by_size in times.values())


def test_forward_dynamics_of_a_thousand_links_solves_the_equation_of_motion():
    """The residual H qdd - tau, relative to the sizes that cancel in it."""
    o = operators(1000)
    tau = np.random.default_rng(1).normal(size=1000)
    H = evaluate("H phi M phi* H* + A", o)
    qdd = H.inverse() @ tau
    assert np.abs(H @ qdd - tau).max() < 1e-9 * (np.abs(H @ np.abs(qdd)).max() + 1.0)
