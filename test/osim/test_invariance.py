# SPDX-License-Identifier: Apache-2.0
"""What must not change the operational-space inertia, what must shrink it, and a pendulum in closed form."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from helpers.osim_cases import Dense, norm, random_tasks
from helpers.urdf_text import joint, link, robot
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.random_trees import SCALAR, random_model, random_motion, seeds, trees
from oracles.reference import SIZE, assert_close

from opspace_ctrl import CenterOfMass, OperationalSpace, Task, load_urdf, mass_matrix, osim

some = settings(max_examples=25)


def each_method(model, tasks, q, v):
    """The operational space by every method that can carry the robot (for tasks on frames)."""
    ospace = OperationalSpace(model, tasks, "dense").update(q, v)
    for name in osim.methods(model):
        ospace.method = name
        yield ospace


def shuffled(text, seed):
    """The same URDF with links and joints in another order, hence other numbers."""
    root = ElementTree.fromstring(text)
    elements = list(root)
    root[:] = [elements[k] for k in np.random.default_rng(seed).permutation(len(elements))]
    return ElementTree.tostring(root, encoding="unicode")


def same_motion(model, other, q, v):
    """q and v of `model` in the coordinates of `other`, and the places of its v: v_other = v[order]."""
    q_other, order = other.neutral(), np.zeros(model.nv, int)
    for b, name in enumerate(model.body_joint_names):
        c, size = other.body_joint_names.index(name), SIZE[model.joint_type[b]]
        length = 7 if size == 6 else size
        q_other[other.q_index[c] : other.q_index[c] + length] = q[
            model.q_index[b] : model.q_index[b] + length
        ]
        order[other.v_index[c] + np.arange(size)] = model.v_index[b] + np.arange(size)
    return q_other, v[order], order


@some
@given(
    seeds(), st.integers(2, 40), st.sampled_from(["fixed", "floating"]), st.sampled_from([0.0, 0.3])
)
def test_renumbering_the_bodies_renumbers_the_results_and_changes_nothing_else(
    seed, bodies, base, mimic
):
    model = random_model(seed, bodies, base, mimic, armature=False)
    other = load_urdf(shuffled(model.source, seed), base, model.gravity)
    q, v, tau0 = random_motion(model, seed)
    q_other, v_other, order = same_motion(model, other, q, v)
    tasks = random_tasks(model, seed, most=2, kinds=("frame",))
    dense = Dense(
        mass_matrix(model, q), OperationalSpace(model, tasks, "dense").update(q, v).jacobian
    )
    for a, b in zip(each_method(model, tasks, q, v), each_method(other, tasks, q_other, v_other)):
        assert_close(b.jacobian, a.jacobian[:, order], norm(dense.J))
        assert_close(b.inertia_inv, a.inertia_inv, dense.size("inertia_inv"), dense.tolerance)
        assert_close(b.bias_acceleration, a.bias_acceleration, norm(dense.J) * (1.0 + norm(v)) ** 2)
        assert_close(b.bias_forces, a.bias_forces[order], 1.0 + norm(a.bias_forces))
        assert (b.rank, b.damped) == (a.rank, a.damped)


@some
@given(trees(max_bodies=30, base="floating"), seeds())
def test_a_base_one_kilometre_away_loses_no_digits(model, seed):
    """All but the bases' positions enters only through differences, so that 1e-13 remains of 1e-12."""
    q, v, tau0 = random_motion(model, seed)
    far = q.copy()
    for root in np.flatnonzero(model.parent < 0):
        far[model.q_index[root] : model.q_index[root] + 3] += 1000.0 * np.array([0.6, -0.7, 0.4])
    tasks = random_tasks(model, seed, kinds=("frame", "center"))
    near, away = (
        OperationalSpace(model, tasks, "sparse_ltdl").update(state, v) for state in (q, far)
    )
    for name in ("jacobian", "bias_acceleration", "bias_forces", "inertia_inv"):
        expected = getattr(near, name)
        assert_close(getattr(away, name), expected, max(1.0, norm(expected)), 1e-13)
    assert (away.rank, away.damped) == (near.rank, near.damped)


