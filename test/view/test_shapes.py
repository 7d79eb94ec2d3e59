# SPDX-License-Identifier: Apache-2.0
"""The shapes of robots, held against Pinocchio's geometry of the same URDF."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest
from helpers.support import load_quietly, urdf_path

from opspace_ctrl import frame_pose, load_robot, load_urdf
from opspace_ctrl.data import shipped_path
from opspace_ctrl.errors import MeshWarning, UrdfSyntaxError
from opspace_ctrl.model.rotations import from_quaternion
from opspace_ctrl.view.shapes import MISSING, robot_shapes

LINK = """<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>{shape}</link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""


def world_boxes(model, q, shapes):
    """(n, 6) least and largest coordinates of every shape in the world."""
    boxes = []
    for shape in shapes:
        points = shape.vertices
        if shape.body >= 0:
            p, quaternion = frame_pose(model, q, model.body_names[shape.body])
            points = points @ from_quaternion(quaternion).T + p
        boxes.append([*points.min(axis=0), *points.max(axis=0)])
    return np.array(boxes)


@pytest.mark.parametrize("robot", ["arm7", "asimo", "free_flyer"])
def test_primitives_are_where_pinocchio_puts_them(robot):
    model, path = load_robot(robot), str(shipped_path("urdf", f"{robot}.urdf"))
    root = pin.JointModelFreeFlyer() if model.is_base_coordinate.any() else None
    twin = pin.buildModelFromUrdf(path, root) if root else pin.buildModelFromUrdf(path)
    geometry = pin.buildGeomFromUrdf(twin, path, pin.GeometryType.VISUAL)
    q = model.random_configuration(np.random.default_rng(5))
    data, places = twin.createData(), geometry.createData()
    pin.forwardKinematics(twin, data, q)
    pin.updateGeometryPlacements(twin, data, geometry, places)
    shapes = robot_shapes(model)
    assert len(shapes) == geometry.ngeoms
    centres = np.sort([place.translation for place in places.oMg], axis=0)
    boxes = world_boxes(model, q, shapes)
    # each primitive is symmetric about its placement
    np.testing.assert_allclose(
        np.sort(0.5 * (boxes[:, :3] + boxes[:, 3:]), axis=0), centres, atol=1e-6
    )
    volumes = sorted(_volume(each.geometry) for each in geometry.geometryObjects)
    found = sorted(_enclosed(shape) for shape in shapes)
    np.testing.assert_allclose(found, volumes, rtol=0.02)  # round ones are polygons


def _volume(shape):
    if hasattr(shape, "halfSide"):
        return 8.0 * np.prod(shape.halfSide)
    if hasattr(shape, "halfLength"):
        return 2.0 * np.pi * shape.radius**2 * shape.halfLength
    return 4.0 / 3.0 * np.pi * shape.radius**3


def _enclosed(shape):
    a, b, c = (shape.vertices[shape.faces[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


@pytest.mark.parametrize("robot", ["panda", "ur5_robot", "g1_29dof_rev_1_0"])
def test_meshes_of_real_robots_are_found_and_as_large_as_pinocchio_says(robot):
    path = urdf_path(robot)
    model = load_quietly(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MeshWarning)
        shapes = robot_shapes(model, path.parent)
    twin = pin.buildModelFromUrdf(str(path))
    folders = [str(path.parents[4])]
    geometry = pin.buildGeomFromUrdf(twin, str(path), pin.GeometryType.VISUAL, package_dirs=folders)
    data, places = twin.createData(), geometry.createData()
    pin.forwardKinematics(twin, data, pin.neutral(twin))
    pin.updateGeometryPlacements(twin, data, geometry, places)
    corners = []
    for each, place in zip(geometry.geometryObjects, places.oMg):
        each.geometry.computeLocalAABB()
        box = each.geometry.aabb_local
        low, high = np.array(box.min_), np.array(box.max_)
        corners += [
            place.act(np.where(mask, high, low))
            for mask in np.ndindex(2, 2, 2)
            for mask in [np.array(mask, bool)]
        ]
    boxes = world_boxes(model, model.neutral(), shapes)
    # a box in the mesh's axes is turned, so that its corners reach further than the mesh
    assert (boxes[:, :3].min(axis=0) >= np.min(corners, axis=0) - 1e-3).all()
    assert (boxes[:, 3:].max(axis=0) <= np.max(corners, axis=0) + 1e-3).all()
    size = boxes[:, 3:].max(axis=0) - boxes[:, :3].min(axis=0)
    theirs = np.max(corners, axis=0) - np.min(corners, axis=0)
    assert (size > 0.8 * theirs).all()


def test_a_missing_mesh_is_warned_of_by_name_and_a_ball_stands_for_it(tmp_path):
    shape = '<visual><geometry><mesh filename="package://nobody/arm.stl"/></geometry></visual>'
    model = load_urdf(LINK.format(shape=shape))
    with pytest.warns(MeshWarning, match="package://nobody/arm.stl"):
        (ball,) = robot_shapes(model, tmp_path)
    assert ball.link == "arm" and ball.colour == MISSING


def test_a_file_that_is_no_mesh_is_a_warning_too(tmp_path):
    (tmp_path / "arm.stl").write_bytes(b"this is no mesh")
    shape = '<visual><geometry><mesh filename="arm.stl"/></geometry></visual>'
    with pytest.warns(MeshWarning, match="arm.stl"):
        (ball,) = robot_shapes(load_urdf(LINK.format(shape=shape)), tmp_path)
    assert ball.colour == MISSING


def test_collisions_stand_in_for_visuals_and_bones_for_both():
    shape = '<collision><geometry><box size="1 2 3"/></geometry></collision>'
    (box,) = robot_shapes(load_urdf(LINK.format(shape=shape)))
    assert _enclosed(box) == pytest.approx(6.0)
    (ball,) = robot_shapes(load_urdf(LINK.format(shape="")))
    assert ball.body == 0


def test_a_wrong_number_is_refused_by_the_link():
    shape = '<visual><geometry><box size="1 2"/></geometry></visual>'
    with pytest.raises(UrdfSyntaxError, match="arm"):
        robot_shapes(load_urdf(LINK.format(shape=shape)))
