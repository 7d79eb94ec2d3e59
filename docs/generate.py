# SPDX-License-Identifier: Apache-2.0
"""Write what docs/ prints of the code: `python docs/generate.py`.

The tables of ros_interface.md are those of the nodes' parameters and of nodes/interface.py, from which the SROS 2
policies of config/ are made too; fields.md is what the workspaces declare; the feature matrix of methods.md is what
the methods do with small robots that have one feature each; papers.md and the errata of theory.md are the data of
opspace_ctrl/algebra/papers. The parameters of the ros2_control plugin are written too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from opspace_ctrl import CenterOfMass, Model, OperationalSpace, Task, load_urdf
from opspace_ctrl.algebra.closure.fields import Chain
from opspace_ctrl.algebra.papers.page import errata_table, papers_page
from opspace_ctrl.compiled.workspace import Workspace
from opspace_ctrl.control.fields import Law
from opspace_ctrl.control.safety.door import Door
from opspace_ctrl.control.safety.fields import Gates
from opspace_ctrl.control.settings import controller_table
from opspace_ctrl.control.targets.references import References
from opspace_ctrl.dynamics.fields import Dual, Tree
from opspace_ctrl.dynamics.forward import forward_method, forward_methods
from opspace_ctrl.dynamics.forward_method import ForwardMethod
from opspace_ctrl.errors import MethodError
from opspace_ctrl.export.plugin import parameters_yaml, plugin_table
from opspace_ctrl.model import load_robot
from opspace_ctrl.nodes.gazebo_table import BRIDGE_TABLE
from opspace_ctrl.nodes.interface import INTERFACES, Topic
from opspace_ctrl.nodes.policy import policy_text
from opspace_ctrl.osim.fields import Space
from opspace_ctrl.osim.method import Method
from opspace_ctrl.osim.registry import BUILT_IN, STUDY, get_method
from opspace_ctrl.parameters import Parameter
from opspace_ctrl.sim.engine.fields import Engine, Inverse
from opspace_ctrl.sim.engine.inverse import ArticulatedInverse
from opspace_ctrl.sim.settings import SIMULATOR_TABLE

CONFIG = Path(__file__).parents[1] / "config"
PAGE = Path(__file__).with_name("ros_interface.md")
FIELDS = Path(__file__).with_name("fields.md")
METHODS = Path(__file__).with_name("methods.md")
PAPERS = Path(__file__).with_name("papers.md")
THEORY = Path(__file__).with_name("theory.md")
PLUGIN = Path(__file__).parents[1] / "ros2_control" / "src" / "parameters.yaml"
TABLES = {
    "controller": controller_table(("<t>",), ("<c>",)),
    "simulator": SIMULATOR_TABLE,
    "bridge": BRIDGE_TABLE,
}
NODES = {
    "controller": "opspace_controller",
    "simulator": "opspace_simulator",
    "bridge": "opspace_gazebo_bridge",
}


def topic_table(node: str) -> str:
    """A Markdown table, one row a topic."""
    rows = ["| topic | type | | |", "|---|---|---|---|"]
    topics = (each for each in INTERFACES[node] if isinstance(each, Topic))
    rows += [f"| `{t.name}` | {t.type} | {t.direction} | {t.text} |" for t in topics]
    return "\n".join(rows)


def service_table(node: str) -> str:
    """A Markdown table, one row a service or an action."""
    rows = ["| service | type | |", "|---|---|---|"]
    services = (each for each in INTERFACES[node] if not isinstance(each, Topic))
    rows += [
        f"| `{s.name}` | {s.type} | {'client, ' if s.direction == 'out' else ''}{s.text} |"
        for s in services
    ]
    return "\n".join(rows)


def table(parameters: Iterable[Parameter]) -> str:
    """A Markdown table, one row a parameter."""
    rows = [
        "| parameter | type | default | valid | live | what it is |",
        "|---|---|---|---|---|---|",
    ]
    rows += [
        f"| `{p.name}` | {p.kind} | {_value(p.default)} | {_valid(p)} | {'no' if p.read_only else 'yes'} | "
        f"{p.text.replace('|', ', ')} |"
        for p in parameters
    ]
    return "\n".join(rows)


def generated(text: str) -> str:
    """The page with its tables made anew: what stands between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""
    tables = {name: table(parameters) for name, parameters in TABLES.items()}
    for name in TABLES:
        node = NODES[name]
        tables |= {f"{name} topics": topic_table(node), f"{name} services": service_table(node)}
    for name, rows in tables.items():
        text = _filled(text, name, rows)
    return text


