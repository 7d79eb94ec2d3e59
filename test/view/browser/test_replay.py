# SPDX-License-Identifier: Apache-2.0
"""A recorded run in a real browser: the timeline leads anywhere, and nothing can be asked for."""

from __future__ import annotations

import numpy as np
from helpers.viewing import PATIENCE, browser, shown, until

from opspace_ctrl import PoseTask, frame_pose, load_robot
from opspace_ctrl.control.settings import ControllerSettings
from opspace_ctrl.view.page import Page
from opspace_ctrl.view.replay import Replay
from opspace_ctrl.view.rows import row_type
from opspace_ctrl.view.source import Subject


def swinging() -> Subject:
    """Ten seconds in which the first joint swings."""
    model, settings = load_robot("arm7"), ControllerSettings(tasks=[PoseTask("tool")])
    rows = np.zeros(1001, row_type(model, settings))
    rows["time"] = 3.0 + np.arange(len(rows)) / 100.0
    rows["q"] = [0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0]
    rows["q"][:, 0] = 0.1 * (rows["time"] - 3.0)
    for row in rows:
        row["pose"][0, 9:], _ = frame_pose(model, row["q"], "tool")
    return Subject(model, settings, Replay(rows), is_live=False)


def test_a_replay_is_scrubbed_and_the_robot_follows():
    subject = swinging()
    replay = subject.ring
    replay.is_playing = False
    with shown(lambda server: Page(server, subject)) as found, browser() as chromium:
        tab = chromium.new_page(viewport={"width": 900, "height": 600})
        tab.set_default_timeout(1000.0 * PATIENCE)
        tab.goto(found.address)
        timeline = tab.get_by_role("slider").first
        timeline.wait_for()
        timeline.focus()
        timeline.press("End")
        until(lambda: replay.at == replay.length, "the end of the run")
        last = replay.rows[-1]
        wanted = [
            frame_pose(subject.model, last["q"], name)[0] for name in subject.model.body_names
        ]
        until(lambda: np.allclose(found.page.robot.positions, wanted), "the robot as it was then")
        timeline.press("Home")
        until(lambda: replay.at == 0.0, "the beginning")
        tab.get_by_role("button", name="Play / pause").click()
        until(lambda: replay.at > 0.5, "it plays")
        assert tab.get_by_role("button", name="STOP").count() == 0
        # nobody knows what a recorded run's errors and times were: no plot says that they were zero
        assert tab.get_by_role("tab", name="Torque").count() == 1
        assert tab.get_by_role("tab", name="Error").count() == 0
