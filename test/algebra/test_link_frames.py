# SPDX-License-Identifier: Apache-2.0
"""Paper 002 appendix B on real robots: frames by Denavit and Hartenberg on a tree, figure 14 in link coordinates."""

import numpy as np
import pytest
from helpers.rjk_cases import in_link_axes
from helpers.support import load_quietly, urdf_path

from opspace_ctrl import bias_forces, frame_jacobian, frame_pose, load_robot, mass_matrix
from opspace_ctrl.algebra.counts import dynamics_counted
from opspace_ctrl.algebra.counts.asimo import asimo_variant
from opspace_ctrl.algebra.counts.counted import count_dynamics
from opspace_ctrl.algebra.counts.generic_product import accesses, generic_product
from opspace_ctrl.algebra.counts.link_frames import link_frames, rjk_in_link_coordinates
from opspace_ctrl.algebra.counts.tables import PAPER_H_C, table_2
from opspace_ctrl.errors import MethodError
from opspace_ctrl.model.placements import body_placements
from opspace_ctrl.model.rotations import skew


@pytest.mark.parametrize(
    ("name", "base"),
    [("arm7", "fixed"), ("asimo", "floating"), ("ur5_robot", "fixed"), ("kinova", "fixed")],
)
def test_002_figure_14_rjk_in_link_coordinates_is_j_hinv_jt(name, base):
    """Screws lead from link to link as the poses do, z is on the joint, and Lambda^-1 is that of the world axes."""
    if name in ("arm7", "asimo"):
        model = load_robot(name, base=base, armature=0.0)
    else:
        model = load_quietly(urdf_path(name), base, armature=0.0)
    q = model.random_configuration(np.random.default_rng(5))
    frames = link_frames(model, q)
    for k, p in enumerate(model.parent):
        R, x = frames.rotation[k], frames.position[k]
        if p >= 0:
            turn, shift = frames.links[k].pose
            np.testing.assert_allclose(frames.rotation[p] @ turn, R, atol=1e-9)
            np.testing.assert_allclose(
                frames.position[p] + frames.rotation[p] @ shift, x, atol=1e-9
            )
            assert [screw.axis for screw in frames.links[k].screws][:2] == [2, 0]
    tips = [i for i in range(len(model.parent)) if not model.children(i)]
    J = []
    for i in tips:
        there = frame_jacobian(model, q, model.body_names[i])
        offset = frames.position[i] - frame_pose(model, q, model.body_names[i])[0]
        there[:3] += np.cross(there[3:].T, offset).T
        J.append(in_link_axes(there, frames.rotation[i]))
    J = np.vstack(J)
    expected = J @ np.linalg.solve(mass_matrix(model, q), J.T)
    found = rjk_in_link_coordinates(frames, tips)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_002_appendix_B_one_child_of_each_link_is_two_screws_away():
    """Asimo: of 34 transforms 28 are of two screws and 6 of three."""
    model = load_robot("asimo", armature=0.0)
    counts = [
        len(link.screws)
        for link, p in zip(link_frames(model, model.neutral()).links, model.parent)
        if p >= 0
    ]
    assert (counts.count(2), counts.count(3)) == (28, 6)


def test_002_appendix_B_what_figure_14_cannot_carry_is_refused_by_name():
    with pytest.raises(MethodError, match="armature"):
        link_frames(load_robot("arm7", armature=0.3), load_robot("arm7").neutral())


def test_002_figure_7_tests_every_element_and_multiplies_as_often():
    """960 elements are looked at instead of 312; the result is that of the product."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 8)) * (rng.random((5, 8)) > 0.6)
    x = rng.normal(size=8)
    np.testing.assert_allclose(generic_product(A, x), A @ x, atol=1e-14)
    assert accesses() == {"figure 7": 960, "figure 5": 312}


def test_002_table_2_counted_h_and_c_are_those_of_the_robot():
    """H and C in link coordinates, the kernels that are counted, beside the package's own in world axes."""
    model = load_robot("asimo", armature=0.0)
    rng = np.random.default_rng(0)
    q, v = model.random_configuration(rng), rng.normal(size=model.nv)
    frames, (R, p) = link_frames(model, q), body_placements(model, q)
    h = np.array([[M[2, 4], M[0, 5], M[1, 3]] for M in frames.M])
    inertia, carried = frames.M[:, :3, :3], np.array(model.mass)
    for i in range(len(carried) - 1, 0, -1):
        carried[model.parent[i]] += carried[i]
    turn, r = R[0].T @ frames.rotation[0], R[0].T @ (frames.position[0] - p[0])
    T = np.eye(model.nv)  # from the base's motion in link coordinates, angular first
    T[:6, :6] = np.block([[skew(r) @ turn, turn], [turn, np.zeros((3, 3))]])
    found = dynamics_counted.mass_matrix(model.parent, frames.links, carried, h, inertia)
    expected = T.T @ mass_matrix(model, q) @ T
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())
    there = np.linalg.solve(T, v)
    falling = np.append(np.zeros(3), -frames.rotation[0].T @ model.gravity)
    found = dynamics_counted.bias_forces(
        model.parent,
        frames.links,
        np.array(model.mass),
        h,
        inertia,
        there[:6],
        falling,
        np.append(0.0, there[6:]),
    )
    expected = T.T @ bias_forces(model, q, v)
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


def test_002_table_2_shows_what_h_and_c_cost_beside_the_printed_number():
    ours = count_dynamics(asimo_variant())
    assert ours.d == 0 and 0.8 < ours.total / PAPER_H_C.total < 1.5
    first = table_2().rows[0]
    assert first.cells[1:3] == (str(PAPER_H_C), str(ours)) and first.agrees is None
