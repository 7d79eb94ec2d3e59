# SPDX-License-Identifier: Apache-2.0
"""A controller in C is the controller in Python, bit for bit; what is damaged or missing is refused by name."""

from ctypes import c_char_p
from pathlib import Path

import numpy as np
import pytest
from helpers.exported import ROBOTS, VELOCITY, Both, shipped
from helpers.guarded_in_both import BothGuarded

from opspace_ctrl.cli import main
from opspace_ctrl.control.settings import NodeSettings, controller_settings, controller_table
from opspace_ctrl.declaration import declared
from opspace_ctrl.errors import ExportError
from opspace_ctrl.export import library as made
from opspace_ctrl.export import library_path
from opspace_ctrl.export.controller import image_of
from opspace_ctrl.export.image import Image
from opspace_ctrl.export.library import build_library
from opspace_ctrl.export.native import Library, Robot
from opspace_ctrl.export.record import TICKS, with_reference_ticks


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(library_path())


@pytest.fixture(scope="module")
def arm7() -> bytes:
    return image_of(shipped("arm7")).packed()


@pytest.mark.parametrize("name", [*ROBOTS, VELOCITY])
def test_ticks_targets_and_switches_are_those_of_python(library, name):
    assert list(Both(name, library).run(1500, every=23)) == []


def test_a_parameter_set_in_c_counts_as_in_python(library):
    both = Both("arm7", library)
    assert list(both.run(50, every=49)) == []
    given = {"tool.stiffness": [100.0, 200.0, 300.0, 10.0, 20.0, 30.0]}  # and the damping follows
    both.python.apply(controller_settings({**both.python.settings.values, **given}))
    assert both.in_c.set("tool.stiffness", 100.0, 200.0, 300.0, 10.0, 20.0, 30.0) == 0
    expected, found = both.tick()
    assert found == expected
    assert both.in_c.get("tool.stiffness").tolist() == [[100.0, 200.0, 300.0, 10.0, 20.0, 30.0]]
    words = both.in_c.library.functions.opspace_words
    assert b"range" in words(both.in_c.set("tool.stiffness", -1.0))
    assert b"range" in words(both.in_c.set("tool.stiffness", np.nan))
    assert b"name" in words(both.in_c.set("tool.stifness", 1.0))
    assert b"cannot be changed" in words(both.in_c.set("level_torque", 1.0))
    assert both.in_c.get("tool.stiffness").tolist() == [[100.0, 200.0, 300.0, 10.0, 20.0, 30.0]]


def test_every_live_parameter_is_in_an_image_but_for_those_that_change_its_structure():
    controller = shipped("asimo")
    names = [each.name for each in controller.settings.contacts]
    table = controller_table(controller.task_names, names)
    asked = {each.name for each in table if not (each.read_only or each.structural)}
    of_node = {"method", *declared(NodeSettings)}  # a method is chosen by opspace_use_method
    live = {field.name for field in image_of(controller).fields if field.is_live}
    assert asked - of_node == live


def test_a_command_is_said_to_be_an_effort_or_a_velocity(library, arm7):
    commands = library.functions.opspace_commands
    commands.restype = c_char_p
    image = image_of(shipped(VELOCITY)).packed()
    assert commands(Robot(library, arm7)._robot) == b"effort"
    assert commands(Robot(library, image)._robot) == b"velocity"
    assert BothGuarded(VELOCITY, library, seed=2).run(1000, every=23) > 700


def test_results_by_name_are_those_of_python(library):
    both = Both("asimo", library)
    assert list(both.run(30, every=7)) == []
    law = both.python._core.law
    for name, expected in (
        ("level_torque", law.level_torque),
        ("space.Lambda_inv", law.space.Lambda_inv),
        ("space.tree.h", law.space.tree.h[None]),
    ):
        np.testing.assert_array_equal(both.in_c.get(name), np.asarray(expected))


def test_before_activation_and_after_a_stop_nothing_but_safe_commands(library, arm7):
    robot, words = Robot(library, arm7), library.functions.opspace_words
    q, v = np.full(7, 0.3), np.full(7, 0.2)
    assert b"not active" in words(robot.tick(q, v, 0.0))
    assert robot.call("activate", q, v, 0.0) == 0 and robot.tick(q, v, 0.0) == 0
    assert robot.call("stop") == 0
    controller = shipped("arm7")
    controller.activate(q, v, 0.0)
    controller.tick(q, v, 0.0)
    for time in (0.001, 0.002):
        assert b"emergency stop" in words(robot.tick(q, v, time))
        assert (
            robot.tau.tobytes() == controller.safe_command("damping", q, v, time, np.nan).tobytes()
        )
    assert robot.call("reset", q, v, 0.003) == 0 and robot.tick(q, v, 0.003) == 0
    controller.restart(q, v, 0.003)
    assert robot.tau.tobytes() == controller.tick(q, v, 0.003).tobytes()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_states_and_targets_that_are_no_numbers_are_refused_and_change_nothing(library, arm7, bad):
    robot, twin = Robot(library, arm7), Robot(library, arm7)
    q, v = np.full(7, 0.3), np.full(7, 0.2)
    for each in (robot, twin):
        assert each.call("activate", q, v, 0.0) == 0 and each.tick(q, v, 0.0) == 0
    spoiled = q.copy()
    spoiled[3] = bad
    six, quaternion = np.full(6, bad), np.array([0.0, 0.0, 0.0, bad])
    for status in (
        robot.tick(spoiled, v, 0.001),
        robot.tick(q, spoiled, 0.001),
        robot.tick(q, v, bad),
        robot.call("hold", spoiled, v, 0.001),
        robot.call("safe", 2, spoiled, v, 0.001, robot.tau),
        robot.call("target_pose", 0, spoiled[1:4].copy(), None, 0.001),
        robot.call("target_pose", 0, None, quaternion, 0.001),
        robot.call("target_pose", 0, None, None, bad),
        robot.call("target_twist", 0, six, 0.001),
        robot.call("target_wrench", 0, six, 0.001),
        robot.call("measured_wrench", 0, six, 0.001),
        robot.call("target_twist", 7, np.zeros(6), 0.001),
    ):
        assert status != 0
    assert robot.tick(q, v, 0.002) == 0 and twin.tick(q, v, 0.002) == 0
    assert robot.tau.tobytes() == twin.tau.tobytes() and np.isfinite(robot.tau).all()


