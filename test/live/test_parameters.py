"""Parameters of the nodes on a live graph: what `ros2 param dump` writes starts the same node again."""

import pytest
import yaml
from helpers.compiled_nodes import parameters
from helpers.ros import Graph
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.parameter import parameter_value_to_python

from opspace_ctrl.parameter_file import node_parameters

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
