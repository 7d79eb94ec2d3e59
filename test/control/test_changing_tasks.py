# SPDX-License-Identifier: Apache-2.0
"""`controller.tasks = [...]` while it runs: torques pass over from the old law to the new one, what stays goes on."""

import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from helpers.compiled_nodes import parameters
from helpers.support import load_quietly, urdf_path

from opspace_ctrl import (
    CenterOfMassTask,
    Controller,
    OpspaceError,
    OrientationTask,
    PoseTask,
    PositionTask,
    Simulator,
    load_robot,
)
from opspace_ctrl.control.tasks import RowsTask
from opspace_ctrl.sim.settings import simulator_settings

STEP = 1e-3
# What each robot's tasks are changed to; where they stay, as they stand in the file of config/.
CHANGES = {
    "arm7": lambda old: [*old, PositionTask("elbow", frame="link4", level=2)],
    "panda": lambda old: [replace(old[0], level=2), PositionTask("elbow", frame="panda_link4")],
    "asimo": lambda old: [*old[:3], PositionTask("right_hand", level=3)],
    "g1": lambda old: [old[0], old[3], OrientationTask("head", frame="torso_link", level=1)],
    "free_flyer": lambda old: [old[1], PositionTask("body", frame="left_tool")],
}


def running(name, **limits):
    """A controller of a shipped file, and its robot."""
    path = {"g1": "g1_29dof_rev_1_0", "panda": "panda"}.get(name)
    base = "floating" if name == "g1" else "fixed"
    model = load_quietly(urdf_path(path), base) if path else load_robot(name)
    controller = Controller.from_file(f"{name}.yaml", model)
    used = replace(controller.settings.limits, **limits)
    controller.apply(replace(controller.settings, method="sparse_ltdl", limits=used))
    robot = Simulator.from_settings(
        model, simulator_settings(parameters(name, "opspace_simulator"))
    )
    controller.activate(robot.q, robot.v, robot.time)
    return controller, robot


def twin_of(controller, robot):
    """Another controller of the same settings, which starts where this one does."""
    twin = Controller.from_settings(controller.model, controller.settings)
    twin.activate(robot.q, robot.v, robot.time)
    return twin


def minimum_jerk(x):
    x = min(max(x, 0.0), 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x**2)


@pytest.mark.parametrize("name", CHANGES)
def test_the_first_torque_is_that_of_the_old_tasks_and_references_go_on(name):
    controller, robot = running(name)
    twin = twin_of(controller, robot)
    moved = CHANGES[name](controller.tasks)[0].name
    for each in (controller, twin):
        start = each.pose(moved)
        each.tick(robot.q, robot.v, robot.time)
        each.target_pose(moved, start[0] + [0.02, 0.01, 0.02], None, robot.time)
    rate = controller.settings.limits.torque_rate * robot.settings.step
    last, passed = controller.command.copy(), 0
    for k in range(900):
        if k == 300:
            controller.tasks = CHANGES[name](controller.tasks)
            assert controller.command.tobytes() == last.tobytes()  # nothing is sent by that
        tau = controller.tick(robot.q, robot.v, robot.time)
        expected = twin.tick(robot.q, robot.v, robot.time)
        if k <= 300:
            assert tau.tobytes() == expected.tobytes(), k
        passed += controller.report.as_dict()["passed"] < 1.0
        assert np.isfinite(tau).all() and np.abs(tau - last).max() <= rate * (1 + 1e-9), k
        for one, other in zip(controller.target(moved), twin.target(moved)):
            np.testing.assert_array_equal(one, other)
        last = tau.copy()
        robot.step(tau)
    assert 0.9 < passed * robot.settings.step / controller.settings.limits.fade < 1.1
    assert np.abs(controller.error(moved)[:3]).max() < 0.01
    assert controller.task_names == tuple(task.name for task in controller.tasks)


