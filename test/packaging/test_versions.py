# SPDX-License-Identifier: Apache-2.0
"""The versions that setup.py allows are those that `make matrix` tries, and its suite runs without anything else."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.installed_tree import SOURCE, setup_argument
from matrix import matrix, smoke

NOT_CORE = ("dartpy", "hypothesis", "matplotlib", "mujoco", "pinocchio", "pytest", "rclpy", "xacro")


def numbers(version):
    return [int(part) for part in version.split(".")]


@pytest.mark.parametrize("place, name", [(0, "numba"), (1, "numpy"), (2, "scipy")])
def test_setup_has_both_bounds_and_the_oldest_is_what_the_matrix_tries(place, name):
    (line,) = (each for each in setup_argument("install_requires") if each.startswith(name))
    oldest, too_new = re.fullmatch(rf"{name}>=([\d.]+),<([\d.]+)", line).groups()
    tried = [numbers(versions[place]) for versions in matrix.OLDEST.values()]
    first = min(tried)
    assert first[: len(numbers(oldest))] == numbers(oldest)
    assert not any(first[len(numbers(oldest)) :])
    assert max(tried) < numbers(too_new)


def test_the_oldest_python_is_that_of_setup():
    assert setup_argument("python_requires") == f">={next(iter(matrix.OLDEST))}"


def test_an_interpreter_says_what_it_is():
    found = matrix.Interpreter.at(Path(sys.executable))
    assert found.versions[0] == ".".join(map(str, sys.version_info[:3]))
    assert found.kind.rstrip("t") == ".".join(map(str, sys.version_info[:2]))
    assert matrix.Interpreter.at(SOURCE / "setup.py") is None


def test_the_smoke_suite_needs_the_core_dependencies_alone(tmp_path):
    """Uncompiled, which takes seconds; every function of it is called."""
    script = (
        f"import runpy, sys; sys.modules.update(dict.fromkeys({NOT_CORE})); "
        f"sys.path.insert(0, ''); sys.argv = ['smoke', '--save', 'found.npz', *{list(smoke.CASES)}]; "
        f"runpy.run_path({smoke.__file__!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "found.npz").exists()
