# SPDX-License-Identifier: Apache-2.0
"""The time that messages tell: what is new, repeated, late, or a clock that was set."""

from ...compiled.jit import kernel

__all__ = [
    "AHEAD",
    "BACK",
    "LATE",
    "NEW",
    "REPEATED",
    "ZEROS_IN_A_ROW",
    "count_stamp",
    "judge_stamp",
    "stamp_of",
]

NEW, REPEATED, LATE, BACK, AHEAD = range(5)  # what a stamp is, seen from the last that counted
LATE_IN_A_ROW = 5  # so many late messages in a row are a clock that was set back
PAUSE = 500_000_000  # [ns] likewise, when nothing else has come for so long
ZEROS_IN_A_ROW = 3  # so many zero stamps in quick succession are a publisher that does not stamp
SMOOTHING = 0.05  # share of a new period in the mean
LONG = 4.0  # periods: a longer one counts as so many in the mean


@kernel
def stamp_of(gates, stamp, arrival):
    """The time of a message [ns]: its stamp; or, of a publisher that leaves stamps at zero, its arrival.

    A zero alone is the time at which a simulation begins: 1 then, for `last_stamp` = 0 says that there was none. The
    ZEROS_IN_A_ROW-th in quick succession is a publisher that does not stamp: arrivals count from there on, and the 1 is
    forgotten. A stamp is not: after one, this is a clock that was set.
    """
    if stamp != 0:
        return stamp
    if arrival - gates.zero_arrival < PAUSE:
        gates.zeros_in_a_row += 1
    else:
        gates.zeros_in_a_row = 1
    gates.zero_arrival = arrival
    if gates.zeros_in_a_row == ZEROS_IN_A_ROW and gates.last_stamp == 1:
        gates.last_stamp = 0
    return arrival if gates.zeros_in_a_row >= ZEROS_IN_A_ROW else 1


@kernel
def judge_stamp(gates, stamp, arrival):
    """NEW, REPEATED, LATE, BACK or AHEAD; nothing counts yet, but for late messages in a row.

    A message that is a little older than the last was overtaken on its way. A clock that is set back (a simulation that
    starts again) shows as a large step, as several old stamps in a row, or as an old stamp after a pause. One that runs
    ahead of the steady clock by more than `clock_jump` was set, too.
    """
    if gates.last_stamp == 0:
        return NEW
    step, jump = stamp - gates.last_stamp, int(gates.clock_jump * 1e9)
    waited = arrival - gates.last_arrival
    if step == 0:
        return REPEATED
    if step < 0:
        gates.late_in_a_row += 1
        if -step > jump or gates.late_in_a_row >= LATE_IN_A_ROW or waited > PAUSE:
            return BACK
        return LATE
    return AHEAD if step - waited > jump else NEW


@kernel
def count_stamp(gates, verdict, stamp, arrival):
    """Let a stamp that is NEW, BACK or AHEAD be the newest, and the mean period follow."""
    if verdict == NEW and gates.last_stamp != 0:
        step = (stamp - gates.last_stamp) * 1e-9
        known = gates.period > 0.0
        gates.period += (
            SMOOTHING * (min(step, LONG * gates.period) - gates.period) if known else step
        )
    gates.last_stamp = stamp
    gates.last_arrival = arrival
    gates.late_in_a_row = 0
