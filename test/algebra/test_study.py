# SPDX-License-Identifier: Apache-2.0
"""Paper 002 appendix B: the variants kept for study, by name alone."""

import numpy as np
import pytest
from oracles.random_trees import random_model

from opspace_ctrl import (
    CenterOfMass,
    Controller,
    OperationalSpace,
    PoseTask,
    Task,
    load_robot,
    osim,
)
from opspace_ctrl.errors import MethodError, OpspaceError
from opspace_ctrl.osim.registry import STUDY, get_method

everywhere = pytest.mark.parametrize("method", STUDY)


@everywhere
@pytest.mark.parametrize("seed", range(6))
def test_002_appendix_B_variants_give_j_hinv_jt_on_trees(method, seed):
    """Chang and Khatib's one-sided recursion, and RJK with psi multiplied out and all of Omega."""
    model = random_model(seed, bodies=13, base="floating" if seed % 2 else "fixed")
    rng = np.random.default_rng(seed)
    tasks = [
        *rng.choice(model.body_names, 3, replace=False),
        Task(model.body_names[-1], "pose", relative_to=model.body_names[0]),
        CenterOfMass(),
    ]
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv), 1.0)
    expected = OperationalSpace(model, tasks, "dense").update(q).inertia_inv.copy()
    ospace = OperationalSpace(model, tasks, method).update(q)
    np.testing.assert_allclose(ospace.inertia_inv, expected, atol=1e-9 * abs(expected).max())
    assert ospace.method == method


@everywhere
def test_002_appendix_B_variants_are_in_no_list(method):
    model = load_robot("asimo")
    assert method not in osim.methods() and method not in osim.methods(model)
    ospace = OperationalSpace(model, ["left_hand", "right_hand"], "rjk")
    q = model.random_configuration(np.random.default_rng(0))
    expected = ospace.update(q).inertia_inv.copy()
    ospace.method = method  # but by name, also while it runs
    np.testing.assert_allclose(ospace.update(q).inertia_inv, expected, rtol=1e-9, atol=1e-12)
    with pytest.raises(OpspaceError, match="sparse_ltdl"):
        Controller(load_robot("arm7"), [PoseTask("link7")], method=method)
    with pytest.raises(MethodError, match=method):
        ospace.method = "no_such_method"  # which names the variants, too


def test_002_appendix_B_the_one_sided_recursion_needs_more_blocks_and_the_original_all():
    """Of asimo's hands and feet RJK needs 28 + 39 blocks of bodies; by node, more of either kind."""
    space = OperationalSpace(load_robot("asimo"), ["left_hand", "right_hand", "left_foot"])._space
    sizes = {
        name: get_method(name).for_space(space).places
        for name in ("rjk", "chang_khatib", "rjk_original")
    }
    assert sizes["rjk"] < sizes["chang_khatib"] < sizes["rjk_original"]
    n = len(space.supports.parent_A)
    assert sizes["rjk_original"] == n * (n + 1) // 2
