"""What the Gazebo bridge decides, without ROS: forces, names, pairs and twists."""

import sys

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
from opspace_ctrl.nodes.gazebo_world import ServiceWorld
from opspace_ctrl.parameters import checked


def settings(**values):
    return checked(BRIDGE_TABLE, {"joints": ["a", "b"]} | values)


def test_a_command_is_taken_only_if_every_number_is_one():
    guard = ForceGuard(settings(effort_limits=[10.0, 20.0]))
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
    guard = ForceGuard(settings(command_timeout=0.02, silence_timeout=5.0))
    guard.state(1.0, 0.0)
    assert not guard.bites(4.0)  # no force has been sent yet
    guard.command([1.0, 1.0], 4.0)
    for k in range(21):
        guard.state(1.0 + 0.001 * k, 4.0)
        assert not guard.bites(4.0)
    for k in range(1000):  # paused for a long time: the stamp repeats
        guard.heard(4.0 + k)
        assert not guard.bites(4.0 + k)
    guard.state(1.021, 1004.0)
    assert guard.bites(1004.0) and guard.tripped
    assert not guard.bites(1004.0)  # once
    assert guard.fallback(np.ones(2)).tolist() == [0.0, 0.0]
    guard.command([1.0, 1.0], 1004.0)
    assert not guard.tripped
    assert guard.bites(1009.1)  # Gazebo and the controller are silent


@pytest.mark.parametrize("action, forces", [("zero", [0, 0]), ("hold", None), ("damping", [-2, 4])])
def test_what_the_watchdog_does(action, forces):
    guard = ForceGuard(settings(timeout_action=action, timeout_damping=2.0))
    result = guard.fallback(np.array([1.0, -2.0]))
    assert result is None if forces is None else result.tolist() == forces


def test_lockstep_takes_the_first_command_after_each_state():
    guard = ForceGuard(settings(lockstep=True))
    assert guard.command([0, 0], 0.0) is None  # no state yet
    guard.state(0.0, 0.0)
    assert guard.is_waiting
    assert guard.command([0, np.nan], 0.0) is None and guard.is_waiting  # rubbish is no answer
    assert guard.command([0, 0], 0.0) is not None
    assert guard.command([0, 0], 0.0) is None
    guard.state(0.001, 0.0)
    assert guard.command([0, 0], 0.0) is not None
    assert guard.counters == {"commands": 2, "refused": 1, "extra": 2, "watchdog": 0}


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


def test_the_twist_is_that_of_the_engine():
    world = DartWorld(ours("free_flyer").source, True, 0.001, (0.0, 0.0, 0.0))
    world.place({}, (0.0, 0.0, 3.0))
    velocities = np.zeros(world.robot.getNumDofs())
    velocities[:6] = 1.0, -2.0, 0.5, 0.3, 0.2, -1.0
    world.robot.setVelocities(velocities)
    twist = BaseTwist(world.step_size)
    for k in range(200):
        world.step({joint: 0.1 * np.sin(k) for joint in world.joints})
        position, quaternion, linear, angular = world.base()
        stamp = world.stamp[0] * 10**9 + world.stamp[1]
        found = twist(stamp, position, quaternion, np.full(6, 7.0))
        expected = np.full(6, 7.0) if k == 0 else np.concatenate((linear, angular))
        np.testing.assert_allclose(found, expected, atol=1e-9)
    # states are missing
    assert twist(stamp + 5_000_000, position, quaternion, np.zeros(6)).tolist() == [0.0] * 6


def test_lists_that_do_not_fit_are_refused():
    assert check_bridge(settings(model="my-arm", gazebo_joints=["a.x", "7b"])) == [
        "model/my_arm/joint/a_x/cmd_force",
        "model/my_arm/joint/_7b/cmd_force",
    ]
    assert force_topic("arm7", "joint1") == "model/arm7/joint/joint1/cmd_force"
    for values, named in (
        ({"joints": []}, "joints"),
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
