# SPDX-License-Identifier: Apache-2.0
"""The simulator node as the ROS graph sees it; this process is the controller, with real rclpy on both sides."""

import signal

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from helpers.compiled_nodes import compile_controller, compile_simulator, parameters
from helpers.ros import LONG, Graph, latched
from helpers.shipped_robots import HOME, ours
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger

from opspace_ctrl.dynamics import forward_methods
from opspace_ctrl.nodes.messages import nanoseconds
from opspace_ctrl.sim.record.log import read_log
from opspace_ctrl.sim.simulator import Simulator

NODE = "/opspace_simulator"
MILLISECOND = 1_000_000  # [ns]
STEPS = 3000
JOINTS = [*reversed(ours("arm7").joint_names)]
START = [HOME["arm7"].get(joint, 0.0) for joint in ours("arm7").joint_names]


@pytest.fixture(scope="module", autouse=True)
def compiled():
    compile_simulator("free_flyer")
    compile_controller("arm7")


class Robot:
    """What a controller has of a robot, and the simulator's diagnostics."""

    def __init__(self, graph, also=lambda state: None):
        self.graph, self.also = graph, also
        self.answer, self.answered = None, {}  # what to answer to a stamp [ns], and what was
        self.states = graph.listen(JointState, "joint_states", callback=self.heard)
        self.diagnostics = graph.listen(DiagnosticArray, "/diagnostics")
        self.commands = graph.publisher(Float64MultiArray, "effort_controller/commands")

    def heard(self, state):
        """Answer every state once, as a controller in lock-step does."""
        self.also(state)
        stamp = nanoseconds(state.header.stamp)
        if self.answer is not None and stamp not in self.answered:
            command = self.answer(stamp)
            if command is not None:
                self.answered[stamp] = command
                self.command(command)

    def command(self, efforts):
        self.commands.publish(Float64MultiArray(data=[float(effort) for effort in efforts]))

    @property
    def stamp(self):
        return nanoseconds(self.states.last.header.stamp)

    def value(self, key):
        status = self.diagnostics.last.status[0] if self.diagnostics.last else None
        return next((pair.value for pair in status.values if pair.key == key), "") if status else ""

    def number(self, key):
        return float(self.value(key) or 0.0)

    def counted(self, key, least):
        self.graph.wait_for(
            lambda: self.number(key) >= least, f"{key} >= {least} in the diagnostics"
        )


def test_lockstep(tmp_path):
    """One graph, one run: the functions below follow each other on it."""
    with Graph(tmp_path) as graph:
        process = graph.start(
            "simulator",
            parameters={
                "robot": "arm7",
                "mode": "lockstep",
                "joints": JOINTS,
                "initial_positions": START,
                "log": str(tmp_path / "run"),
                "wrench_frames": ["tool"],
                "wrench_hold": 0.5,
                "clock_rate": 1000.0,
            },
        )
        assert graph.call(Trigger, f"{NODE}/reset").success is False  # it is not active
        assert graph.transition(NODE, "configure")
        assert graph.transition(NODE, "activate")
        description = graph.listen(String, "robot_description", latched())
        clock = graph.listen(Clock, "/clock", 10_000)
        robot = Robot(graph)
        check_start(graph, robot, description)
        check_every_command_makes_its_step(graph, robot, clock)
        check_extra_commands(graph, robot)
        check_push_and_sensor(graph, robot)
        check_pause_and_steps(graph, robot)
        check_live_faults(graph, robot)
        check_reset(graph, robot)
        check_forward_methods(graph, robot)
        check_reset(graph, robot)
        check_refusals(graph, robot)
        process.send(signal.SIGTERM)
        assert process.wait() == 0
        log = read_log(tmp_path / "run")
        assert log.counters["refused"] == robot.number("refused")
        assert log.counters["missed"] == 0


def check_start(graph, robot, description):
    """It stands at its first state, sends it again for whoever comes late, and says what robot it is."""
    graph.wait_for(lambda: robot.states.count > 1, "the first state twice")
    state = robot.states.last
    assert robot.stamp == 0
    assert state.name == JOINTS
    assert list(state.position) == START[::-1]
    graph.wait_for(lambda: description.count, "the description")
    assert description.last.data == ours("arm7").source


