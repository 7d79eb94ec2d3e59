# SPDX-License-Identifier: Apache-2.0
"""The package as pip installs it: from a wheel, from a source distribution, and editable."""

import re
import sys
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest
from helpers.installed_tree import (
    SOURCE,
    check_ament_index,
    check_executables,
    copy_source,
    run,
    setup_argument,
    share_dependencies,
)

from opspace_ctrl import load_robot

WHERE = "import opspace_ctrl as o; print(o.__file__); print(o.load_robot('free_flyer').nv)"


def new_venv(path):
    """A venv without pip that sees the dependencies installed here."""
    run(sys.executable, "-m", "venv", "--without-pip", path, cwd=path.parent)
    share_dependencies(path)
    return path


def pip(*words, cwd):
    return run(sys.executable, "-m", "pip", "--disable-pip-version-check", *words, cwd=cwd)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = copy_source(folder / "source")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source, cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def prefix(wheel):
    venv = new_venv(wheel.parent / "venv")
    pip(
        "--python",
        venv / "bin" / "python",
        "install",
        "--no-deps",
        "--no-index",
        wheel,
        cwd=wheel.parent,
    )
    return venv


def test_version_is_the_same_everywhere(wheel, prefix, tmp_path):
    version = setup_argument("version")
    assert ET.parse(SOURCE / "package.xml").findtext("version") == version
    assert wheel.name == f"opspace_ctrl-{version}-py3-none-any.whl"
    assert run(prefix / "bin" / "opspace", "--version", cwd=tmp_path) == f"opspace {version}\n"
    assert re.search(
        rf"^{re.escape(version)} \(", (SOURCE / "CHANGELOG.rst").read_text(), re.MULTILINE
    )


def test_maintainer_and_licence_agree_between_setup_py_and_package_xml():
    package = ET.parse(SOURCE / "package.xml").getroot()
    assert package.findtext("maintainer") == setup_argument("maintainer")
    # the format demands an address, and there is none: it must not look like one, and pip's metadata has none
    assert package.find("maintainer").get("email").endswith(".invalid")
    assert "maintainer_email" not in (SOURCE / "setup.py").read_text()
    assert "reaches nobody" in (SOURCE / "SECURITY.md").read_text()
    assert package.findtext("license") == setup_argument("license")


def test_ros_extras_and_package_xml_name_the_same_ros_packages(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        metadata = archive.read(name).decode()
    depends = {node.text for node in ET.parse(SOURCE / "package.xml").findall("exec_depend")}
    for distribution in ("kilted", "jazzy"):
        wheels = re.findall(
            rf"Requires-Dist: ros-([\w-]+).*extra == .ros-{distribution}.", metadata
        )
        assert len(wheels) > 10
        assert {name.replace("-", "_") for name in wheels} <= depends


def test_wheel_has_the_ament_index_share_and_executables(prefix, tmp_path, monkeypatch):
    check_ament_index(prefix, monkeypatch)
    check_executables(prefix, tmp_path)


def test_wheel_brings_its_robots_and_needs_no_ros(prefix, tmp_path):
    script = "import sys; sys.modules['rclpy'] = None; " + WHERE
    file, nv = run(prefix / "bin" / "python", "-c", script, cwd=tmp_path).split()
    assert Path(file).is_relative_to(prefix)
    assert int(nv) == load_robot("free_flyer").nv


def test_wheel_marks_the_package_as_typed(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert "opspace_ctrl/py.typed" in archive.namelist()


def test_every_module_is_in_the_wheel(wheel):
    modules = {
        path.relative_to(SOURCE).as_posix() for path in (SOURCE / "opspace_ctrl").rglob("*.py")
    }
    with zipfile.ZipFile(wheel) as archive:
        assert modules <= set(archive.namelist())


def test_source_distribution_builds_the_same_wheel(wheel, tmp_path):
    source = copy_source(tmp_path / "source")
    run(
        sys.executable,
        "-c",
        "from setuptools.build_meta import build_sdist; build_sdist('..')",
        cwd=source,
    )
    (archive,) = tmp_path.glob("*.tar.gz")
    pip(
        "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, archive, cwd=tmp_path
    )
    (again,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as expected, zipfile.ZipFile(again) as actual:
        assert sorted(actual.namelist()) == sorted(expected.namelist())


def test_editable_install_runs_from_the_source(tmp_path):
    """Also from the folder that holds the checkout, which Python could take for a namespace package."""
    source, venv = copy_source(tmp_path / "opspace_ctrl"), new_venv(tmp_path / "venv")
    pip(
        "--python",
        venv / "bin" / "python",
        "install",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--editable",
        source,
        cwd=tmp_path,
    )
    file, nv = run(venv / "bin" / "python", "-c", WHERE, cwd=tmp_path).split()
    assert Path(file) == source / "opspace_ctrl" / "__init__.py"
    assert int(nv) == load_robot("free_flyer").nv
    assert "J of left_tool, right_tool" in run(
        venv / "bin" / "opspace", "info", "free_flyer", cwd=tmp_path
    )


def test_no_other_library_package_is_installed(wheel):
    """`launch/`, `test/` and `config/` at the top of the tree must not become top-level packages."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert tops == {
        "opspace_ctrl",
        wheel.name.removesuffix("-py3-none-any.whl") + ".data",
        wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info",
    }
