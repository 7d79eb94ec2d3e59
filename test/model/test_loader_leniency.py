# SPDX-License-Identifier: Apache-2.0
"""What the loader lets pass: defaults, leftovers of exporters, and elements that are none of its business."""

import numpy as np
from helpers.urdf_text import arm, joint, limit, link, robot

from opspace_ctrl import load_urdf


def test_extra_elements_and_broken_ones_that_the_model_does_not_use_are_ignored(capfd):
    text = (
        arm()
        .replace(
            "</robot>",
            '<transmission name="t"/><material name="m"><texture/></material><gazebo><plugin filename="x"/>'
            '</gazebo><ros2_control name="c" type="system"/><unknown size="3"/></robot>',
        )
        .replace(
            '<link name="l1">',
            '<link name="l1" type="x"><visual><geometry/></visual><capsule radius="big"/>',
        )
    )
    assert load_urdf(text).nv == 3
    assert capfd.readouterr() == ("", "")


def test_whatever_exporters_leave_in_a_fixed_joint_is_ignored():
    leftovers = '<limit lower="1" upper="0"/><mimic/><dynamics damping="-1"/>'
    weld = joint("weld", "a", "b", "fixed", axis="0 0 0", extra=leftovers)
    assert load_urdf(robot(link("a"), link("b"), weld)).nv == 0


def test_a_missing_axis_is_the_x_axis_and_axes_of_any_length_are_normalised():
    text = arm(
        4,
        j1={"axis": None},
        j2={"axis": "0 0 -5"},
        j3={"axis": "1e-200 1e-200 0"},
        j4={"axis": "3e300 4e300 0"},
    )
    expected = [[1, 0, 0], [0, 0, -1], [np.sqrt(0.5), np.sqrt(0.5), 0], [0.6, 0.8, 0]]
    np.testing.assert_allclose(load_urdf(text).axis, expected, rtol=1e-15)


def test_limits_are_infinite_where_there_are_none():
    planar = {"kind": "planar", "extra": limit(-2, 2)}
    text = arm(
        4,
        j1={"kind": "revolute"},
        j2={"extra": limit(-2, 2)},
        j3={"kind": "revolute", "extra": limit()},
        j4=planar,
    )
    model = load_urdf(text)
    free = [-np.inf, np.inf]
    np.testing.assert_array_equal(model.position_limits, [free, free, [-1, 1], free, free, free])
    np.testing.assert_array_equal(model.velocity_limits, [np.inf, 5, 5, np.inf, np.inf, np.inf])
    np.testing.assert_array_equal(model.effort_limits, [np.inf, 10, 10, np.inf, np.inf, np.inf])
