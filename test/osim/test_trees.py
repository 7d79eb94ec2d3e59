# SPDX-License-Identifier: Apache-2.0
"""Every method on random trees and forests, any tasks, against dense vector algebra."""

from __future__ import annotations

import numpy as np
from helpers.osim_cases import Dense, norm, random_tasks, scaled_condition, task_motion
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.random_trees import random_motion, seeds, trees
from oracles.reference import Reference, assert_close

from opspace_ctrl import OperationalSpace, Task
from opspace_ctrl.osim import methods

many = settings(max_examples=50)
some = settings(many, max_examples=25)


class Case:
    """A model with tasks at a random state, and J and H by `Reference`."""

    def __init__(self, model, seed, tasks=None):
        self.model, self.tasks = model, random_tasks(model, seed) if tasks is None else tasks
        self.q, self.v, self.tau0 = random_motion(model, seed)
        reference = Reference(model, self.q, self.v)
        J, bias = zip(*(task_motion(reference, task, self.v) for task in self.tasks))
        self.J, self.bias, self.H = np.vstack(J), np.hstack(bias), reference.mass_matrix()
        self.dense = Dense(self.H, self.J)
        self.force = np.random.default_rng(seed).normal(size=len(self.J))

    def ospace(self, method="sparse_ltdl"):
        return OperationalSpace(self.model, self.tasks, method).update(self.q, self.v)

    def each_method(self):
        """The operational space by every method that can carry the robot."""
        ospace = self.ospace()
        for name in methods(self.model):
            ospace.method = name
            yield ospace


def cases(**fixed):
    return st.builds(Case, trees(**fixed), seeds())


def is_regular(case):
    """Are the tasks so far from singular that dense inverses mean something?"""
    diagonal = np.diagonal(case.dense.inertia_inv)
    return diagonal.min() > 1e-8 * diagonal.max() and scaled_condition(case.dense.inertia_inv) < 1e5


def lost_digits(case):
    """What rounding may do to a projector: the tolerance, times how small the smallest direction left is."""
    values = np.linalg.eigvalsh(case.dense.inertia_inv)
    left = values[values > 1e-10 * values[-1]]
    return case.dense.tolerance * (values[-1] / left[0] if left.size else 1.0)


@many
@given(cases())
def test_jacobian_and_bias_acceleration_equal_vector_algebra(case):
    ospace = case.ospace()
    assert_close(ospace.jacobian, case.J, max(1.0, norm(case.J)))
    assert_close(
        ospace.bias_acceleration, case.bias, max(1.0, norm(case.J)) * (1.0 + norm(case.v)) ** 2
    )


@many
@given(cases())
def test_002_7_every_able_method_gives_j_hinv_jt(case):
    for ospace in case.each_method():
        case.dense.check("inertia_inv", ospace.inertia_inv)


@many
@given(cases())
def test_inverse_inertia_is_symmetric_and_positive_semidefinite(case):
    for ospace in case.each_method():
        found = ospace.inertia_inv
        assert (found == found.T).all()
        assert np.linalg.eigvalsh(found)[0] >= -case.dense.tolerance * case.dense.size(
            "inertia_inv"
        )


@some
@given(cases(max_bodies=40))
def test_inertia_jbar_null_space_and_torque_equal_dense_algebra_where_regular(case):
    assume(is_regular(case))
    for ospace in case.each_method():
        case.dense.check_all(ospace)
        assert (ospace.rank, ospace.damped) == (ospace.m, False)
        case.dense.check_torque(ospace.torque(case.force, case.tau0), case.force, case.tau0)
        tick = ospace.control(case.q, case.v, case.force, case.tau0, compensate=False)
        case.dense.check_torque(tick, case.force, case.tau0)


@many
@given(cases())
def test_002_11_torque_is_jt_f_plus_null_space_transposed_tau0_also_where_singular(case):
    for ospace in case.each_method():
        expected = case.J.T @ case.force + ospace.null_space.T @ case.tau0
        scale = norm(case.J) * norm(case.force) + norm(case.tau0)
        assert_close(ospace.torque(case.force, case.tau0), expected, scale, lost_digits(case))


