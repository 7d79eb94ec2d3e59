# SPDX-License-Identifier: Apache-2.0
"""Numbers of the tick that follow from settings and from the robot."""

from __future__ import annotations

import math

from ...compiled.jit import stage
from ..fields import TASKS_MODE, VELOCITY_MODE, Law

__all__ = ["derive"]

LARGEST_MARGIN = 0.1  # of a joint's range


@stage(Law)
def derive(law):
    """Write limits and rate of the command, margins of the joints, and what of the bias is compensated where.

    Called after a setting.
    """
    scale, margin, share = law.effort_scale, law.limits_margin, law.limits_speed_margin
    limits, position, velocity = law.command_limits, law.position_margin, law.velocity_margin
    law.command_rate = law.torque_rate_limit
    if law.mode == VELOCITY_MODE:
        scale, law.command_rate = law.velocity_scale, law.velocity_rate_limit
    for j in range(law.k):
        limits[j] = scale * law.hard_limits[j]
        room = law.position_upper[j] - law.position_lower[j]
        position[j] = min(margin, LARGEST_MARGIN * room)
        fastest = law.velocity_limits[j]
        velocity[j] = share * fastest if fastest < math.inf else 0.0
    is_added = law.compensate > 0.5
    in_law = not is_added and law.mode == TASKS_MODE  # F = Lambda (a - beta) instead of h
    law.bias_in_law = 1 if in_law else 0
    is_there = is_added or in_law
    law.gravity_share = 1.0 if law.compensation_gravity > 0.5 and is_there else 0.0
    law.coriolis_share = 1.0 if law.compensation_coriolis > 0.5 and is_there else 0.0
