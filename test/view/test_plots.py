# SPDX-License-Identifier: Apache-2.0
"""Plots beside the scene, in a real server of viser: what their lines show."""

from __future__ import annotations

import numpy as np
import pytest
import viser
from helpers.viewing import Driven, shipped

from opspace_ctrl.view.plots import LINES, Plots, torque_bars


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
    for each in rows:
        plots.add(rows[rows["time"] == each["time"]])
    plots.draw()
    time, *lines = plots._shares.data
    shares = 100.0 * np.abs(rows["effort"]) / model.effort_limits
    expected = shares.T if len(model.effort_limits) <= LINES else [shares.max(axis=1)]
    assert len(lines) == len(expected) and time[-1] == 0.0
    assert max(line[-1] for line in lines) > 1.0  # it carries itself
    for line, share in zip(lines, expected):
        assert np.allclose(line, share)


def test_a_point_of_the_plots_has_the_longest_tick_of_its_frame_and_the_oldest_are_forgotten(
    server,
):
    driven = Driven("arm7")
    model, settings, _ = shipped("arm7")
    driven.turns(20)
    rows = np.repeat(driven.ring.whole()[-1:], 4000)
    rows["time"] = 0.005 * np.arange(len(rows))
    rows["tick"], rows["tick_most"] = 5.0, 10.0
    rows["tick_most"][3002] = 700.0
    plots = Plots(server, model, settings)
    for first in range(0, len(rows), 7):  # frames
        plots.add(rows[first : first + 7])
    plots.draw()
    time, _, longest = plots._tick.data
    assert time[-1] == 0.0 and np.all(np.diff(time) > 0.0) and -10.0 <= time[0] < -9.5
    assert longest.max() == 700.0 and (longest == 700.0).sum() == 1


def test_names_of_joints_are_told_apart_beside_their_bars():
    names = [
        "left_shoulder_pitch",
        "right_shoulder_pitch",
        "a_name_that_is_far_too_long_for_a_plot",
    ]
    picture = torque_bars(names, ["bias"], np.zeros((1, 3)), np.zeros(3), np.full(3, np.nan))
    assert all(f">{name}<" in picture for name in names[:2])
    assert ">a_name_that…for_a_plot<" in picture  # as long as the longest, its ends whole
