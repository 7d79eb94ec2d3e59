# SPDX-License-Identifier: Apache-2.0
"""The packed kernels that ship against the algorithms as the paper prints them, on the same inputs.

`osim.sparse` and `algebra.counts.rjk_counted` are what is counted; this proves that the control loop computes the same.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from helpers.osim_cases import Dense, end_frames, norm, random_state, random_tasks
from helpers.rjk_cases import counted_inputs, counted_lambda_inverse, in_link_axes
from helpers.support import load_quietly, urdf_path
from oracles.random_trees import random_model, random_motion
from oracles.reference import assert_close

from opspace_ctrl import OperationalSpace, frame_jacobian, load_robot, mass_matrix
from opspace_ctrl.osim import sparse

SHIPPED = ("arm7", "asimo", "free_flyer")
# the first, second and last mimic
WHEEL = ("panda", "talos_full_v2", "icub_reduced", "solo12", "baxter")


class Kernels:
    """The packed state of an `OperationalSpace` as ordinary matrices, and the inputs of the literal kernels."""

    def __init__(self, model, tasks, q, v, method):
        self.ospace = OperationalSpace(model, tasks, method).update(q, v)
        self.Lambda_inv = self.ospace.inertia_inv.copy()
        self.space, self.model = self.ospace._space, model
        self.H, self.J = mass_matrix(model, q), self.ospace.jacobian.copy()
        self.lambda_e = model.parent_expanded
        self.b_e = np.zeros(self.ospace.m, int)
        for row, count, slots in self._blocks():
            self.b_e[row : row + count] = slots[-1]
        self.dense = Dense(self.H, self.J)
        assert all(self.space.supports.is_path)

    def _blocks(self):
        space = self.space
        for b in range(space.blocks):
            first = space.block_first[b]
            slots = space.support[first : first + space.block_slots[b]]
            yield space.block_row[b], space.block_rows[b], slots

    def by_row(self, registers):
        """(m, nv) of what is kept by register."""
        found, first = np.zeros((self.ospace.m, self.model.nv)), 0
        for row, count, slots in self._blocks():
            found[row : row + count, slots] = registers[first : first + len(slots), :count].T
            first += len(slots)
        return found

    def factor(self):
        """The lower triangle (nv, nv) of what is kept by depth, and D_inv."""
        tree, found = self.space.tree, np.zeros((self.model.nv, self.model.nv))
        for k, depth in enumerate(tree.depth_e):
            found[k, tree.path_e[k, : depth + 1]] = tree.H[k, : depth + 1]
        return found, tree.D_inv.copy()

    def close(self, ours, literal):
        assert_close(ours, literal, norm(literal), self.dense.tolerance)


@cache
def inputs(name):
    """A robot (or random tree, by number) at a random state, with tasks on frames: their supports are paths."""
    if isinstance(name, int):
        model = random_model(
            name, 5 + 4 * name, ("fixed", "floating")[name % 2], forest=1 + name % 3 // 2
        )
        return (
            model,
            random_tasks(model, name, most=4, kinds=("frame",)),
            *random_motion(model, name)[:2],
        )
    model = load_robot(name) if name in SHIPPED else load_quietly(urdf_path(name), armature=0.02)
    return model, end_frames(model), *random_state(model, 3)


every_input = pytest.mark.parametrize("name", [*SHIPPED, *WHEEL, *range(8)])


@every_input
def test_shipped_ltl_kernels_equal_figures_8_and_10_and_equation_32(name):
    k = Kernels(*inputs(name), "sparse_ltl")
    tree, ancestors = (k.lambda_e, k.b_e), sparse.ancestor_table(k.lambda_e, k.b_e)
    L = sparse.ltl(np.tril(k.H), k.lambda_e)
    ours, dinv = k.factor()
    k.close(ours, L)
    k.close(1.0 / dinv, np.diagonal(L))
    Y = sparse.y_ltl(k.J, L, *tree)
    k.close(k.by_row(k.space.Y_D), Y)
    k.close(k.Lambda_inv, sparse.yyt(Y, k.lambda_e, ancestors))
    Lambda = k.ospace.inertia
    assert_close(
        k.ospace.jbar,
        sparse.jbar_ltl(Y, L, Lambda, *tree),
        norm(k.dense.response) * norm(Lambda),
        k.dense.tolerance,
    )


@every_input
def test_shipped_ltdl_kernels_equal_figures_9_and_10_and_equation_33(name):
    k = Kernels(*inputs(name), "sparse_ltdl")
    tree, ancestors = (k.lambda_e, k.b_e), sparse.ancestor_table(k.lambda_e, k.b_e)
    L_d = sparse.ltdl(np.tril(k.H), k.lambda_e)
    ours, dinv = k.factor()
    k.close(np.tril(ours, -1), np.tril(L_d, -1))
    k.close(1.0 / dinv, np.diagonal(L_d))
    Y_d, Y_D = sparse.y_ltdl(k.J, L_d, *tree)
    k.close(k.by_row(k.space.Y_d), Y_d)
    k.close(k.by_row(k.space.Y_D), Y_D)
    k.close(k.Lambda_inv, sparse.ydydt(Y_D, Y_d, k.lambda_e, ancestors))
    Lambda = k.ospace.inertia
    assert_close(
        k.ospace.jbar,
        sparse.jbar_ltdl(Y_D, L_d, Lambda, *tree),
        norm(k.dense.response) * norm(Lambda),
        k.dense.tolerance,
    )


@every_input
def test_shipped_null_space_and_torque_equal_equations_10_and_11_by_the_literal_kernels(name):
    k = Kernels(*inputs(name), "sparse_ltdl")
    tree, rng = (k.lambda_e, k.b_e), np.random.default_rng(0)
    Lambda = np.linalg.pinv(k.Lambda_inv, rcond=1e-9, hermitian=True)
    L_d = sparse.ltdl(np.tril(k.H), k.lambda_e)
    Jbar = sparse.jbar_ltdl(sparse.y_ltdl(k.J, L_d, *tree)[1], L_d, Lambda, *tree)
    N, size = sparse.null_space(k.J, Jbar, *tree), norm(Jbar) * norm(k.J)
    lost = k.dense.tolerance * norm(k.Lambda_inv) * norm(Lambda)
    assert_close(k.ospace.null_space, N, 1.0 + size, lost)
    force, tau0 = rng.normal(size=k.ospace.m), rng.normal(size=k.model.nv)
    expected = sparse.jtx(k.J, force, *tree) + N.T @ tau0
    assert_close(
        k.ospace.torque(force, tau0),
        expected,
        norm(k.J) * norm(force) + (1.0 + size) * norm(tau0),
        lost,
    )


@pytest.mark.parametrize(
    "name, base",
    [  # all joints revolute, as the counted recursion wants them
        ("arm7", "fixed"),
        ("asimo", "floating"),
        ("free_flyer", "floating"),
        ("xarm7", "fixed"),
        ("ur5_robot", "fixed"),
        ("solo12", "floating"),
        ("g1_29dof_rev_1_0", "floating"),
        ("talos_reduced", "floating"),
    ],
)
def test_shipped_rjk_equals_the_counted_recursion_of_figure_14(name, base):
    """World axes against link axes, poses of all tips."""
    model = load_robot(name, base=base) if name in SHIPPED else load_quietly(urdf_path(name), base)
    q, _ = random_state(model, 5)
    poses, links, M, tips = counted_inputs(model, q)
    counted = counted_lambda_inverse(model.parent, links, M, tips, floating=base == "floating")
    ours = OperationalSpace(model, [model.body_names[i] for i in tips], "rjk").update(q).inertia_inv
    X = np.zeros(ours.shape)
    for k, i in enumerate(tips):
        X[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = in_link_axes(np.eye(6), poses[i][0])
    J = np.vstack([frame_jacobian(model, q, model.body_names[i]) for i in tips])
    dense = Dense(mass_matrix(model, q), J)
    assert_close(X @ ours @ X.T, counted, dense.size("inertia_inv"), dense.tolerance)
