# SPDX-License-Identifier: Apache-2.0
"""The robot as nodes of a scene, in a real server of viser, and how often a page is fed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import viser
from helpers.viewing import Driven
from scipy.spatial.transform import Rotation

from opspace_ctrl import frame_pose, load_robot
from opspace_ctrl.view import page
from opspace_ctrl.view.geometry import body_poses
from opspace_ctrl.view.overlays import Overlays
from opspace_ctrl.view.scene import STILL, RobotScene
from opspace_ctrl.view.shapes import robot_shapes

RNG = np.random.default_rng(21)
ROBOTS = ("arm7", "asimo", "free_flyer")


@pytest.fixture(scope="module")
def server():
    made = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield made
    made.stop()


def world(scene, model, body):
    """Where a node is in the world, link by link down the scene's own path."""
    rotation, position = np.eye(3), np.zeros(3)
    chain = []
    while body >= 0:
        chain.append(scene._nodes[body])
        body = int(model.parent[body])
    for node in reversed(chain):
        position = position + rotation @ node.position
        rotation = rotation @ Rotation.from_quat(np.roll(node.wxyz, -1)).as_matrix()
    return position, rotation


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_body_is_where_the_kinematics_put_it(server, robot):
    model = load_robot(robot)
    scene = RobotScene(server, model, robot_shapes(model))
    for _ in range(3):
        q = model.random_configuration(RNG)
        scene.show(q)
        for body, name in enumerate(model.body_names):
            position, quaternion = frame_pose(model, q, name)
            shown = world(scene, model, body)
            np.testing.assert_allclose(shown[0], position, atol=1e-9)
            np.testing.assert_allclose(
                shown[1], Rotation.from_quat(quaternion).as_matrix(), atol=1e-9
            )
            np.testing.assert_allclose(scene.positions[body], position, atol=1e-12)


def test_a_hinge_that_turns_is_one_message_and_a_robot_that_stands_none(server):
    model = load_robot("asimo")
    scene = RobotScene(server, model, ())
    q = model.neutral()
    scene.show(q)
    buffer = server._websock_server.get_message_buffer()

    def messages(q):
        before = buffer.message_counter
        scene.show(q)
        return buffer.message_counter - before

    q[-1] += 0.1
    assert messages(q) == 1
    q[7:] += 0.1
    assert messages(q) == model.nv - 6
    q[7:] += 0.5 * STILL
    assert messages(q) == 0


def test_a_robot_that_is_seen_through_has_its_own_opacity_again(server):
    model = load_robot("arm7")
    scene = RobotScene(server, model, robot_shapes(model))
    meshes = [mesh for meshes in scene.meshes.values() for mesh in meshes]
    own = [mesh.opacity for mesh in meshes]
    scene.fade(True)
    assert all(mesh.opacity < 0.5 for mesh in meshes)
    scene.fade(False)
    assert [mesh.opacity for mesh in meshes] == own


def test_only_tasks_of_a_damped_level_show_what_is_lost(server):
    asimo = Driven("asimo")
    row, model, settings = asimo.turns(20), asimo.loop.model, asimo.loop.controller.settings
    overlays = Overlays(server, model, settings, RobotScene(server, model, ()), 0.0)
    overlays.show(row)
    lines = overlays._nodes["singular directions"]
    assert not lines.visible
    hand = next(i for i, task in enumerate(settings.tasks) if task.name == "left_hand")
    (level,) = (i for i, level in enumerate(settings.levels()) if hand in level)
    row["damped"][2 + level] = 1.0
    overlays.show(row)
    assert lines.visible
    middles = np.asarray(lines.points).mean(axis=1)
    hands = [
        frame_pose(model, row["q"], settings.tasks[i].moved_frame)[0]
        for i in settings.levels()[level]
    ]
    away = np.linalg.norm(middles[:, None] - np.array(hands), axis=2).min(axis=1)
    assert away.max() < 0.2  # at these hands, and nowhere else


def test_poses_of_all_bodies_are_those_of_each():
    model = load_robot("asimo")
    q = model.random_configuration(RNG)
    for name, pose in zip(model.body_names, body_poses(model, q)):
        position, quaternion = frame_pose(model, q, name)
        np.testing.assert_allclose(pose[9:], position, atol=1e-12)
        rotation = Rotation.from_quat(quaternion).as_matrix()
        np.testing.assert_allclose(pose[:9].reshape(3, 3), rotation, atol=1e-12)


@pytest.mark.parametrize(("cost", "frames"), [(0.0, 30), (0.02, 30), (0.1, 10)])  # [s] of an update
def test_a_page_is_fed_thirty_times_a_second_whatever_a_frame_costs(monkeypatch, cost, frames):
    class Clock:
        now = 0.0

    class Slow:
        count = 0

        def update(self):
            self.count += 1
            Clock.now += cost

    def wait(seconds):
        Clock.now += seconds
        return Clock.now > 10.0

    monkeypatch.setattr(page, "monotonic", lambda: Clock.now)
    slow = Slow()
    page.feed(slow, wait)
    assert abs(slow.count - 10 * frames) <= 2


def test_threads_of_the_server_give_way_to_the_loop():
    program = """
import os
from opspace_ctrl.commands.view import NICE, give_way
from opspace_ctrl.view.server import start_server
def priorities():
    threads = [int(each) for each in os.listdir("/proc/self/task")]
    return {each: os.getpriority(os.PRIO_PROCESS, each) for each in threads}
before = priorities()
give_way()
server, _ = start_server(0, False, "test")
wanted = min(before[os.getpid()] + NICE, 19)
after = priorities()
started = after.keys() - before.keys()
assert started and all(after[each] == wanted for each in {*started, os.getpid()}), (before, after)
server.stop()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
