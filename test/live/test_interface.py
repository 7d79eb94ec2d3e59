# SPDX-License-Identifier: Apache-2.0
"""docs/ros_interface.md and the SROS 2 policies say what the nodes really have: parameters, topics, services."""

import importlib.util
import re
from fnmatch import fnmatchcase
from functools import partial

from helpers.compiled_nodes import compile_controller, compile_simulator
from helpers.documents import ROOT
from helpers.gazebo_graph import start_gazebo
from helpers.gazebo_stand_in import REQUESTS
from helpers.ros import COMPILING, Graph
from rclpy.action import get_action_server_names_and_types_by_node

from opspace_ctrl.nodes.bond import has_bond
from opspace_ctrl.nodes.following import has_control_msgs
from opspace_ctrl.nodes.interface import COMMON, INTERFACES, LIFECYCLE
from opspace_ctrl.nodes.policy import permitted
from opspace_ctrl.nodes.transforms import has_tf2

KIND = "/(msg|srv|action)/"
# of the controller: what is there only where a package is installed
OPTIONAL = {
    "/tf": has_tf2(),
    "/bond": has_bond(),
    "/opspace_controller/*/follow_joint_trajectory": has_control_msgs(),
}
OF_VELOCITY = {"/velocity_controller/commands"}  # used in mode velocity, see test_velocity
PAGE = (ROOT / "docs" / "ros_interface.md").read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_code():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.generated(PAGE) == PAGE, "run python docs/generate.py"


def used(graph: Graph, node: str) -> dict[tuple[str, str], dict[str, str]]:
    """What the graph knows of a node and of others of its process: {rule of a policy: {full name: type}}."""
    peer, found = graph.node, {}
    for rule, names_and_types in {
        ("topics", "publish"): peer.get_publisher_names_and_types_by_node,
        ("topics", "subscribe"): peer.get_subscriber_names_and_types_by_node,
        ("services", "reply"): peer.get_service_names_and_types_by_node,
        ("services", "request"): peer.get_client_names_and_types_by_node,
        ("actions", "execute"): partial(get_action_server_names_and_types_by_node, peer),
    }.items():
        found[rule] = {}
        for name, namespace in peer.get_node_names_and_namespaces():
            if name.startswith(node):
                found[rule].update(
                    (topic, kinds[0])
                    for topic, kinds in names_and_types(name, namespace)
                    if "/_action/" not in topic  # the topics and services of an action
                )
    return found


def full_name(node: str, name: str) -> str:
    """As the policy's names are resolved in the namespace /."""
    return f"/{node}{name[1:]}" if name.startswith("~") else f"/{name.lstrip('/')}"


def compare(graph: Graph, node: str, elsewhere: set[str], foreign: set[str] = frozenset()) -> None:
    """Wait until all that is permitted is used, and see that nothing else is.

    Args:
        elsewhere: permitted, and not used in this graph.
        foreign: used by what stands in for something else.
    """
    rules = {
        rule: {full_name(node, name) for name in names} - elsewhere
        for rule, names in permitted(node).items()
    }

    def unused():
        now = used(graph, node)
        return {
            name
            for rule, names in rules.items()
            for name in names
            if not any(fnmatchcase(each, name) for each in now[rule])
        }

    graph.wait_for(lambda: not unused(), f"{node} uses all that it may", patience=COMPILING)
    for rule, names in used(graph, node).items():
        for name in set(names) - foreign:
            assert any(fnmatchcase(name, each) for each in rules.get(rule, ())), (
                f"{node} uses {name} ({rule}): it belongs into nodes/interface.py"
            )
    _compare_types(graph, node)


def _compare_types(graph: Graph, node: str) -> None:
    found = {name: kind for names in used(graph, node).values() for name, kind in names.items()}
    for each in (*INTERFACES[node], *COMMON, *LIFECYCLE):
        pattern = re.sub("<[a-z]+>", "*", full_name(node, each.name))
        wanted = re.sub(KIND, "/", each.type.split(",")[0])
        for name, kind in found.items():
            if fnmatchcase(name, pattern):
                assert re.sub(KIND, "/", kind) == wanted, name


def test_both_nodes_use_what_their_policies_permit_and_nothing_else(tmp_path):
    with Graph(tmp_path) as graph:
        compile_simulator("free_flyer")
        compile_controller("free_flyer")
        started = {
            "simulator": {
                "robot": "free_flyer",
                "mode": "lockstep",
                "wrench_frames": ["right_tool"],
            },
            # its robot is the one that the simulator describes
            "controller": {"base": "floating", "tasks": ["right_tool"], "use_sim_time": True},
        }
        for name, values in started.items():
            graph.start(name, parameters={"autostart": True, **values})
            graph.wait_for(
                lambda name=name: graph.state(f"/opspace_{name}", COMPILING) == "active",
                f"{name} active",
                patience=COMPILING,
            )
        for name in started:
            absent = {each for each, is_there in OPTIONAL.items() if not is_there} | OF_VELOCITY
            compare(graph, f"opspace_{name}", absent)


def test_the_bridge_uses_what_its_policy_permits_and_nothing_else(tmp_path):
    with Graph(tmp_path) as graph:
        start_gazebo(graph, "asimo", "--paused", lockstep=True, use_sim_time=True)
        # ros_gz_interfaces is no wheel: a topic stands in for the world's service
        compare(graph, "opspace_gazebo_bridge", {"/gazebo/control"}, {f"/{REQUESTS.lstrip('/')}"})
