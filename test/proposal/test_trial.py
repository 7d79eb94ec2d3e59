# SPDX-License-Identifier: Apache-2.0
"""Proposals at work: a few robots here, all of the wheel in test/proof."""

from __future__ import annotations

import pytest
from helpers.proposals import FLOATING, forearm
from helpers.support import urdf_path

from opspace_ctrl.proposal import trial as trials
from opspace_ctrl.proposal.propose import ProposalError, propose
from opspace_ctrl.proposal.trial import Trial, propose_tried, try_out


@pytest.mark.parametrize("name", ["panda", "ur5_robot", "so101", "go2", "g1_29dof_rev_1_0"])
def test_a_proposal_reaches_its_targets_without_saturation_or_oscillation(name):
    trial = try_out(propose(urdf_path(name), "floating" if name in FLOATING else "fixed"))
    assert trial.reached == 3 and trial.saturated < 0.05 and trial.swing < 0.02, str(trial)
    assert trial.is_good


def test_a_forearm_without_a_hand_is_turned_to_its_targets():
    trial = try_out(propose(forearm()))
    assert trial.is_good and 0.0 < trial.angle < 0.01 and trial.error == 0.0, str(trial)


def test_if_no_trial_is_good_the_best_is_kept_not_the_last(monkeypatch):
    """Softer gains can be worse: a robot that stands falls."""
    seen = {1.0: (1, 0.095), 0.5: (2, 0.03), 0.25: (0, 2.5)}
    made = []

    def propose_soft(robot, base, rate, xacro_args, softer):
        made.append(softer)
        return softer

    monkeypatch.setattr(trials, "propose", propose_soft)
    monkeypatch.setattr(trials, "try_out", lambda softer: Trial(3, *seen[softer], 0.0, 0.0, 0.0))
    best, verdict = propose_tried(urdf_path("go2"), "floating", 1000.0)
    assert made == [1.0, 0.5, 0.25] and best == 0.5 and verdict.error == 0.03


def test_a_trial_sees_oscillation():
    """Thirty times the stiffness that the delay allows swings, and is seen to."""
    proposal = propose(urdf_path("ur5_robot"))
    proposal.controller["tool"]["stiffness"] = [25_000.0]
    proposal.controller["tool"]["error_clip"] = 0.1
    trial = try_out(proposal, delay=0.004)
    assert not trial.is_good and (trial.swing > 0.1 or trial.fell), str(trial)


def test_a_trial_sees_saturation_and_a_target_that_is_not_reached():
    proposal = propose(urdf_path("ur5_robot"))
    proposal.controller["effort_scale"] = 0.02  # not enough to carry the arm
    trial = try_out(proposal)
    assert trial.saturated > 0.5 and trial.reached < 3


@pytest.mark.parametrize("name", ["double_pendulum", "iris_simple"])
def test_a_robot_that_nothing_moves_is_refused_by_name(name):
    with pytest.raises(ProposalError, match="effort limit above 0"):
        propose(urdf_path(name))


def test_two_point_feet_are_refused():
    with pytest.raises(ProposalError, match="2 point feet.*--base fixed"):
        propose(urdf_path("bolt"), "floating")
