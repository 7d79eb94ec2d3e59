# SPDX-License-Identifier: Apache-2.0
"""Several robots on one graph: whose time it is, and who says what."""

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from helpers.compiled_nodes import compile_simulator, parameters
from helpers.ros import Graph
from rclpy.qos import qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray

NAMES = ("left", "right")


@pytest.fixture(scope="module", autouse=True)
def compiled():
    compile_simulator("arm7")


def start(graph, **options):
    """Two simulated arms, and the newest status of each: {name: (hardware_id, words)}."""
    said = {}

    def hear(message):
        for status in message.status:
            said[status.name] = status.hardware_id, status.message

    for name in NAMES:
        graph.start(
            "simulator",
            namespace=f"/{name}",
            parameters=parameters("arm7", "opspace_simulator")
            | {"mode": "lockstep", "autostart": True},
            **options,
        )
    graph.listen(DiagnosticArray, "/diagnostics", callback=hear)
    return said


def test_two_simulators_on_one_clock_are_warned_of(tmp_path):
    with Graph(tmp_path) as graph:
        said = start(graph)
        for name in NAMES:
            graph.wait_for(
                lambda name=name: (
                    "the clock has another publisher"
                    in said.get(f"{name}/opspace_simulator: simulation", ("", ""))[1]
                ),
                f"the warning of {name}",
            )
            assert said[f"{name}/opspace_simulator: simulation"][0] == f"{name}/arm7"


def test_with_a_clock_each_nobody_warns_and_unheard_commands_are_named(tmp_path):
    with Graph(tmp_path) as graph:
        said = start(graph, remap={"/clock": "clock"})
        clocks = [graph.listen(Clock, f"/{name}/clock") for name in NAMES]
        graph.wait_for(lambda: all(clock.count for clock in clocks), "both clocks")
        for name in NAMES:
            graph.wait_for(
                lambda name=name: (
                    said.get(f"{name}/opspace_simulator: simulation", ("", ""))[1]
                    == "holding its position until the first command"
                ),
                f"{name} holds",
            )
        graph.node.create_publisher(
            Float64MultiArray, "/left/effort_controller/commands", qos_profile_sensor_data
        )
        graph.wait_for(
            lambda: (
                "qos_overrides./left/effort_controller/commands.subscription.reliability"
                in said["left/opspace_simulator: simulation"][1]
            ),
            "the publisher with best effort",
        )
        assert "holding" in said["right/opspace_simulator: simulation"][1]
