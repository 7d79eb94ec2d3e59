"""Joint states and odometry into one state: names, order, parts, missing velocities, stamps, pairing, rubbish."""

from array import array

import numpy as np
import pytest
from helpers.support import load_quietly
from hypothesis import given
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from opspace_ctrl import load_robot
from opspace_ctrl.errors import ConfigurationError
from opspace_ctrl.nodes import stamps
from opspace_ctrl.nodes.cdr import read_joint_state, read_odometry
from opspace_ctrl.nodes.intake import Intake
from opspace_ctrl.nodes.stamps import Stamps

MS = 1_000_000


@pytest.fixture(scope="module")
def arm():
    return load_robot("arm7")


@pytest.fixture(scope="module")
def humanoid():
    return load_robot("asimo")


def fixed(model, **options):
    return Intake(model, model.frame_names[0], False, **options)


def joint_state(stamp, names, position, velocity=()):
    message = JointState(
        name=list(names), position=array("d", position), velocity=array("d", velocity)
    )
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
    return read_joint_state(message)


def odom(
    stamp, pose=(0.1, 0.2, 0.3, 0.0, 0.0, 0.6, 0.8), twist=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), child=""
):
    message = Odometry(child_frame_id=child)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
    p, o = message.pose.pose.position, message.pose.pose.orientation
    p.x, p.y, p.z, o.x, o.y, o.z, o.w = pose
    u, w = message.twist.twist.linear, message.twist.twist.angular
    u.x, u.y, u.z, w.x, w.y, w.z = twist
    return read_odometry(message)


@given(st.data())
def test_any_order_with_other_joints_between_gives_the_same_state(arm, data):
    names = data.draw(st.permutations([*arm.joint_names, "finger", "wheel"]))
    number = {name: float(at) for at, name in enumerate(names)}
    intake = fixed(arm)
    message = joint_state(
        MS, names, [number[name] for name in names], [10.0 * number[name] for name in names]
    )
    assert intake.joint_states(message, MS) == (True, "")
    assert intake.q.tolist() == [number[name] for name in arm.joint_names]
    assert intake.v.tolist() == [10.0 * number[name] for name in arm.joint_names]


def test_parts_of_a_state_are_merged_and_the_state_is_ready_when_the_last_part_came(arm):
    first, second = arm.joint_names[:4], arm.joint_names[4:]
    intake = fixed(arm)
    for step in range(1, 4):
        assert intake.joint_states(joint_state(step * MS, first, [step] * 4, [step] * 4), 0) == (
            False,
            "",
        )
        assert intake.joint_states(joint_state(step * MS, second, [-step] * 3, [0] * 3), 0) == (
            True,
            "",
        )
        assert intake.q.tolist() == [step] * 4 + [-step] * 3
        assert intake.time == pytest.approx((step - 1) * 1e-3)


def test_joints_that_are_told_rarely_do_not_delay_the_others_and_their_age_is_known(arm):
    first, second = arm.joint_names[:6], arm.joint_names[6:]
    intake = fixed(arm)
    intake.joint_states(joint_state(MS, second, [7.0], [0.0]), 0)
    ready = [
        intake.joint_states(joint_state(step * MS, first, [step] * 6, [0] * 6), 0)[0]
        for step in range(2, 12)
    ]
    # one state passes until it is known that they come more rarely
    assert ready == [True, False] + [True] * 8
    assert intake.q[6] == 7.0 and intake.state_age == pytest.approx(10e-3)


def test_missing_velocities_are_differentiated(arm):
    intake = fixed(arm)
    rate = np.linspace(-1.0, 1.0, 7)
    for step in range(1, 6):
        message = joint_state(step * 2 * MS, arm.joint_names, rate * step * 2e-3)
        assert intake.joint_states(message, step)[0]
        assert intake.v == pytest.approx(rate if step > 1 else np.zeros(7), abs=1e-12)


def test_differentiated_velocities_are_smoothed_by_a_first_order_filter(arm):
    intake = fixed(arm, velocity_time=0.004)
    intake.joint_states(joint_state(MS, arm.joint_names, np.zeros(7)), 0)
    for step in range(1, 6):  # a ramp of 1 rad/s: each step of 1 ms closes a fifth of what is left
        intake.joint_states(
            joint_state(MS + step * MS, arm.joint_names, np.full(7, step * 1e-3)), 0
        )
        assert intake.v == pytest.approx(np.full(7, 1.0 - 0.8**step), abs=1e-9)


