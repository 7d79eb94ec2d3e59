# SPDX-License-Identifier: Apache-2.0
"""The last door: every command leaves through `leave`, whatever asked for it.

What has passed is finite, within the limits of its kind (efforts, or velocities), and no further from the command
before than the rate limits allow in `time_to_move`. One command is free of the rate: the first after an activation
(`is_free`), unless it is a velocity, which begins at rest.
"""

import math

from ...compiled.jit import kernel
from ...compiled.workspace import Workspace, count, setting, state

__all__ = ["FREE", "NOMINAL", "PERIODS", "Door", "leave", "time_to_move"]

FREE = -1.0  # instead of a time to move: as far as one likes
PERIODS = 3.0  # a command may not use more of the time since the last one than so many periods
NOMINAL = 0.001  # [s] taken for the period until it is known
SMOOTHING = 0.05  # share of a new period in the mean
LONG = 4.0  # periods: a longer one counts as so many in the mean


class Door(Workspace):
    """What the next command is compared with."""

    k = count("joint coordinates")
    is_paced = setting("", "1: the wall clock limits the rate too; 0: it is not the robot's", int)
    sent = state("k", "the last command, in the order of the command [Nm or N; rad/s or m/s]")
    is_free = state("", "1: the next command is not rate limited", int)
    time = state("", "that the last command answered [s]")
    steady = state("", "when it left, by the wall clock [s]")
    period = state("", "mean of the time between two commands [s]")
    budget = state("", "wall-clock time that has not been used to move [s]")

    def open(self) -> None:
        """Begin as if nothing had been sent."""
        self.reset()
        self.period, self.is_free = NOMINAL, 1


@kernel
def time_to_move(door, time, steady):
    """The time since the last command in which commands may change [s]; FREE for the first one.

    It is what passed by `time` [s], that of the states, which may be forged or have jumped: so at most PERIODS mean
    periods of it. Where the wall clock is the robot's (`is_paced`), `steady` [s] may shorten it: what passed by it goes
    into `budget`, which is spent, so that states that come in a heap share the time in which they came.
    A command that answers no state has the time NaN; then what passed by the wall clock counts. A steady of NaN is no
    clock: nothing has passed by it where it is the robot's, and elsewhere it does not limit (PERIODS still do).
    Writes time, steady, period, budget and is_free of the door: one call a command.
    """
    most = PERIODS * door.period
    passed, elapsed = steady - door.steady, time - door.time
    if not math.isnan(time):
        door.time = time
    if not math.isnan(steady):
        door.steady = steady
    if door.is_free == 1:
        door.is_free = 0
        door.budget = 0.0
        return FREE
    if math.isnan(passed):
        passed = most if door.is_paced == 0 else 0.0
    if math.isnan(elapsed):
        elapsed = passed
    elif elapsed > 0.0:
        door.period += SMOOTHING * (min(elapsed, LONG * door.period) - door.period)
    elapsed = min(max(elapsed, 0.0), most)
    if door.is_paced == 1:
        door.budget = min(door.budget + max(passed, 0.0), most)
        elapsed = min(elapsed, door.budget)
        door.budget -= elapsed
    return elapsed


@kernel
def leave(law, elapsed):
    """Write door.sent, the command, from `wanted_torque` (model order).

    It changes by at most `command_rate` times `elapsed` (`time_to_move`), and is within `hard_limits` and within
    `command_limits`: where these have been lowered below the last command, it returns to them at the rate. If a number
    is not finite, all go to zero at the rate.
    """
    wanted, limit, hard = law.wanted_torque, law.command_limits, law.hard_limits
    rate, place, sent = law.command_rate, law.joint_command, law.door.sent
    good = 1.0
    for j in range(law.k):
        if not math.isfinite(wanted[j]):
            good = 0.0
    for j in range(law.k):
        last = sent[place[j]]
        step = math.inf
        if elapsed != FREE and rate < math.inf:
            step = rate * elapsed if elapsed > 0.0 else 0.0
        most = min(max(limit[j], abs(last) - step), hard[j])
        asked = min(max(wanted[j], -most), most) if good == 1.0 else 0.0
        sent[place[j]] = min(max(asked, last - step), last + step)
