# SPDX-License-Identifier: Apache-2.0
"""Singular and nearly singular tasks: the rule of `osim.singular`, its bound, and that no such case is overlooked."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from helpers.osim_cases import Dense, end_frames, norm, random_state, random_tasks
from helpers.support import load_quietly, urdf_path
from helpers.urdf_text import joint, limit, link, robot
from oracles.reference import assert_close

from opspace_ctrl import (
    CenterOfMass,
    OperationalSpace,
    Task,
    load_robot,
    load_urdf,
    mass_matrix,
    osim,
)
from opspace_ctrl.compiled.jit import kernel
from opspace_ctrl.compiled.workspace import Workspace, count, result, scratch
from opspace_ctrl.osim.eigen import diagonalise, tridiagonalise
from opspace_ctrl.osim.prepared import CUT, DAMPING
from opspace_ctrl.osim.response import typical_response

STRETCHED = {  # tasks of arm7, the joint that sweeps, the pose it sweeps through (joint 3 is the elbow, from 0)
    "elbow": ("tool", 3, [0.3, 0.6, -0.4, 0.0, 0.5, 1.1, 0.2]),
    "orientation": (("tool", "orientation"), 2, [0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2]),
    "all straight": ("tool", 3, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    "position": (("tool", "position"), 3, [0.2, 0.0, 0.1, 0.0, 0.3, 0.0, 0.0]),
}


@cache
def arm(tasks, method="sparse_ltdl"):
    """An operational space of arm7, and the square root of its typical response, in which rows are measured."""
    ospace = OperationalSpace(load_robot("arm7"), [tasks], method)
    return ospace, np.sqrt(typical_response(ospace._now))


def scaled(ospace, root):
    """A = r^-1/2 Lambda^-1 r^-1/2."""
    return ospace.inertia_inv / np.outer(root, root)


def sweep(name, reach, steps):
    """(ospace, root, q) of arm7 as one joint goes through its singular position in equal steps."""
    tasks, swept, pose = STRETCHED[name]
    ospace, root = arm(tasks)
    for angle in np.linspace(-reach, reach, steps):
        q = np.array(pose)
        q[swept] += angle
        yield ospace.update(q), root, q


every_sweep = pytest.mark.parametrize("name", STRETCHED)
RESULTS = ("inertia", "jbar", "null_space")


# ---- the rule ----


@every_sweep
@pytest.mark.parametrize("reach", [0.5, 1e-2, 1e-3, 1e-5])
def test_through_a_singularity_all_is_finite_and_the_inertia_keeps_its_bound(name, reach):
    """Lambda <= 1 / DAMPING, its rows measured in their typical response."""
    met = set()
    for ospace, root, _ in sweep(name, reach, 101):
        assert all(np.isfinite(getattr(ospace, result)).all() for result in RESULTS)
        assert norm(ospace.inertia * np.outer(root, root)) <= (1.0 + 1e-9) / DAMPING
        met.add(ospace.damped)
    assert True in met  # the middle of the sweep


@every_sweep
def test_inertia_and_truncated_null_space_are_the_documented_functions_of_the_eigenvalues(name):
    for ospace, root, _ in sweep(name, 1e-3, 41):
        a, u = np.linalg.eigh(scaled(ospace, root))
        falling = np.maximum(a - CUT, 0.0) / (DAMPING * (DAMPING - CUT))
        gain = np.where(a >= DAMPING, 1.0 / np.maximum(a, DAMPING), falling)
        noise = 1e-13 / DAMPING**2  # what rounding of an eigenvalue near the threshold becomes
        assert_close(ospace.inertia * np.outer(root, root), u * gain @ u.T, 1.0, noise)
        assert ospace.rank == np.count_nonzero(a > CUT)
        assert ospace.damped == (a[0] < DAMPING)
        if a[0] > 1e-12:
            assert ospace.condition == pytest.approx(a[-1] / a[0], rel=1e-3)


@every_sweep
def test_inertia_jbar_and_the_force_made_from_it_are_continuous(name):
    """Steps a sixteenth as long make jumps at most a fifth as high: a true jump would stay."""
    wanted = np.random.default_rng(0).normal(size=6)

    def highest_jumps(steps):
        last, highest = None, np.zeros(3)
        for ospace, _, _ in sweep(name, 2e-3, steps):
            force = ospace.inertia @ wanted[: ospace.m]
            now = [ospace.inertia.copy(), ospace.jbar.copy(), ospace.torque(force).copy()]
            if last is not None:
                highest = np.maximum(highest, [np.abs(x - y).max() for x, y in zip(now, last)])
            last = now
        return highest

    coarse, fine = highest_jumps(1001), highest_jumps(16001)
    assert (fine <= 0.2 * coarse).all(), (coarse, fine)


@every_sweep
@pytest.mark.parametrize("reach", [0.3, 1e-3, 3e-5])
def test_null_space_is_a_projector_of_the_right_rank_that_enlarges_no_torque(name, reach):
    """N^T tau0 is never larger than tau0, in the metric of H^-1, also where N loses a direction."""
    tau0 = np.random.default_rng(0).normal(size=7)
    for ospace, root, q in sweep(name, reach, 61):
        N, a = ospace.null_space, np.linalg.eigvalsh(scaled(ospace, root))
        lost = 1e-13 / a[a > CUT][0]
        assert_close(N @ N, N, 1.0 + norm(N) ** 2, lost)
        assert round(np.trace(N)) == 7 - ospace.rank
        H, left = mass_matrix(ospace.model, q), ospace.torque(None, tau0)
        assert left @ np.linalg.solve(H, left) <= (1.0 + lost) * (tau0 @ np.linalg.solve(H, tau0))


@pytest.mark.parametrize("far", [1.0, 1e4, 1e16])
def test_joint_limits_of_kilometres_do_not_make_a_task_singular(far):
    """What is typical of a task seen from a turning frame is not its motion a kilometre away."""
    text = robot(
        link("world"),
        link("turn"),
        link("slide"),
        link("tilt"),
        joint("j1", "world", "turn"),
        joint("j2", "world", "slide", "prismatic", axis="1 0 0", extra=limit(-far, far)),
        joint("j3", "slide", "tilt", axis="0 1 0"),
        link("tip", None),
        joint("fixed", "tilt", "tip", "fixed", xyz="0.3 0 0.1"),
    )
    ospace = OperationalSpace(load_urdf(text), Task("tip", "position", relative_to="turn"), "dense")
    ospace.update([0.3, 0.5, 0.7])
    assert (ospace.rank, ospace.damped) == (3, False) and ospace.condition < 100.0


@pytest.mark.parametrize("method", ["dense", "sparse_ltl", "sparse_ltdl", "pv_osim"])
def test_a_row_that_rounding_alone_moves_has_no_rank(method):
    """The origin of a link, seen from the link it turns on: its J is 1e-17 and not 0."""
    model, rng = load_robot("asimo"), np.random.default_rng(0)
    task = Task(model.body_names[-1], "position", relative_to=model.body_names[model.parent[-1]])
    ospace, tau0 = OperationalSpace(model, task, method), rng.normal(size=model.nv)
    for seed in range(20):
        ospace.update(*random_state(model, seed))
        assert (ospace.rank, ospace.damped) == (0, True)
        assert_close(ospace.null_space, np.eye(model.nv), 1.0, 1e-12)
        assert_close(ospace.torque(None, tau0), tau0, 1.0, 1e-12)


# ---- what is singular everywhere ----


@pytest.mark.parametrize("method", [m for m in osim.methods() if m != "base_invariant"])
@pytest.mark.parametrize(
    "tasks, rank",
    [
        (["tool", "tool"], 6),
        (["tool", ("link7", "orientation")], 6),
        (["tool", "link7", "link6", "link5"], 7),
        ([("tool", "position")] * 3, 3),
        ([Task("tool", np.ones((3, 6)))], 1),
        ([Task("tool", np.eye(6)[[0, 0, 1]])], 2),
    ],
)
def test_redundant_rows_are_counted_once_by_every_method(tasks, rank, method):
    ospace = OperationalSpace(load_robot("arm7"), tasks, method).update(
        [0.3, 0.6, -0.4, 1.0, 0.5, 1.1, 0.2]
    )
    assert (ospace.rank, ospace.damped) == (rank, True)
    assert ospace.condition > 1.0 / CUT
    assert all(np.isfinite(getattr(ospace, result)).all() for result in RESULTS)
    assert_close(ospace.null_space @ ospace.null_space, ospace.null_space, 1.0, 1e-9)


@pytest.mark.parametrize(
    "tasks", [["tool", "tool"], [("tool", "position")] * 3], ids=("twice", "thrice")
)
def test_a_duplicated_task_shares_the_force_and_leaves_the_torque_as_if_it_were_single(tasks):
    """J^T F for F = Lambda a and N^T tau0 do not know how often a task is written."""
    model, rng = load_robot("arm7"), np.random.default_rng(0)
    q, tau0 = np.array([0.3, 0.6, -0.4, 1.0, 0.5, 1.1, 0.2]), rng.normal(size=7)
    single, double = (
        OperationalSpace(model, t, "sparse_ltdl").update(q) for t in (tasks[0], tasks)
    )
    wanted = rng.normal(size=single.m)
    torques = [
        o.torque(o.inertia @ np.tile(wanted, o.m // single.m), tau0).copy()
        for o in (single, double)
    ]
    assert_close(torques[1], torques[0], norm(torques[0]), 1e-8)


@pytest.mark.parametrize(
    "name", ["go2", "talos_reduced", "kinova", "g1_29dof_rev_1_0", "tiago_dual"]
)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_rank_of_many_duplicated_poses_is_that_of_their_jacobian(name, base):
    """More rows than joints, every method."""
    model = load_quietly(urdf_path(name), base)
    q, _ = random_state(model, 1)
    ospace = OperationalSpace(model, 2 * end_frames(model, 5), "dense").update(q)
    root = np.sqrt(typical_response(ospace._now))
    half = np.linalg.solve(
        np.linalg.cholesky(mass_matrix(model, q)), (ospace.update(q).jacobian / root[:, None]).T
    )
    rank = np.count_nonzero(np.linalg.svd(half, compute_uv=False) ** 2 > CUT)
    for method in osim.methods(model):
        ospace.method = method
        assert (ospace.rank, ospace.damped) == (rank, True)


# ---- nothing is overlooked ----


def test_an_eigenvalue_that_hides_behind_good_pivots_is_found():
    """Eighteen rows whose pivots, one by one, are all above 1e-3 of the typical response."""
    model = load_quietly(urdf_path("simple_humanoid_classical"), "floating")
    ospace = OperationalSpace(model, random_tasks(model, 1040219675, most=6), "sparse_ltdl")
    root = np.sqrt(typical_response(ospace._now))
    for seed, smallest in ((10, 1e-8), (23897, 1e-11)):
        A = scaled(ospace.update(random_state(model, seed)[0]), root)
        assert (
            np.diagonal(np.linalg.cholesky(A)).min() ** 2 > 1e-3
            and np.linalg.eigvalsh(A)[0] < smallest
        )
        assert ospace.damped and ospace.rank == 18 - (smallest < CUT)


@pytest.mark.parametrize(
    "name", ["simple_humanoid_classical", "xarm7", "go2", "icub_reduced", "human", "panda", "so101"]
)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_damping_begins_exactly_where_the_smallest_eigenvalue_falls_below_its_threshold(name, base):
    """Random tasks at random and at nearly straight poses, against all eigenvalues by numpy."""
    model, rng, seen = load_quietly(urdf_path(name), base), np.random.default_rng(len(name)), set()
    for seed in range(12):
        ospace = OperationalSpace(
            model, random_tasks(model, seed, most=1 + seed % 6), "sparse_ltdl"
        )
        root = np.sqrt(typical_response(ospace._now))
        for k in range(30):
            step = rng.uniform(-2.0, 2.0, model.nv)
            if k % 2:
                step = step * (rng.random(model.nv) < 0.3) + 10.0 ** rng.uniform(
                    -8.0, -1.0
                ) * rng.normal(size=model.nv)
            smallest = np.linalg.eigvalsh(
                scaled(ospace.update(model.integrate(model.neutral(), step, 1.0)), root)
            )[0]
            if abs(smallest / DAMPING - 1.0) > 1e-3:
                assert ospace.damped == (smallest < DAMPING), (seed, k, smallest)
                seen.add(ospace.damped)
    assert seen == {True, False}


def test_a_regular_state_takes_the_exact_inverse_right_up_to_the_threshold():
    """From either side of it the inertia is the same function."""
    ospace, root = arm("tool")
    states = [q for *_, q in sweep("elbow", 0.02, 400)]
    near = [
        q
        for q in states
        if DAMPING < np.linalg.eigvalsh(scaled(ospace.update(q), root))[0] < 100.0 * DAMPING
    ]
    assert near
    for q in near:
        dense = Dense(mass_matrix(ospace.model, q), ospace.update(q).jacobian)
        dense.check("inertia", ospace.inertia)


# ---- eigenvalues ----


class _Eigen(Workspace):
    """Rows for `osim.eigen`."""

    m = count("rows")
    A = scratch("m + 2, m", "the matrix, and two rows of scratch")
    d = result("m", "eigenvalues")
    e = scratch("m", "off the diagonal")
    Z = result("m, m", "eigenvectors, row by row")


@kernel
def _decompose(work):
    tridiagonalise(work.A, work.m, work.d, work.e, work.Z)
    diagonalise(work.m, work.d, work.e, work.Z)


def eigen(A):
    """Values and vectors (rows) of a symmetric matrix by `osim.eigen`."""
    work = _Eigen(m=len(A))
    work.A[: len(A)] = A
    _decompose(work)
    return work.d, work.Z


def with_values(values, seed=0):
    values = np.asarray(values, float)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    return (Q * values) @ Q.T


MATRICES = {
    "1 x 1": [[3.0]],
    "1 x 1 zero": [[0.0]],
    "2 x 2": [[2.0, -1.0], [-1.0, 0.5]],
    "zero": np.zeros((7, 7)),
    "identity": np.eye(9),
    "diagonal": np.diag([3.0, -1.0, 0.0, 3.0, 1e-9, 1e9]),
    "ones": np.ones((6, 6)),
    "repeated": with_values([1.0] * 5 + [2.0] * 5 + [0.0] * 4),
    "graded": with_values(10.0 ** -np.arange(0, 24, 2)),
    "nearly repeated": with_values(1.0 + 1e-15 * np.arange(8)),
    "indefinite": with_values(np.linspace(-1, 1, 20)),
    "tiny": 1e-300 * np.eye(4),
    "wilkinson": np.diag(np.abs(np.arange(-10.0, 11))) + np.eye(21, k=1) + np.eye(21, k=-1),
    "first row apart": np.diag([5.0, 1.0, 2.0, 3.0]),
    "large": with_values(np.linspace(0.0, 1.0, 96)),
    **{
        f"random {m}": with_values(np.random.default_rng(m).random(m), m)
        for m in (2, 3, 7, 8, 9, 16, 17, 24, 48)
    },
}


@pytest.mark.parametrize("name", MATRICES)
def test_eigenvalues_and_vectors_equal_those_of_numpy(name):
    A = np.array(MATRICES[name])
    values, Z = eigen(A)
    scale = max(norm(A), 1e-300)
    assert_close(np.sort(values), np.linalg.eigvalsh(A), scale, 1e-13)
    assert_close(Z @ Z.T, np.eye(len(A)), 1.0, 1e-13)
    assert_close(Z.T * values @ Z, 0.5 * (A + A.T), scale, 1e-13)


def test_centre_of_mass_of_a_planar_pair_of_joints_is_singular_out_of_its_plane():
    model = load_robot("arm7", locked={f"joint{k}": 0.4 for k in (1, 3, 5, 6, 7)})
    ospace = OperationalSpace(model, CenterOfMass(), "dense").update([0.5, -0.9])
    assert (model.nv, ospace.rank, ospace.damped) == (2, 2, True)
