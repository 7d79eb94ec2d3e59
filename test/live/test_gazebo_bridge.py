"""The Gazebo bridge between a DART world, which looks like Gazebo from the graph, and a controller: this process."""

import signal

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from helpers.gazebo_graph import start_gazebo
from helpers.gazebo_stand_in import make_world
from helpers.ros import Graph
from helpers.shipped_robots import ours, start_of
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from opspace_ctrl.nodes.gazebo_table import force_topic
from opspace_ctrl.nodes.messages import nanoseconds

STEPS = 400


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
        assert nanoseconds(heard.last.header.stamp) == 0
        np.testing.assert_allclose(heard.last.position, start, atol=1e-12)
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
        assert nanoseconds(heard.last.header.stamp) == 0  # nothing moved

        reference = make_world(robot)
        rng = np.random.default_rng(1)
        for k in range(STEPS):
            graph.wait_for(
                lambda k=k: states[-1].header.stamp.nanosec == k * 1_000_000,
                f"the state of step {k}",
            )
            forces = rng.normal(0.0, 5.0, len(joints))
            commands.publish(Float64MultiArray(data=forces.tolist()))
            reference.step(dict(zip(theirs, forces)))
        graph.wait_for(
            lambda: states[-1].header.stamp.nanosec == STEPS * 1_000_000, "the last state"
        )

        at = [reference.joints.index(joint) for joint in theirs]
        # the offset rounds
        np.testing.assert_allclose(states[-1].position, reference.positions[at], atol=1e-14)
        np.testing.assert_array_equal(states[-1].velocity, reference.velocities[at])
        if floating:
            graph.wait_for(
                lambda: last_odometry(order).header.stamp.nanosec == STEPS * 1_000_000,
                "the last odometry",
            )
            check_odometry(order, reference)
        for count in (1, 2):  # one by one: a publisher keeps only its last message
            commands.publish(Float64MultiArray(data=[0.0] * len(joints)))
            graph.wait_for(
                lambda count=count: (
                    int(numbers(diagnostics)["commands"]) + int(numbers(diagnostics)["extra"])
                    == STEPS + count
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
    np.testing.assert_allclose([twist.linear.x, twist.linear.y, twist.linear.z], linear, atol=1e-9)
    np.testing.assert_allclose(
        [twist.angular.x, twist.angular.y, twist.angular.z], angular, atol=1e-9
    )


def test_forces_go_to_zero_without_commands_and_at_the_end(tmp_path):
    with Graph(tmp_path) as graph:
        joints = ours("arm7").joint_names
        bridge = start_gazebo(
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
