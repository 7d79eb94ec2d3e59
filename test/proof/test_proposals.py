# SPDX-License-Identifier: Apache-2.0
"""`opspace init` on every robot of example-robot-data: three targets, hardly any saturation, no oscillation.

`make proof` runs it; `make test` has five of them, in test/proposal/test_trial.py.
"""

from __future__ import annotations

import pytest
from helpers.proposals import FLOATING, SHORT
from helpers.support import urdf_path, urdf_paths

from opspace_ctrl.proposal.propose import propose
from opspace_ctrl.proposal.trial import try_out

TRIED = [name for name in urdf_paths() if name not in SHORT]


def test_more_than_forty_robots_are_tried():
    assert len(TRIED) >= 40 and set(SHORT) <= set(urdf_paths())


@pytest.mark.parametrize("name", TRIED)
def test_a_robot_of_the_wheel_works_at_once(name, record_property):
    trial = try_out(propose(urdf_path(name), "floating" if name in FLOATING else "fixed"))
    record_property("trial", str(trial))
    assert trial.is_good, str(trial)
