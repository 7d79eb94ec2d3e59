# SPDX-License-Identifier: Apache-2.0
"""Connectivity sets and the expanded parent array, on the figures of [Featherstone2010].

The paper counts from 1 and calls the world 0.
"""

import numpy as np
import pytest
from helpers.urdf_text import joint, link, robot

from opspace_ctrl import load_urdf
from opspace_ctrl.model import connectivity

FIGURE_1 = np.array([0, 1, 1, 2, 2, 3, 3]) - 1


def one_based(numbers):
    return {int(number) + 1 for number in numbers}


def random_parent(rng, n):
    return np.array([rng.integers(-1, i) if i else -1 for i in range(n)])


def test_002_figure_1_children():
    assert one_based(connectivity.children(FIGURE_1, 1 - 1)) == {2, 3}
    assert one_based(connectivity.children(FIGURE_1, 5 - 1)) == set()
    assert one_based(connectivity.children(FIGURE_1, -1)) == {1}


def test_support_of_figure_1():
    assert one_based(connectivity.support(FIGURE_1, 4 - 1)) == {1, 2, 4}
    assert connectivity.support(FIGURE_1, -1) == []


def test_subtree_of_figure_1():
    assert one_based(connectivity.subtree(FIGURE_1, 2 - 1)) == {2, 4, 5}
    assert one_based(connectivity.subtree(FIGURE_1, 1 - 1)) == set(range(1, 8))


def test_002_figure_2_sparsity():
    pattern = connectivity.merged_pattern(
        [set(connectivity.support(FIGURE_1, i)) for i in range(7)], 7
    )
    assert ["".join("x" if nonzero else "." for nonzero in row) for row in pattern] == [
        "xxxxxxx",
        "xx.xx..",
        "x.x..xx",
        "xx.x...",
        "xx..x..",
        "x.x..x.",
        "x.x...x",
    ]
    np.testing.assert_array_equal(connectivity.elimination_tree(pattern), FIGURE_1)


def test_002_figure_3_figure_4_expanded_graph():
    dof = np.array([1, 3, 1, 1, 1, 1, 1])  # joint 2 has three freedoms
    parent_expanded, last = connectivity.expand(FIGURE_1, dof)
    np.testing.assert_array_equal(parent_expanded + 1, [0, 1, 2, 3, 1, 4, 4, 5, 5])
    np.testing.assert_array_equal(last + 1, [1, 4, 5, 6, 7, 8, 9])
    np.testing.assert_array_equal(connectivity.depths(parent_expanded), [1, 2, 3, 4, 2, 5, 5, 3, 3])


def test_loaded_model_has_the_connectivity_of_figure_1():
    parts = [link(f"l{i}") for i in range(8)]
    # Depth first in document order, the bodies come as 1, 2, 4, 5, 3, 6, 7 of the figure.
    for parent, child in [(0, 1), (1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (3, 7)]:
        parts.append(joint(f"j{child}", f"l{parent}", f"l{child}"))
    model = load_urdf(robot(*parts))
    assert model.body_names == ("l1", "l2", "l4", "l5", "l3", "l6", "l7")
    np.testing.assert_array_equal(model.parent, [-1, 0, 1, 1, 0, 4, 4])
    np.testing.assert_array_equal(model.parent_expanded, model.parent)
    assert model.depth == 3
    assert model.children(0) == [1, 4]
    assert model.support(3) == [0, 1, 3]
    assert model.subtree(4) == [4, 5, 6]


def test_expanded_parents_of_floating_and_planar_joints_are_chains():
    xml = robot(
        link("a"), link("b"), link("c"), joint("p", "a", "b", "planar"), joint("r", "a", "c")
    )
    model = load_urdf(xml, "floating")
    np.testing.assert_array_equal(model.parent_expanded, [-1, 0, 1, 2, 3, 4, 5, 6, 7, 5])
    assert model.depth == 9


@pytest.mark.parametrize("seed", range(5))
def test_sets_agree_with_their_definitions_on_random_trees(seed):
    parent = random_parent(np.random.default_rng(seed), 25)
    support = [set(connectivity.support(parent, i)) for i in range(25)]
    for i in range(25):
        assert support[i] == {i} | (support[parent[i]] if parent[i] >= 0 else set())
        assert set(connectivity.subtree(parent, i)) == {j for j in range(25) if i in support[j]}
        assert set(connectivity.children(parent, i)) == {j for j in range(25) if parent[j] == i}
        assert connectivity.depths(parent)[i] == len(support[i])
        for j in range(25):
            assert connectivity.ancestor(parent, i, j) == max(support[i] & support[j], default=-1)


@pytest.mark.parametrize("seed", range(5))
def test_elimination_tree_is_that_of_the_numerical_factor(seed):
    rng = np.random.default_rng(seed)
    A = np.where(rng.uniform(size=(20, 20)) < 0.1, rng.normal(size=(20, 20)), 0.0)
    H = A + A.T + 50.0 * np.eye(20)
    # H = L^T L, eliminated from the last row: Cholesky of the reversed matrix.
    L = np.linalg.cholesky(H[::-1, ::-1])[::-1, ::-1].T
    expected = [max(np.flatnonzero(np.abs(L[k, :k]) > 1e-14), default=-1) for k in range(20)]
    np.testing.assert_array_equal(connectivity.elimination_tree(H != 0.0), expected)
