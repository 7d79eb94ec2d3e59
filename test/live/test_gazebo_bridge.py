# SPDX-License-Identifier: Apache-2.0
"""The Gazebo bridge between a DART world, which looks like Gazebo from the graph, and a controller: this process."""

import signal

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from helpers.gazebo_graph import start_gazebo, start_world
from helpers.gazebo_stand_in import PAUSE, POSE_CHANGE, REQUESTS, RUN, make_world
from helpers.ros import Graph
from helpers.shipped_robots import ours, start_of
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray, Int32

from opspace_ctrl.nodes.gazebo_table import force_topic
from opspace_ctrl.nodes.messages import nanoseconds, vector_of

STEPS = 400
STEP = 1_000_000  # [ns]


SILENT_STEPS = 2  # before Gazebo says where a floating base is, the world must have moved


def said(listener):
    """What the bridge says of itself."""
    return listener.last.status[0].message if listener.last else ""


def numbers(listener):
    """The newest diagnostics as a dict."""
    return (
        {pair.key: pair.value for pair in listener.last.status[0].values} if listener.last else {}
    )


@pytest.mark.parametrize("robot", ["arm7", "asimo"])
def test_each_command_makes_one_step_with_just_its_forces(tmp_path, robot):
    floating = robot == "asimo"
    with Graph(tmp_path) as graph:
        limit = 300.0
        theirs = [*reversed(ours(robot).joint_names)]
        joints = [f"our_{joint}" for joint in theirs]
        start = [start_of(robot)[0][joint] for joint in theirs]
        reference = make_world(robot)
        begin = SILENT_STEPS if floating else 0
        for _ in range(begin):
            reference.step(dict.fromkeys(theirs, 0.0))
        at = [reference.joints.index(joint) for joint in theirs]
        start_gazebo(
            graph,
            robot,
            "--paused",
            joints=joints,
            gazebo_joints=theirs,
            offsets=start,
            lockstep=True,
            resend=0.2,
            effort_limits=[limit] * len(joints),
        )
        states, order = [], []
        graph.listen(Odometry, "odom", callback=order.append)
        heard = graph.listen(
            JointState,
            "joint_states",
            callback=lambda state: (states.append(state), order.append(state)),
        )
        diagnostics = graph.listen(DiagnosticArray, "/diagnostics")
        commands = graph.publisher(Float64MultiArray, "effort_controller/commands")
        graph.wait_for(
            lambda: heard.count > 1,
            "the state of the paused world, again for a controller that is late",
        )
        assert heard.last.name == joints
        assert nanoseconds(heard.last.header.stamp) == begin * STEP
        np.testing.assert_allclose(heard.last.position, reference.positions[at], atol=1e-12)
        assert not heard.last.effort  # Gazebo measures none

        for bad in ([0.0], [np.nan] * len(joints), [limit + 1.0] * len(joints)):
            count = int(numbers(diagnostics).get("refused", 0))
            graph.publish_until(
                commands,
                Float64MultiArray(data=bad),
                lambda count=count: int(numbers(diagnostics).get("refused", 0)) > count,
                "a refusal",
            )
        assert "limit" in numbers(diagnostics)["last_refusal"]
        assert nanoseconds(heard.last.header.stamp) == begin * STEP  # nothing moved

        rng = np.random.default_rng(1)
        for k in range(begin, STEPS):
            graph.wait_for(
                lambda k=k: states[-1].header.stamp.nanosec == k * STEP,
                f"the state of step {k}",
            )
            forces = rng.normal(0.0, 5.0, len(joints))
            commands.publish(Float64MultiArray(data=forces.tolist()))
            reference.step(dict(zip(theirs, forces)))
        graph.wait_for(lambda: states[-1].header.stamp.nanosec == STEPS * STEP, "the last state")

        # the offset rounds
        np.testing.assert_allclose(states[-1].position, reference.positions[at], atol=1e-14)
        np.testing.assert_array_equal(states[-1].velocity, reference.velocities[at])
        if floating:
            graph.wait_for(
                lambda: last_odometry(order).header.stamp.nanosec == STEPS * STEP,
                "the last odometry",
            )
            check_odometry(order, reference)
        for count in (1, 2):  # one by one: a publisher keeps only its last message
            commands.publish(Float64MultiArray(data=[0.0] * len(joints)))
            graph.wait_for(
                lambda count=count: (
                    int(numbers(diagnostics)["commands"]) + int(numbers(diagnostics)["extra"])
                    == STEPS - begin + count
                ),
                "all commands counted",
            )
        assert int(numbers(diagnostics)["repeats"]) > 0
        assert int(numbers(diagnostics)["watchdog"]) == 0


