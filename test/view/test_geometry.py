# SPDX-License-Identifier: Apache-2.0
"""What overlays draw, against dense algebra, SciPy and statics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from opspace_ctrl import (
    Contact,
    OperationalSpace,
    Task,
    frame_jacobian,
    frame_pose,
    load_robot,
    mass_matrix,
)
from opspace_ctrl.view import geometry

RNG = np.random.default_rng(3)


def directions(count=200):
    u = RNG.normal(size=(count, 3))
    return u / np.linalg.norm(u, axis=1)[:, None]


def test_the_belted_ellipsoid_is_the_mass_that_a_push_meets():
    model, u = load_robot("arm7"), directions()
    q = model.random_configuration(RNG)
    inverse = OperationalSpace(model, [("tool", "position")]).update(q).inertia_inv
    points = geometry.belted_ellipsoid(inverse, u, 1e9)
    J, H = frame_jacobian(model, q, "tool")[:3], mass_matrix(model, q)
    for direction, point in zip(u, points):
        # the acceleration along a unit force, by joint-space dynamics
        acceleration = direction @ J @ np.linalg.solve(H, J.T @ direction)
        np.testing.assert_allclose(point, direction / acceleration, rtol=1e-6)


def test_no_mass_is_drawn_larger_than_told():
    flat = np.diag([1.0, 1.0, 0.0])
    points = geometry.belted_ellipsoid(flat, np.eye(3), 25.0)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), [1.0, 1.0, 25.0])


def test_the_manipulability_ellipsoid_holds_all_velocities_of_unit_joint_speed():
    J, u = RNG.normal(size=(3, 7)), directions()
    inverse = np.linalg.inv(J @ J.T)
    points = geometry.manipulability(J, u)
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", points, inverse, points), 1.0, rtol=1e-9)


@pytest.mark.parametrize("rows", ["position", "pose"])
def test_a_stretched_arm_has_lost_the_direction_along_it(rows):
    model, task = load_robot("arm7"), Task("tool", rows)
    straight = [0.3, 0.7, 0.5, 0.0, 0.2, 0.0, 0.0]
    inverse = OperationalSpace(model, [task], "dense").update(straight).inertia_inv
    lost = geometry.lost_wrenches(inverse, task.selection())
    arm = frame_pose(model, straight, "tool")[0] - frame_pose(model, straight, "link2")[0]
    along = [abs(force @ arm) / np.linalg.norm(arm) for force, _ in lost]
    assert max(along) > 0.9
    for force, moment in lost:  # nothing that the joints can do gives way to it
        scaled = np.concatenate([force, moment])
        assert 0.9 < np.linalg.norm(scaled) < 1.1


def test_a_wrist_whose_axes_are_in_line_has_lost_a_turn():
    model, task = load_robot("arm7"), Task("tool", "orientation")
    q = np.array([0.0, 0.35, 0.0, 1.55, 0.0, 0.0, 0.0])
    jacobian = frame_jacobian(model, q, "tool")[3:].copy()
    jacobian[:, :4] = 0.0  # the wrist alone
    inverse = jacobian @ np.linalg.solve(mass_matrix(model, q), jacobian.T)
    ((force, moment),) = geometry.lost_wrenches(inverse + 1e-9 * np.eye(3), task.selection())
    assert not force.any() and np.linalg.norm(moment) == pytest.approx(1.0)
    np.testing.assert_allclose(moment @ jacobian, 0.0, atol=1e-6)
    rim = geometry.ring(moment, 0.1)
    np.testing.assert_allclose(np.linalg.norm(rim, axis=2), 0.1)
    np.testing.assert_allclose(rim @ moment, 0.0, atol=1e-12)
    np.testing.assert_array_equal(rim[1:, 0], rim[:-1, 1])


@pytest.mark.parametrize("count", [3, 8, 100])
def test_the_hull_is_scipys(count):
    points = RNG.normal(size=(count, 2))
    hull = geometry.convex_hull(points)
    theirs = points[ConvexHull(points).vertices]
    assert {tuple(each) for each in hull} == {tuple(each) for each in theirs}
    x, y = hull.T
    area = 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    assert area == pytest.approx(ConvexHull(points).volume)  # counter-clockwise


def test_two_points_are_their_own_hull():
    assert len(geometry.convex_hull(np.zeros((0, 2)))) == 0
    assert geometry.convex_hull(np.array([[1.0, 2.0]])).tolist() == [[1.0, 2.0]]


def test_pressure_is_centred_where_forces_act():
    points, heights = RNG.normal(size=(5, 3)), 0.2
    points[:, 2] = heights
    up = RNG.uniform(10.0, 50.0, 5)
    wrenches = np.zeros((5, 6))
    wrenches[:, 2] = up
    wrenches[:, :2] = RNG.normal(size=(5, 2))  # friction has no moment about a point of the ground
    centre = geometry.centre_of_pressure(points, wrenches, heights)
    np.testing.assert_allclose(centre[:2], up @ points[:, :2] / up.sum())
    assert geometry.centre_of_pressure(points, np.zeros((5, 6)), 0.0) is None
    # the same wrenches told at other points of the same bodies
    moved = points + RNG.normal(size=(5, 3))
    told = wrenches.copy()
    told[:, 3:] += np.cross(points - moved, wrenches[:, :3])
    np.testing.assert_allclose(geometry.centre_of_pressure(moved, told, heights), centre, atol=1e-9)


def test_soles_reach_as_far_as_their_contacts_say():
    model = load_robot("asimo")
    q = model.neutral()
    sole = Contact("left_foot", front=0.13, back=0.09, left=0.05, right=0.04)
    corners = geometry.sole_corners(model, q, [sole, Contact("right_foot", enabled=False)])
    origin = frame_pose(model, q, "left_foot")[0]
    low, high = (corners - origin).min(axis=0), (corners - origin).max(axis=0)
    np.testing.assert_allclose(low, [-0.09, -0.04, 0.0], atol=1e-12)
    np.testing.assert_allclose(high, [0.13, 0.05, 0.0], atol=1e-12)


def test_a_cone_is_as_wide_as_friction_permits():
    vertices, faces = geometry.cone(0.6, 0.2)
    rim = vertices[1:]
    np.testing.assert_allclose(np.linalg.norm(rim[:, :2], axis=1), 0.6 * rim[:, 2], rtol=1e-5)
    assert faces.max() == len(rim)


def test_joints_are_coloured_from_green_to_red():
    model = load_robot("arm7")
    lower, upper = model.position_limits.T
    np.testing.assert_allclose(geometry.limit_share(model, 0.5 * (lower + upper)), 0.0, atol=1e-12)
    np.testing.assert_allclose(geometry.limit_share(model, upper), 1.0)
    np.testing.assert_allclose(geometry.limit_share(model, lower), 1.0)
    green, red = geometry.colour_of(0.0), geometry.colour_of(2.0)
    assert green[1] > green[0] and red[0] > 3 * red[1]
