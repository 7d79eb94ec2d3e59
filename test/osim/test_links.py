# SPDX-License-Identifier: Apache-2.0
"""Every link's operational-space inertia at once, Lambda(k) = P(k) + S(k), against J H^-1 J^T of each link alone."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.osim_cases import Dense, norm, random_state
from helpers.support import load_quietly, urdf_path
from helpers.urdf_text import arm, joint, link, robot
from hypothesis import given, settings
from oracles.random_trees import random_motion, seeds, trees
from oracles.reference import Reference, assert_close

from opspace_ctrl import OperationalSpace, load_robot, load_urdf
from opspace_ctrl.errors import ConfigurationError, MethodError
from opspace_ctrl.osim import link_inertias

some = settings(max_examples=30)


def check(model, q):
    reference = Reference(model, q)
    H, found = reference.mass_matrix(), link_inertias(model, q)
    assert found.shape == (len(model.body_names), 6, 6)
    for name, inertia in zip(model.body_names, found):
        dense = Dense(H, reference.frame(name)[2])
        dense.check("inertia", inertia)
        assert_close(inertia, inertia.T, norm(inertia))
        assert np.linalg.eigvalsh(inertia)[0] > 0.0


@some
@given(trees(max_bodies=30, base="floating", near=True), seeds())
def test_every_link_of_a_free_tree_has_the_inverse_of_its_j_hinv_jt(model, seed):
    """Any joint types, armature, mimic joints, forests; world axes, linear first, at the link's origin."""
    check(model, random_motion(model, seed)[0])


@pytest.mark.parametrize(
    "name",
    ["asimo", "free_flyer", "g1_29dof_rev_1_0", "talos_reduced", "anymal-kinova", "human", "panda"],
)
def test_every_link_of_a_real_robot_has_the_inverse_of_its_j_hinv_jt(name):
    model = (
        load_robot(name)
        if name in ("asimo", "free_flyer")
        else load_quietly(urdf_path(name), "floating")
    )
    check(model, random_state(model, 1)[0])


def test_the_inertia_of_a_link_is_that_of_a_pose_task_on_it():
    model = load_robot("free_flyer")
    q, _ = random_state(model, 2)
    for name, inertia in zip(model.body_names, link_inertias(model, q)):
        alone = OperationalSpace(model, name, "base_invariant").update(q).inertia
        assert_close(inertia, alone, norm(alone), 1e-11)


def test_a_robot_one_kilometre_away_loses_no_digits():
    model = load_robot("free_flyer")
    q, _ = random_state(model, 3)
    far = q.copy()
    far[:3] += [600.0, -700.0, 400.0]
    assert_close(
        link_inertias(model, far), link_inertias(model, q), norm(link_inertias(model, q)[0]), 1e-13
    )


def test_the_inertia_of_a_link_does_not_depend_on_which_link_is_called_the_base():
    """A chain written from either end: the same bodies, joints and axes, other link origins."""
    com, hinge = (
        {"a": "0.1 0 0.2", "b": "0 0.15 0.1", "c": "0.05 0.1 0"},
        np.array([[0.3, 0.1, 0.0], [0.0, 0.4, 0.2]]),
    )
    forth = load_urdf(
        robot(
            *(link(k, 1.0 + i, xyz) for i, (k, xyz) in enumerate(com.items())),
            joint("ab", "a", "b", xyz=text(hinge[0]), axis="0 0 1"),
            joint("bc", "b", "c", xyz=text(hinge[1]), axis="0 1 0"),
        ),
        "floating",
    )
    # where the origins are when written from c
    moved = {"a": hinge[0], "b": hinge[1], "c": np.zeros(3)}
    back = load_urdf(
        robot(
            *(
                link(k, 1.0 + i, text(np.array(xyz.split(), float) - moved[k]))
                for i, (k, xyz) in enumerate(com.items())
            ),
            joint("bc", "c", "b", axis="0 1 0", xyz="0 0 0"),
            joint("ab", "b", "a", axis="0 0 1", xyz=text(-hinge[1])),
        ),
        "floating",
    )
    ours = dict(zip(forth.body_names, link_inertias(forth, forth.neutral())))
    theirs = dict(zip(back.body_names, link_inertias(back, back.neutral())))
    for name in "abc":
        x, y, z = moved[name]
        to_origin = np.eye(6)  # twist at our origin from the twist at theirs: v - w x r
        to_origin[:3, 3:] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
        assert_close(to_origin.T @ ours[name] @ to_origin, theirs[name], norm(ours[name]), 1e-13)


def text(x):
    return " ".join(repr(float(e)) for e in x)


@pytest.mark.parametrize(
    "model, says",
    [
        (load_robot("arm7"), "fixed base"),
        (load_urdf([arm(), arm()], ["floating", "fixed"], prefixes=["a_", "b_"]), "fixed base"),
    ],
)
def test_robots_that_are_not_free_are_refused(model, says):
    with pytest.raises(MethodError, match=f"base_invariant.*{says}"):
        link_inertias(model, model.neutral())


@pytest.mark.parametrize(
    "q", [np.zeros(3), np.full(21, np.nan), None, np.zeros(21), np.full(21, 1e200)]
)
def test_what_is_no_configuration_is_refused(q):
    with pytest.raises(ConfigurationError):
        link_inertias(load_robot("free_flyer"), q)