def last_odometry(order):
    return next(message for message in reversed(order) if isinstance(message, Odometry))


def check_odometry(order, reference):
    """Odometry comes just before the joint states of its stamp, with the twist of the last step."""
    pairs = [*zip(order, order[1:])]
    after = [(a, b) for a, b in pairs if isinstance(b, JointState)]
    together = [isinstance(a, Odometry) and a.header.stamp == b.header.stamp for a, b in after]
    assert any(together)  # nothing guarantees the order of two topics on the way
    odometry = last_odometry(order)
    _, _, linear, angular = reference.base()
    twist = odometry.twist.twist
    assert odometry.child_frame_id == ours("asimo").body_names[0]
    # a pose that has hardly changed is not said, so the difference of two is that much off
    tolerance = 4.0 * POSE_CHANGE / reference.step_size
    np.testing.assert_allclose(vector_of(twist.linear), linear, atol=tolerance)
    np.testing.assert_allclose(vector_of(twist.angular), angular, atol=tolerance)
    speeds = [
        np.linalg.norm(vector_of(message.twist.twist.linear))
        for message in order
        if isinstance(message, Odometry)
    ]
    assert speeds[0] == 0.0 and max(speeds) < 10.0  # Gazebo's own mean begins with 746 m/s


def test_forces_go_to_zero_without_commands_and_at_the_end(tmp_path):
    with Graph(tmp_path) as graph:
        joints = ours("arm7").joint_names
        _, bridge = start_gazebo(
            graph,
            "arm7",
            "--paused",
            "--factor",
            "0.2",
            run_on_command=True,
            command_timeout=0.1,
            resend=0.2,
        )
        force = graph.listen(Float64, force_topic("arm7", joints[0]), publishers=1)
        states = graph.listen(JointState, "joint_states")
        diagnostics = graph.listen(DiagnosticArray, "/diagnostics")
        commands = graph.publisher(Float64MultiArray, "effort_controller/commands")
        graph.wait_for(lambda: states.count, "a state")
        assert nanoseconds(states.last.header.stamp) == 0  # it stands until somebody commands
        command = Float64MultiArray(data=[0.5] * len(joints))
        graph.publish_until(
            commands, command, lambda: force.last and force.last.data == 0.5, "the force"
        )
        graph.wait_for(lambda: states.last.header.stamp.nanosec > 0, "the world to run")
        graph.wait_for(lambda: force.last.data == 0.0, "the watchdog")
        graph.wait_for(lambda: int(numbers(diagnostics).get("watchdog", 0)) > 0, "its report")

        assert graph.set_parameters("/opspace_gazebo_bridge", command_timeout=1e6)[0]
        assert not graph.set_parameters("/opspace_gazebo_bridge", timeout_action="stand")[0]
        graph.publish_until(commands, command, lambda: force.last.data == 0.5, "the force again")
        bridge.send(signal.SIGTERM)
        assert bridge.wait() == 0
        graph.wait_for(lambda: force.last.data == 0.0, "the last force")


class Echo:
    """A controller that answers every state of the bridge, a repeated one too."""

    def __init__(self, graph, effort=0.0):
        joints = ours("arm7").joint_names
        self.stamps = []
        self.diagnostics = graph.listen(DiagnosticArray, "/diagnostics")
        commands = graph.publisher(Float64MultiArray, "effort_controller/commands")

        def answer(state):
            stamp = nanoseconds(state.header.stamp)
            self.stamps += [stamp] if stamp not in self.stamps[-1:] else []
            commands.publish(Float64MultiArray(data=[effort] * len(joints)))

        graph.listen(JointState, "joint_states", callback=answer)


def test_lockstep_goes_on_when_requests_are_lost_and_says_so(tmp_path):
    with Graph(tmp_path) as graph:
        _, bridge = start_gazebo(
            graph, "arm7", "--paused", "--lose", "7", lockstep=True, resend=0.2
        )
        echo = Echo(graph)
        graph.wait_for(lambda: len(echo.stamps) > 40, "steps beyond those that were lost")
        assert echo.stamps == [k * STEP for k in range(len(echo.stamps))]
        graph.wait_for(
            lambda: int(numbers(echo.diagnostics).get("asked_again", 0)) > 4, "their count"
        )
        graph.wait_for(lambda: "a request was lost" in bridge.output(), "the log")


