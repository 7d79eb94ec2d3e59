# SPDX-License-Identifier: Apache-2.0
"""Copies, switches between two readings and results handed back: nothing of one computation leaks into another."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest

from opspace_ctrl import OperationalSpace, load_robot


def test_a_copy_is_an_object_of_its_own():
    """Copies and pickles are built anew: their memory is not the original's."""
    model = load_robot("arm7")
    original = OperationalSpace(model, ["tool"], "sparse_ltl")
    q, other = np.full(7, 0.4), np.full(7, -0.3)
    kept = original.update(q).inertia_inv.copy()
    for copied in (
        copy.copy(original),
        copy.deepcopy(original),
        pickle.loads(pickle.dumps(original)),
    ):
        assert copied.method == "sparse_ltl"
        moved = copied.update(other).inertia_inv.copy()
        np.testing.assert_array_equal(original.inertia_inv, kept)
        np.testing.assert_array_equal(
            moved, OperationalSpace(model, ["tool"], "sparse_ltl").update(other).inertia_inv
        )
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.deepcopy(original._space)


def test_a_switch_between_inertia_and_jbar_leaves_jbar_right():
    """What H holds is known by who wrote it, not by the method that was set since."""
    ospace, q = (
        OperationalSpace(load_robot("asimo"), ["left_hand", "right_foot"], "rjk"),
        load_robot("asimo").neutral(),
    )
    expected = ospace.update(q).jbar.copy()
    for first, second in itertools.permutations(("sparse_ltl", "rjk", "sparse_ltdl", "dense"), 2):
        ospace.method = first
        ospace.update(q)
        assert ospace.inertia.shape == (12, 12)
        done = ospace._now.done
        ospace.method = second
        ospace._now.done = ospace._space.done = (
            done  # as another thread sees it that switches in between
        )
        np.testing.assert_allclose(ospace.jbar, expected, atol=1e-9)


@pytest.mark.parametrize("method", ["dense", "sparse_ltdl", "rjk"])
def test_a_result_may_be_handed_back_as_tau0(method):
    tasks, rng = ["tool", ("link5", np.eye(6)[:1])], np.random.default_rng(0)
    ospace = OperationalSpace(load_robot("arm7"), tasks, method)
    (q, p), v, force = rng.normal(size=(2, 7)), rng.normal(size=7), rng.normal(size=7)
    for name in ("jacobian", "inertia_inv", "inertia", "bias_forces"):
        tau0 = np.atleast_2d(getattr(ospace.update(q, v), name))[0]
        expected = OperationalSpace(ospace.model, ospace.tasks, method).control(
            p, v, force, tau0.copy()
        )
        np.testing.assert_array_equal(ospace.control(p, v, force, tau0), expected, err_msg=name)
    expected = (
        OperationalSpace(ospace.model, ospace.tasks, method).control(p, v, force, force).copy()
    )
    tau = ospace.control(p, v, force, force)
    again = (
        OperationalSpace(ospace.model, ospace.tasks, method)
        .control(p, expected, expected, expected)
        .copy()
    )
    np.testing.assert_array_equal(ospace.control(p, tau, tau, tau), again)


def test_a_result_may_be_handed_back_as_force():
    ospace, rng = (
        OperationalSpace(load_robot("arm7"), ["tool", "link5"], "sparse_ltdl"),
        np.random.default_rng(0),
    )
    (q, p), v, tau0 = rng.normal(size=(2, 7)), rng.normal(size=7), rng.normal(size=7)
    for name in ("inertia_inv", "inertia"):
        force = getattr(ospace.update(q, v), name)[0]
        expected = OperationalSpace(ospace.model, ["tool", "link5"], "sparse_ltdl").control(
            p, v, force.copy(), tau0
        )
        np.testing.assert_array_equal(ospace.control(p, v, force, tau0), expected)