def _filled(text: str, name: str, content: str) -> str:
    """The text with `content` between the marks of a name."""
    place = re.compile(rf"(<!-- {name}: begin -->\n).*?(\n<!-- {name}: end -->)", re.DOTALL)
    found = place.search(text)
    if not found:
        raise SystemExit(f"the marks of {name!r} are missing")
    return f"{text[: found.end(1)]}{content}{text[found.start(2) :]}"


def _robot(types: str, mimic: tuple[str, str] = ("", ""), **options) -> Model:
    """A floating trunk with arms a and b of three joints; `types` are those of arm a; of (x, y), joint x follows y."""
    inertia = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.15"/>'
    body = f'<inertial><origin xyz="0.1 0 0.05"/><mass value="1"/>{inertia}</inertial>'
    parts = [f'<robot name="r"><link name="trunk">{body}</link>']
    for arm, kinds in (("a", types.split()), ("b", ["revolute"] * 3)):
        for k, kind in enumerate(kinds, 1):
            name, parent = f"{arm}{k}", f"{arm}{k - 1}" if k > 1 else "trunk"
            follows = f'<mimic joint="{mimic[1]}" multiplier="0.5"/>' if name == mimic[0] else ""
            parts.append(
                f'<link name="{name}">{body}</link><joint name="{name}" type="{kind}">'
                f'<parent link="{parent}"/><child link="{name}"/><axis xyz="0 {k % 2} 1"/>{follows}'
                f'<origin xyz="0.2 0.1 {0.1 * k}" rpy="0.3 {0.2 * k} 0"/>'
                f'<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
            )
    return load_urdf("".join([*parts, "</robot>"]), "floating", **options)


def features() -> dict[str, tuple[Model, list]]:
    """A robot and tasks for every feature that a method may or may not carry."""
    plain, three = _robot("revolute prismatic revolute"), "revolute prismatic revolute"
    urdf = load_robot("arm7"), load_robot("arm7", base="floating")
    forest = [Path(__file__).parents[1] / "urdf" / "arm7.urdf"] * 2
    return {
        "a frame, fixed base": (urdf[0], ["tool"]),
        "a frame, floating base": (urdf[1], ["tool"]),
        "several frames, duplicate and ancestor": (plain, ["a3", "b3", "a1", ("a3", "position")]),
        "relative task": (plain, [Task("a3", "position", relative_to="b2")]),
        "centre of mass": (plain, [CenterOfMass(), "a3"]),
        "armature": (_robot(three, armature={"a1": 0.3}), ["a3"]),
        "planar joint inside": (_robot("revolute planar revolute"), ["a3", "b2"]),
        "floating joint inside": (_robot("revolute floating revolute"), ["a3", "b2"]),
        "forest": (
            load_urdf(forest, ["floating"] * 2, prefixes=["l_", "r_"]),
            ["l_tool", "r_tool"],
        ),
        "mimic joint beside or on its leader": (_robot(three, ("b1", "a1")), ["a3", "b3"]),
        "mimic joint with others between": (_robot(three, ("b3", "a3")), ["a3", "b3"]),
    }