@pytest.mark.parametrize("name", ["arm7", "asimo", "free_flyer"])
def test_torques_pass_over_as_a_mixture_of_both_laws(name):
    """Against the two controllers that there would be without a change, on the same states."""
    controller, robot = running(name, torque_rate=1e7, ramp=0.0)
    # integrals stand still while torques pass over, those of the two controllers do not
    still = [replace(task, integral=0.0) for task in controller.settings.tasks]
    controller.apply(replace(controller.settings, tasks=still))
    twin = twin_of(controller, robot)
    first, fade = controller.task_names[-1], controller.settings.limits.fade
    for k in range(150):
        if k == 20:
            for each in (controller, twin):
                each.target_pose(first, each.pose(first)[0] + [0.05, 0.0, 0.05], None, robot.time)
        for each in (controller, twin):
            each.tick(robot.q, robot.v, robot.time)
        robot.step(controller.command)
    for each in (controller, twin):
        each.hold(robot.q, robot.v, robot.time)
        each.tick(robot.q, robot.v, robot.time)
    assert np.abs(robot.v).max() > 1e-3  # it moves
    others = [PositionTask("mine", frame=controller.tasks[-1].moved_frame, level=2)]
    anew = Controller.from_settings(controller.model, replace(controller.settings, tasks=others))
    anew.activate(robot.q, robot.v, robot.time)
    controller.tasks = others
    robot.step(controller.command)
    start, apart = robot.time, 0.0
    for k in range(400):
        q, v, time = robot.q, robot.v, robot.time
        tau = controller.tick(q, v, time)
        w = minimum_jerk((time - start) / fade)
        old, new = twin.tick(q, v, time), anew.tick(q, v, time)
        scale = np.abs(old).max() + np.abs(new).max()
        assert np.abs(tau - (1.0 - w) * old - w * new).max() < 1e-9 * scale, k
        told, *both = (each.report.contact_wrench for each in (controller, twin, anew))
        np.testing.assert_allclose(told, (1.0 - w) * both[0] + w * both[1], atol=1e-9 * 1e3)
        apart = max(apart, np.abs(old - new).max())
        robot.step(tau)
    assert apart > 0.01 and controller.report.law.followed == 0


def test_integrals_and_streams_of_a_task_that_stays_go_on():
    model = load_robot("arm7")
    press = PoseTask("tool", force_axes=("z",), force_integral=5.0, force_gain=0.2)
    controller = Controller(model, [press], method="sparse_ltdl")
    q, v = np.array([0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0]), np.zeros(7)
    controller.activate(q, v, 0.0)
    twin = Controller(model, [press], method="sparse_ltdl")
    twin.activate(q, v, 0.0)
    for k in range(60):
        time = k * STEP
        for each in (controller, twin):
            if k == 0:
                each.target_wrench("tool", [0.0, 0.0, -10.0, 0.0, 0.0, 0.0], time)
                each.measured_wrench("tool", [0.0, 0.0, -4.0, 0.0, 0.0, 0.0], time)
            if k == 30 and each is controller:
                stay = replace(press, level=2)
                controller.tasks = [PositionTask("elbow", frame="link4"), stay]
            each.tick(q, v, time)
        mine = controller._core.law.integral[controller.task_names.index("tool")]
        np.testing.assert_array_equal(mine, twin._core.law.integral[0])
    assert abs(mine[2]) > 0.5
    expired = controller.settings.safety.stream_timeout + 0.1
    controller.tick(q, v, expired)
    assert not controller._core.law.wrench.any()  # it still ends when it should


