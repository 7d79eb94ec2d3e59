"""docs/ros_interface.md says what the nodes really have: parameters, topics, services."""

import importlib.util
import re

from helpers.compiled_nodes import compile_controller, compile_simulator
from helpers.documents import ROOT
from helpers.ros import COMPILING, Graph

PAGE = (ROOT / "docs" / "ros_interface.md").read_text(encoding="utf-8")


def test_the_parameter_tables_are_those_of_the_code():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.generated(PAGE) == PAGE, "run python docs/generate.py"


# Beside its own names every lifecycle node has these.
COMMON = {
    "/rosout",
    "/parameter_events",
    "transition_event",
    "change_state",
    "get_state",
    "get_available_states",
    "get_available_transitions",
    "get_transition_graph",
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
    "get_type_description",
}
# Documented, and not there in a lock-step pair that reads a shipped robot and follows tasks.
ELSEWHERE = {"opspace_controller": {"robot_description", "/clock"}, "opspace_simulator": {"/clock"}}


def documented(node: str) -> dict[str, str]:
    """Topics and services of a node's section with their types."""
    section = re.search(rf"^## {node}$.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[0]
    kinds = r"(\w+_(?:msgs|interfaces)/[^|]*|std_srvs/[^|]*|the same)"
    rows = re.findall(rf"^\| (`[^|]*) \| {kinds} \|", section, re.MULTILINE)
    return {
        name: kind.split(",")[0] for names, kind in rows for name in re.findall(r"`([^`]*)`", names)
    }


def existing(graph: Graph, node: str, task: str) -> dict[str, str]:
    """What the graph knows of a node, with the names of the page; a node may answer before its name is known."""
    if (node, "/") not in graph.node.get_node_names_and_namespaces():
        return {}
    peer, found = graph.node, {}
    for names_and_types in (
        peer.get_publisher_names_and_types_by_node,
        peer.get_subscriber_names_and_types_by_node,
        peer.get_service_names_and_types_by_node,
    ):
        for name, (kind, *_) in names_and_types(node, "/"):
            own = name.removeprefix(f"/{node}/")
            if own not in COMMON:
                place = (
                    f"~/{own}"
                    if own != name
                    else name
                    if name in ("/clock", "/diagnostics")
                    else name[1:]
                )
                found[place.replace(f"/{task}/", "/<t>/")] = re.sub("/(msg|srv)/", "/", kind)
    return found


def test_topics_and_services_of_both_nodes_are_those_of_the_page(tmp_path):
    with Graph(tmp_path) as graph:
        compile_simulator("free_flyer")
        compile_controller("free_flyer")
        graph.start(
            "simulator",
            parameters={
                "robot": "free_flyer",
                "mode": "lockstep",
                "autostart": True,
                "wrench_frames": ["right_tool"],
            },
        )
        graph.start(
            "controller",
            parameters={"robot": "free_flyer", "tasks": ["right_tool"], "autostart": True},
        )
        for node in ("opspace_simulator", "opspace_controller"):
            graph.wait_for(
                lambda node=node: graph.state(f"/{node}") == "active",
                f"{node} active",
                patience=COMPILING,
            )
            page = {name.replace("<frame>", "<t>"): kind for name, kind in documented(node).items()}
            expected = {name: kind for name, kind in page.items() if name not in ELSEWHERE[node]}

            def complete(node=node, expected=expected):
                found = existing(graph, node, "right_tool")
                return found if set(expected) <= set(found) else None

            found = graph.wait_for(complete, f"all of {sorted(expected)}")
            assert {name: page.get(name) for name in found} == found
