# SPDX-License-Identifier: Apache-2.0
"""Parameters of the nodes on a live graph: what `ros2 param dump` writes starts the same node again."""

import pytest
import yaml
from helpers.compiled_nodes import parameters
from helpers.ros import Graph
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.parameter import parameter_value_to_python

from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.errors import ParameterError
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.sim.settings import simulator_settings

NODES = {
    "controller": ("/opspace_controller", parameters("asimo", "opspace_controller")),
    "simulator": ("/opspace_simulator", parameters("free_flyer", "opspace_simulator")),
    "gazebo_bridge": ("/opspace_gazebo_bridge", {"joints": ["a", "b"]}),
}


def dumped(graph, node):
    """{name: value} of all parameters, as `ros2 param dump` asks for them."""
    names = graph.call(ListParameters, f"{node}/list_parameters").result.names
    request = GetParameters.Request(names=names)
    values = graph.call(GetParameters, f"{node}/get_parameters", request).values
    python = [parameter_value_to_python(value) for value in values]
    return {
        name: list(value) if hasattr(value, "tolist") else value
        for name, value in zip(names, python)
    }


def nested(values):
    """With a map for each dot, as `ros2 param dump` writes it."""
    tree = {}
    for name, value in values.items():
        *path, last = name.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = value
    return tree


@pytest.mark.parametrize("module", NODES)
def test_a_dumped_parameter_file_starts_the_same_node_again(module, tmp_path):
    node, given = NODES[module]
    with Graph(tmp_path) as graph:
        first = graph.start(module, parameters=given)
        values = dumped(graph, node)
        assert any(value == [] for value in values.values())  # rcl reads it as no value at all
        first.end()
        path = tmp_path / "dump.yaml"
        path.write_text(yaml.safe_dump({node: {"ros__parameters": nested(values)}}))
        again = graph.start(module, arguments=(), parameters=node_parameters(path, node[1:]))
        assert dumped(graph, node) == values
        again.end()
        assert again.code == 0


def test_an_empty_value_that_is_no_list_is_refused_by_name(tmp_path):
    with Graph(tmp_path) as graph:
        node = graph.start("gazebo_bridge", parameters={"joints": ["a"], "model": []})
        assert node.wait() == 2
        assert "model" in node.output() and "Traceback" not in node.output()


@pytest.mark.parametrize("module", ["controller", "simulator"])
def test_a_node_tells_all_mistakes_of_its_parameters_at_once_in_the_words_of_the_tables(
    module, tmp_path
):
    given = {
        "controller": {
            "tasks": ["tool"],
            "tool.stifness": 1.0,
            "tool.damping": -1.0,
            "mode": "rw",
            "singularity.cut": 0.9,
            "joints": ["a", "a"],
        },
        "simulator": {"stepp": 0.1, "step": 5.0, "engine": "magic"},
    }[module]
    read = {"controller": controller_settings, "simulator": simulator_settings}[module]
    with pytest.raises(ParameterError) as caught:
        read(given)
    with Graph(tmp_path) as graph:
        node = graph.start(module, parameters=given)
        assert node.wait() == 2
        assert len(caught.value.parts) == {"controller": 5, "simulator": 3}[module]
        for each in caught.value.parts:
            assert str(each) in node.output()