def test_another_law_keeps_the_target_but_no_integral():
    model = load_robot("arm7")
    press = PoseTask("tool", force_axes=("z",), force_integral=5.0)
    controller = Controller(model, [press], method="sparse_ltdl")
    q, v = np.array([0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0]), np.zeros(7)
    controller.activate(q, v, 0.0)
    controller.target_wrench("tool", [0.0, 0.0, -10.0, 0.0, 0.0, 0.0], 0.0)
    controller.measured_wrench("tool", np.zeros(6), 0.0)
    goal = controller.pose("tool")[0] + 0.1
    controller.target_pose("tool", goal, None, 0.0)
    for k in range(20):
        controller.tick(q, v, k * STEP)
    assert controller._core.law.integral.any()
    controller.tasks = [replace(press, law="impedance")]
    controller.measured_wrench("tool", [0.0, 0.0, -10.0, 0.0, 0.0, 0.0], 20 * STEP)
    controller.tick(q, v, 20 * STEP)
    assert not controller._core.law.integral.any()
    controller.tick(q, v, 10.0)
    np.testing.assert_allclose(controller.target("tool")[0], goal, atol=1e-12)


def test_a_new_task_holds_where_it_is_and_can_be_moved_before_the_next_tick():
    controller, robot = running("arm7")
    for _ in range(50):
        robot.step(controller.tick(robot.q, robot.v, robot.time))
    controller.tasks = [*controller.tasks, PositionTask("elbow", frame="link4", level=2)]
    there = controller.pose("elbow")[0]
    np.testing.assert_array_equal(controller.target("elbow")[0], there)
    np.testing.assert_array_equal(controller.error("elbow"), np.zeros(6))
    controller.target_pose("elbow", there + [0.0, 0.03, 0.0], None, robot.time)
    controller.tick(robot.q, robot.v, robot.time)
    controller.tick(robot.q, robot.v, robot.time + 20.0)
    np.testing.assert_allclose(controller.target("elbow")[0], there + [0.0, 0.03, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ([PoseTask("tol")], "tol"),
        ([PoseTask("tool"), PoseTask("tool")], "tool"),
        ([PoseTask("tool", axes="nowhere")], "nowhere"),
        ([PoseTask("tool", relative_to="tool")], "tool"),
        ([PoseTask("limits", frame="tool")], "limits"),
        ([PoseTask("tool"), PoseTask("base", frame="base_link")], "base"),
    ],
)
def test_wrong_tasks_are_refused_and_nothing_changes(wrong, words):
    controller, robot = running("arm7")
    twin, interval = twin_of(controller, robot), sys.getswitchinterval()
    tasks, settings = controller.tasks, controller.settings
    for k in range(60):
        if k == 30:
            with pytest.raises(OpspaceError, match=words):
                controller.tasks = wrong
            with pytest.raises(OpspaceError, match=words):
                controller.apply(replace(settings, tasks=wrong))
            assert controller.tasks is settings.tasks is tasks and controller.settings is settings
            assert sys.getswitchinterval() == interval
        tau = controller.tick(robot.q, robot.v, robot.time)
        assert tau.tobytes() == twin.tick(robot.q, robot.v, robot.time).tobytes()
        robot.step(tau)


def test_what_is_not_about_tasks_cannot_change_with_them():
    controller, _ = running("arm7")
    settings = replace(controller.settings, mode="gravity", tasks=[PositionTask("tool")])
    with pytest.raises(OpspaceError, match="mode cannot change"):
        controller.apply(settings)
    assert controller.tasks[0].rows == "pose"


