# SPDX-License-Identifier: Apache-2.0
"""The launch files, as far as they can be checked without launch: they compile and use what launch_ros offers."""

import ast
import xml.etree.ElementTree as ET

import pytest
from helpers.installed_tree import NODES, SOURCE
from helpers.launch_files import FILES, calls

ACTIONS = SOURCE / "opspace_ctrl" / "bringup" / "actions.py"
PLUGIN = SOURCE / "ros2_control"
ALL = [*FILES, *(PLUGIN / "launch").glob("*.launch.py")]

# What launch 3.4 to 3.8 and launch_ros 0.26 to 0.28 offer of what is used here: module -> name -> keyword arguments.
NODE = {
    "package",
    "executable",
    "name",
    "namespace",
    "parameters",
    "arguments",
    "ros_arguments",
    "remappings",
    "output",
    "on_exit",
}
OFFERED = {
    "launch": {"LaunchContext": set(), "LaunchDescription": set()},
    "launch.action": {"Action": set()},
    "launch.actions": {
        "DeclareLaunchArgument": {"default_value", "description", "choices"},
        "EmitEvent": {"event"},
        "ExecuteProcess": {
            *("cmd", "name", "output", "additional_env", "sigterm_timeout", "on_exit")
        },
        "IncludeLaunchDescription": {"launch_arguments"},
        "SetLaunchConfiguration": set(),
        "OpaqueFunction": {"function", "args", "kwargs"},
        "RegisterEventHandler": set(),
        "Shutdown": {"reason"},
        "TimerAction": {"period", "actions"},
    },
    "launch.event_handlers": {"OnShutdown": {"on_shutdown"}},
    "launch.events": {"matches_action": set()},
    "launch.launch_description_sources": {"PythonLaunchDescriptionSource": set()},
    "launch.utilities": {
        "normalize_to_list_of_substitutions": set(),
        "perform_substitutions": set(),
    },
    "launch_ros.actions": {"LifecycleNode": NODE, "Node": NODE},
    "launch_ros.event_handlers": {
        "OnStateTransition": {"target_lifecycle_node", "start_state", "entities", "handle_once"}
    },
    "launch_ros.events.lifecycle": {"ChangeState": {"lifecycle_node_matcher", "transition_id"}},
    "launch_ros.parameter_descriptions": {"ParameterValue": {"value_type"}},
    "launch_ros.ros_adapters": {"get_ros_node": set()},
    "lifecycle_msgs.msg": {"Transition": set()},
    "lifecycle_msgs.srv": {"GetState": set()},
}
FOREIGN = ("launch", "lifecycle_msgs")


def name_of(path):
    """Two packages have an arm.launch.py."""
    return f"plugin's {path.name}" if PLUGIN in path.parents else path.name


def imported(tree):
    """(module, name) of every import of launch or of what belongs to it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith(FOREIGN):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.startswith(FOREIGN))


@pytest.mark.parametrize("path", [*ALL, ACTIONS], ids=name_of)
def test_files_use_only_what_launch_and_launch_ros_offer(path):
    tree = ast.parse(path.read_text())
    keywords = {}
    for module, name in imported(tree):
        assert name in OFFERED[module], f"{module}.{name}"
        keywords[name] = OFFERED[module][name]
    for call in ast.walk(tree):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id in keywords
        ):
            used = {keyword.arg for keyword in call.keywords if keyword.arg}
            assert used <= keywords[call.func.id], (
                f"{call.func.id}({used - keywords[call.func.id]})"
            )


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_files_compile_and_define_the_function_that_launch_calls(path):
    tree = ast.parse(path.read_text(), path)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert "generate_launch_description" in functions
    assert ast.get_docstring(tree)


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_files_show_what_they_start_and_what_they_start_is_a_dependency(path):
    tree = ast.parse(path.read_text())
    package = PLUGIN if PLUGIN in path.parents else SOURCE
    depends = {node.text for node in ET.parse(package / "package.xml").findall("exec_depend")}
    started = [*calls(tree, "Node"), *calls(tree, "LifecycleNode")]
    included = calls(tree, "IncludeLaunchDescription")
    assert started or included
    for call in started:
        words = {keyword.arg: getattr(keyword.value, "value", None) for keyword in call.keywords}
        if words["executable"] in NODES:
            assert words.get("package", "opspace_ctrl") == "opspace_ctrl"
        else:
            assert words["package"] in depends
    assert len(path.read_text().splitlines()) <= 120


def test_decisions_need_no_launch():
    """Only `actions` imports launch, so that everything else is tested without it."""
    for path in ACTIONS.parent.glob("*.py"):
        if path != ACTIONS:
            assert not list(imported(ast.parse(path.read_text()))), path.name
