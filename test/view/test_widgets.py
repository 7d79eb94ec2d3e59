# SPDX-License-Identifier: Apache-2.0
"""Elements of the panel: what they show once something was refused."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from opspace_ctrl.control.tasks import PoseTask
from opspace_ctrl.declaration import declared
from opspace_ctrl.view.widgets import Choice, Note, ParameterWidget, slider_step


class Element(SimpleNamespace):
    """One of viser's, as far as it is used."""

    def on_update(self, act):
        self.changed = act


class Gui:
    def __getattr__(self, kind):
        return lambda label, *values, **_: Element(
            kind=kind, value=values[-1] if values else None, content=label, visible=True
        )


def test_a_choice_that_is_refused_goes_back_and_one_that_holds_stays():
    element, note = Element(value="tasks"), Note(Gui())
    choice = Choice(element, note)
    element.value = "velocity"
    choice.answer()("nothing drives the base")
    assert element.value == "tasks" and note.text == "nothing drives the base"
    element.value = "gravity"
    choice.answer()("")
    assert element.value == "gravity" and note.text == ""


def test_an_answer_to_an_earlier_choice_leaves_the_later_one():
    element = Element(value="tasks")
    choice = Choice(element, Note(Gui()))
    element.value = "velocity"
    first = choice.answer()
    element.value = "gravity"
    second = choice.answer()
    first("refused")
    assert element.value == "gravity"
    second("")
    assert element.value == "gravity"


def test_a_value_that_is_refused_is_told_beside_the_one_in_use():
    parameter = declared(PoseTask, "tool.")["error_clip"]
    answers = []

    def ask(name, changes, answer):
        answers.append((changes, answer))

    widget = ParameterWidget(Gui(), parameter, 0.02, ask)
    for value, text in ((0.05, ""), (1000.0, "it is too large")):
        widget._element.value = value
        widget._changed(SimpleNamespace(client=1))
        changes, answer = answers.pop()
        assert changes == {"tool.error_clip": value}
        answer(text)
    assert widget.note.text == "it is too large; it is still 0.05"


@pytest.mark.parametrize(("span", "step"), [(2.0, 0.01), (3000.0, 10.0), (20.0, 0.1), (5.8, 0.01)])
def test_sliders_step_through_round_numbers(span, step):
    assert slider_step(span) == pytest.approx(step)
