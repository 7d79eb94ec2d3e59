# SPDX-License-Identifier: Apache-2.0
"""SROS 2 policies of the nodes: what each may publish, hear, answer and ask for, and nothing else.

    python -m opspace_ctrl.nodes.policy opspace_controller /lab tool elbow

prints the policy of a controller in the namespace /lab with the tasks tool and elbow. Without tasks, as in the files of
config/, a `*` stands for any name: DDS permissions match it as a shell would.
"""

import re
import sys
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..errors import ConfigurationError, OpspaceError, in_one_line, listed, quoted
from .interface import COMMON, INTERFACES, LIFECYCLE, Action, Service, Topic

__all__ = ["VERSION", "permitted", "policy_text"]

VERSION = "0.2.0"  # of the policy schema
PLACE = re.compile("<[a-z]+>")
# (topic, service or action, in or out) -> element of the policy and its attribute
RULES = {
    (Topic, "out"): ("topics", "publish"),
    (Topic, "in"): ("topics", "subscribe"),
    (Service, "in"): ("services", "reply"),
    (Service, "out"): ("services", "request"),
    (Action, "in"): ("actions", "execute"),
}


def permitted(node: str, tasks: Sequence[str] = ()) -> dict[tuple[str, str], list[str]]:
    """The names that a node may use, by rule: {("topics", "publish"): [...]}.

    Args:
        node: opspace_controller, opspace_simulator or opspace_gazebo_bridge.
        tasks: names of the tasks; none: any.

    Raises:
        ConfigurationError: There is no such node.
    """
    if node not in INTERFACES:
        raise ConfigurationError(f"no node {quoted(node)}; nodes: {listed(INTERFACES)}")
    lifecycle = () if node == "opspace_gazebo_bridge" else LIFECYCLE
    found: dict[tuple[str, str], list[str]] = {rule: [] for rule in RULES.values()}
    for each in (*INTERFACES[node], *COMMON, *lifecycle):
        if each.name == "/clock" and node == "opspace_simulator" and each.direction == "in":
            continue  # it makes the time
        names = (each.name.replace("<t>", task) for task in tasks or ("*",))
        found[RULES[type(each), each.direction]] += [PLACE.sub("*", name) for name in names]
    return {rule: sorted(set(names)) for rule, names in found.items() if names}


def policy_text(node: str, namespace: str = "/", tasks: Sequence[str] = ()) -> str:
    """The policy of one node in an enclave of its own, as `ros2 security create_permission` reads it."""
    enclaves = SubElement(policy := Element("policy", version=VERSION), "enclaves")
    path = f"{namespace.rstrip('/')}/{node}"
    profiles = SubElement(SubElement(enclaves, "enclave", path=path), "profiles")
    profile = SubElement(profiles, "profile", ns=namespace, node=node)
    for (kind, right), names in permitted(node, tasks).items():
        rule = SubElement(profile, kind, {right: "ALLOW"})
        for name in names:
            SubElement(rule, kind.removesuffix("s")).text = name
    indent(policy)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(policy, encoding="unicode")}\n'


def main(arguments: Sequence[str]) -> int:
    """Print the policy that the arguments ask for: a node, a namespace, names of tasks."""
    node, namespace, *tasks = [*arguments, "", "/"][:2] if len(arguments) < 2 else arguments
    try:
        print(policy_text(node, namespace or "/", tasks), end="")
    except OpspaceError as error:
        print(in_one_line(error), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
