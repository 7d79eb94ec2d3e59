# SPDX-License-Identifier: Apache-2.0
"""What GateWatch says: every closing, soon or late; that all gates are open, once for each; which motion was ended."""

from types import SimpleNamespace

import numpy as np
import pytest

from opspace_ctrl.control.safety.fields import BIT
from opspace_ctrl.control.safety.settings import GATES
from opspace_ctrl.nodes import gate_watch
from opspace_ctrl.nodes.gate_watch import QUIET, GateWatch


class Scene:
    """Gates that open and close at will, a clock of its own, and what was said."""

    def __init__(self, monkeypatch):
        self.now, self.said, self.kept, self.dropped = 100.0, [], [], ()
        monkeypatch.setattr(gate_watch, "monotonic", lambda: self.now)
        counts = np.zeros(len(GATES), int)
        self.gate = SimpleNamespace(closed=0, closings=counts, must_restart=0, is_stopped=0)
        logger = SimpleNamespace(info=self.said.append, warning=self.said.append)
        loop, box = (
            SimpleNamespace(is_active=True),
            SimpleNamespace(keep=self.kept.append, trouble=""),
        )
        self.watch = GateWatch(self.gate, loop, box, lambda: self.dropped, logger)

    def close(self, name):
        self.gate.closed |= BIT[name]
        self.gate.closings[GATES.index(name)] += 1
        self.gate.must_restart = 1

    def open(self):
        self.gate.closed = self.gate.must_restart = 0

    def look(self, passed=0.01):
        self.now += passed
        self.said.clear()
        return self.watch.look(), [*self.said]


@pytest.fixture
def scene(monkeypatch):
    return Scene(monkeypatch)


def test_a_gate_that_flutters_is_said_once_a_second_with_its_count_and_the_last_word_is_true(scene):
    said = []
    for _ in range(250):  # 20 ms closed, 20 ms open, for 10 s
        scene.close("position")
        said += scene.look(0.02)[1]
        scene.open()
        said += scene.look(0.02)[1]
    closed = [text for text in said if text.startswith("closed: position")]
    assert 8 <= len(closed) <= 11 and len(said) - len(closed) <= len(closed)
    said += scene.look(QUIET)[1]
    assert (
        said[-1] == "all gates are open" and "(250 times)" in [t for t in said if "closed" in t][-1]
    )
    assert len(scene.kept) == 250


def test_a_gate_that_closes_again_at_once_and_stays_is_said_later(scene):
    scene.close("state")
    assert scene.look() == ("state", ["closed: state (1 times): joint states are stale"])
    scene.open()
    assert scene.look() == ("active", ["all gates are open"])
    scene.close("state")
    assert scene.look() == ("state", [])
    assert scene.look(QUIET) == ("state", ["closed: state (2 times): joint states are stale"])
    assert scene.look(QUIET) == ("state", [])


def test_the_motion_that_a_closed_gate_has_ended_is_said_when_targets_are_taken_again(scene):
    scene.close("stop")
    scene.look()
    scene.dropped, scene.gate.closed = ("left", "right"), 0
    assert scene.look() == ("active", [])  # the controller has not started again yet
    scene.open()
    assert scene.look()[1] == [
        "all gates are open; the motion to the target of left, right was ended: send it again"
    ]


def test_an_advice_closes_nothing_that_could_open(scene):
    scene.close("target")
    assert scene.look() == ("active", ["closed: target (1 times): a target is stale"])
    scene.open()
    assert scene.look() == ("active", [])
