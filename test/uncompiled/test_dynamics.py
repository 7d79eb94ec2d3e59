# SPDX-License-Identifier: Apache-2.0
"""NUMBA_DISABLE_JIT=1: the same kernels as plain Python on NumPy, which checks every place, give the same numbers."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers import dynamics_results

import opspace_ctrl

ROOT = Path(opspace_ctrl.__file__).parents[1]


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory):
    path = tmp_path_factory.mktemp("uncompiled") / "results.npz"
    done = subprocess.run(
        [sys.executable, dynamics_results.__file__, str(path)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # neither compiled nor warned
    with np.load(path) as found:
        return dict(found)


@pytest.mark.parametrize("name", list(dynamics_results.models()))
def test_every_function_and_method_gives_what_it_gives_compiled(uncompiled, name):
    expected = dynamics_results.results_of(dynamics_results.models()[name])
    assert len(expected) > 15
    for key, value in expected.items():
        found = uncompiled.pop(f"{name}: {key}")
        scale = np.abs(value).max(initial=1e-12)
        np.testing.assert_allclose(found, value, rtol=0.0, atol=1e-11 * scale, err_msg=key)
    assert not any(key.startswith(f"{name}: ") for key in uncompiled)


CHECKED = """
import numpy as np
from numba import config
from opspace_ctrl import load_robot
from opspace_ctrl.compiled.jit import kernel
from opspace_ctrl.dynamics import crba, tree_of

@kernel
def wrong(tree):
    return tree.H[0, -1]

assert config.DISABLE_JIT
tree = tree_of(load_robot("arm7"))
crba.mass_matrix(tree)  # a stage is its text
try:
    wrong(tree)
except IndexError as error:
    print(error)
"""


def test_a_place_that_would_wrap_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", CHECKED],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "nothing wraps in a kernel" in done.stdout
