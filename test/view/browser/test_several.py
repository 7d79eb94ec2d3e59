# SPDX-License-Identifier: Apache-2.0
"""Two robots in one page of a real browser: a tab for each, and each where the other is not."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from helpers.viewing import PATIENCE, browser, scene_box, shown, until

from opspace_ctrl.control.safety.fields import BIT
from opspace_ctrl.view.live import live_subject
from opspace_ctrl.view.several import Several


def test_each_of_two_robots_has_its_tab_and_its_stop(tmp_path):
    def subject(name, stack):
        found, _ = live_subject("arm7", None, Path(tmp_path), stack)
        until(found.ring.latest, "the loop's first row")
        return replace(found, name=name)

    def is_stopped(robot):
        return bool(robot.ring.latest()["gates"] & BIT["stop"])

    with ExitStack() as stack:
        left, right = (subject(name, stack) for name in ("left/arm7", "right/arm7"))
        found = stack.enter_context(shown(lambda server: Several(server, [left, right])))
        tab = stack.enter_context(browser()).new_page(viewport={"width": 1050, "height": 500})
        tab.set_default_timeout(1000.0 * PATIENCE)
        tab.goto(found.address)
        panel = tab.get_by_test_id("floating-panel")
        panel.get_by_role("tab", name="right/arm7").click()
        panel.get_by_role("button", name="STOP", exact=True).click()
        until(lambda: is_stopped(right), "the right one stops")
        assert not is_stopped(left)
        panel.get_by_role("button", name="STOP ALL").click()
        until(lambda: is_stopped(left), "the left one stops")
        # plots of both share the left, so that the scene is seen: a column for each left nothing of it
        assert scene_box(tab)["width"] > 300.0
        assert tab.get_by_role("tab", name="left/arm7").count() == 2
