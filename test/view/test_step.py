# SPDX-License-Identifier: Apache-2.0
"""Step responses: figures of known second-order motions, and a real one of the simulated arm."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.viewing import Driven, shipped
from scipy.signal import TransferFunction, step

from opspace_ctrl.view.step import AT_ONCE, SECONDS, StepTest, step_figures


@pytest.mark.parametrize("ratio", [0.2, 0.4, 0.6, 0.8])
def test_the_damping_ratio_is_found_from_the_overshoot(ratio):
    w = 20.0
    t, x = step(TransferFunction([w**2], [1.0, 2.0 * ratio * w, w**2]), T=np.linspace(0, 3, 3001))
    found = step_figures(t, x)
    assert found["damping"] == pytest.approx(ratio, abs=0.02)
    assert abs(found["left"]) < 1e-2


def test_a_critical_motion_does_not_overshoot_and_rises_as_the_book_says():
    w = 30.0
    t, x = step(TransferFunction([w**2], [1.0, 2.0 * w, w**2]), T=np.linspace(0, 3, 3001))
    found = step_figures(t, x)
    assert found["overshoot"] < 1e-12 and found["damping"] == 1.0
    assert found["rise"] == pytest.approx(3.36 / w, rel=0.01)


def test_what_never_arrives_has_no_rise_time():
    assert step_figures(np.linspace(0, 1, 50), np.full(50, 0.2))["rise"] == np.inf


class Gui:
    """Elements that only remember what they were given."""

    def __getattr__(self, name):
        return lambda *_, **__: Element()


class Element:
    value, content, data = "tool", "", ()

    def on_click(self, act):
        return act


def test_a_task_jumps_is_judged_goes_back_and_has_its_limits_again():
    arm = Driven("arm7")
    _, settings, _ = shipped("arm7")
    asked = []

    def ask(*request, **_):
        asked.append(request)
        arm.ask(*request)

    test, count = StepTest(Gui(), settings, ask), 0
    arm.turns(1200)
    test._wanted = "tool"
    while not test._words.content:
        arm.turns(5)
        count, rows = arm.ring.since(count)
        test.add(rows)
    assert [request[0] for request in asked] == ["settings", "target", "target", "settings"]
    own = arm.loop.controller.settings.tasks[0]
    assert {key: getattr(own, key) for key in AT_ONCE} == {
        key: getattr(settings.tasks[0], key) for key in AT_ONCE
    }
    t, x = test._plot.data[:2]
    found = step_figures(t, x)
    assert t[-1] > SECONDS and found["overshoot"] < 0.35 and abs(found["left"]) < 0.1
    assert "stiffness 900" in test._words.content


def test_a_response_counts_from_the_jump_and_not_from_when_it_was_asked_for():
    """What is asked for over a busy machine or a network is done some time later."""
    _, settings, _ = shipped("arm7")

    def response(delay):
        arm, asked = Driven("arm7"), []
        test, count = StepTest(Gui(), settings, lambda *request, **_: asked.append(request)), 0
        arm.turns(1200)
        test._wanted = "tool"
        turns = 0
        while not test._words.content:
            arm.turns(5)
            turns += 5
            if turns > delay:
                while asked:
                    arm.ask(*asked.pop(0))
            count, rows = arm.ring.since(count)
            test.add(rows)
        return test._plot.data[:2]

    (t, x), (late, same) = response(0), response(400)
    shared = np.linspace(0.0, SECONDS, 100)
    np.testing.assert_allclose(np.interp(shared, late, same), np.interp(shared, t, x), atol=0.05)
