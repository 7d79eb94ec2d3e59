# SPDX-License-Identifier: Apache-2.0
"""The package in a colcon workspace: recognised, built, tested and found there."""

import os
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from helpers.installed_tree import (
    check_ament_index,
    check_executables,
    copy_source,
    environment,
    run,
)

COLCON = shutil.which(
    "colcon", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
)
# The workspace tests the package with a part of its tests that is quick and does not build a workspace again.
QUICK = "test/commands/test_cli.py", "-k", "version or info or option"


def colcon(*words, workspace):
    env = environment(COLCON_HOME=str(workspace / "colcon"))
    return run(COLCON, *words, cwd=workspace, env=env)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """A workspace with a copy of the package, built."""
    folder = tmp_path_factory.mktemp("workspace")
    copy_source(folder / "src" / "opspace_ctrl")
    colcon("build", workspace=folder)
    return folder


def sourced(setup):
    """A command prefix that runs what follows with a workspace's setup file sourced."""
    return "sh", "-c", '. "$0" && exec "$@"', str(setup)


def test_colcon_takes_it_for_an_ament_python_package(workspace):
    assert (
        colcon("list", workspace=workspace)
        == "opspace_ctrl\tsrc/opspace_ctrl\t(ros.ament_python)\n"
    )


def test_build_installs_the_ament_index_share_and_executables(workspace, tmp_path, monkeypatch):
    prefix = workspace / "install" / "opspace_ctrl"
    check_ament_index(prefix, monkeypatch)
    check_executables(prefix, tmp_path, *sourced(workspace / "install" / "setup.sh"))


def test_sourced_workspace_imports_the_built_package(workspace, tmp_path):
    script = "import opspace_ctrl as o; print(o.__file__); print(o.load_robot('arm7').nv)"
    command = *sourced(workspace / "install" / "setup.sh"), sys.executable, "-c", script
    file, nv = run(*command, cwd=tmp_path).split()
    assert Path(file).is_relative_to(workspace / "install" / "opspace_ctrl")
    assert int(nv) == 7


def test_links_instead_of_copies_run_from_the_source(workspace, tmp_path):
    bases = "--build-base", "build_links", "--install-base", "install_links"
    colcon("build", "--symlink-install", *bases, workspace=workspace)
    setup = sourced(workspace / "install_links" / "setup.sh")
    check_executables(workspace / "install_links" / "opspace_ctrl", tmp_path, *setup)
    script = "import opspace_ctrl; print(opspace_ctrl.__file__)"
    file = run(*setup, sys.executable, "-c", script, cwd=tmp_path)
    source = workspace / "src" / "opspace_ctrl"
    assert Path(file.strip()).resolve() == source / "opspace_ctrl" / "__init__.py"


def test_colcon_test_runs_tests_and_they_pass(workspace):
    colcon("test", "--return-code-on-test-failure", "--pytest-args", *QUICK, workspace=workspace)
    suite = ET.parse(workspace / "build" / "opspace_ctrl" / "pytest.xml").find("testsuite")
    assert int(suite.get("tests")) >= 5
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "0", "0")
    summary = colcon("test-result", "--all", workspace=workspace)
    assert re.search(r"Summary: \d+ tests, 0 errors, 0 failures, 0 skipped", summary)
