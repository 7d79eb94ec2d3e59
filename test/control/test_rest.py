# SPDX-License-Identifier: Apache-2.0
"""Robots with dry friction come to rest on their targets and stay there: the figures of docs/theory.md."""

import re

import numpy as np
import pytest
import yaml
from helpers.documents import blocks
from helpers.shipped_loops import ShippedLoop, random_moves

CREEP = 2e-6  # [rad] that the simulator lets a joint creep in a minute that sticks, with a margin
WALL = 2e4  # [N/m]
PLAIN = {"tool.integral": 0.0}


def test_an_arm_ends_on_its_target_after_random_moves():
    errors = random_moves(ShippedLoop("arm7"), ("tool",), 60).max(axis=0)
    assert errors[0] < 0.1 and errors[1] < 0.2


def test_the_files_of_the_tutorial_end_on_their_target(tmp_path):
    """As docs/getting_started.md prints them: the file, and the target of `ros2 topic pub`."""
    path = tmp_path / "my_robot.yaml"
    document = "docs/getting_started.md"
    path.write_text(blocks("yaml", document=document)[0].text)
    printed = next(each.text for each in blocks("console", document=document) if "pub" in each.text)
    message = yaml.safe_load(re.search(r'"({pose.*})"', printed).group(1))["pose"]
    loop = ShippedLoop("arm7", path)
    loop.controller.target_pose(
        "tool",
        [message["position"][axis] for axis in "xyz"],
        [message["orientation"].get(axis, 0.0) for axis in "xyzw"],
        loop.robot.time,
    )
    loop.run(12.0)
    assert loop.errors("tool")[0] < 0.1 and loop.errors("tool")[1] < 0.2


@pytest.mark.parametrize(
    ("values", "least"),
    [(PLAIN, (0.5, 0.5)), ({**PLAIN, "compensation.friction": False}, (1.0, 5.0))],
)
def test_without_integral_it_does_not(values, least):
    errors = random_moves(ShippedLoop("arm7", **values), ("tool",), 60).max(axis=0)
    assert (errors > least).all()


@pytest.mark.parametrize(
    ("name", "tasks", "size", "settling"),
    [
        ("free_flyer", ("left_tool", "right_tool"), 1.0, 12.0),
        ("asimo", ("left_hand", "right_hand"), 0.5, 20.0),
    ],
)
def test_robots_with_several_tasks_end_on_their_targets(name, tasks, size, settling):
    """asimo's hands reach half as far, and come to rest after its legs, whose friction a slower integral takes up."""
    errors = random_moves(ShippedLoop(name), tasks, 8, size=size, settling=settling).max(axis=0)
    assert errors[0] < 0.2 and errors[1] < 0.2


@pytest.mark.parametrize(
    ("name", "task", "load"), [("panda", "hand", 5.0), ("g1", "left_hand", 1.0)]
)
def test_a_load_that_nobody_told_of_is_carried(name, task, load):
    """A load [N] that holds the hand back by less than the clip of the integral, a centimetre."""
    for values, holds in (({f"{task}.integral": 0.0}, False), ({}, True)):
        loop = ShippedLoop(name, **values)
        frame = next(
            each.moved_frame for each in loop.controller.settings.tasks if each.name == task
        )
        loop.robot.push(frame, [0.0, 0.0, -load, 0.0, 0.0, 0.0], np.inf)
        loop.run(10.0)
        assert bool(loop.errors(task)[0] < 0.2) is holds


@pytest.mark.parametrize("values", [{}, {"tool.stiffness": [400.0, 1600.0]}])
def test_at_rest_nothing_goes_to_and_fro(values):
    """Also with gains that let friction and integral hunt: 30 s later it has ended."""
    loop = ShippedLoop("arm7", **values)
    random_moves(loop, ("tool",), 1, seed=1)
    if values:
        assert loop.travel(5.0) > 1e-3  # it does hunt
    loop.run(30.0)
    assert loop.travel(30.0) < CREEP
    assert loop.errors("tool")[0] < (2.0 if values else 0.1)