def test_changes_before_the_start_between_ticks_and_while_torques_pass_over():
    controller, robot = running("arm7")
    lists = [
        [PoseTask("tool")],
        [PositionTask("a", frame="tool"), OrientationTask("b", frame="tool", level=2)],
        [],
        [RowsTask("c", [[0, 0, 1, 0, 0, 0]], frame="tool"), CenterOfMassTask("d", level=2)],
    ]
    rate = controller.settings.limits.torque_rate * robot.settings.step
    controller.tasks = lists[1]
    controller.tasks = lists[2]
    assert controller.task_names == ()
    controller.tasks = lists[3]
    last = None
    for k in range(600):
        if k % 40 == 39:  # much faster than `fade`
            controller.tasks = lists[k // 40 % 4]
        if k == 450:
            controller.restart(robot.q, robot.v, robot.time)
            assert controller.report.law.followed == 0
        tau = controller.tick(robot.q, robot.v, robot.time).copy()
        assert np.isfinite(tau).all()
        assert last is None or np.abs(tau - last).max() <= rate * (1 + 1e-9), k
        last = tau
        robot.step(tau)
    assert controller.report.tasks == controller.task_names == ()


def test_the_rate_limit_holds_where_the_tasks_change_at_once():
    controller, robot = running("arm7", fade=0.001, torque_rate=50.0, ramp=0.0)
    controller.tick(robot.q, robot.v, robot.time)
    controller.target_pose("tool", controller.pose("tool")[0] + 0.1, None, robot.time)
    limited, last = 0, controller.command.copy()
    for k in range(300):
        if k == 250:
            controller.tasks = []
        tau = controller.tick(robot.q, robot.v, robot.time)
        assert np.abs(tau - last).max() <= 50.0 * robot.settings.step * (1 + 1e-9)
        limited += k >= 250 and controller.report.law.rate_limited < 1.0
        last = tau.copy()
        robot.step(tau)
    assert limited > 3


def test_a_safe_command_and_the_clock_stay_with_the_one_door():
    controller, robot = running("arm7")
    controller.use_wall_clock(True)
    command = controller.command
    controller.tick(robot.q, robot.v, robot.time, 0.0)
    controller.tasks = [PositionTask("tool")]
    before = command.copy()
    controller.safe_command("zero", time=robot.time, steady=0.0)
    assert command.tobytes() == before.tobytes()  # no time has passed
    controller.tick(robot.q, robot.v, robot.time + STEP, 0.0)
    assert command.tobytes() == before.tobytes() and controller.command is not None
    assert controller.report.law.door.is_paced == 1
    assert np.shares_memory(controller.command, command)


def test_a_method_asked_for_is_kept_and_auto_chooses_again():
    controller, robot = running("asimo")
    controller.method = "efpa"
    controller.tasks = controller.tasks[:2]
    controller.tick(robot.q, robot.v, robot.time)
    assert controller.method == "efpa" == controller.settings.method
    controller.method = "auto"
    controller.tasks = controller.tasks[:1]
    controller.tick(robot.q, robot.v, robot.time)
    assert controller.settings.method == "auto" and "asked" not in controller._core.choice


@pytest.mark.parametrize("name", ["arm7", "asimo"])
def test_one_thread_ticks_while_another_changes_the_tasks(name):
    controller, robot = running(name)
    lists = [
        controller.tasks,
        CHANGES[name](controller.tasks),
        [PositionTask("alone", frame=controller.tasks[-1].moved_frame)],
    ]
    expected = {tuple(task.name for task in each) for each in lists}
    rate = controller.settings.limits.torque_rate * robot.settings.step
    done, wrong, seen = threading.Event(), [], {}

    def tick():
        last = controller.tick(robot.q, robot.v, robot.time).copy()
        robot.step(last)
        while not done.is_set():
            try:
                tau = controller.tick(robot.q, robot.v, robot.time)
                names = controller.report.tasks
                if not (np.isfinite(tau).all() and np.abs(tau - last).max() <= rate * (1 + 1e-9)):
                    wrong.append((robot.time, np.abs(tau - last).max()))
                if not np.isfinite(controller.report.target).all():
                    wrong.append((robot.time, names))
                last = tau.copy()
                robot.step(last)
                seen[names] = seen.get(names, 0) + 1
            except BaseException as error:
                wrong.append(error)
                return

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        changes = 0
        while thread.is_alive() and (changes < 30 or seen.keys() != expected):
            changes += 1
            controller.tasks = lists[changes % 3]
            for task in controller.task_names:
                position = controller.pose(task)[0]
                controller.target_pose(task, position + 0.01, None, robot.time)
    finally:
        done.set()
        thread.join()
    assert not wrong and seen.keys() == expected
