"""Python calls kernels without a wrapper: arguments arrive, mistakes are named, results are the caller's own."""

import gc
import weakref

import numpy as np
import pytest
from numba.types import boolean, float64, int64, void

from opspace_ctrl import dynamics, load_robot
from opspace_ctrl.dynamics import entries
from opspace_ctrl.dynamics.pack import pack
from opspace_ctrl.jit import entry
from opspace_ctrl.vector import floats_of, vector


@entry(float64(vector, int64, float64, boolean, int64))
def weighted(x, i, weight, negative, j):
    """weight x_i x_j, or minus that."""
    found = weight * floats_of(x)[i] * floats_of(x)[j]
    return -found if negative else found


@entry(boolean(int64, int64))
def divides(a, b):
    """Is b a multiple of a?"""
    return b % a == 0


@entry(void(int64))
def nothing(x):
    """Takes a number."""


def test_numbers_truth_values_and_arrays_arrive_and_come_back():
    x = np.array([2.0, 3.0, 5.0])
    assert weighted.call(x, 1, 10.0, False, 2) == 150.0
    assert weighted.call(x, np.int64(0), 2, [1], 0) == -8.0
    assert divides.call(7, 2**60 - 2**60 % 7) is True and divides.call(7, 8) is False
    assert nothing.call(-1) is None


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: divides.call(3), "takes 2 arguments"),
        (lambda: divides.call(), "takes 2 arguments"),
        (lambda: divides.call(1, 2, 3), "takes 2 arguments"),
        (lambda: divides.call("3", 6), "str"),
        (lambda: divides.call(3, 6.0), "float"),
        (lambda: weighted.call(np.ones(3), 0, "heavy", True, 0), "str"),
        (lambda: divides.prepare()(a=3, b=6), "keyword"),
    ],
)
def test_a_wrong_number_or_kind_of_arguments_is_a_type_error(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_a_number_beyond_64_bits_is_refused():
    with pytest.raises(OverflowError):
        divides.call(3, 2**63)


def test_a_bound_function_outlives_its_workspace():
    model = load_robot("arm7")
    work = pack(model)
    function, gone = entries.bias_forces.bound(work), weakref.ref(work)
    q, v = np.full(7, 0.3), np.ones(7)
    expected = dynamics.bias_forces(model, q, v)
    del work
    gc.collect()
    assert gone() is None
    np.testing.assert_array_equal(function(q, v), expected)
    with pytest.raises(TypeError, match="takes 3 arguments, or one less"):
        function(q, v, 0)


# ---- results ----


@pytest.fixture
def arm():
    """A robot with a motion, and its joint forces."""
    model, rng = load_robot("arm7"), np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, model.nv))
    tau = dynamics.mass_matrix(model, q) @ a + dynamics.bias_forces(model, q, v)
    return model, (q, v, a), tau


def test_results_that_are_held_never_share_memory_and_never_change(arm):
    model, (q, v, a), tau = arm
    held = [dynamics.inverse_dynamics(model, q, v, k * a) for k in range(6)]
    bias = held[0]
    for k, found in enumerate(held):
        np.testing.assert_allclose(found, bias + k * (tau - bias), rtol=1e-12, atol=1e-12)
    assert len({found.ctypes.data for found in held}) == len(held)


@pytest.mark.parametrize(
    "hold",
    [
        lambda x: x[2:],
        lambda x: x.reshape(1, 7),
        memoryview,
        lambda x: {"tau": [x]},
        np.broadcast_arrays,
    ],
    ids=["slice", "reshaped", "buffer", "container", "broadcast"],
)
def test_what_is_held_through_something_else_is_not_given_out_again(arm, hold):
    model, (q, v, a), tau = arm
    kept = [hold(dynamics.inverse_dynamics(model, q, v, a)) for _ in range(3)]
    before = repr(kept)
    for _ in range(4):
        dynamics.inverse_dynamics(model, q, v, -a)
    assert repr(kept) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.setflags(write=False),
        lambda x: setattr(x, "shape", (7, 1)),
        lambda x: setattr(x, "dtype", np.int64),
        lambda x: x.fill(np.nan),
    ],
    ids=["read-only", "shape", "dtype", "content"],
)
def test_what_a_caller_does_to_its_result_does_not_reach_the_next_one(arm, change):
    model, (q, v, a), tau = arm
    for _ in range(4):
        change(dynamics.inverse_dynamics(model, q, v, a))
    found = dynamics.inverse_dynamics(model, q, v, a)
    assert found.shape == (7,) and found.dtype == float and found.flags.writeable
    np.testing.assert_allclose(found, tau, rtol=1e-12, atol=1e-12)


def test_a_result_that_is_dropped_is_given_out_again_also_after_refused_calls(arm):
    model, (q, v, a), _ = arm
    function = entries.inverse_dynamics.bound(pack(model))
    before = {function(q, v, a).ctypes.data for _ in range(4)}
    assert [function(q, v, a[:3]) for _ in range(1000)] == [None] * 1000
    assert {function(q, v, a).ctypes.data for _ in range(4)} == before and len(before) == 1
