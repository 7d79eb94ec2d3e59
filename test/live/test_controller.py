# SPDX-License-Identifier: Apache-2.0
"""opspace_controller on a live graph, a fixed arm in lock-step: lifecycle, gates, targets, parameters, switching, end.

One process serves the whole module; the tests run in order, each leaves an active controller with open gates.
"""

import signal
from itertools import cycle

import numpy as np
import pinocchio as pin
import pytest
from geometry_msgs.msg import PoseStamped, Transform, TwistStamped, WrenchStamped
from helpers import ros
from helpers.support import PinTwin, pin_model
from oracles.robot_peer import STEP, RobotPeer
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Float64, Float64MultiArray, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from opspace_ctrl import frame_pose, load_robot
from opspace_ctrl.model.source import robot_text
from opspace_ctrl.nodes import qos
from opspace_ctrl.osim import methods

NODE = "/arm/opspace_controller"
PARAMETERS = {
    "tasks": ["hand"],
    "hand.frame": "tool",
    "state_timeout": ros.LONG,
    "stream_timeout": ros.LONG,
    "gravity_time": 60.0,
    "ramp": 0.0,
    "publish_rate": 200.0,
    "hand.speed": 10.0,
    "hand.acceleration": 100.0,
    "overrun_count": 0,
    "velocity_factor": 0.0,  # the robot of these tests moves in jumps
}


@pytest.fixture(scope="module")
def arm():
    return load_robot("arm7")


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    with ros.Graph(tmp_path_factory.mktemp("graph"), namespace="/arm") as graph:
        yield graph


@pytest.fixture(scope="module")
def process(graph):
    return graph.start("controller", parameters=PARAMETERS)


@pytest.fixture(scope="module")
def peer(graph, arm, process):
    """The robot before a controller that has been configured from the topic robot_description and activated."""
    description = graph.node.create_publisher(String, "robot_description", ros.latched())
    description.publish(String(data=robot_text("arm7")))
    assert any(graph.transition(NODE, "configure") for _ in range(5))  # it waits 10 s for the topic
    peer = RobotPeer(graph, arm, NODE)
    rng = np.random.default_rng(7)
    peer.q = arm.random_configuration(rng) * 0.5
    peer.status(
        "gates",
        lambda text, values: text == "inactive" and values["gate"] != "first",
        "a state was taken",
        each=peer.send,
    )
    assert peer.answers.count == 0  # nothing goes out before it is active
    assert graph.transition(NODE, "activate")
    peer.first_answer()
    return peer


def gravity(model, q):
    twin = PinTwin(model, pin_model(robot_text(model.name)))
    return pin.computeGeneralizedGravity(twin.model, twin.data, twin.q(q))


def like(peer, expected, tolerance=1e-9):
    """A condition: the newest efforts are these."""
    return lambda: peer.effort() == pytest.approx(expected, abs=tolerance)


def test_at_rest_the_efforts_are_gravity_and_the_loop_is_reported(peer, arm):
    peer.step_until(like(peer, gravity(arm, peer.q)), "gravity")
    loop = peer.status("loop", lambda text, values: int(values["ticks"]) > 0, "ticks")
    assert {"rate", "period_mean_us", "computation_p99_us", "overruns", "thread", "memory"} <= set(
        loop
    )
    tick = peer.status("tick", lambda text, values: True, "the tick")
    assert (
        tick["method"] == "auto"
        and tick["method_in_use"] in methods(arm)
        and float(tick["condition"]) > 1.0
    )
    assert tick["hand.rank"] == "6"


def test_a_listener_that_finds_it_late_hears_references_from_before(peer, graph):
    """Discovery is not mutual at once; what was told in between was lost, once a third of a second of a run."""
    topic = f"{NODE}/hand/reference"
    early = graph.listen(Float64MultiArray, topic, qos.REFERENCES)
    peer.step_until(lambda: early.count > 3, "references")
    newest = max(early.last.data[::13])
    late = graph.listen(Float64MultiArray, topic, qos.REFERENCES)
    peer.step_until(lambda: late.count, "references that were told again")
    assert late.messages[0].data[0] < newest


def check_gate(peer, arm, gate, expected, step=STEP, **changes):
    """A state that closes a gate is answered with what the gate may send, and the next good state opens it."""
    peer.answer(step, **changes)
    assert (
        peer.status("gates", lambda text, values: values["gate"] == gate, gate)["level"] == b"\x02"
    )
    if expected is not None:
        peer.step_until(like(peer, expected), f"the command of the gate {gate}", **changes)
    peer.answer()
    peer.step_until(like(peer, gravity(arm, peer.q)), "gravity")
    peer.status(
        "gates", lambda text, values: values["gate"] == "" and text == "active", "open gates"
    )


