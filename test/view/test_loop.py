# SPDX-License-Identifier: Apache-2.0
"""The loop behind the page, turn by turn in this process, and once as the process that it is."""

from __future__ import annotations

import multiprocessing
import threading

import numpy as np
import pytest
from helpers.viewing import Driven, shipped, until

from opspace_ctrl import Controller, Simulator, mass_matrix
from opspace_ctrl.control.safety.fields import BIT
from opspace_ctrl.errors import (
    FaultError,
    OpspaceError,
    ParameterError,
    SimulationError,
    TargetError,
    ViewError,
)
from opspace_ctrl.view.process import LoopProcess
from opspace_ctrl.view.rows import LENGTH, Ring


@pytest.fixture
def arm():
    return Driven("arm7")


def test_torques_are_those_of_controller_and_simulator_without_a_loop(arm):
    model, settings, simulation = shipped("arm7")
    robot, controller = (
        Simulator.from_settings(model, simulation),
        Controller.from_settings(model, settings),
    )
    controller.activate(robot.q, robot.v, 0.0)
    goal = controller.pose("tool")[0] + [0.05, 0.05, -0.05]
    arm.turns(1)
    robot.step(controller.tick(robot.q, robot.v, robot.time))
    arm.ask("target", "tool", goal, None)
    controller.target_pose("tool", goal, None, 0.0)
    for _ in range(1500):
        robot.step(controller.tick(robot.q, robot.v, robot.time))
    row = arm.turns(1500 + 4)  # rows come every five turns
    for _ in range(4):
        robot.step(controller.tick(robot.q, robot.v, robot.time))
    np.testing.assert_allclose(row["q"], robot.q, atol=1e-9)
    np.testing.assert_allclose(row["pose"][0][9:], goal, atol=2e-3)


def test_rows_tell_levels_that_add_up_to_what_is_sent(arm):
    row = arm.turns(2000)
    assert not row["gates"] and row["turns"] == 2000
    np.testing.assert_allclose(row["level"].sum(axis=0), row["effort"], atol=1e-6)


def test_stop_latches_and_targets_are_refused_in_words(arm):
    arm.turns(10)
    arm.ask("stop")
    row = arm.turns(500)
    assert row["gates"] == BIT["stop"]
    with pytest.raises(TargetError, match="emergency stop"):
        arm.ask("target", "tool", [0.5, 0.0, 0.4], None)
    assert arm.turns(500)["gates"] == BIT["stop"]
    arm.ask("release")
    assert arm.turns(10)["gates"] == 0


@pytest.mark.parametrize(
    ("request_", "error", "text"),
    [
        (("settings", {"tool.stiffness": [1e9]}), ParameterError, "tool.stiffness"),
        (("settings", {"tool.stifness": [1.0]}), ParameterError, "stifness"),
        (("fault", {"kind": "bogus"}), FaultError, "bogus"),
        (("fault", {"kind": "dead_joint", "joints": "joint99"}), FaultError, "joint99"),
        (("target", "elbow", [0, 0, 0], None), TargetError, "elbow"),
        (("target", "tool", [np.nan, 0, 0], None), TargetError, "tool"),
        (("posture", ["joint99"], [0.0]), TargetError, "joint99"),
        (("mode", "bogus"), OpspaceError, "bogus"),
        (("push", "nowhere", [1, 0, 0], [0, 0, 0]), OpspaceError, "nowhere"),
        (("answer", "stop", ()), TargetError, "valid are target"),
    ],
)
def test_what_is_refused_says_why_and_changes_nothing(arm, request_, error, text):
    before = arm.turns(10)
    settings = arm.loop.controller.settings
    with pytest.raises(error, match=text):
        arm.ask(*request_)
    assert arm.loop.controller.settings is settings
    assert arm.turns(10)["gates"] == 0 == before["gates"]


