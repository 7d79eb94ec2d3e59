# SPDX-License-Identifier: Apache-2.0
"""Serialised messages read and written in place, against rclpy's own serialisation."""

import struct
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from opspace_ctrl.nodes.cdr import (
    Command,
    JointStateReader,
    OdometryReader,
    read_joint_state,
    read_odometry,
)

number = st.floats(allow_nan=False)
text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
numbers = st.lists(number, max_size=5)


@st.composite
def joint_states(draw):
    message = JointState(
        name=draw(st.lists(text, max_size=5)),
        position=array("d", draw(numbers)),
        velocity=array("d", draw(numbers)),
        effort=array("d", draw(numbers)),
    )
    message.header.frame_id = draw(text)
    message.header.stamp.sec = draw(st.integers(-(2**31), 2**31 - 1))
    message.header.stamp.nanosec = draw(st.integers(0, 2**32 - 1))
    return message


@st.composite
def odometries(draw):
    message = Odometry(child_frame_id=draw(text))
    message.header.frame_id = draw(text)
    message.header.stamp.sec = draw(st.integers(0, 2**31 - 1))
    for part, names in (
        (message.pose.pose.position, "xyz"),
        (message.pose.pose.orientation, "xyzw"),
        (message.twist.twist.linear, "xyz"),
        (message.twist.twist.angular, "xyz"),
    ):
        for name in names:
            setattr(part, name, draw(number))
    return message


@given(st.lists(joint_states(), min_size=1, max_size=4))
def test_joint_states_are_read_as_rclpy_reads_them(messages):
    read = JointStateReader()
    for message in messages + messages[-1:]:  # the names of the last are remembered
        ours, theirs = read(serialize_message(message)), read_joint_state(message)
        assert ours.stamp == theirs.stamp and ours.names == theirs.names
        assert ours.position.tolist() == theirs.position.tolist()
        assert ours.velocity.tolist() == theirs.velocity.tolist()


@given(st.lists(odometries(), min_size=1, max_size=4))
def test_odometry_is_read_as_rclpy_reads_it(messages):
    read = OdometryReader()
    for message in messages + messages[-1:]:
        assert read(serialize_message(message)) == read_odometry(message)


@given(numbers)
def test_rclpy_reads_the_commands_that_we_write(values):
    command = Command(len(values))
    command.values[:] = values
    message = deserialize_message(command.message(), Float64MultiArray)
    assert message == Float64MultiArray(data=array("d", values))


@given(joint_states(), odometries(), st.data())
def test_bytes_that_are_no_message_raise_and_nothing_else_happens(state, base, data):
    for message, read in ((state, JointStateReader()), (base, OdometryReader())):
        whole = bytes(serialize_message(message))
        read(whole)
        broken = bytearray(whole[: data.draw(st.integers(2, len(whole)))])
        for _ in range(data.draw(st.integers(0, 4))):
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
        broken[:2] = b"\x00\x01"
        try:
            read(bytes(broken))
        except (ValueError, struct.error):
            pass
        assert read(whole) is not None


def test_names_that_did_not_change_are_the_same_object():
    message = JointState(name=["a", "b"], position=array("d", [1.0, 2.0]))
    read = JointStateReader()
    assert read(serialize_message(message)).names is read(serialize_message(message)).names
    message.name = ["a", "c"]
    assert read(serialize_message(message)).names == ["a", "c"]
    with pytest.raises(ValueError):
        read(b"\x00\x01\x00\x00" + bytes(8) + struct.pack("<II", 1, 0) + struct.pack("<I", 2**31))
    assert np.isfinite(read(serialize_message(message)).position).all()
