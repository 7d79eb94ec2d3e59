# SPDX-License-Identifier: Apache-2.0
"""Quality of service, in one place.

Whatever drives a robot is RELIABLE both ways, because a lock-step simulation would stop at the first lost message.
Every subscription can be overridden by the parameters `qos_overrides.<topic>.subscription.*`; those of states and
targets take best effort by themselves where a publisher offers no more.
"""

from copy import copy

from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_rosout_default,
)

__all__ = [
    "COMMANDS",
    "DESCRIPTION",
    "HEARD_STATES",
    "OUTPUTS",
    "REFERENCES",
    "ROSOUT",
    "STATES",
    "TARGETS",
    "UNRELIABLE_STATES",
    "UNRELIABLE_TARGETS",
    "profile",
]


def profile(depth: int, reliable: bool = True, latched: bool = False) -> QoSProfile:
    """Keep the last `depth` messages; latched: late subscribers get them too."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


STATES = profile(1)  # joint_states and odom: only the newest matters
# as they are heard: of a shorter queue with several publishers Fast DDS loses places, 500 bytes each, for good
HEARD_STATES = profile(10)
UNRELIABLE_STATES = profile(10, reliable=False)  # from a publisher that offers no more than that
COMMANDS = profile(1)
TARGETS = profile(10)
UNRELIABLE_TARGETS = profile(10, reliable=False)
OUTPUTS = profile(1)
# none is to be lost, nor what was told to a listener that had not found the publisher yet
REFERENCES = profile(100, latched=True)
DESCRIPTION = profile(1, latched=True)
# a node that stays up fills the default's thousand places, 2 MB that look like a leak for an hour
ROSOUT = copy(qos_profile_rosout_default)
ROSOUT.depth = 100
