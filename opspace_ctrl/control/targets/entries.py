# SPDX-License-Identifier: Apache-2.0
"""What `Target` and `PostureTarget` call; nothing here allocates or raises. Answers are OK or REFUSED."""

from __future__ import annotations

from ...compiled.jit import address, entry, integer, real, vector, writable
from ...compiled.workspace import workspace_at
from ...dynamics.state import OK, REFUSED, copy
from .poses import aim
from .postures import approach, rest_posture
from .programs import reference_at
from .references import MOTION, References
from .stops import rest
from .twists import drive
from .way_points import POINT, follow

references_at = workspace_at(References)


@entry(real, writable, address)
def reference(time, motion, address):
    """Write the motion (MOTION,) of the first task's reference at an instant."""
    own = references_at(address)
    reference_at(own, 0, time, own.now)
    copy(own.now, motion, MOTION)
    return OK


@entry(vector, real, address)
def rest_from(motion, time, address):
    """See `stops.rest`, from a motion (MOTION,)."""
    own = references_at(address)
    copy(motion, own.now, MOTION)
    rest(own, 0, time)
    return own.status


@entry(integer, vector, vector, real, address)
def aim_at(what, position, quaternion, time, address):
    """See `poses.aim`."""
    own = references_at(address)
    for c in range(3):
        own.given[c] = position[c]
    for c in range(4):
        own.given[3 + c] = quaternion[c]
    aim(own, 0, what, time)
    return own.status


@entry(vector, real, real, address)
def drive_with(twist, time, duration, address):
    """See `twists.drive`."""
    own = references_at(address)
    copy(twist, own.given_twist, 6)
    drive(own, 0, time, duration)
    return own.status


@entry(vector, integer, real, address)
def follow_points(points, has_twists, time, address):
    """See `way_points.follow`; points: POINT numbers each."""
    own = references_at(address)
    count = len(points) // POINT
    if count > own.capacity:
        return REFUSED
    for i in range(count):
        for c in range(POINT):
            own.point[i, c] = points[i * POINT + c]
    own.given_points, own.has_twists = count, has_twists
    follow(own, 0, time)
    return own.status


@entry(vector, real, address)
def rest_in_posture(q, time, address):
    """See `postures.rest_posture`."""
    rest_posture(references_at(address), q, time)
    return OK


@entry(vector, vector, vector, real, address)
def approach_posture(given, position, speed, time, address):
    """See `postures.approach`; a joint whose `given` is 0 goes on as it does."""
    own = references_at(address)
    for j in range(own.k):
        own.given_joint[j] = 1 if given[j] > 0.0 else 0
        own.given_position[j], own.given_speed[j] = position[j], speed[j]
    approach(own, time)
    return own.status


ENTRIES = (
    reference,
    rest_from,
    aim_at,
    drive_with,
    follow_points,
    rest_in_posture,
    approach_posture,
)