def test_velocities_that_are_always_nan_are_differentiated_and_nan_after_numbers_is_a_fault(arm):
    intake = fixed(arm)
    velocity = [0.5] * 6 + [np.nan]
    for step in (1, 2):
        message = joint_state(step * MS, arm.joint_names, [step * 1e-3] * 7, velocity)
        assert intake.joint_states(message, 0) == (True, "")
    assert intake.v == pytest.approx([0.5] * 6 + [1.0])
    before = intake.q.copy()
    message = joint_state(3 * MS, arm.joint_names, [9.0] * 7, [np.nan] * 7)
    assert intake.joint_states(message, 0) == (False, "finite")
    assert (intake.q == before).all()


def test_an_angle_without_limits_may_wrap():
    xml = (
        '<robot name="r"><link name="a"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    intake = fixed(load_quietly(xml))
    intake.joint_states(joint_state(MS, ["j"], [np.pi - 0.001]), 0)
    intake.joint_states(joint_state(2 * MS, ["j"], [-np.pi + 0.001]), 0)
    assert intake.v == pytest.approx([2.0], abs=1e-6)


@pytest.mark.parametrize(
    "fault, change",
    [
        ("size", {"position": np.zeros(6)}),
        ("size", {"position": np.zeros(0)}),
        ("size", {"velocity": np.zeros(8)}),
        ("finite", {"position": np.array([0.0] * 6 + [np.inf])}),
        ("finite", {"position": np.array([np.inf, -np.inf] + [0.0] * 5)}),
        ("finite", {"velocity": np.array([0.0] * 6 + [-np.inf])}),
        ("names", {"names": ["joint_1"] * 7}),
        ("", {"names": ["x"] * 7}),
        ("", {"names": []}),
    ],
)  # about other joints
def test_a_message_that_is_wrong_changes_nothing_and_says_what_it_is(arm, fault, change):
    if change.get("names") == ["joint_1"] * 7:
        change = {"names": list(arm.joint_names[:1]) * 7}
    message = joint_state(MS, arm.joint_names, np.arange(7.0), np.arange(7.0))._replace(**change)
    intake = fixed(arm)
    assert intake.joint_states(message, MS) == (False, fault)
    assert not intake.q.any() and not intake.v.any() and intake.joints.missing == 7


def test_ever_new_names_do_not_fill_the_memory(arm):
    intake = fixed(arm)
    for step in range(1, 300):
        intake.joint_states(joint_state(step * MS, [f"joint_{step}"], [0.0]), 0)
    assert len(intake.joints._mappings) <= 32 and intake.foreign == 299


def test_repeated_and_late_stamps_are_dropped(arm):
    intake = fixed(arm)
    ready = [
        intake.joint_states(joint_state(stamp * MS, arm.joint_names, [stamp] * 7, [0] * 7), at)[0]
        for at, stamp in enumerate((5, 5, 4, 6, 5, 7))
    ]
    assert ready == [True, False, False, True, False, True]
    assert (intake.repeated, intake.late, intake.q[0]) == (1, 2, 7.0)


def test_a_clock_that_is_set_shows_in_the_verdict_and_the_state_starts_afresh(arm):
    def told(intake, stamp, arrival):
        return intake.joint_states(joint_state(stamp, arm.joint_names, [0.1] * 7), arrival)[
            0
        ], intake.verdict

    intake = fixed(arm, clock_jump=1.0)
    assert told(intake, 10_000 * MS, 0) == (True, stamps.NEW)
    assert told(intake, 10_001 * MS, MS) == (True, stamps.NEW)
    assert told(intake, 5 * MS, 2 * MS) == (True, stamps.BACK)  # far back
    assert intake.time == 0.0 and not intake.v.any()
    assert told(intake, 6 * MS, 3 * MS) == (True, stamps.NEW)
    assert told(intake, 5_000 * MS, 4 * MS) == (True, stamps.AHEAD)
    assert told(intake, 7_000 * MS, 2_004 * MS) == (True, stamps.NEW)  # a pause by both clocks
    late = [told(intake, (6_900 + step) * MS, 2_005 * MS) for step in range(5)]
    # a little back, again and again
    assert late == [(False, stamps.NEW)] * 4 + [(True, stamps.BACK)]
    # a little back after a pause
    assert told(intake, 6_800 * MS, 4_000 * MS) == (True, stamps.BACK)


def test_zero_is_a_time_once_and_no_stamp_when_it_goes_on():
    judge = Stamps(1.0)
    assert [judge.judge(stamp * MS, 7 + stamp) for stamp in (0, 1, 2)] == [stamps.NEW] * 3
    judge = Stamps(1.0)
    verdicts = [judge.judge(0, (5_000 + step) * MS) for step in range(6)]
    assert verdicts == [stamps.NEW, stamps.REPEATED] + [stamps.NEW] * 4 and judge.is_unstamped
    assert judge.period == pytest.approx(1e-3)


def floating(model):
    return Intake(model, model.frame_names[0], True)


def state(model, stamp, value=0.0):
    zeros = np.zeros(len(model.joint_names))
    return joint_state(stamp, model.joint_names, zeros + value, zeros)


@pytest.mark.parametrize("odom_first", [True, False])
def test_the_base_comes_from_the_odometry_of_the_same_stamp(humanoid, odom_first):
    intake = floating(humanoid)
    for step in range(1, 5):
        of_base = (intake.odom, odom(step * MS, twist=(step, 0, 0, 0, 0, 0)))
        of_joints = (intake.joint_states, state(humanoid, step * MS, step))
        order = (of_base, of_joints) if odom_first else (of_joints, of_base)
        assert [take(message, 0)[0] for take, message in order] == [False, True]
        assert intake.v[0] == step and intake.q[7] == step and intake.odometry_age == 0.0
        assert intake.q[:7] == pytest.approx([0.1, 0.2, 0.3, 0.0, 0.0, 0.6, 0.8])


def test_odometry_with_stamps_of_its_own_counts_as_it_is_after_some_misses(humanoid):
    intake = floating(humanoid)
    ready = []
    for step in range(1, 41):
        if step % 5 == 1:
            intake.odom(odom(step * MS - 500_000), 0)
        ready.append(intake.joint_states(state(humanoid, step * MS), 0)[0])
    assert not any(ready[:8]) and all(ready[15:])
    assert intake.odometry_age == pytest.approx(4.5e-3)


def test_joint_states_wait_for_odometry_and_may_give_up(humanoid):
    intake = floating(humanoid)
    assert intake.joint_states(state(humanoid, 5 * MS), 0) == (False, "") and intake.is_waiting
    intake.give_up_waiting()
    assert not intake.is_waiting and intake.odometry_age == np.inf
    assert intake.odom(odom(5 * MS), 0) == (False, "")
    assert intake.joint_states(state(humanoid, 6 * MS), 0) == (False, "") and intake.is_waiting
    intake.give_up_waiting()
    assert not intake.is_waiting and intake.odometry_age == pytest.approx(1e-3)
    assert intake.q[:3] == pytest.approx([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    "fault, options",
    [
        ("finite", {"pose": (0, 0, np.nan, 0, 0, 0, 1)}),
        ("finite", {"twist": (0, 0, 0, 0, np.inf, 0)}),
        ("quaternion", {"pose": (0, 0, 0, 0, 0, 0, 0)}),
        ("quaternion", {"pose": (0, 0, 0, 0, 0, 0, 1.1)}),
        ("finite", {"pose": (1e308, 1e308, 0, 0, 0, 0, 1)}),
        ("names", {"child": "left_hand"}),
    ],
)
def test_odometry_that_is_wrong_changes_nothing_and_says_what_it_is(humanoid, fault, options):
    intake = floating(humanoid)
    assert intake.odom(odom(MS, **options), 0) == (False, "")
    assert intake.joint_states(state(humanoid, MS), 0) == (False, fault) and not intake.is_waiting
    assert intake.joint_states(state(humanoid, 2 * MS), 0) == (False, fault)
    assert intake.odom(odom(3 * MS), 0) == (False, "") and intake.joint_states(
        state(humanoid, 3 * MS), 0
    ) == (True, "")
    assert intake.joint_states(state(humanoid, 4 * MS), 0) == (False, "") and intake.is_waiting
    assert intake.odom(odom(4 * MS, **options), 0) == (False, fault) and not intake.is_waiting
    assert intake.odometry.stamp == 3 * MS


def test_a_joint_with_several_coordinates_is_refused_by_name():
    xml = (
        '<robot name="r"><link name="a"/><joint name="slide" type="planar"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    with pytest.raises(ConfigurationError, match="'slide' has several coordinates"):
        fixed(load_quietly(xml))