def matrix() -> str:
    """Method by feature: "yes" where a method's Lambda^-1 is that of `dense`, else what it refuses."""
    rows = [
        f"| |{'|'.join(f' `{name}` ' for name in BUILT_IN)}|",
        "|---" * (len(BUILT_IN) + 1) + "|",
    ]
    for feature, (model, tasks) in features().items():
        q = model.random_configuration(np.random.default_rng(1))
        expected = OperationalSpace(model, tasks, "dense").update(q).inertia_inv
        cells = [_cell(model, tasks, name, q, expected) for name in BUILT_IN]
        rows.append(f"| {feature} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(model: Model, tasks: list, name: str, q: np.ndarray, expected: np.ndarray) -> str:
    try:
        found = OperationalSpace(model, tasks, name).update(q).inertia_inv
    except MethodError as error:
        return str(error).partition("cannot carry ")[2].partition(" (")[0]
    is_same = np.allclose(found, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())
    return "yes" if is_same else "WRONG"


def methods_page(text: str) -> str:
    """methods.md with its feature matrix made anew."""
    return _filled(text, "features", matrix())


FIELDS_HEAD = """# Fields: the memory that kernels work on

Written by `python docs/generate.py` from the classes themselves; a test compares. What a workspace, a role and a stage
are: [CONTRIBUTING.md](../CONTRIBUTING.md#kernels). A shape is made of the counts of its own class; without one the
field is a single number. `int` marks whole numbers, all others are doubles. A subclass has the fields of its base too.
"""


def workspaces() -> list[type[Workspace]]:
    """Those that declare fields, lower layers first."""
    model = load_robot("free_flyer")  # no method refuses a free flyer
    forward = {forward_method(model, name): None for name in forward_methods()}
    methods = [get_method(name) for name in (*BUILT_IN, *STUDY)]
    every = [Tree, Dual, ForwardMethod, *forward, Space, Method, *methods]
    every += [Law, References, Door, Gates, Inverse, Engine, ArticulatedInverse, Chain]
    return [each for each in every if each.fields.keys() - each.__base__.fields.keys()]


def fields_page() -> str:
    """All of fields.md: each module's own text once, then the tables of its workspaces."""
    parts, seen = [FIELDS_HEAD], set()
    for each in workspaces():
        module = sys.modules[each.__module__]
        if module.__name__ not in seen:
            seen.add(module.__name__)
            path = module.__name__.replace(".", "/") + ".py"
            parts.append(f"## [{path}](../{path})\n\n```text\n{module.__doc__.strip()}\n```\n")
        parts.append(each.described() + "\n")
    return "\n".join(parts)


def plugin_parameters() -> str:
    """The parameters of the ros2_control plugin, as generate_parameter_library reads them."""
    return parameters_yaml(plugin_table())


def _value(value) -> str:
    if isinstance(value, list):
        return f"`[{', '.join(_plain(element) for element in value)}]`"
    return f"`{_plain(value)}`" if value != "" else "empty"


def _plain(value) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _valid(p: Parameter) -> str:
    if p.choices:
        return ", ".join(f"`{choice}`" if choice else "empty" for choice in p.choices)
    if p.minimum is None and p.maximum is None:
        return ""
    low, high = ("" if end is None else f"{end:g}" for end in (p.minimum, p.maximum))
    return f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}"


if __name__ == "__main__":
    PAGE.write_text(generated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    FIELDS.write_text(fields_page(), encoding="utf-8")
    for node in INTERFACES:
        (CONFIG / f"{node}.policy.xml").write_text(policy_text(node), encoding="utf-8")
    PLUGIN.write_text(plugin_parameters(), encoding="utf-8")
    METHODS.write_text(methods_page(METHODS.read_text(encoding="utf-8")), encoding="utf-8")
    PAPERS.write_text(papers_page(), encoding="utf-8")
    theory = THEORY.read_text(encoding="utf-8")
    THEORY.write_text(_filled(theory, "errata", errata_table()), encoding="utf-8")