def test_gains_methods_modes_and_payload_change_while_it_runs(arm):
    arm.turns(10)
    arm.ask("settings", {"tool.stiffness": [400.0], "payload.mass": 1.5})
    assert arm.loop.controller.settings.tasks[0].stiffness == (400.0,)
    arm.ask("settings", {"method": "efpa"})
    row = arm.turns(10)
    assert arm.loop.methods[row["method"]] == "efpa" and row["residual"] < 1e-9
    arm.ask("mode", "gravity")
    row = arm.turns(20)
    assert not row["gates"] and not row["level"][2:].any()  # no task pulls


def test_a_fault_acts_ends_and_a_reset_begins_again(arm):
    start = arm.turns(10)["q"].copy()
    arm.ask("fault", {"kind": "loss", "side": "state", "duration": 0.2})
    assert arm.turns(100)["gates"] & BIT["state"]
    assert arm.turns(300)["gates"] == 0
    arm.ask("fault", {"kind": "dead_joint", "joints": "joint2", "duration": 5.0})
    assert np.abs(arm.turns(300)["q"] - start).max() > 0.1
    before = arm.ring.latest()["time"]
    arm.ask("reset")
    row = arm.turns(50)
    assert row["time"] > before and np.abs(row["q"] - start).max() < 1e-3
    assert not row["gates"] and not arm.loop.plant.timetable.active(("dead_joint",))


def test_a_push_is_over_by_itself(arm):
    start = arm.turns(10)["q"].copy()
    arm.ask("push", "link4", [0.0, 40.0, 0.0], arm.ring.latest()["pose"][0][9:])
    assert np.abs(arm.turns(250)["q"] - start).max() > 1e-3
    arm.turns(4000)
    assert np.abs(arm.turns(5)["v"]).max() < 1e-2


def test_a_floating_robot_stands():
    row = Driven("asimo").turns(400)
    assert not row["gates"] and np.abs(row["error"]).max() < 1e-2
    assert row["wrench"][:, 2].sum() > 0.0


def test_a_ring_gives_what_is_new_and_forgets_the_oldest():
    kind = np.dtype([("time", float), ("q", float, (2,))])
    ring = Ring(kind, bytearray(Ring.size(kind)))
    assert ring.latest() is None and ring.since(0)[0] == 0
    for time in range(LENGTH + 100):
        ring.next_row()["time"] = time
        ring.publish()
    count, rows = ring.since(LENGTH + 90)
    assert count == LENGTH + 100 and rows["time"].tolist() == list(range(LENGTH + 90, LENGTH + 100))
    _, rows = ring.since(0)
    assert rows["time"][-1] == LENGTH + 99 and len(rows) < LENGTH
    assert (np.diff(rows["time"]) == 1.0).all()


def test_the_loop_runs_in_a_process_of_its_own_and_ends_when_it_is_told():
    model, settings, simulation = shipped("arm7")
    with LoopProcess(model, settings, simulation) as loop:
        row = until(loop.ring.latest, "a row")
        goal = row["pose"][0][9:] + [0.0, 0.03, 0.0]
        loop.call("target", "tool", goal, None)
        until(lambda: np.linalg.norm(loop.ring.latest()["pose"][0][9:] - goal) < 1e-3, "it arrives")
        with pytest.raises(ViewError, match="no request 'run'"):
            loop.call("run")
        assert loop.is_alive
    assert not loop.is_alive
    assert (
        loop.exit_code == 0
    )  # by itself: one that had to be terminated kept Ctrl-C waiting for 5 s
    with pytest.raises(ViewError, match="ended"):
        loop.call("stop")


def test_settings_that_do_not_fit_are_told_before_anything_is_shown():
    from dataclasses import replace

    from opspace_ctrl import PoseTask

    model, settings, simulation = shipped("arm7")
    wrong = replace(settings, tasks=[PoseTask("elbow")])
    with pytest.raises(ViewError, match="no frame 'elbow'"):
        LoopProcess(model, wrong, simulation)


