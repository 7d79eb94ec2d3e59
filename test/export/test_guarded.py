# SPDX-License-Identifier: Apache-2.0
"""Gates in C are the gates in Python: the same verdicts, gates, words and commands, whatever happens."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from helpers.exported import shipped
from helpers.gate_cases import MS, START
from helpers.gate_table import ARM, SETTINGS, Table, run_table
from helpers.guarded_in_both import NOTHING, OK, SAFE, GateInBoth, GuardedInBoth

from opspace_ctrl import Controller
from opspace_ctrl.control.safety.settings import GATES
from opspace_ctrl.export import library_path
from opspace_ctrl.export.controller import image_of
from opspace_ctrl.export.native import Library, Robot


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(library_path())


@pytest.fixture(scope="module")
def arm7() -> bytes:
    return image_of(shipped("arm7")).packed()


def test_the_table_holds_in_c_too_and_in_every_bit(library):
    image = image_of(Controller.from_settings(ARM, SETTINGS)).packed()
    compared = []

    class InBoth(Table):
        def guarded(self, controller, is_simulated):
            gate = GateInBoth(ARM, SETTINGS.safety, is_simulated)
            gate.in_c = Robot(library, image)
            assert gate.in_c.call("simulated_time", int(is_simulated)) == 0
            return gate, GuardedInBoth(controller, gate)

        def aim(self, position, quaternion):
            super().aim(position, quaternion)
            gate = self.robot.gate
            assert gate.in_c.call("target_pose", 0, position, quaternion, gate.time) == 0

        def teardown(self):
            super().teardown()
            compared.append(self.robot.guarded.compared)

    run_table(InBoth, 60)
    assert sum(compared) > 1000


@pytest.mark.parametrize("name", ["asimo", "free_flyer"])
def test_a_floating_base_is_paired_judged_and_given_up_alike(library, name):
    """Odometry that is late, lost, spoiled or of another time, between good states."""
    controller = shipped(name)
    gate = GateInBoth(controller.model, controller.settings.safety)
    gate.in_c = Robot(library, image_of(controller).packed())
    controller.use_wall_clock(True)
    guarded, rng = GuardedInBoth(controller, gate), np.random.default_rng(2)
    controller.prepare()
    model, now = controller.model, START
    names, k = list(model.joint_names), len(model.joint_names)
    q, v = model.neutral(), np.zeros(model.nv)
    guarded.activate(now, now)
    for i in range(1500):
        now += MS if rng.integers(60) else 50 * MS
        kind = int(rng.integers(40)) if i > 20 else 9
        pose, twist, stamp = q[:7].copy(), v[:6].copy(), now - 5 * MS * (kind == 0)
        if kind == 1:
            pose[3:] *= 1.2
        if kind == 2:
            twist[0] = np.nan
        if kind != 3:
            verdict = gate.odometry(pose, twist, stamp, "", now, now)
            guarded.answer(verdict, now, now)
        verdict = gate.joint_states(names, q[-k:], v[-k:], now, now, now)
        guarded.answer(verdict, now, now)
    assert guarded.compared > 1000 and gate.closings.sum() > 20


def test_before_the_first_state_nothing_is_sent_and_words_name_the_joints(library, arm7):
    robot = Robot(library, arm7)
    assert robot.call("begin", START, START, robot.tau) == NOTHING
    assert robot.call("command", START + MS, START + MS, robot.tau) == NOTHING
    text = ctypes.create_string_buffer(500)
    assert robot.call("gates_in_words", text, 500) == 0
    assert text.value.startswith(b"first: no joint states yet; joints not told yet: joint1, ")
    assert robot.call("gates_in_words", text, 9) == 0 and text.value == b"first: n"
    assert robot.call("believed", None, None, None) == NOTHING


def test_joints_in_any_order_and_some_at_a_time_make_a_state(library, arm7):
    robot, q = Robot(library, arm7), 0.1 * np.arange(1.0, 8.0)
    found, order = ctypes.c_int(), np.array([6, 2, 4, 0], np.uint32)
    assert robot.call("begin", START, START, robot.tau) == NOTHING
    rest = np.setdiff1d(np.arange(7), order).astype(np.uint32)
    for joints, verdict in ((order, 1), (rest, 2)):
        given = (len(joints), joints, q[joints], None, START, START, START, ctypes.byref(found))
        assert robot.call("joint_states", *given) == 0 and found.value == verdict
    assert robot.call("command", START, START, robot.tau) == OK
    believed = np.zeros(7)
    assert robot.call("believed", believed, None, None) == 0 and (believed == q).all()


def test_what_gates_are_told_wrongly_is_refused_and_nothing_happens(library, arm7):
    robot, q = Robot(library, arm7), np.zeros(7)
    twice, far = np.array([1, 1], np.uint32), np.array([7], np.uint32)
    times = (START, START, START, None)
    assert robot.call("joint_states", 7, None, None, None, *times) == 2
    assert robot.call("joint_states", 6, None, q, None, *times) == 2
    assert robot.call("joint_states", 0, None, q, None, *times) == 2
    assert robot.call("joint_states", 2, twice, q, None, *times) == 2
    assert robot.call("joint_states", 1, far, q, None, *times) == 3
    assert robot.call("odometry", None, q, *times) == 2
    assert robot.call("unreadable", 16, START) == 3 and robot.call("fail", 99) == 3
    assert robot.call("closings", 16, None, None) == 3
    assert robot.call("closed", None) == 2 and robot.call("gates_in_words", None, 5) == 2
    assert robot.get("gates.heard").item() == 0 and robot.get("gates.faults").item() == 0


def test_targets_are_not_taken_while_a_gate_is_closed(library, arm7):
    robot, q, now = Robot(library, arm7), np.full(7, 0.3), START
    ticks, refused = ctypes.c_uint64(), ctypes.c_uint64()
    robot.call("begin", now, now, robot.tau)
    statuses = []
    for i in range(40):
        now += MS
        assert robot.call("joint_states", 7, None, q, np.zeros(7), now, now, now, None) == 0
        if i == 10:
            robot.call("stop")
        if i in (5, 15):
            assert robot.call("target_twist", 0, np.zeros(6), 0.001 * i) == 0
        if i == 30:
            robot.call("open_gates")
        statuses.append(robot.call("command", now, now, robot.tau))
    assert statuses == [OK] * 10 + [SAFE] * 20 + [OK] * 10
    robot.call("counts", ctypes.byref(ticks), ctypes.byref(refused))
    assert (ticks.value, refused.value) == (20, 1)
    closings, stop = ctypes.c_uint64(), GATES.index("stop")
    assert robot.call("closings", stop, ctypes.byref(closings), None) == 0 and closings.value == 1
