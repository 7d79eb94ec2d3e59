# SPDX-License-Identifier: Apache-2.0
"""Which joints `opspace init` locks."""

from __future__ import annotations

import pytest
from helpers.support import urdf_path

from opspace_ctrl.model.urdf import parse_urdf
from opspace_ctrl.proposal.passive import passive_joints


def passive(name):
    return passive_joints(parse_urdf(urdf_path(name).read_text()))


@pytest.mark.parametrize(
    "name, expected",
    [
        ("panda", {"panda_finger_joint1"}),  # its twin follows it
        ("so100", {"gripper"}),
        ("ur5_robot", set()),
        ("alex_nub_hands", set()),  # Left_GripperYaw turns a wrist
        ("talos_reduced", {"gripper_left_joint", "gripper_right_joint"}),
        ("finger_edu", set()),  # a robot that is a finger
    ],
)
def test_fingers_are_locked_and_wrists_are_not(name, expected):
    assert set(passive(name)) == expected


def test_a_hand_without_telling_names_is_found_by_its_shape():
    text = urdf_path("tiago").read_text().replace("hand_", "part_").replace("_thumb", "_a")
    found = passive_joints(parse_urdf(text))
    assert any("part_index" in name for name in found)
    assert not any(name.startswith("arm_") for name in found)


def test_wheels_and_joints_without_drives_or_range_are_locked():
    assert {"wheel_left_joint", "wheel_right_joint"} <= set(passive("tiago_no_hand"))
    assert "no drive" in passive("double_pendulum")["joint1"][1]
    assert "no motion" in passive("quadruped")["FL_KFE"][1]


def test_a_joint_is_locked_at_zero_or_the_limit_next_to_it():
    text = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
      <joint name="arm" type="continuous"><parent link="a"/><child link="b"/></joint>
      <joint name="finger" type="prismatic"><parent link="b"/><child link="c"/>
        <limit lower="0.01" upper="0.04" effort="1" velocity="1"/></joint></robot>"""
    assert passive_joints(parse_urdf(text))["finger"][0] == 0.01