def test_missing_pointers_are_refused_by_every_function(library, arm7):
    robot, none = Robot(library, arm7), None
    for name in ("tick", "activate", "hold", "reset"):
        assert robot.call(name, none, none, 0.0, none) == 2
    for name in ("target_twist", "target_wrench", "measured_wrench"):
        assert robot.call(name, 0, none, 0.0) == 2
    assert robot.call("way_points", 0, 1, none, none, none, none, 0.0) == 2
    assert robot.call("posture", none, none, 0.0) == 2
    assert robot.call("find", none, none) == 2 and robot.call("use_method", none) == 2


def test_targets_beyond_the_mailbox_are_told_so_and_two_are_taken_a_tick(library, arm7):
    robot, six = Robot(library, arm7), np.zeros(6)
    q, v = np.full(7, 0.3), np.zeros(7)
    assert robot.call("activate", q, v, 0.0) == 0
    statuses = [robot.call("target_twist", 0, six, 0.0) for _ in range(9)]
    assert statuses[:8] == [0] * 8 and b"wait" in library.functions.opspace_words(statuses[8])
    assert robot.tick(q, v, 0.001) == 0
    assert [robot.call("target_twist", 0, six, 0.0) for _ in range(3)] == [0, 0, statuses[8]]


def test_an_image_read_and_written_again_is_the_same(arm7):
    controller, image = shipped("arm7"), Image.unpacked(arm7)
    assert image.packed() == arm7
    assert list(image.joints) == list(controller.joints)
    assert [name for name, _ in image.methods] == list(controller.methods())
    stiffness = image.field("tool.stiffness")
    assert (stiffness.rows, stiffness.columns, stiffness.most) == (1, 6, 1e6) and stiffness.is_live
    assert image.data[stiffness.place :][:48].view(float).tolist() == [900.0] * 6


def test_two_exports_of_a_file_are_the_same_bytes(arm7):
    assert image_of(shipped("arm7")).packed() == arm7


def test_reference_ticks_are_replayed_and_by_python_they_are_the_same(library):
    controller = shipped("arm7")
    image = image_of(controller)
    by_c = with_reference_ticks(image, controller, library.record, "here")
    by_python = with_reference_ticks(image, controller, None, "here")
    assert library.replay(by_c.packed()) == (TICKS, TICKS, 0.0)
    assert by_c.packed() == by_python.packed()
    other = by_c.ticks.copy()
    other[77, -1] *= 1.0 + 1e-14
    assert library.replay(image.with_ticks(other, "").packed())[1] == TICKS - 1
    other[77, -1] *= 1.001
    with pytest.raises(ExportError, match="do not come out as they were recorded"):
        library.replay(image.with_ticks(other, "").packed())


def test_what_is_damaged_is_refused_by_both(library, arm7):
    rng = np.random.default_rng(3)
    for place in rng.integers(0, len(arm7), 200):
        damaged = bytearray(arm7)
        damaged[place] ^= 1 << int(rng.integers(8))
        with pytest.raises(ExportError, match="image"):
            Robot(library, bytes(damaged))
        with pytest.raises(ExportError, match="image"):
            Image.unpacked(bytes(damaged))
    for size in (0, 7, 100, len(arm7) - 1):
        with pytest.raises(ExportError, match="image"):
            Robot(library, arm7[:size])
        with pytest.raises(ExportError, match="image"):
            Image.unpacked(arm7[:size])


def test_without_a_compiler_the_error_says_which(monkeypatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(ExportError, match="no C compiler for aarch64-linux-gnu"):
        build_library(tmp_path, "aarch64-linux-gnu")
    with pytest.raises(ExportError, match="valid are x86_64-linux-gnu, aarch64-linux-gnu"):
        build_library(tmp_path, "vax")


def test_a_processor_that_llvm_does_not_know_is_refused_with_the_nearest(tmp_path, capsys):
    with pytest.raises(ExportError, match="no processor 'cortex-a78e'.*--cpu help.*'cortex-a78"):
        build_library(tmp_path, "aarch64-linux-gnu", "cortex-a78e")
    assert main(["export", "--cpu", "help", "--target", "x86_64-linux-gnu"]) == 0
    assert {"x86-64-v3", "znver3"} <= set(capsys.readouterr().out.split())


def test_the_library_of_a_wheel_is_found_without_a_compiler_while_it_is_of_these_sources(
    monkeypatch, tmp_path: Path
):
    monkeypatch.setattr(made, "PREBUILT", tmp_path / "prebuilt")
    kept = library_path()
    folder = made.prebuild()
    assert {"libopspace.so.1", *made.NAMES} <= {each.name for each in folder.iterdir()}
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert library_path() == folder / "libopspace.so" != kept
    with pytest.raises(ExportError, match="no C compiler"):
        library_path(cpu="znver2")  # a library of its own, which was never made
    (folder / "digest").write_text("of other sources")
    assert library_path() == kept
