# SPDX-License-Identifier: Apache-2.0
"""The launch files read without launch: their arguments, and the parameters that they name for our nodes."""

import ast
from typing import NamedTuple

from helpers.installed_tree import SOURCE
from opspace_ctrl.bringup import words

FILES = sorted((SOURCE / "launch").glob("*.launch.py"))
LAUNCHES = [path.name.removesuffix(".launch.py") for path in FILES]


class Argument(NamedTuple):
    name: str
    default: str
    description: str
    choices: tuple[str, ...]


def tree_of(launch):
    return ast.parse((SOURCE / "launch" / f"{launch}.launch.py").read_text())


def calls(tree, name):
    """Every call of a function by its name alone."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


def value_of(node):
    """The value of an expression of names and constants of `words`."""
    names = {"words": words} | vars(words)
    return eval(compile(ast.Expression(node), "launch file", "eval"), names)


def arguments(launch):
    """{name: Argument} of a launch file, and of the one that it includes for its own arguments."""
    found = {}
    for call in calls(tree_of(launch), "DeclareLaunchArgument"):
        keywords = {keyword.arg: value_of(keyword.value) for keyword in call.keywords}
        name = value_of(call.args[0])
        found[name] = Argument(
            name,
            keywords["default_value"],
            keywords["description"],
            tuple(keywords.get("choices", ())),
        )
    if any(isinstance(node, ast.Name) and node.id == "ARM" for node in ast.walk(tree_of(launch))):
        found = arguments("arm") | found
    return found


def given_parameters(launch):
    """{node: names of the parameters that the file itself gives it}."""
    given = {}
    for kind in ("LifecycleNode", "Node"):
        for call in calls(tree_of(launch), kind):
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            sources = (
                [node for node in ast.walk(keywords["parameters"]) if isinstance(node, ast.Dict)]
                if "parameters" in keywords
                else []
            )
            names = {key.value for source in sources for key in source.keys if key is not None}
            given[keywords["executable"].value] = names
    return given
