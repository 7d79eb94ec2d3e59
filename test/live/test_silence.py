# SPDX-License-Identifier: Apache-2.0
"""A simulator that is stopped, killed and started anew, and a controller that is stopped, under simulated time."""

import os
import signal

import numpy as np
import pytest
from helpers import ros
from helpers.closed_loop import ARM_START
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import Trigger

CONTROLLER = "/opspace_controller"
ROBOT = {"robot": "arm7", "autostart": True}
PLANT = ROBOT | {"initial_positions": ARM_START.tolist()}  # where gravity asks for torques


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    with ros.Graph(tmp_path_factory.mktemp("graph")) as graph:
        yield graph


@pytest.fixture(scope="module")
def simulator(graph):
    return [graph.start("simulator", parameters=PLANT)]


@pytest.fixture(scope="module")
def controller(graph, simulator):
    own = {"tasks": ["hand"], "hand.frame": "tool", "use_sim_time": True, "overrun_count": 0}
    return graph.start("controller", parameters=ROBOT | own)


@pytest.fixture(scope="module")
def safety(graph, controller):
    return graph.listen(String, f"{CONTROLLER}/safety", ros.latched())


@pytest.fixture(scope="module")
def commands(graph, safety):
    says(graph, safety, "active")  # everything has been compiled
    return graph.listen(Float64MultiArray, "effort_controller/commands")


def says(graph, safety, text, each=None):
    graph.wait_for(
        lambda: safety.last and safety.last.data == text, text, each, patience=ros.COMPILING
    )


def is_driven(graph, safety, commands):
    """The controller is active and commands go on."""
    says(graph, safety, "active")
    before = commands.count
    graph.wait_for(lambda: commands.count > before + 20 and any(commands.last.data), "commands")


def is_let_go(graph, commands):
    """No state is left: what is sent becomes zero."""
    graph.wait_for(lambda: not any(commands.last.data), "no torque")


def test_a_simulator_that_stands_still_closes_a_gate_until_it_goes_on(
    graph, simulator, safety, commands
):
    is_driven(graph, safety, commands)
    os.kill(simulator[-1].pid, signal.SIGSTOP)
    try:
        says(graph, safety, "state")
        is_let_go(graph, commands)
    finally:
        os.kill(simulator[-1].pid, signal.SIGCONT)
    is_driven(graph, safety, commands)


def test_a_simulator_that_is_killed_leaves_no_torque_and_the_next_one_is_driven(
    graph, simulator, safety, commands
):
    is_driven(graph, safety, commands)
    simulator[-1].send(signal.SIGKILL)
    simulator[-1].wait()
    says(graph, safety, "state")
    is_let_go(graph, commands)
    simulator.append(graph.start("simulator", parameters=PLANT))
    is_driven(graph, safety, commands)


def test_a_controller_that_stands_still_goes_on(graph, controller, safety, commands):
    is_driven(graph, safety, commands)
    os.kill(controller.pid, signal.SIGSTOP)
    try:
        for _ in range(20):  # long enough for every gate; how long does not matter
            graph.spin()
        before = commands.count
    finally:
        os.kill(controller.pid, signal.SIGCONT)
    graph.wait_for(lambda: commands.count > before + 20, "further commands")
    is_driven(graph, safety, commands)


def is_stopped(safety):
    return "stop" in safety.last.data.split()


def test_a_permission_that_flaps_and_resets_during_a_stop_leave_a_stop(
    graph, controller, safety, commands
):
    """Whatever else is said meanwhile, the stop stands until its own reset."""
    is_driven(graph, safety, commands)
    permission = graph.publisher(Bool, f"{CONTROLLER}/enable")
    assert graph.set_parameters(CONTROLLER, enable_timeout=ros.LONG) == (True, "")
    assert graph.call(Trigger, f"{CONTROLLER}/emergency_stop").success
    graph.wait_for(lambda: is_stopped(safety), "the stop is told")
    for flag in [True, False] * 100:
        permission.publish(Bool(data=flag))
        graph.spin(0.0)
        assert is_stopped(safety)
    says(graph, safety, "stop enable", each=lambda: permission.publish(Bool(data=False)))
    for _ in range(5):
        assert graph.call(Trigger, f"{CONTROLLER}/reset").success
        assert graph.call(Trigger, f"{CONTROLLER}/emergency_stop").success
    says(graph, safety, "stop", each=lambda: permission.publish(Bool(data=True)))
    assert graph.call(Trigger, f"{CONTROLLER}/reset").success
    says(graph, safety, "active", each=lambda: permission.publish(Bool(data=True)))
    assert graph.set_parameters(CONTROLLER, enable_timeout=0.0) == (True, "")
    efforts = np.array([message.data for message in commands.messages])
    assert np.isfinite(efforts).all()
