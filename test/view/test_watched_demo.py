# SPDX-License-Identifier: Apache-2.0
"""The demo in the browser: what the page's process asks of the loop, and when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request

import numpy as np

from opspace_ctrl import load_robot
from opspace_ctrl.commands._demo.scenario import SCENARIOS
from opspace_ctrl.commands._demo.watched import LEAD, Player
from opspace_ctrl.control.settings import ControllerSettings
from opspace_ctrl.control.tasks import PoseTask
from opspace_ctrl.view.replay import Replay
from opspace_ctrl.view.rows import row_type


def test_a_demo_takes_its_methods_in_turn_is_pushed_and_begins_again():
    scenario, asked = SCENARIOS["arm7"], []
    settings = ControllerSettings(tasks=[PoseTask("tool")])
    row = np.zeros(1, row_type(load_robot("arm7"), settings))[0]
    row["pose"][0] = [*np.eye(3).ravel(), 0.5, 0.0, 0.4]
    player = Player(scenario, 0, lambda *request, **_: asked.append((float(row["time"]), *request)))
    begin = LEAD + scenario.lap
    whole = begin + scenario.seconds + LEAD
    for row["time"] in np.arange(0.0, whole + 1.0, 0.02):
        player.play(row)
    figures = [each for each in asked if each[1] == "trajectory"]
    assert len(figures) == 2 and figures[1][0] > whole - 0.1
    np.testing.assert_allclose(figures[0][4].mean(axis=0), [0.5, 0.0, 0.4], atol=0.02)
    methods = [each[2]["method"] for each in asked if each[1] == "settings"]
    assert methods[: len(scenario.methods)] == list(scenario.methods)
    pushed = [each[0] for each in asked if each[1] == "push"]
    assert abs(pushed[0] - begin - scenario.push_start) < 0.03
    assert abs(pushed[-1] - begin - scenario.push_end) < 0.03


def test_a_demo_that_is_over_is_played_at_the_address_that_it_prints():
    command = [sys.executable, "-m", "opspace_ctrl", "demo", "--no-ros", "--page", "--port", "0"]
    with subprocess.Popen(
        [*command, "--no-browser"], stdout=subprocess.PIPE, text=True, env={**os.environ}
    ) as demo:
        lines = iter(demo.stdout.readline, "")
        address = next(
            line.split()[1] for line in lines if line.startswith("open http://localhost:")
        )
        with urllib.request.urlopen(address, timeout=120) as answer:
            assert answer.status == 200 and b"<html" in answer.read().lower()
        demo.send_signal(signal.SIGINT)
        assert demo.wait(timeout=120) == 0  # it was followed to its end


def test_a_run_begins_again_at_its_end():
    rows = np.zeros(11, row_type(load_robot("arm7"), ControllerSettings()))
    rows["time"] = 0.1 * np.arange(11)
    for is_repeated in (False, True):
        replay = Replay(rows, is_repeated)
        replay.at = replay.length
        replay.since(0)
        assert replay.at == (0.0 if is_repeated else replay.length)