def test_a_paused_and_a_restarted_world_are_said_and_survived(tmp_path):
    with Graph(tmp_path) as graph:
        world, bridge = start_gazebo(
            graph,
            "arm7",
            "--paused",
            "--factor",
            "0.2",
            run_on_command=True,
            command_timeout=1e6,
            silence_timeout=1.0,
            resend=0.5,
        )
        echo = Echo(graph)
        button = graph.publisher(Int32, REQUESTS)
        graph.wait_for(lambda: len(echo.stamps) > 10, "the world to run")
        graph.wait_for(lambda: said(echo.diagnostics) == "relaying", "all is well")
        button.publish(Int32(data=PAUSE))
        graph.wait_for(lambda: said(echo.diagnostics) == "the world is paused", "the pause")
        count = len(echo.stamps)
        button.publish(Int32(data=RUN))
        graph.wait_for(lambda: len(echo.stamps) > count, "it goes on")

        world.end()
        graph.wait_for(lambda: "Gazebo is silent" in said(echo.diagnostics), "its end")
        echo.stamps.clear()
        start_world(graph, "arm7", "--paused", "--factor", "0.2")
        graph.wait_for(lambda: len(echo.stamps) > 10, "the new world to run")
        assert echo.stamps[0] < STEPS * STEP  # it is the new one
        graph.wait_for(lambda: said(echo.diagnostics) == "relaying", "all is well again")
        for words in ("the world is paused", "Gazebo is silent", "relaying"):
            assert words in bridge.output()


@pytest.mark.parametrize("settle, exact", [(0.0, False), (0.05, True)])
def test_forces_that_come_late_act_in_their_own_step_after_the_time_to_settle(
    tmp_path, settle, exact
):
    """Gazebo's transport keeps no order between forces and requests; here forces are 20 ms late."""
    with Graph(tmp_path) as graph:
        start_gazebo(
            graph, "arm7", "--paused", "--lag", "0.02", lockstep=True, resend=60.0, settle=settle
        )
        joints, reference = ours("arm7").joint_names, make_world("arm7")
        heard = graph.listen(JointState, "joint_states")
        commands = graph.publisher(Float64MultiArray, "effort_controller/commands")
        rng = np.random.default_rng(2)
        for k in range(20):
            graph.wait_for(
                lambda k=k: heard.count and nanoseconds(heard.last.header.stamp) == k * STEP,
                f"the state of step {k}",
            )
            forces = rng.normal(0.0, 5.0, len(joints))
            commands.publish(Float64MultiArray(data=forces.tolist()))
            reference.step(dict(zip(joints, forces)))
        graph.wait_for(lambda: nanoseconds(heard.last.header.stamp) == 20 * STEP, "the last state")
        expected = dict(zip(reference.joints, reference.velocities))
        found = dict(zip(heard.last.name, heard.last.velocity))
        assert (found == pytest.approx(expected, abs=1e-12)) is exact


def test_without_joints_the_odometry_alone_is_relayed_with_a_twist_of_its_own(tmp_path):
    """As with gz_ros2_control, whose controllers send the joint states."""
    with Graph(tmp_path) as graph:
        graph.start("gazebo_bridge", parameters={"floating": True, "base_frame": "torso"})
        heard = graph.listen(Odometry, "odom")
        poses = graph.publisher(Odometry, "gazebo/odom")
        for k in (1, 2, 4):
            message = Odometry()
            message.header.stamp.nanosec = k * STEP
            message.pose.pose.position.x = 0.5 + 0.002 * k
            message.twist.twist.linear.x = 746.0
            poses.publish(message)
            graph.wait_for(
                lambda k=k: heard.count and nanoseconds(heard.last.header.stamp) == k * STEP,
                f"pose {k}",
            )
            assert heard.last.child_frame_id == "torso"
            expected = 0.0 if k == 1 else 2.0
            assert heard.last.twist.twist.linear.x == pytest.approx(expected, abs=1e-9)
        assert "/joint_states" not in dict(graph.node.get_topic_names_and_types())
