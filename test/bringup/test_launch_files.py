"""The launch files, as far as they can be checked without launch: they compile and use what launch_ros offers."""

import ast

import pytest
from helpers.installed_tree import SOURCE

from opspace_ctrl.bringup.arguments import LAUNCHES

FILES = sorted((SOURCE / "launch").glob("*.launch.py"))
LAUNCHING = SOURCE / "opspace_ctrl" / "bringup" / "launching.py"

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
}
OFFERED = {
    "launch": {"LaunchContext": set(), "LaunchDescription": set()},
    "launch.action": {"Action": set()},
    "launch.actions": {
        "DeclareLaunchArgument": {"default_value", "description", "choices"},
        "EmitEvent": {"event"},
        "ExecuteProcess": {"cmd", "name", "output"},
        "OpaqueFunction": {"function", "args", "kwargs"},
        "RegisterEventHandler": set(),
        "Shutdown": {"reason"},
        "TimerAction": {"period", "actions"},
    },
    "launch.event_handlers": {
        "OnProcessExit": {"target_action", "on_exit"},
        "OnShutdown": {"on_shutdown"},
    },
    "launch.events": {"matches_action": set()},
    "launch.substitutions": {"LaunchConfiguration": set()},
    "launch_ros.actions": {"LifecycleNode": NODE, "Node": NODE},
    "launch_ros.event_handlers": {
        "OnStateTransition": {"target_lifecycle_node", "start_state", "goal_state", "entities"}
    },
    "launch_ros.events.lifecycle": {"ChangeState": {"lifecycle_node_matcher", "transition_id"}},
    "launch_ros.parameter_descriptions": {"ParameterValue": {"value_type"}},
    "launch_ros.ros_adapters": {"get_ros_node": set()},
    "lifecycle_msgs.msg": {"Transition": set()},
    "lifecycle_msgs.srv": {"GetState": set()},
}
FOREIGN = ("launch", "lifecycle_msgs")


def imported(tree):
    """(module, name) of every import of launch or of what belongs to it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith(FOREIGN):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.startswith(FOREIGN))


@pytest.mark.parametrize("path", [*FILES, LAUNCHING], ids=lambda path: path.name)
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_compile_and_define_the_function_that_launch_calls(path):
    tree = ast.parse(path.read_text(), path)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert "generate_launch_description" in functions
    assert ast.get_docstring(tree)


def test_there_is_a_thin_file_for_each_launch():
    assert {path.name for path in FILES} == {f"{name}.launch.py" for name in LAUNCHES}
    for name in LAUNCHES:
        text = (SOURCE / "launch" / f"{name}.launch.py").read_text()
        assert f'launch_description("{name}")' in text
        assert len(text.splitlines()) < 15


def test_decisions_need_no_launch():
    """Only `launching` imports launch, so that everything else is tested without it."""
    for path in LAUNCHING.parent.glob("*.py"):
        if path != LAUNCHING:
            assert not list(imported(ast.parse(path.read_text()))), path.name