def check_every_command_makes_its_step(graph, robot, clock):
    """Thousands of steps, each with just its command: bit for bit what the simulator alone computes."""
    reference = Simulator("arm7", initial_positions=START)
    efforts = np.random.default_rng(0).normal(0.0, 2.0, (STEPS, 7))
    robot.answer = lambda stamp: (
        efforts[stamp // MILLISECOND] if stamp < STEPS * MILLISECOND else None
    )
    robot.heard(robot.states.last)
    graph.wait_for(lambda: robot.stamp == STEPS * MILLISECOND, f"{STEPS} steps")
    for row in efforts:
        reference.step(row[::-1])
    np.testing.assert_array_equal(robot.states.last.position, reference.q[::-1])
    np.testing.assert_array_equal(robot.states.last.velocity, reference.v[::-1])
    np.testing.assert_array_equal(robot.states.last.effort, reference.tau[::-1])
    robot.counted("commands", STEPS)
    assert [
        robot.number(key) for key in ("commands", "steps", "extra", "missed", "refused", "watchdog")
    ] == [STEPS, STEPS, 0, 0, 0, 0]
    times = [nanoseconds(message.clock) for message in clock.messages]
    assert times == sorted(times) and times[-1] <= STEPS * MILLISECOND


def check_extra_commands(graph, robot):
    """Commands after the first wait in vain for a step of their own."""
    robot.answer = None
    for _ in range(4):
        robot.command(np.zeros(7))
    graph.wait_for(lambda: robot.number("commands") >= STEPS + 4, "four commands counted")
    extra, steps = robot.number("extra"), robot.number("steps")
    # whether one came before the next state is the network's business
    assert extra + steps == STEPS + 4
    robot.counted("unanswered", robot.number("unanswered") + 1)
    graph.wait_for(
        lambda: robot.diagnostics.last.status[0].message == "lock-step waits for a command",
        "its report",
    )


def check_push_and_sensor(graph, robot):
    """A push acts where its frame is, in that frame's axes, for as long as it is held; the sensor there reads it."""
    robot.answer = lambda stamp: np.zeros(7)
    robot.heard(robot.states.last)
    sensor = graph.listen(WrenchStamped, f"{NODE}/tool/wrench")
    pushes = graph.publisher(WrenchStamped, f"{NODE}/wrench")
    message = WrenchStamped()
    message.header.frame_id = "tool"
    message.wrench.force.x, message.wrench.torque.z = 3.0, 0.5
    graph.publish_until(
        pushes,
        message,
        lambda: sensor.last and abs(sensor.last.wrench.force.x - 3.0) < 0.2,
        "a push",
    )
    assert sensor.last.header.frame_id == "tool"
    graph.wait_for(lambda: sensor.last.wrench.force.x == 0.0, "the end of the push")
    message.header.frame_id = "elbow_of_another"
    graph.publish_until(pushes, message, lambda: robot.number("wrenches_refused"), "a refused push")
    assert "elbow_of_another" in robot.value("last_wrench_refusal")


def check_pause_and_steps(graph, robot):
    """A paused robot moves by the steps that are asked for, and goes on when it may."""
    assert not graph.call(Trigger, f"{NODE}/step", again=False).success  # it is not paused
    assert graph.call(SetBool, f"{NODE}/pause", SetBool.Request(data=True)).success
    graph.wait_for(lambda: robot.value("paused") == "True", "the pause in the diagnostics")
    before = settled(graph, robot)
    assert graph.set_parameters(NODE, step_count=7)[0]
    assert graph.call(Trigger, f"{NODE}/step", again=False).success
    graph.wait_for(lambda: robot.stamp >= before + 7 * MILLISECOND, "seven steps")
    assert settled(graph, robot) == before + 7 * MILLISECOND
    assert graph.call(SetBool, f"{NODE}/pause", SetBool.Request(data=False)).success
    graph.wait_for(lambda: robot.stamp > before + 100 * MILLISECOND, "it to go on")


def settled(graph, robot):
    """The stamp in a pause: the simulator's own time, once the state of that time has come."""

    def arrived():
        return robot.stamp == round(robot.number("time") * 1000) * MILLISECOND and robot.stamp

    graph.spin(0.0)
    seen = robot.diagnostics.count
    graph.wait_for(lambda: robot.diagnostics.count > seen + 1, "diagnostics of the pause")
    return graph.wait_for(arrived, "the last state")


def check_live_faults(graph, robot):
    """A fault set by parameter acts at once and until it is taken away; nonsense is refused."""
    robot.answer = lambda stamp: np.full(7, 0.25)
    graph.wait_for(
        lambda: list(robot.states.last.effort) == [0.25] * 7, "joints that do as they are told"
    )
    assert graph.set_parameters(NODE, fault="{kind: dead_joint, joints: all}")[0]
    graph.wait_for(lambda: not any(robot.states.last.effort), "dead joints")
    graph.wait_for(lambda: "dead" in robot.value("faults"), "the fault in the diagnostics")
    assert graph.set_parameters(NODE, fault="")[0]
    graph.wait_for(lambda: list(robot.states.last.effort) == [0.25] * 7, "joints alive again")
    for nonsense, named in (
        ("{kind: gremlin}", "gremlin"),
        ("{kind: dead_joint, joints: [joint9]}", "joint9"),
    ):
        successful, reason = graph.set_parameters(NODE, fault=nonsense)
        assert not successful and named in reason


def check_reset(graph, robot):
    """Back to the start, time included, and holding again until the next command."""
    robot.answer = None
    assert graph.call(Trigger, f"{NODE}/reset").success
    graph.wait_for(lambda: robot.stamp == 0, "time zero")
    assert list(robot.states.last.position) == START[::-1]
    assert not any(robot.states.last.velocity)


def check_forward_methods(graph, robot):
    """The forward dynamics changes while it moves: no step is lost, and it moves as with one method throughout."""
    reference = Simulator("arm7", initial_positions=START)
    names = forward_methods(ours("arm7"))
    part = STEPS // len(names)
    efforts = np.random.default_rng(1).normal(0.0, 2.0, (part * len(names), 7))
    missed = robot.number("missed")
    robot.answered.clear()
    allowed = 0
    robot.answer = lambda stamp: (
        efforts[stamp // MILLISECOND] if stamp < allowed * MILLISECOND else None
    )
    for name in names:
        allowed += part
        robot.heard(robot.states.last)
        graph.wait_for(lambda end=allowed: robot.stamp > (end - part) * MILLISECOND, "it to move")
        assert graph.set_parameters(NODE, forward_method=name)[0]
        graph.wait_for(lambda end=allowed: robot.stamp == end * MILLISECOND, f"{part} steps")
        graph.wait_for(
            lambda name=name: robot.value("forward_method") == name, f"{name} in the diagnostics"
        )
    for refused in ("decoupled", "magic"):
        successful, reason = graph.set_parameters(NODE, forward_method=refused)
        assert not successful and "crba_ltdl" in reason and "aba" in reason
    for row in efforts:
        reference.step(row[::-1])
    np.testing.assert_allclose(robot.states.last.position, reference.q[::-1], atol=1e-9)
    assert robot.number("missed") == missed


def check_refusals(graph, robot):
    """Whatever is no command is refused and counted, and the robot stays where it is."""
    before = robot.number("refused")
    bad = (np.zeros(6), np.full(7, np.nan), np.full(7, 1e6), [0.0] * 6 + [np.inf])
    for number, efforts in enumerate(bad, 1):
        stamp = robot.stamp
        robot.command(efforts)
        graph.wait_for(lambda stamp=stamp: robot.stamp > stamp, "the state after a refusal")
        robot.counted("refused", before + number)
    np.testing.assert_allclose(robot.states.last.position, START[::-1], atol=1e-9)
    assert "not finite" in robot.value("last_refusal")
    for name, value in (("mode", "free"), ("command_timeout", -1.0), ("timeout_action", "jump")):
        assert not graph.set_parameters(NODE, **{name: value})[0]


def test_free_running(tmp_path):
    """Real time: stamps of the node's clock, the watchdog, and a robot that does not fall before it is commanded."""
    with Graph(tmp_path) as graph:
        begin = graph.node.get_clock().now().nanoseconds
        graph.start(
            "simulator",
            parameters={
                "robot": "arm7",
                "initial_positions": START,
                "autostart": True,
                "timeout_action": "hold",
                "rate": 250.0,
            },
        )
        robot = Robot(graph)
        graph.wait_for(lambda: robot.states.count > 100, "a hundred states")
        assert graph.node.count_publishers("/clock") == 0
        stamps = [nanoseconds(state.header.stamp) for state in robot.states.messages]
        assert (
            begin < stamps[0]
            and stamps[-1] < graph.node.get_clock().now().nanoseconds + 20 * MILLISECOND
        )
        assert min(np.diff(stamps)) > 0
        np.testing.assert_allclose(robot.states.last.position, START, atol=1e-9)
        assert robot.value("holding") in ("True", "")

        graph.publish_until(
            robot.commands,
            Float64MultiArray(data=[1.0] * 7),
            lambda: robot.number("watchdog"),
            "the watchdog after a command",
        )
        graph.wait_for(
            lambda: robot.diagnostics.last.status[0].message == "no command: hold", "what it does"
        )
        graph.wait_for(lambda: max(np.abs(robot.states.last.velocity)) < 1e-6, "it to stop")
        assert graph.set_parameters(NODE, timeout_action="zero")[0]

        def falls_without_torque():
            state = robot.states.last  # which may still be one of those under command
            return max(np.abs(state.velocity)) > 0.1 and not any(state.effort)

        graph.wait_for(falls_without_torque, "it to fall without torque")

        assert graph.transition(NODE, "deactivate")
        assert graph.transition(NODE, "activate")
        count = robot.states.count
        graph.wait_for(lambda: robot.states.count > count, "states again")
        assert graph.transition(NODE, "deactivate")
        assert graph.transition(NODE, "cleanup")
        assert graph.transition(NODE, "configure")
        assert graph.transition(NODE, "shutdown")
        assert graph.processes[0].wait() == 0


def test_scaled_time_and_a_floating_base(tmp_path):
    """It owns time at any speed; odometry comes just before the joint states of its stamp."""
    with Graph(tmp_path) as graph:
        graph.start(
            "simulator",
            parameters={
                "robot": "free_flyer",
                "mode": "scaled",
                "real_time_factor": 0.25,
                "autostart": True,
                "command_timeout": LONG,
                "rate": 100.0,
            },
        )
        order = []
        odometry = graph.listen(Odometry, "odom", callback=order.append)
        clock = graph.listen(Clock, "/clock")
        robot = Robot(graph, also=order.append)
        graph.wait_for(
            lambda: robot.states.count > 50 and odometry.count > 50 and clock.count > 3,
            "states and time",
        )
        root = ours("free_flyer").body_names[0]
        assert (odometry.last.header.frame_id, odometry.last.child_frame_id) == ("odom", root)
        followed = [
            isinstance(a, Odometry) and a.header.stamp == b.header.stamp
            for a, b in zip(order, order[1:])
            if isinstance(b, JointState)
        ]
        assert any(followed)  # two topics: nothing guarantees their order on the way
        assert robot.stamp < 1000 * 1000 * MILLISECOND  # simulated time, not that of the wall
        assert nanoseconds(clock.last.clock) % MILLISECOND == 0

        # momentum is kept: a torque inside turns the base the other way
        k = len(ours("free_flyer").joint_names)
        graph.publish_until(
            robot.commands,
            Float64MultiArray(data=[0.2] * k),
            lambda: max(np.abs(robot.states.last.velocity)) > 0.05,
            "joints that move",
        )
        graph.wait_for(lambda: odometry.last.twist.twist.angular.z < -1e-3, "the base to turn back")
        assert graph.set_parameters(NODE, real_time_factor=0.0)[0]
        time = robot.stamp
        graph.wait_for(
            lambda: robot.stamp > time + 2000 * MILLISECOND, "two seconds as fast as it goes"
        )


@pytest.mark.parametrize("mode", ["lockstep", "free"])
def test_either_side_is_killed_and_the_pair_recovers(tmp_path, mode):
    with Graph(tmp_path) as graph:
        robot_parameters = parameters("arm7", "opspace_simulator") | {
            "mode": mode,
            "autostart": True,
            "timeout_action": "hold",
            "rate": 200.0,
        }
        controller_parameters = parameters("arm7", "opspace_controller") | {
            "autostart": True,
            "state_timeout": LONG,
            "liveness_timeout": 0.0,
        }
        simulator = graph.start("simulator", parameters=robot_parameters)
        controller = graph.start("controller", parameters=controller_parameters)
        robot = Robot(graph)
        commanded(graph, robot, "opspace_simulator")

        kill(controller)
        waits = "lock-step waits for a command" if mode == "lockstep" else "no command: hold"
        graph.wait_for(
            lambda: robot.diagnostics.last.status[0].message == waits,
            "the robot to miss its controller",
        )
        graph.start("controller", parameters=controller_parameters)
        commanded(graph, robot, "opspace_simulator")

        kill(simulator)
        graph.start("simulator", name="second_simulator", parameters=robot_parameters)
        commanded(graph, robot, "second_simulator")
        assert robot.number("refused") == 0
        np.testing.assert_allclose(robot.states.last.position, START, atol=0.02)  # it never fell


def commanded(graph, robot, simulator):
    """Wait until this simulator says that more commands come."""

    def count():
        is_its = (
            robot.diagnostics.last
            and robot.diagnostics.last.status[0].name == f"{simulator}: simulation"
        )
        return robot.number("commands") if is_its else -1.0

    graph.wait_for(lambda: count() >= 0.0, f"diagnostics of {simulator}")
    before = count()
    graph.wait_for(lambda: count() > before + 200, f"commands for {simulator}")


def kill(process):
    process.send(signal.SIGKILL)
    process.wait()
