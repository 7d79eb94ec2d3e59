# SPDX-License-Identifier: Apache-2.0
"""Results do not depend on what was read, computed or switched before them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from helpers.osim_cases import random_state
from helpers.support import load_quietly, urdf_path
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.reference import assert_close

from opspace_ctrl import CenterOfMass, OperationalSpace, Task, load_robot
from opspace_ctrl.osim import methods

READS = (
    "jacobian",
    "bias_acceleration",
    "bias_forces",
    "inertia_inv",
    "inertia",
    "jbar",
    "null_space",
    "rank",
    "damped",
    "condition",
)
CALLS = (
    "torque",
    "torque without tau0",
    "control",
    "control without h",
    "update",
    "elsewhere and back",
)
CASES = {
    "regular": (lambda: load_robot("arm7"), ["tool"]),
    "singular": (lambda: load_robot("arm7"), ["tool", "tool"]),
    "more rows than joints": (lambda: load_robot("arm7"), ["tool", "link5", CenterOfMass()]),
    "humanoid": (
        lambda: load_robot("asimo"),
        ["left_hand", Task("right_hand", relative_to="left_foot"), CenterOfMass()],
    ),
    "singular humanoid": (
        lambda: load_robot("asimo"),
        ["left_hand", "right_foot", ("left_hand", "position")],
    ),
    "mimic": (
        lambda: load_quietly(urdf_path("panda")),
        ["panda_leftfinger", ("panda_link5", "position")],
    ),
}


class Case:
    """A robot with tasks, and the results of an object that did nothing but compute each."""

    def __init__(self, name):
        load, self.tasks = CASES[name]
        self.model = load()
        (self.q, self.v), rng = random_state(self.model, 1), np.random.default_rng(0)
        fresh = OperationalSpace(self.model, self.tasks, "sparse_ltdl")
        self.force, self.tau0 = rng.normal(size=fresh.m), rng.normal(size=self.model.nv)
        self.expected = {}
        for name in (*READS, *CALLS[:4]):
            self.expected[name] = np.array(self.get(fresh.update(self.q, self.v), name), float)
        self.methods = methods(self.model)

    def get(self, ospace, what):
        """Read a result, or call what gives one."""
        given = {
            "torque": lambda: ospace.torque(self.force, self.tau0),
            "torque without tau0": lambda: ospace.torque(self.force),
            "control": lambda: ospace.control(self.q, self.v, self.force, self.tau0),
            "control without h": lambda: ospace.control(
                self.q, self.v, self.force, self.tau0, False
            ),
        }
        return given[what]() if what in given else getattr(ospace, what)

    def check(self, ospace, what):
        expected, found = self.expected[what], np.asarray(self.get(ospace, what), float)
        if what == "condition":  # of a singular matrix it is noise, but large
            assert found == pytest.approx(expected, rel=1e-6) or min(found, expected) > 1e9
        else:
            assert_close(found, expected, max(1.0, np.abs(expected).max()), 1e-7)


case_of = cache(Case)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=40)
@given(data=st.data())
def test_any_sequence_of_reads_calls_and_switches_gives_the_same_results(name, data):
    case = case_of(name)
    ospace = OperationalSpace(
        case.model, case.tasks, data.draw(st.sampled_from(case.methods))
    ).update(case.q, case.v)
    steps = st.sampled_from([*READS, *CALLS, *(f"use {method}" for method in case.methods)])
    for step in data.draw(st.lists(steps, min_size=2, max_size=12)):
        if step.startswith("use "):
            ospace.method = step[4:]
        elif step == "update":
            ospace.update(case.q, case.v)
        elif step == "elsewhere and back":
            other = random_state(case.model, 2)
            ospace.update(*other).null_space  # noqa: B018 (computed, so that it would show if it stayed)
            ospace.update(case.q, case.v)
        else:
            case.check(ospace, step)


def test_a_null_space_read_after_jbar_and_a_torque_is_right_where_singular():
    """By every method: the torque computes anew what Jbar was made of."""
    case = case_of("singular")
    for method in case.methods:
        ospace = OperationalSpace(case.model, case.tasks, method).update(case.q, case.v)
        for what in ("jbar", "torque", "null_space", "jbar", "inertia"):
            case.check(ospace, what)
