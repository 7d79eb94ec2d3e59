# SPDX-License-Identifier: Apache-2.0
"""Results are those of the state at hand, whatever was read, computed ahead, refused or switched before."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.osim_cases import random_state

from opspace_ctrl import OperationalSpace, load_robot
from opspace_ctrl.errors import ConfigurationError

RESULTS = (
    "jacobian",
    "inertia_inv",
    "inertia",
    "jbar",
    "null_space",
    "bias_forces",
    "bias_acceleration",
)
TASKS = {
    "arm7": ["tool"],
    "asimo": ["left_hand", ("right_foot", "position")],
    "free_flyer": ["left_tool"],
}
METHODS = ("sparse_ltdl", "sparse_ltl", "pv_osim", "dense")


def read(ospace, names):
    return {name: getattr(ospace, name).copy() for name in names}


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_reading_switching_and_refusal_gives_what_a_new_object_gives(name, seed):
    model, rng = load_robot(name), np.random.default_rng(seed)
    ospace, fresh = (OperationalSpace(model, TASKS[name], "sparse_ltdl") for _ in range(2))
    q, v = random_state(model, seed)
    ospace.update(q, v)
    for step in range(60):
        what = rng.integers(6)
        if what == 0:
            q, v = random_state(model, 100 * seed + step)
            ospace.update(q, v)
        elif what == 1:
            q, v = random_state(model, 100 * seed + step)
            ospace.control(q, v, np.ones(ospace.m), np.ones(model.nv))
        elif what == 2:
            ospace.method = str(rng.choice(METHODS))
        elif what == 3:
            with pytest.raises(ConfigurationError):
                ospace.update(np.full(model.nq, np.nan))
        elif what == 4:
            ospace.torque(
                np.ones(ospace.m), rng.normal(size=model.nv), compensate=bool(rng.integers(2))
            )
        names = rng.choice(RESULTS, rng.integers(4), replace=False)
        for which, found in read(ospace, names).items():
            expected = getattr(fresh.update(q, v), which)
            np.testing.assert_allclose(
                found, expected, atol=1e-8 * max(1.0, np.abs(expected).max()), err_msg=which
            )


def test_what_was_read_of_one_state_is_computed_with_the_next_and_no_longer_once_nobody_reads_it():
    model = load_robot("arm7")
    ospace, (q, v) = OperationalSpace(model, ["tool"], "sparse_ltdl"), random_state(model, 1)

    def done_by_update():
        return ospace.update(q, v)._now.done

    reading = done_by_update()
    assert ospace.jbar.shape == (7, 6)
    assert done_by_update() != reading == done_by_update()


def test_before_any_state_there_is_nothing_to_read_not_even_after_a_refused_one():
    ospace = OperationalSpace(load_robot("arm7"), ["tool"], "sparse_ltdl")
    for refused in (
        lambda: ospace.update(np.full(7, np.nan)),
        lambda: ospace.control(np.zeros(3), np.zeros(7)),
        lambda: ospace.inertia,
        lambda: ospace.torque(np.zeros(6), np.zeros(7)),
    ):
        with pytest.raises(ConfigurationError):
            refused()
    for name in RESULTS:
        with pytest.raises(ConfigurationError, match="no state yet"):
            getattr(ospace, name)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("by_jbar", [False, True])
def test_a_compensated_torque_is_the_torque_and_the_bias_forces(name, by_jbar):
    model, rng = load_robot(name), np.random.default_rng(0)
    ospace, (q, v) = OperationalSpace(model, TASKS[name], "sparse_ltdl"), random_state(model, 2)
    F, tau0 = rng.normal(size=ospace.m), rng.normal(size=model.nv)
    expected = ospace.control(q, v, F, tau0).copy()
    ospace.update(q, v)
    if by_jbar:
        assert ospace.jbar.shape == (model.nv, ospace.m)
    size = np.abs(expected).max()
    np.testing.assert_allclose(ospace.torque(F, tau0, compensate=True), expected, atol=1e-9 * size)
    np.testing.assert_allclose(
        ospace.torque(F, tau0) + ospace.bias_forces, expected, atol=1e-9 * size
    )


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("by_jbar", [False, True])
def test_what_is_left_out_or_none_is_zero(name, by_jbar):
    model, rng = load_robot(name), np.random.default_rng(0)
    ospace, (q, v) = OperationalSpace(model, TASKS[name], "sparse_ltdl"), random_state(model, 3)
    F, tau0 = rng.normal(size=ospace.m), rng.normal(size=model.nv)
    no_F, no_tau0 = np.zeros(ospace.m), np.zeros(model.nv)

    def torque(*args, **kwargs):
        if by_jbar:
            assert ospace.update(q, v).jbar.shape == (model.nv, ospace.m)
        return ospace.update(q, v).torque(*args, **kwargs).copy()

    def control(*args, **kwargs):
        return ospace.control(q, v, *args, **kwargs).copy()

    for law in (torque, control):
        for found, expected in (
            (law(F), law(F, no_tau0)),
            (law(F, None), law(F, no_tau0)),
            (law(), law(no_F, no_tau0)),
            (law(tau0=tau0), law(no_F, tau0)),
            (law(None, tau0), law(no_F, tau0)),
            (law(F, compensate=True), law(F, no_tau0, True)),
        ):
            np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        ospace.update(q, None).bias_forces.copy(), ospace.update(q, no_tau0).bias_forces
    )
