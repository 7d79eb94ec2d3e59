# SPDX-License-Identifier: Apache-2.0
"""A recorded run, read back with mcap's own reader, holds what happened; its schemas are those of ROS."""

import importlib

import numpy as np
import pytest
from helpers.plant_runs import make_plant, run
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from opspace_ctrl import load_robot
from opspace_ctrl.errors import LogError, OutputError
from opspace_ctrl.sim.plant.faults import load_faults
from opspace_ctrl.sim.plant.plant import Plant
from opspace_ctrl.sim.record.bag import check_recording, write_bag
from opspace_ctrl.sim.record.log import read_log
from opspace_ctrl.sim.record.message_definitions import schema_text
from opspace_ctrl.sim.record.tracking import Tracking
from opspace_ctrl.sim.simulator import Simulator


def read_back(path):
    """{topic: [(time [ns], decoded message)]}, and the raw messages."""
    messages, raw = {}, {}
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == "ros2"
        for schema, channel, message, decoded in reader.iter_decoded_messages():
            messages.setdefault(channel.topic, []).append((message.log_time, decoded))
            raw[channel.topic] = (schema.name, message.data)
    return messages, raw


def alike(ours, theirs):
    """Do two messages of different libraries say the same?"""
    if hasattr(ours, "get_fields_and_field_types"):
        return all(
            alike(getattr(ours, name), getattr(theirs, name))
            for name in ours.get_fields_and_field_types()
        )
    if isinstance(ours, str):
        return ours == theirs
    return list(ours) == list(theirs) if hasattr(ours, "__len__") else ours == theirs


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("record")
    plant = make_plant(
        "[{kind: bias, position: 0.01, start: 0.02}, {kind: loss, side: state, start: 0.05}]",
        log_folder=folder / "log",
    )
    run(plant, 100)
    plant.close()
    log = read_log(folder / "log")
    time = log["schedule"][np.isfinite(log["left"])]
    rows = np.column_stack((time, np.tile(np.arange(6.0), (len(time), 1))))
    tracking = {"/peer/tool": Tracking(rows, 0.5, 0.5)}
    count = write_bag(log, folder / "run.mcap", tracking)
    return log, count, *read_back(folder / "run.mcap")


def test_every_state_and_command_is_in_the_bag(recorded):
    log, count, messages, _ = recorded
    assert count == sum(map(len, messages.values()))
    assert len(messages["/joint_states"]) == len(messages["/ground_truth/joint_states"]) == 100
    assert len(messages["/effort_controller/commands"]) == 50  # then nothing was heard
    for k, (time, message) in enumerate(messages["/joint_states"]):
        assert time == k * 10**6 == message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        assert message.name == [f"joint{i}" for i in range(1, 8)]
        assert np.array_equal(message.position, log["position"][k])
        assert np.array_equal(message.effort, log["applied"][k])
    measured = np.array([message.position for _, message in messages["/joint_states"]])
    true = np.array([message.position for _, message in messages["/ground_truth/joint_states"]])
    assert np.allclose(
        measured - true, np.where(np.arange(100) >= 20, 0.01, 0.0)[:, None], atol=1e-12
    )
    assert np.array_equal(messages["/effort_controller/commands"][7][1].data, log["command"][7])


def test_errors_and_events_are_in_the_bag_at_their_times(recorded):
    _, _, messages, _ = recorded
    errors = messages["/peer/tool/error"]
    assert len(errors) == 50 and abs(errors[30][0] - 30 * 10**6) < 1000
    assert (errors[0][1].twist.linear.y, errors[0][1].twist.angular.z) == (1.0, 5.0)
    told = {message.msg: (time, message.level) for time, message in messages["/rosout"]}
    assert told["bias of all joints (position 0.01 rad or m) begins"] == (20 * 10**6, 20)
    assert told["no command for 20 ms: zero"][1] == 30


def test_rclpy_reads_the_messages_and_knows_the_same_fields(recorded):
    serialization = importlib.import_module("rclpy.serialization")
    for topic, (name, data) in recorded[3].items():
        decoded = recorded[2][topic][-1][1]
        package, _, kind = name.split("/")
        message_type = getattr(importlib.import_module(f"{package}.msg"), kind)
        assert alike(serialization.deserialize_message(data, message_type), decoded)
        first = schema_text(f"{package}/{kind}").split("=" * 80)[0]
        fields = [line.split()[1] for line in first.strip().split("\n") if "=" not in line]
        assert fields == list(message_type.get_fields_and_field_types())


def test_a_floating_base_is_recorded_as_odometry_and_read_by_rclpy(tmp_path):
    model = load_robot("free_flyer")
    plant = Plant(
        Simulator(model),
        load_faults("{kind: push, frame: bus, force: [5, 0, 0]}"),
        log_folder=tmp_path,
    )
    for _ in range(30):
        plant.measure()
        plant.command(np.zeros(len(model.effort_limits)))
        plant.step()
    plant.close()
    log = read_log(tmp_path)
    write_bag(log, tmp_path / "run.mcap")
    messages, raw = read_back(tmp_path / "run.mcap")
    last = messages["/odom"][-1][1]
    assert last.child_frame_id == model.body_names[
        0
    ] and last.pose.pose.orientation.w == pytest.approx(log["q"][-1, 6])
    assert last.twist.twist.linear.x == log["v"][-1, 0] > 0.0
    assert np.array_equal(messages["/ground_truth/joint_states"][-1][1].velocity, log["v"][-1, 6:])
    from nav_msgs.msg import Odometry
    from rclpy.serialization import deserialize_message

    assert deserialize_message(raw["/odom"][1], Odometry).twist.twist.linear.x == log["v"][-1, 0]


def test_a_bag_that_cannot_be_written_is_named(recorded, tmp_path):
    with pytest.raises(OutputError, match="cannot write"):
        write_bag(recorded[0], tmp_path)
    with pytest.raises(OutputError, match="its folder does not exist"):
        check_recording(tmp_path / "missing" / "run.mcap")


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mcap_ros2.writer", None)
    with pytest.raises(LogError, match=r"pip install 'opspace_ctrl\[record\]'"):
        check_recording("run.mcap")
