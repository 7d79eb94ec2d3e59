# SPDX-License-Identifier: Apache-2.0
"""What the Gazebo bridge decides, without ROS: forces, names, pairs and twists."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.shipped_robots import ours
from hypothesis import given
from hypothesis import strategies as st
from oracles.dart_world import DartWorld

from opspace_ctrl.errors import GazeboError, ParameterError
from opspace_ctrl.nodes.gazebo_forces import ForceGuard
from opspace_ctrl.nodes.gazebo_states import BaseTwist, JointSelection, Pairing
from opspace_ctrl.nodes.gazebo_table import BRIDGE_TABLE, check_bridge, force_topic
from opspace_ctrl.nodes.gazebo_watch import Watch
from opspace_ctrl.nodes.gazebo_words import Words
from opspace_ctrl.nodes.gazebo_world import ServiceWorld
from opspace_ctrl.parameters import checked


def settings(**values):
    return checked(BRIDGE_TABLE, {"joints": ["a", "b"]} | values)


SECOND = 10**9  # [ns]


class Bridge:
    """What the node has without ROS."""

    def __init__(self, **values):
        self.settings = settings(**values)
        self.watch, self.pairing = Watch(), Pairing(self.settings["floating"])
        self.guard = ForceGuard(self.settings, self.watch)
        self.relay = SimpleNamespace(rejected=0, problem="")
        self.words = Words(self.watch, self.guard, self.pairing, self.relay)

    def hear(self, stamp, now, odometry=True):
        """A joint state of a stamp [s] comes at the real time `now`, and with it the odometry."""
        nanoseconds = round(stamp * SECOND)
        self.watch.heard(nanoseconds, now)
        if odometry:
            self.pairing.odometry(nanoseconds, "odometry")
        if self.pairing.state(nanoseconds, "state"):
            self.guard.state(stamp)

    def said(self, now, lacking="", has_run=True):
        return self.words(now, self.settings, lacking, has_run)[:2]


def test_a_command_is_taken_only_if_every_number_is_one():
    bridge = Bridge(effort_limits=[10.0, 20.0])
    guard = bridge.guard
    bridge.hear(0.0, 0.0)
    assert guard.command([10.0, -20.0], 0.0).tolist() == [10.0, -20.0]
    for bad, named in (
        ([1.0], "1 efforts"),
        ([1.0, np.nan], "b"),
        ([np.inf, 0.0], "a"),
        ([0.0, 20.1], "limit"),
    ):
        assert guard.command(bad, 0.0) is None
        assert named in guard.reason
    assert guard.counters == {"commands": 1, "refused": 4, "extra": 0, "watchdog": 0}


def test_the_watchdog_bites_by_simulated_time_and_not_in_a_pause():
    bridge = Bridge(command_timeout=0.02, silence_timeout=5.0)
    guard = bridge.guard
    bridge.hear(1.0, 0.0)
    assert not guard.bites(4.0)  # no force has been sent yet
    guard.command([1.0, 1.0], 4.0)
    for k in range(21):
        bridge.hear(1.0 + 0.001 * k, 4.0)
        assert not guard.bites(4.0)
    for k in range(1000):  # paused for a long time: the stamp repeats
        bridge.hear(1.02, 4.0 + k)
        assert not guard.bites(4.0 + k)
    bridge.hear(1.021, 1004.0)
    assert guard.bites(1004.0) and guard.tripped
    assert not guard.bites(1004.0)  # once
    assert guard.fallback(np.ones(2)).tolist() == [0.0, 0.0]
    guard.command([1.0, 1.0], 1004.0)
    assert not guard.tripped
    assert guard.bites(1009.1)  # Gazebo is silent


def test_the_controllers_commands_are_no_sign_of_life_of_gazebo():
    bridge = Bridge(silence_timeout=5.0)
    guard = bridge.guard
    assert guard.command([1.0, 1.0], 0.0) is None  # to no state
    bridge.hear(1.0, 0.0)
    assert guard.command([1.0, 1.0], 1.0) is not None
    assert guard.command([1.0, 1.0], 4.9) is not None
    assert guard.bites(5.1) and guard.tripped
    assert guard.command([1.0, 1.0], 5.2) is None and guard.tripped
    assert guard.counters["watchdog"] == 1
    bridge.hear(1.0, 20.0)
    assert guard.command([1.0, 1.0], 20.0) is not None and not guard.tripped


@pytest.mark.parametrize("action, forces", [("zero", [0, 0]), ("hold", None), ("damping", [-2, 4])])
def test_what_the_watchdog_does(action, forces):
    guard = Bridge(timeout_action=action, timeout_damping=2.0).guard
    result = guard.fallback(np.array([1.0, -2.0]))
    assert result is None if forces is None else result.tolist() == forces


def test_lockstep_takes_the_first_command_after_each_state():
    bridge = Bridge(lockstep=True)
    guard = bridge.guard
    assert guard.command([0, 0], 0.0) is None  # no state yet
    bridge.hear(0.0, 0.0)
    assert guard.is_waiting
    assert guard.command([0, np.nan], 0.0) is None and guard.is_waiting  # rubbish is no answer
    assert guard.command([0, 0], 0.0) is not None
    assert guard.command([0, 0], 0.0) is None
    bridge.hear(0.001, 0.0)
    assert guard.command([0, 0], 0.0) is not None
    assert guard.counters == {"commands": 2, "refused": 1, "extra": 2, "watchdog": 0}


def test_a_request_counts_as_lost_only_when_gazebo_says_that_it_stands():
    watch = Watch()
    watch.heard(0, 0.0)
    assert not watch.is_disobeyed(1.0)  # nothing was asked for
    watch.asked(10.0)
    assert not watch.is_disobeyed(1.0)
    watch.heard(0, 10.9)
    assert not watch.is_disobeyed(1.0)  # it may be on its way
    watch.heard(0, 11.1)
    assert watch.is_disobeyed(1.0) and watch.again == 0
    watch.asked(11.1)
    assert not watch.is_disobeyed(1.0) and watch.again == 1
    watch.heard(1_000_000, 20.0)
    assert not watch.is_disobeyed(1.0)
    assert watch.stood() == 0.0 and watch.silence(25.0) == 5.0
    assert not watch.heard(2_000_000, 21.0)
    assert watch.heard(0, 22.0) and watch.restarts == 1  # it begins anew


def test_the_bridge_says_what_is_wrong_and_on_which_side():
    bridge = Bridge(silence_timeout=5.0, resend=1.0, floating=True, command_timeout=0.02)
    assert bridge.said(0.0) == (
        "warn",
        "no state from Gazebo yet: do its server and ros_gz_bridge run?",
    )
    bridge.hear(0.0, 0.0, odometry=False)
    bridge.hear(0.0, 2.0, odometry=False)
    assert "does not say where the base is" in bridge.said(2.0)[1]
    assert bridge.said(2.0, lacking="no ears") == ("warn", "no ears")
    bridge.hear(0.001, 2.0)
    bridge.guard.command([1.0, 1.0], 2.0)
    assert bridge.said(2.1) == ("ok", "relaying")
    bridge.hear(0.001, 4.0)
    assert bridge.said(4.0) == ("warn", "the world is paused")
    bridge.guard.command([1.0, 1.0], 9.1)  # the controller lives on, but that is no word of Gazebo
    assert bridge.said(9.1)[0] == "error" and "Gazebo is silent" in bridge.said(9.1)[1]
    bridge.hear(0.1, 9.2)
    assert bridge.guard.bites(9.2)
    assert bridge.said(9.2) == ("warn", "no command in time: zero")
    bridge.guard.command([1.0, 1.0], 9.2)
    assert bridge.said(9.3) == ("ok", "relaying")
    bridge.hear(0.2, 9.4)
    assert bridge.guard.bites(9.4)
    bridge.guard.command(
        [1.0, 1.0], 9.4
    )  # bitten and released between two reports: said all the same
    assert bridge.said(9.5) == ("warn", "no command in time: zero")
    bridge.guard.command([np.nan, 1.0], 9.5)
    assert bridge.said(9.6)[1].startswith("a command was refused: the effort of a")
    assert bridge.said(9.7) == ("ok", "relaying")  # it is over


@pytest.mark.parametrize(
    "values, has_run, words",
    [
        ({"lockstep": True}, False, "waits for a command"),
        ({"run_on_command": True}, False, "waits for the first command"),
        ({"run_on_command": True}, True, "is paused"),
        ({}, False, "is paused"),
    ],
)
def test_why_a_world_stands_is_said(values, has_run, words):
    bridge = Bridge(**values)
    bridge.hear(0.0, 0.0)
    bridge.hear(0.0, 1.5)
    assert words in bridge.said(1.6, has_run=has_run)[1]
    bridge.watch.asked(1.6)
    bridge.hear(0.0, 3.0)
    bridge.watch.asked(3.0)
    assert "did not obey" in bridge.said(3.1)[1]


def test_joints_are_found_by_name():
    select = JointSelection(["arm.b", "arm.a"], [0.5, 0.0])
    positions, velocities = select(
        ["world_fixed", "arm.a", "arm.b"], [9.0, 1.0, 2.0], [9.0, 3.0, 4.0]
    )
    assert positions.tolist() == [2.5, 1.0] and velocities.tolist() == [4.0, 3.0]
    assert select(["world_fixed", "arm.a", "arm.b"], [9.0, 1.0, 2.0], [])[1].tolist() == []
    for names, positions, named in (
        (["arm.a"], [0.0], "arm.b"),
        (["arm.a", "arm.b"], [0.0, np.nan], "finite"),
        (["arm.a", "arm.b"], [0.0], "1 positions"),
    ):
        assert select(names, positions, []) is None
        assert named in select.problem


@given(st.randoms(use_true_random=False), st.booleans())
def test_pairs_leave_once_in_order_and_whole(random, floating):
    pairing = Pairing(floating)
    events = [
        (stamp, side) for stamp in range(1, 40) for side in ("state", "odometry") for _ in range(2)
    ]
    # each topic in order, repeated, the two shifted against each other by up to a few messages
    events.sort(
        key=lambda event: event[0] + (random.uniform(0, 3) if event[1] == "odometry" else 0.0)
    )
    left = []
    for stamp, side in events:
        if not (side == "odometry" and not floating):
            pair = getattr(pairing, side)(stamp, (side, stamp))
            left += [pair] if pair else []
    stamps = [state[1] for state, _ in left]
    assert stamps == sorted(set(stamps))
    assert len(left) + pairing.unpaired >= 36
    assert all(
        odometry == (("odometry", state[1]) if floating else None) for state, odometry in left
    )


def test_a_world_that_is_reset_starts_again():
    for floating in (False, True):
        pairing = Pairing(floating)
        for stamp in (5, 6, 7, 0, 1):
            if floating:
                pairing.odometry(stamp, "o")
            assert pairing.state(stamp, "s")


def test_after_a_reset_no_old_pose_pairs_with_a_new_state():
    pairing = Pairing(True)
    pairing.odometry(100, 0)
    assert pairing.state(100, 0)
    pairing.odometry(101, "old")  # its state is lost, and the world is reset
    pairing.odometry(1, 1)
    assert pairing.state(1, 1) == (1, 1)
    pairing.odometry(101, "new")
    assert pairing.state(101, 2) == (2, "new")


def test_the_twist_is_that_of_the_engine():
    world = DartWorld(ours("free_flyer").source, True, 0.001, (0.0, 0.0, 0.0))
    world.place({}, (0.0, 0.0, 3.0))
    velocities = np.zeros(world.robot.getNumDofs())
    velocities[:6] = 1.0, -2.0, 0.5, 0.3, 0.2, -1.0
    world.robot.setVelocities(velocities)
    twist, sparse = BaseTwist(), BaseTwist()
    for k in range(200):
        world.step({joint: 0.1 * np.sin(k) for joint in world.joints})
        position, quaternion, linear, angular = world.base()
        stamp = world.stamp[0] * 10**9 + world.stamp[1]
        found = twist(stamp, position, quaternion)
        expected = np.zeros(6) if k == 0 else np.concatenate((linear, angular))
        np.testing.assert_allclose(found, expected, atol=1e-9)
        if k % 5 == 0:  # poses between are missing: their mean, over the time that has passed
            mean = sparse(stamp, position, quaternion)
            np.testing.assert_allclose(mean, expected, atol=0.02)
    assert twist(0, position, quaternion).tolist() == [0.0] * 6  # a reset


def test_lists_that_do_not_fit_are_refused():
    assert check_bridge(settings(model="my-arm", gazebo_joints=["a.x", "7b"])) == [
        "model/my_arm/joint/a_x/cmd_force",
        "model/my_arm/joint/_7b/cmd_force",
    ]
    assert force_topic("arm7", "joint1") == "model/arm7/joint/joint1/cmd_force"
    for values, named in (
        ({"joints": []}, "or a floating base"),
        ({"offsets": [1.0]}, "offsets"),
        ({"joints": ["a", "a"]}, "twice"),
        ({"gazebo_joints": ["a.x", "a-x"]}, "twice"),
        ({"effort_limits": [1.0]}, "effort_limits"),
    ):
        with pytest.raises(ParameterError, match=named):
            check_bridge(settings(**values))


def test_stepping_without_ros_gz_interfaces_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ros_gz_interfaces", None)
    with pytest.raises(GazeboError, match="ros_gz_interfaces"):
        ServiceWorld(None, "gazebo/control", print)