def test_an_arm_bolted_one_kilometre_from_the_origin_loses_no_digits():
    def arm(x):
        parts = [link(name) for name in "abcd"]
        parts += [
            joint("j1", "a", "b", xyz=f"{x} 0 0.5", axis="0 0 1"),
            joint("j2", "b", "c", axis="0 1 0"),
            joint("j3", "c", "d", axis="1 0 0"),
        ]
        model = load_urdf(robot(*parts))
        return OperationalSpace(model, ["d", ("b", "orientation")], "rjk").update(
            [0.3, -0.7, 1.1], [1.0, -2.0, 0.5]
        )

    near, away = arm(0.0), arm(1000.0)
    for name in ("jacobian", "bias_acceleration", "inertia_inv"):
        expected = getattr(near, name)
        assert_close(getattr(away, name), expected, norm(expected), 1e-14)


@some
@given(seeds(), st.integers(1, 30), st.sampled_from(["fixed", "floating"]))
def test_armature_shrinks_the_inverse_inertia_in_every_direction(seed, bodies, base):
    bare = random_model(seed, bodies, base, types=SCALAR, armature=False)
    geared = load_urdf(bare.source, base, bare.gravity, armature=0.3)
    q, v, _ = random_motion(bare, seed)
    tasks = random_tasks(bare, seed, kinds=("frame",))
    dense = Dense(mass_matrix(bare, q), OperationalSpace(bare, tasks, "dense").update(q).jacobian)
    for a, b in zip(each_method(bare, tasks, q, v), each_method(geared, tasks, q, v)):
        shrunk = np.linalg.eigvalsh(a.inertia_inv - b.inertia_inv)
        assert shrunk[0] >= -dense.tolerance * dense.size("inertia_inv")
        if base == "fixed":  # a free base may be all that a task feels
            assert shrunk[-1] >= 1e-6 * norm(dense.inertia_inv)


PENDULUM = robot(
    link("base"),
    link(
        "rod", 2.0, "0 0 -0.4", inertia='ixx="0.05" iyy="0.055" izz="0.01" ixy="0" ixz="0" iyz="0"'
    ),
    link("tip", None),
    joint("hinge", "base", "rod", xyz="0 0 1.5", axis="0 1 0"),
    joint("end", "rod", "tip", "fixed", xyz="0 0 -0.9"),
)
H = 0.055 + 2.0 * 0.4**2 + 0.03  # about the hinge, armature included


@pytest.mark.parametrize("method", [m for m in osim.methods() if m != "base_invariant"])
def test_a_pendulum_has_the_inverse_inertia_of_its_closed_form(method):
    model, angle, rate = load_urdf(PENDULUM, armature=0.03), 0.6, 1.7
    ospace = OperationalSpace(
        model, Task("tip", [[1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0]]), method
    )
    ospace.update([angle], [rate])
    J = np.array([-0.9 * np.cos(angle), 0.9 * np.sin(angle), 1.0])
    assert_close(ospace.jacobian, J[:, None], 1.0, 1e-15)
    assert_close(ospace.inertia_inv, np.outer(J, J) / H, 1.0, 1e-13)
    assert_close(
        ospace.bias_acceleration,
        0.9 * rate**2 * np.array([np.sin(angle), np.cos(angle), 0.0]),
        1.0,
        1e-14,
    )
    assert_close(ospace.bias_forces, [2.0 * 9.81 * 0.4 * np.sin(angle)], 1.0, 1e-13)
    assert (ospace.rank, ospace.damped) == (1, True)  # three rows, one freedom
    assert_close(ospace.null_space, [[0.0]], 1.0, 1e-12)
    along = OperationalSpace(model, Task("tip", [[1, 0, 0, 0, 0, 0]]), method).update([angle])
    assert_close(along.inertia, [[H / J[0] ** 2]], H / J[0] ** 2, 1e-13)
    assert_close(along.jbar, [[1.0 / J[0]]], 1.0 / abs(J[0]), 1e-13)


@some
@given(trees(max_bodies=20, base="floating", forest=1), seeds())
def test_centre_of_mass_of_a_free_robot_responds_by_its_mass_alone(model, seed):
    """Block 1/M, coupling 1/M with the base's linear rows and 0 with its angular rows."""
    q, v, _ = random_motion(model, seed)
    free = OperationalSpace(model, [CenterOfMass(), model.body_names[0]], "sparse_ltl").update(q, v)
    tolerance = Dense(mass_matrix(model, q), free.jacobian).tolerance * norm(free.inertia_inv)
    expected = np.hstack([np.eye(3), np.eye(3), np.zeros((3, 3))]) / model.mass.sum()
    assert_close(free.inertia_inv[:3], expected, 1.0, tolerance)
