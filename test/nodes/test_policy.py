# SPDX-License-Identifier: Apache-2.0
"""SROS 2 policies: files made from the table of topics, in the form that `ros2 security` reads."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from opspace_ctrl.data import shipped_path
from opspace_ctrl.errors import ConfigurationError
from opspace_ctrl.nodes.interface import INTERFACES
from opspace_ctrl.nodes.policy import permitted, policy_text

# The structure of policy schema 0.2.0: {element: ({attribute: valid values or None}, its children)}.
QUALIFIER = {"ALLOW", "DENY"}
SCHEMA = {
    "policy": ({"version": {"0.2.0"}}, {"enclaves"}),
    "enclaves": ({}, {"enclave"}),
    "enclave": ({"path": None}, {"profiles"}),
    "profiles": ({}, {"profile"}),
    "profile": ({"ns": None, "node": None}, {"topics", "services", "actions"}),
    "topics": ({"publish": QUALIFIER, "subscribe": QUALIFIER}, {"topic"}),
    "services": ({"reply": QUALIFIER, "request": QUALIFIER}, {"service"}),
    "actions": ({"call": QUALIFIER, "execute": QUALIFIER}, {"action"}),
    "topic": ({}, set()),
    "service": ({}, set()),
    "action": ({}, set()),
}
REQUIRED = {"policy", "enclave", "profile"}  # all their attributes; of the others one is enough


def check(element):
    attributes, children = SCHEMA[element.tag]
    assert set(element.attrib) <= set(attributes)
    if attributes:
        assert set(element.attrib) == set(attributes) if element.tag in REQUIRED else element.attrib
    for name, value in element.attrib.items():
        assert value and (attributes[name] is None or value in attributes[name])
    assert bool(len(element)) == bool(children)
    assert {child.tag for child in element} <= children
    if not children:
        assert element.text and element.text == element.text.strip()
    for child in element:
        check(child)


@pytest.mark.parametrize("node", INTERFACES)
def test_the_file_of_a_node_is_what_the_table_makes_and_fits_the_schema(node):
    text = shipped_path("config", f"{node}.policy.xml").read_text()
    assert text == policy_text(node), "run python docs/generate.py"
    root = ElementTree.fromstring(text)
    assert root.tag == "policy"
    check(root)
    (enclave,) = root.iter("enclave")
    assert enclave.get("path") == f"/{node}"


@pytest.mark.parametrize("node", INTERFACES)
def test_nothing_is_permitted_twice_and_no_wildcard_is_a_whole_name(node):
    for names in permitted(node).values():
        assert len(names) == len(set(names))
        for name in names:
            assert all(character.isalnum() or character in "_/~*" for character in name)
            assert name.rpartition("/")[2] != "*" and not name.startswith("*")


def test_tasks_and_a_namespace_are_filled_in():
    text = policy_text("opspace_controller", "/lab", ["tool", "elbow"])
    root = ElementTree.fromstring(text)
    check(root)
    assert "*" not in text and root.find(".//enclave").get("path") == "/lab/opspace_controller"
    assert root.find(".//profile").get("ns") == "/lab"
    heard = {each.text for each in root.findall(".//topics[@subscribe]/topic")}
    assert {"~/tool/target_pose", "~/elbow/target_pose", "~/posture"} <= heard
    assert not {each.text for each in root.findall(".//topics[@publish]/topic")} & {"joint_states"}


def test_who_stands_in_for_the_robot_may_not_stand_in_for_its_controller():
    controller, simulator = (permitted(f"opspace_{name}") for name in ("controller", "simulator"))
    assert "effort_controller/commands" in controller["topics", "publish"]
    assert "effort_controller/commands" not in simulator["topics", "publish"]
    assert "joint_states" not in controller["topics", "publish"]
    assert ("services", "request") not in controller | simulator


def test_the_module_prints_a_policy_or_one_line():
    run = [sys.executable, "-m", "opspace_ctrl.nodes.policy"]
    done = subprocess.run([*run, "opspace_simulator"], capture_output=True, text=True)
    assert done.stdout == policy_text("opspace_simulator") and done.returncode == 0
    for arguments in ([], ["opspace_robot"]):
        done = subprocess.run([*run, *arguments], capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert "opspace_controller, opspace_simulator" in done.stderr
    with pytest.raises(ConfigurationError):
        policy_text("robot")