@many
@given(cases())
def test_null_space_is_a_projector_that_moves_no_task(case):
    """N N = N and J H^-1 N^T = 0, also with more rows than freedoms."""
    # a task that nothing moves has a J of rounding errors, and no scale to measure by
    assume(norm(case.J) > 1e-9)
    for ospace in case.each_method():
        N = ospace.null_space
        assert_close(N @ N, N, 1.0, lost_digits(case))
        assert_close(
            case.dense.response.T @ N.T, 0.0 * case.J, norm(case.dense.response), lost_digits(case)
        )
        assert round(np.trace(N)) == case.model.nv - ospace.rank


@some
@given(cases(max_bodies=30), seeds())
def test_002_9_jbar_gives_the_task_velocity_with_the_least_kinetic_energy(case, seed):
    """Any other v with the same J v, v + N z, costs no less; and J Jbar = 1."""
    assume(is_regular(case))
    ospace, rng = case.ospace(), np.random.default_rng(seed)
    least, z = ospace.jbar @ rng.normal(size=ospace.m), rng.normal(size=case.model.nv)
    scale = norm(case.H) * norm(least) * (1.0 + norm(ospace.null_space)) * norm(z)
    assert_close(least @ case.H @ ospace.null_space @ z, 0.0, scale, lost_digits(case))
    assert_close(case.J @ ospace.jbar, np.eye(ospace.m), 1.0, lost_digits(case))


@many
@given(trees(), seeds())
def test_002_17_19_columns_of_a_pose_are_nonzero_for_exactly_the_joints_between_frame_and_reference(
    model, seed
):
    """Exactly zero elsewhere, not only small."""
    tasks = [
        Task(t.frame, relative_to=t.relative_to)
        for t in random_tasks(model, seed)
        if isinstance(t, Task)
    ]
    assume(tasks)
    J = OperationalSpace(model, tasks, "sparse_ltdl").update(random_motion(model, seed)[0]).jacobian
    for k, task in enumerate(tasks):
        assert (J[6 * k : 6 * k + 6] != 0.0).any(axis=0).tolist() == moving(model, task).tolist()


def moving(model, task):
    """Which coordinates (nv,) change the task: joints on one of the two supports but not on both."""
    ends = [
        int(model.frame_body[model.frame_index(f)]) for f in (task.frame, task.relative_to) if f
    ]
    supports = [set(model.support(b)) if b >= 0 else set() for b in ends]
    bodies = supports[0] if len(ends) == 1 else supports[0] ^ supports[1]
    found = np.zeros(model.nv, bool)
    for b in bodies:
        size = {2: 3, 3: 6}.get(int(model.joint_type[b]), 1)
        found[model.v_index[b] : model.v_index[b] + size] = True
    return found


@some
@given(trees(max_bodies=10, forest=3), seeds())
def test_blocks_between_robots_of_a_forest_are_exactly_zero(model, seed):
    tasks = random_tasks(model, seed, kinds=("frame",))
    tasks += [task for prefix in ("r0_", "r1_", "r2_") for task in tips(model, prefix)]
    case = Case(model, seed, tasks)
    owner = np.concatenate([[t.frame[:3]] * len(t.selection()) for t in tasks])
    for ospace in case.each_method():
        assert not ospace.inertia_inv[owner[:, None] != owner].any()


def tips(model, prefix):
    """A task on the last moving link of a robot of the forest, if it has one."""
    own = [name for name in model.body_names if name.startswith(prefix)]
    return [Task(own[-1], "position")] if own else []


@some
@given(cases(max_bodies=30), st.data())
def test_a_duplicated_task_repeats_its_block_and_adds_no_rank(case, data):
    which = data.draw(st.integers(0, len(case.tasks) - 1))
    double = Case(case.model, 0, [*case.tasks, case.tasks[which]])
    double.q, double.v = case.q, case.v
    start = sum(len(t.selection()) for t in case.tasks[:which])
    own = slice(start, start + len(case.tasks[which].selection()))
    for ospace, single in zip(double.each_method(), case.each_method()):
        m = single.m
        case.dense.check("inertia_inv", ospace.inertia_inv[:m, :m])
        repeated = single.inertia_inv[own]
        assert_close(
            ospace.inertia_inv[m:, :m], repeated, norm(single.inertia_inv), case.dense.tolerance
        )
        assert_close(
            ospace.inertia_inv[m:, m:],
            repeated[:, own],
            norm(single.inertia_inv),
            case.dense.tolerance,
        )
        assert ospace.damped and np.isfinite(ospace.inertia).all()
        assert ospace.rank <= np.linalg.matrix_rank(case.J, tol=1e-12 * max(norm(case.J), 1e-300))
