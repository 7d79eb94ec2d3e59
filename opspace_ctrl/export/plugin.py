# SPDX-License-Identifier: Apache-2.0
"""The parameters of the ros2_control plugin: its own, and all of an image that may change while it runs.

`ros2_control/src/parameters.yaml` is made of them (docs/generate.py), for generate_parameter_library: names, types,
ranges and words are those of the Python node, from the same declarations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import yaml

from ..control.safety.fields import Gates
from ..control.settings import ControllerSettings, NodeSettings, controller_table
from ..control.targets.references import OF_TASKS, References
from ..declaration import Settings, declared, fixed, live
from ..parameters import Parameter

__all__ = ["PluginSettings", "parameters_yaml", "plugin_table"]

NAMESPACE = "opspace_ctrl_parameters"
HEAD = """# SPDX-License-Identifier: Apache-2.0
# Made by docs/generate.py of the declarations that the Python node has, too: do not edit."""
SHARED = ("world_frame", "publish_rate", "lock_memory")  # with the Python node, of NodeSettings
LISTS = {"tasks": "<t>", "contacts": "<c>"}
BaseSource: TypeAlias = Literal["odom", "interfaces"]


@dataclass(frozen=True, kw_only=True)
class PluginSettings(Settings):
    """What only the plugin has."""

    image: str = fixed("", "The controller: path of a file that `opspace export` wrote.")
    library: str = fixed(
        "", "Path of libopspace.so (`opspace export --library`); empty: the one beside the image."
    )
    error_after: float = live(
        1.0,
        "Gates that stay closed for longer than this, the emergency stop among them, are an error: the "
        "controller manager deactivates the controller and activates its fallback_controllers.",
        "s",
        0.0,
        1e6,
    )
    base_source: BaseSource = fixed(
        "odom",
        "Where a floating base is told: odom, the topic of this name; interfaces: state interfaces of a "
        "state estimator, named <base_name>/position.x and so on.",
    )
    base_name: str = fixed(
        "base", "Of the component with the state interfaces of the floating base."
    )


def plugin_table() -> tuple[Parameter, ...]:
    """Every parameter of the plugin; `<t>` and `<c>` stand for the name of a task and of a contact."""
    node, shown = declared(NodeSettings), controller_table(("<t>",), ("<c>",))
    return (
        *declared(PluginSettings).values(),
        *(node[name] for name in SHARED),
        *(each for each in shown if each.name in LISTS),
        declared(ControllerSettings)["method"],
        *(each for each in shown if is_carried(each) and not each.read_only),
    )


def is_carried(parameter: Parameter) -> bool:
    """Do kernels read it from a field of the law, of its references or of the gates?"""
    owners = [each for each in (References, Gates) if parameter.field in each.fields]
    is_setting = any(each.fields[parameter.field].role == "setting" for each in owners)
    of_task, _, attribute = parameter.name.partition(".")
    is_limit = of_task == LISTS["tasks"] and attribute in OF_TASKS
    return parameter.law or is_setting or is_limit or parameter.name == "payload.frame"


def parameters_yaml(table: Iterable[Parameter]) -> str:
    """A table as generate_parameter_library reads it."""
    tree: dict[str, Any] = {}
    for parameter in table:
        *folders, name = parameter.name.split(".")
        place = tree
        for folder in folders:
            words = {mark: f"__map_{names}" for names, mark in LISTS.items()}
            place = place.setdefault(words.get(folder, folder), {})
        place[name] = _entry(parameter)
    body = yaml.safe_dump({NAMESPACE: tree}, sort_keys=False, width=110, default_flow_style=None)
    return f"{HEAD}\n{body}"


def _entry(parameter: Parameter) -> dict[str, Any]:
    kind = {"integer": "int"}.get(parameter.kind, parameter.kind)
    is_fixed = parameter.read_only or parameter.name in LISTS
    entry: dict[str, Any] = {
        "type": kind,
        "default_value": parameter.default,
        "description": parameter.text,
        "read_only": is_fixed,
    }
    rules = _rules(parameter)
    return entry | ({"validation": rules} if rules else {})


def _rules(parameter: Parameter) -> dict[str, Any]:
    """What is valid, in the library's words."""
    if parameter.choices:
        rule = "subset_of<>" if parameter.is_array else "one_of<>"
        return {rule: [list(parameter.choices)]}
    ends = [("gt_eq<>", parameter.minimum), ("lt_eq<>", parameter.maximum)]
    if parameter.is_array and parameter.minimum is not None and parameter.maximum is not None:
        return {"element_bounds<>": [parameter.minimum, parameter.maximum]}
    if parameter.is_array:
        return {}
    return {rule: [end] for rule, end in ends if end is not None}
