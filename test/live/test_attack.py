# SPDX-License-Identifier: Apache-2.0
"""The short form of benchmarks/attack.py: every scenario for a moment, counted inside the controller and outside."""

import json
import subprocess
import sys
from pathlib import Path

SCENARIOS = (
    "states,bytes,targets,flood,trajectories,parameters,services,lifecycle,suspend,simulator"
)


def test_under_attack_no_command_breaks_a_promise_and_the_controller_recovers(tmp_path):
    path = tmp_path / "attack.json"
    program = Path(__file__).resolve().parents[2] / "benchmarks" / "attack.py"
    command = [sys.executable, str(program), "--seconds", "2", "--json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert path.exists(), done.stdout + done.stderr
    rows = json.loads(path.read_text())["rows"]
    assert ",".join(row["scenario"] for row in rows) == SCENARIOS
    for row in rows:
        assert row["not_finite"] == row["over_limit"] == row["over_rate"] == 0, row
        assert row["outside_not_finite"] == row["outside_over_limit"] == 0, row
        assert row["recovery_s"] is not None and row["commands"] > 0 and row["messages"] > 0, row
    assert done.returncode == 0, done.stdout + done.stderr
