# SPDX-License-Identifier: Apache-2.0
"""What all our nodes share: waiting in a loop of one's own, parameter tables, signals, the orderly end."""

import signal
import sys
from pathlib import Path

import pytest
from helpers import ros
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParametersAtomically
from std_msgs.msg import Float64MultiArray

ECHO = str(Path(__file__).parents[1] / "helpers" / "echo_node.py")


def echo(graph, way="wait_set", *arguments):
    return graph.run([sys.executable, ECHO, way, "--ros-args", *arguments], "echo")


@pytest.mark.parametrize("way, number", [("wait_set", signal.SIGINT), ("executor", signal.SIGTERM)])
def test_a_node_hears_is_set_and_says_its_last_word_after_a_signal(tmp_path, way, number):
    with ros.Graph(tmp_path, namespace="/here") as graph:
        process = echo(graph, way, "-r", "__ns:=/here", "-p", "gain:=2", "-p", "names:=[a, b]")
        output = graph.listen(Float64MultiArray, "output")
        inlet = graph.publisher(Float64MultiArray, "input")

        def answers(value):
            return lambda: any(list(message.data) == [value] for message in output.messages)

        graph.publish_until(inlet, Float64MultiArray(data=[1.5]), answers(3.0), "twice the number")
        assert graph.get_parameter("/here/echo", "gain") == 2.0  # given as an integer
        assert graph.get_parameter("/here/echo", "names") == ["a", "b"]

        assert graph.set_parameters("/here/echo", gain=3, offset=0.25) == (True, "")
        graph.publish_until(
            inlet, Float64MultiArray(data=[1.0]), answers(3.25), "the new gain and offset"
        )
        if way == "wait_set":
            check_refusals(graph)
        process.send(number)
        graph.wait_for(answers(-1.0), "the last word")
        assert process.wait() == 0


def check_refusals(graph):
    """Nothing of a set counts when a part of it is refused, and the reason names what is valid."""
    node = "/here/echo"
    for reason, values in {
        "choice; valid are echo, mute": {"gain": 1.0, "mode": "sing"},
        "not a number": {"offset": 1.0, "gain": "much"},
        "Min: 0.0, Max: 10.0": {"offset": 1.0, "gain": 11.0},
        "gain times offset is above 5": {"gain": 4.0, "offset": 2.0},
        "not a finite number": {"offset": float("nan")},
        "read-only": {"gain": 1.0, "names": ["c"]},
        "unknown parameter 'gian' (did you mean 'gain'?)": {"gain": 1.0, "gian": 1.0},
    }.items():
        successful, text = graph.set_parameters(node, **values)
        assert not successful and reason in text
        assert graph.get_parameter(node, "gain") == 3.0
        assert graph.get_parameter(node, "offset") == 0.25
    # would undeclare it
    nothing = SetParametersAtomically.Request(parameters=[Parameter(name="gain")])
    assert not graph.call(
        SetParametersAtomically, f"{node}/set_parameters_atomically", nothing
    ).result.successful
    assert graph.get_parameter(node, "gain") == 3.0
    # rclpy raises: the node must survive that
    impossible = Parameter(name="gain", value=ParameterValue(type=99))
    client = graph.node.create_client(SetParametersAtomically, f"{node}/set_parameters_atomically")
    graph.wait_for(client.service_is_ready, "the service")
    client.call_async(SetParametersAtomically.Request(parameters=[impossible]))
    graph.wait_for(lambda: "a callback failed" in graph.processes[0].output(), "the logged error")
    assert graph.get_parameter(node, "gain") == 3.0
    described = graph.describe_parameter(node, "gain")
    assert (
        described.floating_point_range[0].from_value,
        described.floating_point_range[0].to_value,
    ) == (0.0, 10.0)
    assert (
        "multiplied" in described.description and graph.describe_parameter(node, "names").read_only
    )


@pytest.mark.parametrize(
    "parameter, reason",
    [
        ("gain:=much", "gain: 'much' is not a number"),
        ("gain:=-1.0", "0 to 10"),
        ("gian:=1.0", "gian"),
        ("mode:=sing", "valid are echo, mute"),
        ("names:=[1, 2]", "names: 1 is not a list of strings"),
    ],
)
def test_an_invalid_parameter_at_the_start_ends_the_node_with_code_2_and_a_reason(
    tmp_path, parameter, reason
):
    with ros.Graph(tmp_path) as graph:
        process = echo(graph, "wait_set", "-p", parameter)
        assert process.wait() == 2
        assert reason in process.output()


ENDING = """
import atexit
from opspace_ctrl.nodes.{module} import main
atexit.register(print, "the interpreter takes itself down")
main()
"""


@pytest.mark.parametrize("module", ["controller", "simulator"])
def test_a_process_ends_at_once_after_the_last_word(module, tmp_path):
    """The interpreter's own end takes seconds, in which whoever has started the node may kill it."""
    with ros.Graph(tmp_path) as graph:
        command = [sys.executable, "-c", ENDING.format(module=module), "--ros-args"]
        process = graph.run([*command, "-p", "robot:=arm7"], module)
        assert graph.state(f"/opspace_{module}") == "unconfigured"
        process.send(signal.SIGINT)
        assert process.wait() == 0
        assert "takes itself down" not in process.output()
