# SPDX-License-Identifier: Apache-2.0
"""A method of another package, as docs/extending.md shows it: installed by pip, found, and used like ours."""

import os
import subprocess
import sys

import pytest
from helpers.documents import blocks

PROGRAM = """
import numpy as np
from opspace_ctrl import Controller, OperationalSpace, PoseTask, load_robot, osim

assert osim.methods()[-1] == "row_by_row", osim.methods()
model = load_robot("asimo")
tasks = ["left_hand", ("right_foot", "position")]
q = model.random_configuration(np.random.default_rng(1))
theirs = OperationalSpace(model, tasks, "row_by_row").update(q)
ours = OperationalSpace(model, tasks, "dense").update(q)
np.testing.assert_allclose(theirs.inertia_inv, ours.inertia_inv, rtol=1e-9, atol=1e-12)
assert "row_by_row" in OperationalSpace(model, tasks).choice  # auto has timed it

arm = load_robot("arm7")
controller = Controller(arm, [PoseTask("tool")], method="row_by_row")
q, v = arm.random_configuration(np.random.default_rng(2)) * 0.3, np.zeros(arm.nv)
controller.activate(q, v, 0.0)
controller.tick(q, v, 0.0)
controller.method = "dense"
controller.tick(q, v, 0.001)
assert controller.switches == 1 and controller.method_residual < 1e-9
print("used")
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder into which pip has installed the package of the page."""
    source, site = tmp_path_factory.mktemp("row_by_row"), tmp_path_factory.mktemp("site")
    (project,) = blocks("toml", document="docs/extending.md")
    (method,) = (
        block.text
        for block in blocks("python", document="docs/extending.md")
        if "class RowByRow(Method)" in block.text
    )
    (source / "pyproject.toml").write_text(project.text)
    module, trial = method.split("\nmodel = load_robot", 1)
    assert "RowByRow" in trial
    (source / "row_by_row.py").write_text(module)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--target", str(site), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return site


def test_a_package_that_pip_has_installed_offers_its_method(installed, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "used\n"
