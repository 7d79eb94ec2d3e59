# SPDX-License-Identifier: Apache-2.0
"""Two robots in one page of a real browser: a tab for each, and each where the other is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from helpers.viewing import browser, live_page, shown, until

from opspace_ctrl.control.safety.fields import BIT
from opspace_ctrl.view.several import Several


def test_each_of_two_robots_has_its_tab_and_its_stop():
    with live_page("arm7") as (_, left), live_page("arm7") as (_, right):
        subjects = [replace(left, name="left/arm7"), replace(right, name="right/arm7")]
        with (
            shown(lambda server: Several(server, subjects)) as found,
            browser() as chromium,
        ):
            assert found.page.places[1, 1] > 0.3
            tab = chromium.new_page(viewport={"width": 1280, "height": 800})
            tab.set_default_timeout(120_000)
            tab.goto(found.address)
            tab.get_by_role("tab", name="right/arm7").click()
            tab.get_by_role("button", name="STOP", exact=True).last.click()
            until(lambda: right.ring.latest()["gates"] & BIT["stop"], "the right one stops")
            assert not left.ring.latest()["gates"]
            tab.get_by_role("button", name="STOP ALL").click()
            until(lambda: left.ring.latest()["gates"] & BIT["stop"], "the left one stops")
            nodes = [page.robot._nodes[-1].name for page in found.page.pages]
            assert nodes == ["/robot0/robot", "/robot1/robot"]
            assert np.isfinite([page.robot.positions for page in found.page.pages]).all()
            tab.screenshot(path="/tmp/s21_several.png")
