# SPDX-License-Identifier: Apache-2.0
"""The package opspace_ctrl_plugin: found by colcon beside the Python package, its files in step with the code."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from helpers.exported import shipped
from helpers.installed_tree import SOURCE

from opspace_ctrl.declaration import declared
from opspace_ctrl.export.controller import image_of
from opspace_ctrl.export.image import OPTIONAL
from opspace_ctrl.export.plugin import LISTS, NAMESPACE, SHARED, PluginSettings

PACKAGE = SOURCE / "ros2_control"
COLCON = Path(sys.executable).with_name("colcon")


def colcon_list(*paths: Path) -> dict[str, str]:
    """{package: its build type} of what colcon finds."""
    words = [str(COLCON), "--log-base", "/dev/null", "list", "--base-paths", *map(str, paths)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {name: kind.strip("()") for name, _, kind in rows}


def test_colcon_finds_both_packages_when_both_folders_are_named():
    both = {"opspace_ctrl": "ros.ament_python", "opspace_ctrl_plugin": "ros.ament_cmake"}
    assert colcon_list(SOURCE) == {"opspace_ctrl": "ros.ament_python"}
    assert colcon_list(SOURCE, PACKAGE) == both


def test_colcon_finds_both_packages_by_a_link_beside(tmp_path):
    (tmp_path / "opspace_ctrl").symlink_to(SOURCE)
    (tmp_path / "opspace_ctrl_plugin").symlink_to(PACKAGE)
    assert colcon_list(tmp_path).keys() == {"opspace_ctrl", "opspace_ctrl_plugin"}


def test_the_python_package_leaves_the_plugin_alone():
    code = "import setuptools; print(*setuptools.find_packages(include=['opspace_ctrl*']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=SOURCE, capture_output=True, text=True)
    assert "opspace_ctrl.export" in done.stdout and "ros2_control" not in done.stdout
    assert "ros2_control" not in (SOURCE / "setup.py").read_text()


def test_every_dependency_of_the_build_is_a_dependency_of_the_package():
    manifest = ET.parse(PACKAGE / "package.xml").getroot()
    named = {each.text for each in manifest if each.tag.endswith("depend")}
    build = (PACKAGE / "CMakeLists.txt").read_text()
    listed = re.search(r"set\(DEPENDENCIES(.*?)\)", build, re.S)
    assert listed and set(listed[1].split()) <= named
    assert {"ament_cmake", "generate_parameter_library"} <= named
    used = {
        each
        for path in PACKAGE.glob("*/**/*.[ch]pp")
        for each in re.findall(r'#include "(\w+)/', path.read_text())
    }
    assert used - {"opspace_core", "opspace_ctrl_plugin"} <= named


def test_plugins_are_described_as_the_sources_export_them():
    exported = {}
    for path in PACKAGE.glob("src/*.cpp"):
        found = re.search(r"PLUGINLIB_EXPORT_CLASS\(\s*([\w:]+),\s*([\w:]+)\)", path.read_text())
        exported |= {found[1]: found[2]} if found else {}
    described = {
        each.get("type"): each.get("base_class_type")
        for name in ("controllers.xml", "hardware.xml")
        for each in ET.parse(PACKAGE / name).getroot()
    }
    assert described == exported and len(exported) == 3


def test_every_source_is_built():
    build = (PACKAGE / "CMakeLists.txt").read_text()
    sources = {str(path.relative_to(PACKAGE)) for path in PACKAGE.glob("**/*.cpp")}
    assert sources == set(re.findall(r"[\w/]+\.cpp", build))


@pytest.fixture(scope="module")
def parameters() -> dict:
    return yaml.safe_load((PACKAGE / "src" / "parameters.yaml").read_text())[NAMESPACE]


def test_the_parameters_are_those_of_the_declarations():
    spec = importlib.util.spec_from_file_location("generate", SOURCE / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.plugin_parameters() == generate.PLUGIN.read_text(), (
        "run python docs/generate.py"
    )


@pytest.mark.parametrize("name", ["arm7", "asimo", "free_flyer"])
def test_every_live_parameter_of_an_image_is_declared_with_its_kind(parameters, name):
    controller = shipped(name)
    owners = dict.fromkeys(controller.task_names, "__map_tasks")
    owners |= {contact.name: "__map_contacts" for contact in controller.settings.contacts}
    live = [row for row in image_of(controller).fields if row.is_live]
    assert live
    for row in live:
        place = parameters
        for word in row.name.split("."):
            place = place[owners.get(word, word)]
        kind = {"integer": "int", OPTIONAL: "double_array"}.get(row.kind, row.kind)
        assert place["type"] == kind, row.name
        assert not place["read_only"]
    once = {row.name for row in live if row.name.split(".")[0] not in owners}
    own = {*declared(PluginSettings), *SHARED, *LISTS, "method"}
    assert once == _leaves(parameters) - own


def _leaves(tree: dict, path: str = "") -> set[str]:
    """Names of the parameters that are there once."""
    found = set()
    for name, each in tree.items():
        if "type" in each and isinstance(each["type"], str):
            found.add(path + name)
        elif not name.startswith("__map_"):
            found |= _leaves(each, f"{path}{name}.")
    return found
