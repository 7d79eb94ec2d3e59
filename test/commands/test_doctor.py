# SPDX-License-Identifier: Apache-2.0
"""`opspace doctor` and `opspace completion`."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from opspace_ctrl.cli import main
from opspace_ctrl.commands import doctor
from opspace_ctrl.commands.completion import command_words


def test_a_machine_on_which_the_tests_run_is_well(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "Python" in out and "numba" in out and "nothing failed" in out


def test_what_is_missing_or_too_new_is_named_with_its_cure(capsys, monkeypatch):
    bounds = [("no_such_package", "1", "2"), ("numpy", "0.1", "0.2")]
    monkeypatch.setattr(doctor, "_bounds", lambda: iter(bounds))
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "no_such_package is missing" in out and "pip install 'numpy>=0.1,<0.2'" in out


def test_the_bounds_are_those_of_setup_py():
    assert {"numba", "numpy", "scipy"} <= {name for name, _, _ in doctor._bounds()}


def test_a_cache_that_cannot_be_used_is_told(capsys, monkeypatch):
    monkeypatch.setattr("opspace_ctrl.compiled.cache.base_folder", lambda: None)
    assert main(["doctor"]) == 0
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().out


def test_without_ros_it_says_how_to_get_it(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rclpy", None)
    assert main(["doctor"]) == 0
    assert "opspace_ctrl[ros-kilted]" in capsys.readouterr().out


def test_every_command_and_option_is_completed():
    words = command_words()
    assert {"init", "parity", "doctor", "check", "demo", "completion"} <= set(words)
    assert {"--base", "--out", "floating", "arm7"} <= set(words["init"])


@pytest.mark.parametrize(
    "line, expected", [("opspace in", "init"), ("opspace init --ba", "--base")]
)
def test_bash_completes(line, expected, tmp_path, capsys):
    assert shutil.which("bash")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "opspace.bash"
    script.write_text(capsys.readouterr().out)
    words = line.split()
    asked = f"""source {script}; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}
      _opspace; printf '%s\\n' "${{COMPREPLY[@]}}" """
    found = subprocess.run(
        ["bash", "-c", asked], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert expected in found.stdout.split()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script(shell, capsys):
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert "parity" in out and ("bashcompinit" in out) == (shell == "zsh")


def test_every_extra_that_brings_a_feature_is_listed(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert all(module in out for module in ("matplotlib", "mujoco", "xacro", "mcap_ros2", "dartpy"))
    assert all(module in out for module in ("viser", "sympy", "mpmath"))