def test_each_gate_sends_what_it_may_and_opens_again(peer, arm, graph):
    held = gravity(arm, peer.q)  # no valid state is left: the last gravity torque
    check_gate(peer, arm, "finite", held, position=[float("nan")] + peer.q[1:].tolist())
    check_gate(peer, arm, "size", held, position=peer.q[1:].tolist())
    check_gate(peer, arm, "names", held, name=[peer.names[0]] * 7)
    check_gate(peer, arm, "clock", None, step=5 * 10**9)  # far ahead of the steady clock
    check_gate(peer, arm, "clock", None, step=-3 * 10**9)  # a simulation that starts again


def test_the_safe_command_is_the_one_that_was_chosen(peer, arm, graph):
    outside = peer.q.copy()
    outside[3] = arm.position_limits[3, 1] + 0.5
    for kind, expected in (("zero", np.zeros(7)), ("gravity", gravity(arm, outside))):
        assert graph.set_parameters(NODE, safe_command=kind) == (True, "")
        check_gate(peer, arm, "position", expected, position=outside.tolist())
    assert graph.set_parameters(NODE, safe_command="damping") == (True, "")
    speed = np.full(7, 0.01)
    peer.step_until(
        lambda: (peer.effort() - gravity(arm, outside)) @ speed < -1e-6,
        "braking",
        position=outside.tolist(),
        velocity=speed.tolist(),
    )
    peer.answer()
    peer.step_until(like(peer, gravity(arm, peer.q)), "gravity")


def test_silence_closes_the_gate_and_the_next_state_opens_it(peer, arm, graph):
    assert graph.set_parameters(NODE, gravity_time=0.0, state_timeout=0.01) == (True, "")
    graph.wait_for(lambda: not peer.effort().any(), "zeros when no state comes")
    peer.status("gates", lambda text, values: values["gate"] == "state", "the gate state")
    assert graph.set_parameters(NODE, gravity_time=60.0, state_timeout=ros.LONG) == (True, "")
    peer.step_until(like(peer, gravity(arm, peer.q)), "gravity")


def test_repeated_stamps_are_not_answered(peer):
    loop = peer.quiet()
    peer.status(
        "gates",
        lambda text, values: int(values["repeated"]) > 0,
        "a repeated state",
        each=lambda: peer.send(step=0),
    )
    assert peer.status("loop", lambda text, values: True, "the loop")["ticks"] == loop["ticks"]


def test_targets_are_reached_in_every_frame(peer, arm, graph):
    place, turn = frame_pose(arm, peer.q, "tool")
    errors = graph.listen(TwistStamped, "opspace_controller/hand/error")
    poses = graph.listen(PoseStamped, "opspace_controller/hand/pose")
    targets = graph.publisher(PoseStamped, "opspace_controller/hand/target_pose", 10)

    def error():
        linear, angular = errors.last.twist.linear, errors.last.twist.angular
        return np.array([linear.x, linear.y, linear.z, angular.x, angular.y, angular.z])

    offset = np.array([0.01, 0.02, -0.01])
    for frame in ("", "base_link", "link3", "tool"):
        p, o = frame_pose(arm, peer.q, frame or "base_link")
        message = PoseStamped()
        message.header.frame_id = frame
        at, to = message.pose.position, message.pose.orientation
        at.x, at.y, at.z = pin.Quaternion(o).toRotationMatrix().T @ (place + offset - p)
        to.x, to.y, to.z, to.w = (pin.Quaternion(o).inverse() * pin.Quaternion(turn)).coeffs()
        peer.step_until(
            lambda: errors.last and error() == pytest.approx(np.zeros(6), abs=1e-6),
            "no error before",
            10 * STEP,
        )
        targets.publish(message)
        peer.step_until(
            lambda: error() == pytest.approx([*offset, 0, 0, 0], abs=1e-6),
            f"the target in {frame!r}",
            10 * STEP,
        )
        peer.step_until(
            lambda: abs(peer.effort() - gravity(arm, peer.q)).max() > 1.0, "an effort towards it"
        )
        assert graph.call(Trigger, f"{NODE}/hold").success
    peer.step_until(lambda: error() == pytest.approx(np.zeros(6), abs=1e-6), "held", 10 * STEP)
    pose = poses.last
    assert pose.header.frame_id == "base_link"
    assert [pose.pose.position.x, pose.pose.position.y, pose.pose.position.z] == pytest.approx(
        place
    )