def test_rotors_that_the_controller_does_not_know_slow_the_robot_down_and_go_again(arm):
    """An added armature of a joint is what its drive must turn, beside the model's inertia."""
    arm.turns(10)
    model, plant = arm.loop.model, arm.loop.plant

    def inertia():
        return mass_matrix(arm.loop.plant.simulator.model, model.neutral())

    bare = inertia()
    for added in (0.5, 0.2):  # it is set, not added up
        arm.ask("armature", "joint4", added)
        arm.turns(5)
        expected = bare.copy()
        expected[3, 3] += added
        np.testing.assert_allclose(inertia(), expected, atol=1e-12)
    arm.ask("armature", "all", 0.1)
    arm.turns(5)
    np.testing.assert_allclose(inertia(), expected + 0.1 * np.eye(7), atol=1e-12)
    arm.ask("armature", "all", 0.0)
    arm.ask("armature", "joint4", 0.0)
    assert not arm.turns(5)["gates"]
    np.testing.assert_allclose(inertia(), bare, atol=1e-12)
    with pytest.raises(FaultError, match="joint99"):
        arm.ask("armature", "joint99", 0.1)
    assert plant.model is model


@pytest.mark.parametrize("robot", ["arm7", "free_flyer"])
def test_every_mode_can_be_taken_and_left_and_the_tool_still_arrives(robot):
    driven = Driven(robot)
    driven.turns(10)
    for mode in ("velocity", "gravity", "raw", "tasks", "velocity", "tasks"):
        try:
            driven.ask("mode", mode)
        except OpspaceError as error:
            assert mode == "velocity" and "velocity" in str(error)  # a base that nothing drives
        row = driven.turns(100)
        assert not row["gates"] and np.isfinite(row["q"]).all()
    number = next(i for i, t in enumerate(driven.loop.controller.tasks) if t.rows == "pose")
    goal = row["pose"][number][9:] + [0.0, 0.03, 0.0]
    driven.ask("target", driven.loop.controller.tasks[number].name, goal, None)
    np.testing.assert_allclose(driven.turns(4000)["pose"][number][9:], goal, atol=2e-3)


def test_in_mode_velocity_the_drives_follow_what_the_controller_says(arm):
    arm.turns(10)
    arm.ask("mode", "velocity")
    goal = arm.turns(50)["pose"][0][9:] + [0.0, 0.05, 0.0]
    arm.ask("target", "tool", goal, None)
    row = arm.turns(2500)
    assert arm.loop.controller.settings.commands == "velocity" and not row["gates"]
    np.testing.assert_allclose(row["pose"][0][9:], goal, atol=1e-3)


def test_a_simulation_that_cannot_go_on_says_so_and_a_reset_begins_again(arm):
    said = []
    arm.loop.tell = said.append
    arm.turns(10)

    def broken():
        raise SimulationError("the motion leaves the range of numbers")

    step, arm.loop.plant.step = arm.loop.plant.step, broken
    thread = threading.Thread(target=arm.loop.run)
    thread.start()
    until(lambda: said, "it says so")
    assert "leaves the range" in said[0] and "Reset" in said[0]
    arm.loop.plant.step = step
    count = arm.ring.count
    arm.ask("reset")
    until(lambda: arm.ring.count > count, "it goes on")
    arm.loop.is_ended = True
    thread.join()
    assert said[-1] == ""


def test_a_loop_that_is_no_longer_wanted_does_not_finish_its_start():
    model, settings, simulation = shipped("arm7")
    asked = []

    def is_given_up():
        asked.append(None)
        return True

    before = {each.pid for each in multiprocessing.active_children()}
    with pytest.raises(ViewError, match="given up"):
        LoopProcess(model, settings, simulation, is_given_up=is_given_up)
    assert asked and {each.pid for each in multiprocessing.active_children()} == before
