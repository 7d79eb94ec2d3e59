# SPDX-License-Identifier: Apache-2.0
"""Every method on every robot and task: 2,000 random trees and all robots of the wheel, against dense vector algebra.

`make proof` runs this folder; `make test` has a smaller part of it, in test/osim/test_trees.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from helpers.osim_cases import Dense, end_frames, random_tasks, task_motion
from helpers.support import load_quietly, robots, urdf_path
from oracles.random_trees import SHAPES, random_model, random_motion
from oracles.reference import Reference, assert_close, derived_tolerance

from opspace_ctrl import (
    CenterOfMass,
    OperationalSpace,
    Task,
    dynamics,
    frame_jacobian,
    load_robot,
)
from opspace_ctrl.osim import methods

ALL = ("dense", "sparse_ltl", "sparse_ltdl", "rjk", "efpa", "pv_osim", "pv_osimr", "base_invariant")
TREES, CHUNK = 2000, 100


def random_case(seed):
    """A random robot, or forest, of any shape; its mimic joints are tied closely, but for every fifth robot."""
    rng = np.random.default_rng(seed)
    model = random_model(
        seed,
        bodies=int(rng.integers(1, 26)),
        base=("fixed", "floating", "any")[rng.integers(3)],
        mimic=float(rng.choice([0.0, 0.3, 0.6])),
        forest=int(rng.choice([1, 1, 1, 2, 3])),
        shape=SHAPES[rng.integers(3)],
        armature=bool(rng.integers(2)),
        near=seed % 5 != 0,
    )
    tasks = random_tasks(model, seed)
    if seed % 4 == 0:  # a task twice, and one on everything below it
        frame = tasks[0].frame if isinstance(tasks[0], Task) else model.body_names[-1]
        body = model.frame_body[model.frame_index(frame)]
        tasks += [tasks[0], *(Task(model.body_names[b], "position") for b in model.support(body))]
    return model, tasks


def is_free(model):
    """Do all trees of the model float, without armature?"""
    return "base_invariant" in methods(model)


def check(model, tasks, seed):
    """Lambda^-1, J H^-1 tau0 within the torque, and forward dynamics, by every method that lists the model."""
    q, v, tau0 = random_motion(model, seed)
    reference = Reference(model, q, v)
    H = reference.mass_matrix()
    J = np.vstack([task_motion(reference, task, v)[0] for task in tasks])
    dense, ospace = Dense(H, J), OperationalSpace(model, tasks, "dense")
    force = np.random.default_rng(seed).normal(size=len(J))
    able = methods(model)
    for name in able:
        ospace.method = name
        ospace.update(q, v)
        if np.linalg.norm(J) < 1e-9:
            assert np.abs(ospace.inertia_inv).max() <= of_rounding(model, q, H)
            continue
        dense.check("inertia_inv", ospace.inertia_inv)
        torque = ospace.torque(force, tau0).copy()
        ospace.method = "dense"
        expected = ospace.update(q, v).torque(force, tau0)
        scale = np.linalg.norm(J) * np.linalg.norm(force) + np.linalg.norm(tau0)
        assert_close(torque, expected, scale, lost_digits(dense))
    accelerate(model, reference, H, q, v, tau0)
    return able


def of_rounding(model, q, H):
    """How large Lambda^-1 may be where nothing moves the tasks, as the centre of mass across the plane of a planar arm.

    J is zero then but for rounding errors, of eps times what is added up in it, so that there is no scale by
    which to compare two of them; but |J H^-1 J^T| is at most |J|^2 |H^-1|.
    """
    largest = max(np.abs(frame_jacobian(model, q, name)).max() for name in model.body_names)
    error = 8.0 * np.finfo(float).eps * max(largest, 1.0) * model.nv
    return error**2 * np.linalg.norm(np.linalg.inv(H), 2)


def lost_digits(dense):
    """What rounding may do to N^T tau0: the tolerance, times how small the smallest direction left is."""
    values = np.linalg.eigvalsh(dense.inertia_inv)
    left = values[values > 1e-10 * values[-1]]
    return dense.tolerance * (values[-1] / left[0] if left.size else 1.0)


def accelerate(model, reference, H, q, v, tau):
    bias, size = reference.inverse_dynamics()
    expected = np.linalg.solve(H, tau - bias)
    room = np.abs(np.linalg.inv(H)).max() * (np.abs(tau).max(initial=0.0) + size)
    for name in ("auto", *dynamics.forward_methods(model)):
        found = dynamics.forward_dynamics(model, q, v, tau, method=name)
        assert_close(found, expected, max(room, 1e-9), derived_tolerance(H))


@pytest.mark.parametrize("first", range(0, TREES, CHUNK))
def test_all_methods_agree_with_dense_algebra_on_random_trees(first):
    seen = set()
    for seed in range(first, first + CHUNK):
        model, tasks = random_case(seed)
        able = check(model, tasks, seed)
        seen.update(able)
        if seed % 5 != 0:
            assert able[:7] == ALL[:7], f"seed {seed}: {able}"
    assert seen == set(ALL)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", [*robots(), "arm7", "asimo", "free_flyer"])
def test_all_methods_carry_every_robot(name, base):
    shipped = name in ("arm7", "asimo", "free_flyer")
    model = load_robot(name, base=base) if shipped else load_quietly(urdf_path(name), base)
    if model.nv == 0:  # a drone bolted to the world: nothing moves, and no task is possible
        assert base == "fixed"
        return
    assert methods(model) == (ALL if is_free(model) else ALL[:-1])
    assert is_free(model) == (base == "floating")
    ends = end_frames(model)[:4]
    tied = [model.body_names[b] for b in np.flatnonzero(model.is_mimic)[:2]]
    pairs = [Task(a, "position", relative_to=b) for a, b in zip(ends, [*ends[1:], *tied]) if a != b]
    check(model, [*map(Task, ends), *map(Task, tied), CenterOfMass(), *pairs[:2]], 1)