def test_targets_that_make_no_sense_are_refused_with_a_reason(peer, graph):
    poses = graph.publisher(PoseStamped, "opspace_controller/hand/target_pose", 10)
    force = graph.publisher(Float64MultiArray, "opspace_controller/force", 10)
    trajectory = graph.publisher(MultiDOFJointTrajectory, "opspace_controller/hand/trajectory", 10)
    elsewhere, zero, nan = PoseStamped(), PoseStamped(), PoseStamped()
    elsewhere.header.frame_id, elsewhere.pose.orientation.w = "moon", 1.0
    zero.pose.orientation.w = 0.0
    nan.pose.position.x, nan.pose.orientation.w = float("nan"), 1.0
    empty = MultiDOFJointTrajectory()
    backwards = MultiDOFJointTrajectory(
        points=[
            MultiDOFJointTrajectoryPoint(transforms=[Transform()]),
            MultiDOFJointTrajectoryPoint(transforms=[Transform()]),
        ]
    )
    for publisher, message, reason in (
        (
            poses,
            elsewhere,
            "'moon' is neither the world nor a frame of the robot; valid are base_link, link1",
        ),
        (poses, zero, "orientation"),
        (poses, nan, "not finite"),
        (force, Float64MultiArray(data=[1.0]), "mode raw"),
        (trajectory, empty, "1 to"),
        (trajectory, backwards, "times must rise"),
    ):
        before = peer.status("gates", lambda text, values: True, "the gates")
        after = peer.status(
            "gates",
            lambda text, values, n=before["targets_refused"], reason=reason: (
                int(values["targets_refused"]) > int(n) and reason in values["last_refusal"]
            ),
            f"refused: {reason}",
            each=lambda publisher=publisher, message=message: publisher.publish(message),
        )
        assert "targets refused" in after["message"] or after["message"] == "active"
    peer.answer()


@pytest.mark.parametrize(
    "kind, topic", [(PoseStamped, "target_pose"), (WrenchStamped, "measured_wrench")]
)
def test_a_publisher_with_best_effort_is_heard_and_said(peer, process, graph, kind, topic):
    """As a driver of a force-torque sensor publishes, with the profile for sensors."""
    publisher = graph.node.create_publisher(
        kind, f"opspace_controller/hand/{topic}", qos_profile_sensor_data
    )
    message = kind()
    message.header.frame_id = "nowhere"  # refused, which is an answer

    def refusals():
        publisher.publish(message)
        peer.answer()
        return int(peer.status("gates", lambda text, values: True, "the gates")["targets_refused"])

    before = refusals()
    graph.wait_for(lambda: refusals() > before, "a refusal")
    assert f"/hand/{topic} is published with best effort" in process.output()


def test_a_set_of_parameters_counts_as_a_whole_or_not_at_all(peer, graph):
    before = {
        name: graph.get_parameter(NODE, name) for name in ("hand.stiffness", "safe_command", "ramp")
    }
    for values, reason in (
        ({"hand__stiffness": [100.0], "method": "fastest"}, "valid are auto, dense"),
        ({"hand__stiffness": [100.0], "method": "base_invariant"}, "base_invariant"),
        (
            {"safe_command": "zero", "hand__stiffness": [1.0, 2.0, 3.0, 4.0]},
            "valid for rows = pose are 1, 2 or 6",
        ),
        ({"ramp": 2.0, "payload__frame": "moon"}, "moon"),
        ({"ramp": 2.0, "tasks": ["foot"]}, "foot"),
        ({"ramp": 2.0, "joints": ["a"]}, "read-only"),
        ({"ramp": 2.0, "hand__stifness": [1.0]}, "unknown parameter 'hand.stifness'"),
    ):
        successful, text = graph.set_parameters(NODE, **values)
        assert not successful and reason in text
        assert {name: graph.get_parameter(NODE, name) for name in before} == before
    assert graph.describe_parameter(NODE, "joints").read_only
    assert graph.describe_parameter(NODE, "ramp").floating_point_range[0].to_value == 60.0
    peer.answer()


def test_a_payload_changes_the_gravity_torque_within_the_rate_limit(peer, arm, graph):
    loaded = gravity(arm, peer.q) + pin_tool_jacobian(arm, peer.q).T @ np.array(
        [0.0, 0.0, 2.0 * 9.81]
    )
    for mass, expected in ((0.0, gravity(arm, peer.q)), (2.0, loaded), (0.0, gravity(arm, peer.q))):
        assert graph.set_parameters(NODE, payload__mass=mass, payload__frame="tool") == (True, "")
        peer.step_until(like(peer, expected, 1e-6), f"{mass} kg")