def test_friction_that_lets_go_with_a_jerk_makes_no_cycle_that_lasts():
    """Dry friction falls to two thirds of what holds the joint as soon as it moves."""
    loop = ShippedLoop("arm7", **{"compensation.friction": False})
    robot, tick = loop.robot, loop.controller.tick
    loop.move("tool", [0.05, 0.08, 0.03], [0.2, 0.1, -0.2])

    def run(seconds):
        for _ in range(round(seconds / robot.settings.step)):
            helps = robot.model.friction / 3.0 * np.tanh(robot.v / 0.01)
            robot.step(tick(robot.q, robot.v, robot.time) + helps)

    run(60.0)
    low = high = robot.q.copy()
    for _ in range(30):
        run(1.0)
        low, high = np.minimum(low, robot.q), np.maximum(high, robot.q)
    assert (high - low).max() < CREEP
    assert loop.errors("tool")[0] < 1.5 and loop.errors("tool")[1] < 1.5


def test_after_a_push_of_ten_seconds_it_is_back_and_at_rest():
    loop = ShippedLoop("arm7")
    loop.robot.push("tool", [0.0, 0.0, -8.0, 0.0, 0.0, 0.0], 10.0)
    loop.run(9.99)
    assert loop.errors("tool")[0] < 0.2
    largest = 0.0
    for _ in range(200):
        largest = max(largest, loop.run(0.005).errors("tool")[0])
    assert 1.0 < largest < 3.0
    loop.run(9.0)
    assert loop.errors("tool")[0] < 0.2 and loop.errors("tool")[1] < 0.2
    loop.run(30.0)
    assert loop.travel(30.0) < CREEP


@pytest.mark.parametrize(
    ("frame", "force"),
    [("torso", (0.0, 15.0, 0.0)), ("torso", (-15.0, 0.0, 0.0)), ("left_hand", (0.0, 0.0, -8.0))],
)
def test_a_standing_robot_is_back_and_at_rest_after_a_push_of_ten_seconds(frame, force):
    """Its legs creep for half a minute, the hands' errors turn round many times meanwhile, and then all is still."""
    loop = ShippedLoop("asimo")
    loop.robot.push(frame, [*force, 0.0, 0.0, 0.0], 10.0)
    loop.run(50.0)
    assert loop.travel(30.0) < 5 * CREEP  # its feet creep, too
    errors = loop.errors("left_hand", "right_hand")
    assert errors[0] < 0.2 and errors[1] < 0.2
    assert loop.errors("com")[0] < 0.2 and loop.errors("trunk")[1] < 0.2


@pytest.mark.parametrize(("beyond", "most"), [(0.003, 10.0), (0.028, 10.0)])
def test_after_a_wall_that_held_it_for_ten_seconds_it_hardly_overshoots(beyond, most):
    """The target is this far [m] behind the wall; `most` [mm] that it may overshoot once the wall has gone."""
    loop = ShippedLoop("arm7")
    wall, target = loop.controller.pose("tool")[0][0] + 0.002, None

    def press():
        depth, speed = loop.controller.pose("tool")[0][0] - wall, loop.law.velocity[0, 0]
        force = max(WALL * depth + 0.01 * WALL * speed, 0.0) if depth > 0.0 else 0.0
        loop.robot.push("tool", [-force, 0.0, 0.0, 0.0, 0.0, 0.0], loop.robot.settings.step)

    loop.move("tool", [beyond + 0.002, 0.0, 0.0])
    loop.run(10.0, press)
    target = loop.controller.target("tool")[0][0]
    assert loop.errors("tool")[0] == pytest.approx(1e3 * beyond, abs=1.5)
    overshoot = max(loop.run(0.005).controller.pose("tool")[0][0] - target for _ in range(400))
    assert 1e3 * overshoot < most
    loop.run(10.0)
    assert loop.errors("tool")[0] < 0.2 and loop.errors("tool")[1] < 0.25


def test_the_integral_of_an_impedance_carries_a_load_and_leaves_a_bounded_force():
    values = {"tool.law": "impedance", "tool.stiffness": [1000.0, 30.0], "tool.integral": 3.0}
    values["tool.error_clip"] = 0.1
    loop = ShippedLoop("arm7", **values)
    errors = random_moves(loop, ("tool",), 3).max(axis=0)
    assert errors[0] < 0.2 and errors[1] < 0.2
    loop.robot.push("tool", [0.0, 0.0, -40.0, 0.0, 0.0, 0.0], np.inf)
    loop.run(20.0)
    # a spring about a shifted point: 40 mm from the load, of which the integral can carry 10
    y = np.linalg.norm(loop.law.error_integral[0, :3])
    assert y <= 0.01 + 1e-12 and 29.0 < loop.errors("tool")[0] < 42.0
