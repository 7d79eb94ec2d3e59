# SPDX-License-Identifier: Apache-2.0
"""Plots beside the scene, in a real server of viser: what their lines show."""

from __future__ import annotations

import numpy as np
import pytest
import viser
from helpers.viewing import Driven, shipped

from opspace_ctrl.view.plots import LINES, Plots


@pytest.fixture
def server():
    made = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    yield made
    made.stop()


@pytest.mark.parametrize("robot", ["arm7", "asimo"])
def test_torques_over_time_are_shares_of_the_limits(server, robot):
    driven = Driven(robot)
    model, settings, _ = shipped(robot)
    driven.turns(400)
    rows = driven.ring.whole()
    plots = Plots(server, model, settings)
    plots.add(rows)
    plots.draw()
    time, *lines = plots._shares.data
    shares = 100.0 * np.abs(rows["effort"]) / model.effort_limits
    expected = shares.T if len(model.effort_limits) <= LINES else [shares.max(axis=1)]
    assert len(lines) == len(expected) and time[-1] == 0.0
    assert max(line[-1] for line in lines) > 1.0  # it carries itself
    for line, share in zip(lines, expected):
        assert np.allclose(line, share)
