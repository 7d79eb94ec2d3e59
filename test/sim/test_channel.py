# SPDX-License-Identifier: Apache-2.0
"""The channel of a robot's bus: exact delays, order, and probabilities as stated, from fixed seeds."""

import math

import numpy as np
import pytest

from opspace_ctrl.sim.plant.channel import LONGEST_HOLD, Channel
from opspace_ctrl.sim.plant.faults import parse_faults
from opspace_ctrl.sim.plant.timetable import Activity

STEP = 0.001
MANY = 20_000


def channel(*entries, side="state", seed=5):
    """A channel with these faults at work, and their records."""
    entries = [{"side": side, **entry} for entry in entries]
    faults = [Activity(fault, seed, k) for k, fault in enumerate(parse_faults(entries).faults)]
    made = Channel(side)
    made.faults = faults
    return made, faults


def pass_through(made, count=MANY, patience=200):
    """Send 0, 1, 2 ... one a step; (message, step of arrival) in the order of arrival."""
    arrived = []
    for k in range(count + patience):
        if k < count:
            made.send(k, k * STEP)
        arrived += [(message, k) for message in made.receive(k * STEP)]
    return np.array(arrived, dtype=int).reshape(-1, 2)


def within_chance(happened, p, count):
    """Five standard deviations of a binomial distribution."""
    return abs(happened - p * count) <= 5 * math.sqrt(p * (1 - p) * count)


def test_a_sound_channel_delivers_at_once():
    made, _ = channel()
    arrived = pass_through(made, 100)
    assert (arrived[:, 0] == arrived[:, 1]).all() and len(arrived) == 100
    assert (made.sent, made.delivered, made.lost) == (100, 100, 0)


@pytest.mark.parametrize("delay", [0.0, 0.001, 0.005, 0.0995])
def test_latency_is_exact_to_the_step(delay):
    made, (fault,) = channel({"kind": "latency", "delay": delay})
    arrived = pass_through(made, 1000)
    assert (arrived[:, 0] == np.arange(1000)).all()
    assert (arrived[:, 1] - arrived[:, 0] == math.ceil(delay / STEP - 1e-6)).all()
    assert fault.counts == {"delayed": 1000}


def test_latencies_add():
    made, _ = channel({"kind": "latency", "delay": 0.002}, {"kind": "latency", "delay": 0.003})
    arrived = pass_through(made, 50)
    assert (arrived[:, 1] - arrived[:, 0] == 5).all()


def test_jitter_delays_by_a_uniform_time_in_order():
    made, _ = channel({"kind": "jitter", "spread": 0.01})
    arrived = pass_through(made)
    assert (arrived[:, 0] == np.arange(MANY)).all()
    own = np.random.default_rng([5, 0, 0]).random(MANY) * 0.01 + STEP * np.arange(MANY)
    expected = np.maximum.accumulate(own)  # none before its predecessor
    assert (arrived[:, 1] == np.ceil(expected / STEP - 1e-6)).all()


def test_sparse_messages_see_the_whole_spread_of_the_jitter():
    made, _ = channel({"kind": "jitter", "spread": 0.01})
    delays = []
    for k in range(4000):
        made.send(k, 0.1 * k)
        steps = next(n for n in range(20_000) if made.receive(0.1 * k + 1e-5 * n))
        delays.append(1e-5 * steps)
    delays = np.sort(delays) / 0.01
    # Kolmogorov-Smirnov, 1 %
    assert np.abs(delays - np.linspace(0, 1, 4000)).max() < 1.63 / math.sqrt(4000)


@pytest.mark.parametrize("p", [0.01, 0.3, 1.0])
def test_messages_are_dropped_with_the_stated_probability(p):
    made, (fault,) = channel({"kind": "drop", "probability": p})
    arrived = pass_through(made)
    dropped = MANY - len(arrived)
    assert dropped == fault.counts["dropped"] == made.lost
    assert within_chance(dropped, p, MANY)
    assert (np.diff(arrived[:, 0]) > 0).all()


def test_drops_do_not_depend_on_each_other():
    made, _ = channel({"kind": "drop", "probability": 0.3})
    came = np.zeros(MANY, dtype=bool)
    came[pass_through(made)[:, 0]] = True
    assert within_chance((~came[1:] & ~came[:-1]).sum(), 0.09, MANY)


@pytest.mark.parametrize("p", [0.02, 0.5])
def test_messages_are_duplicated_with_the_stated_probability(p):
    made, (fault,) = channel({"kind": "duplicate", "probability": p})
    arrived = pass_through(made)
    twice = len(arrived) - MANY
    assert twice == fault.counts["duplicated"] and within_chance(twice, p, MANY)
    assert (np.unique(arrived[:, 0]) == np.arange(MANY)).all() and (
        np.diff(arrived[:, 0]) >= 0
    ).all()


@pytest.mark.parametrize("p", [0.05, 0.5, 1.0])
def test_a_reordered_message_arrives_right_after_the_next_one(p):
    made, (fault,) = channel({"kind": "reorder", "probability": p})
    order = pass_through(made)[:, 0]
    swaps = np.flatnonzero(np.diff(order) < 0)
    assert (np.sort(order) == np.arange(MANY)).all()
    assert (order[swaps] - order[swaps + 1] == 1).all()
    assert fault.counts["reordered"] in (len(swaps), len(swaps) + 1)
    expected = p / (1 + p)
    assert abs(len(swaps) / MANY - expected) < 5 * math.sqrt(expected / MANY)


def test_the_last_message_of_all_is_not_held_for_ever():
    made, _ = channel({"kind": "reorder", "probability": 1.0})
    made.send("last", 0.0)
    assert made.receive(LONGEST_HOLD - STEP) == []
    assert made.receive(LONGEST_HOLD) == ["last"]


def test_a_held_message_leaves_with_the_next_one_though_the_fault_has_ended():
    made, (fault,) = channel({"kind": "reorder", "probability": 1.0})
    made.send(1, 0.0)
    made.faults = []
    made.send(2, STEP)
    assert made.receive(STEP) == [2, 1] and fault.counts == {"reordered": 1}


def test_nothing_passes_while_communication_is_lost():
    made, (fault,) = channel({"kind": "loss"})
    assert len(pass_through(made, 100)) == 0 and fault.counts == {"lost": 100}
    made.faults = []
    made.send("again", 1.0)
    assert made.receive(1.0) == ["again"]


def test_messages_on_their_way_arrive_after_the_latency_has_ended_and_in_order():
    made, _ = channel({"kind": "latency", "delay": 0.01})
    made.send(1, 0.0)
    made.faults = []
    made.send(2, STEP)
    assert made.receive(0.009) == [] and made.receive(0.01) == [1, 2]


def test_the_same_seed_gives_the_same_run_and_another_does_not():
    entries = (
        {"kind": "drop", "probability": 0.2},
        {"kind": "jitter", "spread": 0.02},
        {"kind": "duplicate", "probability": 0.1},
        {"kind": "reorder", "probability": 0.1},
    )
    first, again, other = (
        pass_through(channel(*entries, seed=seed)[0], 2000) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_a_cleared_channel_forgets_what_was_on_its_way():
    made, _ = channel({"kind": "latency", "delay": 0.01})
    made.send(1, 0.0)
    made.clear()
    assert made.receive(1.0) == [] and made.sent == 1
