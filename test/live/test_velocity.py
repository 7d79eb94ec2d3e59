# SPDX-License-Identifier: Apache-2.0
"""Mode velocity on a live graph: a robot whose drives take velocities reaches its target; it stands when states end."""

import signal

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from helpers import ros
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from opspace_ctrl import frame_pose, load_robot
from opspace_ctrl.control.options import Limits
from opspace_ctrl.data import shipped_path
from opspace_ctrl.parameter_file import node_parameters

CONTROLLER = "/opspace_controller"
FILE = shipped_path("config", "arm7_velocity.yaml")
ARM = load_robot("arm7")


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    with ros.Graph(tmp_path_factory.mktemp("graph")) as graph:
        yield graph


def parameters(node, **own):
    """Those of the shipped file."""
    return node_parameters(FILE, node) | {"autostart": True} | own


@pytest.fixture(scope="module")
def simulator(graph):
    return graph.start("simulator", parameters=parameters("opspace_simulator", mode="lockstep"))


@pytest.fixture(scope="module")
def safety(graph, simulator):
    own = {"use_sim_time": True, "overrun_count": 0}
    graph.start("controller", parameters=parameters("opspace_controller", **own))
    safety = graph.listen(String, f"{CONTROLLER}/safety", ros.latched())
    says(graph, safety, "active")
    return safety


@pytest.fixture(scope="module")
def commands(graph, safety):
    return graph.listen(Float64MultiArray, "velocity_controller/commands")


@pytest.fixture(scope="module")
def states(graph, safety):
    return graph.listen(JointState, "joint_states")


def says(graph, safety, text):
    graph.wait_for(lambda: safety.last and safety.last.data == text, text, patience=ros.COMPILING)


def tool(states):
    """Where the tool is, by the joints' own names."""
    place = {name: k for k, name in enumerate(states.last.name)}
    q = np.array([states.last.position[place[name]] for name in ARM.joint_names])
    return frame_pose(ARM, q, "tool")[0]


def velocities(commands):
    return np.array([message.data for message in commands.messages])


def test_the_tool_reaches_its_target_by_velocities_alone(graph, safety, commands, states):
    graph.wait_for(lambda: states.count and commands.count, "states and commands")
    goal = tool(states) + [0.05, 0.2, -0.1]
    message = PoseStamped()
    message.pose.position.x, message.pose.position.y, message.pose.position.z = goal.tolist()
    here = frame_pose(ARM, np.array(states.last.position), "tool")[1].tolist()
    turn = message.pose.orientation
    turn.x, turn.y, turn.z, turn.w = here
    target = graph.publisher(PoseStamped, f"{CONTROLLER}/tool/target_pose")
    answers = graph.listen(String, f"{CONTROLLER}/answers")
    graph.publish_until(target, message, lambda: answers.count, "an answer")
    assert "taken" in answers.last.data
    graph.wait_for(lambda: np.abs(tool(states) - goal).max() < 1e-3, "the tool is there")
    sent = velocities(commands)
    assert np.isfinite(sent).all() and (np.abs(sent) <= ARM.velocity_limits).all()
    assert np.abs(sent).max() > 0.05
    assert graph.node.count_publishers("effort_controller/commands") == 0


def test_an_emergency_stop_brakes_to_zero_velocity_and_a_reset_goes_on(
    graph, safety, commands, states
):
    assert graph.call(Trigger, f"{CONTROLLER}/emergency_stop").success
    says(graph, safety, "stop")
    graph.wait_for(lambda: not any(commands.last.data), "zero velocity")
    assert graph.call(Trigger, f"{CONTROLLER}/reset").success
    says(graph, safety, "active")


def test_when_states_end_zero_velocity_is_sent_and_stands(graph, simulator, safety, commands):
    before = commands.count
    graph.wait_for(lambda: commands.count > before, "commands")
    simulator.send(signal.SIGKILL)
    simulator.wait()
    says(graph, safety, "state")
    graph.wait_for(lambda: not any(commands.last.data), "zero velocity")
    sent = velocities(commands)
    # neighbours in the queue are at most a few periods of lock-step apart: never a step beyond the rate of 0.1 s
    assert (np.abs(np.diff(sent, axis=0)) <= Limits.velocity_rate * 0.1).all()