def pin_tool_jacobian(model, q):
    twin = PinTwin(model, pin_model(robot_text(model.name)))
    frame = twin.model.getFrameId("tool")
    return pin.computeFrameJacobian(
        twin.model, twin.data, twin.q(q), frame, pin.LOCAL_WORLD_ALIGNED
    )[:3]


def test_switching_the_method_misses_no_state_and_leaves_no_difference(peer, arm, graph):
    residuals = graph.listen(Float64, "opspace_controller/method_residual")
    names = cycle(methods(arm))

    def switch():
        assert graph.set_parameters(NODE, method=next(names)) == (True, "")

    def switch_and_answer():
        switch()
        peer.answer()

    graph.wait_for(lambda: residuals.count, "a residual", each=switch_and_answer)
    peer.step_until(like(peer, gravity(arm, peer.q), 1e-6), "rest")
    peer.quiet()
    heard, sent, answered = residuals.count, peer.sent, peer.answers.count
    peer.start()  # states go on by themselves while parameters are set
    switches = 2 * len(methods(arm))
    for _ in range(switches):
        switch()
        count = peer.answers.count
        graph.wait_for(lambda count=count: peer.answers.count > count + 2, "the loop goes on")
    peer.going = False
    graph.wait_for(
        lambda: peer.answers.count - answered == peer.sent - sent, "an answer to every state"
    )
    graph.wait_for(lambda: residuals.count == heard + switches, "a residual of every switch")
    assert all(message.data < 1e-9 for message in residuals.messages)
    efforts = np.array(
        [message.data for message in list(peer.answers.messages)[answered - peer.answers.count :]]
    )
    assert efforts == pytest.approx(np.tile(gravity(arm, peer.q), (len(efforts), 1)), abs=1e-6)
    in_use = graph.get_parameter(NODE, "method")
    peer.status(
        "tick",
        lambda text, values: values["method_in_use"] == in_use,
        "the method in the diagnostics",
    )


def test_the_emergency_stop_is_latched_until_reset(peer, arm, graph):
    assert graph.set_parameters(NODE, safe_command="zero") == (True, "")
    peer.quiet()
    assert graph.call(Trigger, f"{NODE}/emergency_stop").success
    graph.wait_for(lambda: not peer.effort().any(), "zeros")
    for _ in range(3):
        assert not peer.answer().any()
    assert not graph.call(Trigger, f"{NODE}/hold").success
    peer.status("gates", lambda text, values: values["gate"] == "stop", "the gate stop")
    assert graph.call(Trigger, f"{NODE}/reset").success
    peer.step_until(like(peer, gravity(arm, peer.q), 1e-6), "efforts after the reset")


def test_the_whole_lifecycle_again_and_the_last_word_after_a_signal(peer, arm, graph, process):
    assert graph.transition(NODE, "deactivate")
    graph.wait_for(lambda: not peer.effort().any(), "the last command: zero")
    count = peer.answers.count
    peer.send()
    assert graph.transition(NODE, "cleanup") and graph.state(NODE) == "unconfigured"
    assert peer.answers.count == count
    assert graph.call(Trigger, f"{NODE}/emergency_stop").success
    assert any(graph.transition(NODE, "configure") for _ in range(5))
    graph.wait_for(
        lambda: graph.node.count_subscribers("/arm/joint_states") == 1, "its subscription"
    )
    assert graph.set_parameters(NODE, last_command="gravity") == (True, "")
    assert graph.transition(NODE, "activate")
    rival = graph.node.create_publisher(Float64MultiArray, "effort_controller/commands", 1)
    peer.first_answer()
    peer.status(
        "gates",
        lambda text, values: values["gate"] == "stop",
        "the stop of before the configuration",
    )
    assert graph.call(Trigger, f"{NODE}/reset").success
    peer.step_until(like(peer, gravity(arm, peer.q), 1e-6), "efforts after the reset")
    peer.status(
        "gates",
        lambda text, values: values["other_controllers"] == "1" and "2 publishers" in text,
        "the other controller in the diagnostics",
        each=peer.send,
    )
    graph.node.destroy_publisher(rival)
    peer.quiet()
    count = peer.answers.count
    process.send(signal.SIGINT)
    assert process.wait() == 0
    graph.wait_for(lambda: peer.answers.count > count, "the last command: gravity")
    assert peer.effort() == pytest.approx(gravity(arm, peer.q), abs=1e-9)
