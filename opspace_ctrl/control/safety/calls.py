# SPDX-License-Identifier: Apache-2.0
"""What is called from outside, by Python (`entries`) and by C (`export`): stages that answer in a field of theirs."""

from ...compiled.jit import integer, stage
from . import base, decisions, gates, joints
from .fields import Gates

__all__ = [
    "activate",
    "answer",
    "deactivate",
    "note_tick",
    "open_again",
    "refrain",
    "refuse",
    "take_base",
    "take_joints",
]


@stage(Gates, integer, integer, integer, integer, integer)
def take_joints(own, count, has_velocity, stamp, arrival, time):
    """See `joints.take_joints`."""
    own.verdict = joints.take_joints(own, count, has_velocity == 1, stamp, arrival, time)


@stage(Gates, integer, integer, integer, integer)
def take_base(own, faults, stamp, arrival, time):
    """See `base.take_base`."""
    own.verdict = base.take_base(own, faults, stamp, arrival, time)


@stage(Gates, integer, integer)
def refuse(own, faults, arrival):
    """A message of joint states that could not be read, or is not about our joints as it should be."""
    joints.hear(own, arrival)
    own.verdict = base.refuse(own, faults)


@stage(Gates, integer, integer)
def activate(own, time, steady):
    """See `decisions.activate`."""
    own.decision = decisions.activate(own, time, steady)


@stage(Gates)
def deactivate(own):
    """See `decisions.deactivate`."""
    own.decision = decisions.deactivate(own)


@stage(Gates, integer, integer, integer)
def answer(own, verdict, time, steady):
    """See `decisions.answer`."""
    own.decision = decisions.answer(own, verdict, time, steady)


@stage(Gates, integer, integer, integer)
def refrain(own, faults, time, steady):
    """See `decisions.refrain`."""
    own.decision = decisions.refrain(own, faults, time, steady)


@stage(Gates, integer)
def note_tick(own, elapsed):
    """See `gates.computed`."""
    gates.computed(own, elapsed)


@stage(Gates)
def open_again(own):
    """See `gates.open_all`."""
    gates.open_all(own)
