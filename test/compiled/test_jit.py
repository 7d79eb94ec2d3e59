# SPDX-License-Identifier: Apache-2.0
"""Entries: what Python calls takes exactly what it is compiled for, and is compiled once."""

import contextlib

import numpy as np
import pytest

from opspace_ctrl import bias_forces, load_robot, mass_matrix
from opspace_ctrl.compiled.jit import (
    MISFIT,
    address,
    entry,
    integer,
    prepare,
    real,
    vector,
    writable,
)
from opspace_ctrl.compiled.lanes import numbers
from opspace_ctrl.dynamics import entries
from opspace_ctrl.errors import ConfigurationError


@entry(vector, integer, real, writable)
def weighted(x, i, weight, out):
    """weight x_i into out, and its number."""
    out[0] = weight * numbers(x)[i]
    return i


@entry(address)
def doubled(x):
    """Twice."""
    return 2 * x


@pytest.fixture(scope="module", autouse=True)
def prepared():
    prepare([weighted, doubled])


def uncompiled(each):
    """The entry as it is with NUMBA_DISABLE_JIT=1."""
    from opspace_ctrl.compiled.jit import _as_numpy

    return _as_numpy(each.py_func, each.entry.arguments)


both = pytest.mark.parametrize(
    "form", [lambda each: each, uncompiled], ids=["compiled", "uncompiled"]
)


def slices(x):
    return np.repeat(x, 2)[::2]


def frozen(x):
    x = x.copy()
    x.setflags(write=False)
    return x


@both
def test_numbers_and_vectors_arrive_and_come_back(form):
    x, out = np.array([2.0, 3.0, 5.0]), np.zeros(1)
    assert form(weighted)(x, 1, 10.0, out) == 1 and out[0] == 30.0
    assert form(weighted)(frozen(x), np.int64(2), 2, out) == 2 and out[0] == 10.0
    assert form(weighted)(np.arange(9.0)[2:7], 0, 1.0, out) == 0 and out[0] == 2.0
    assert form(doubled)(2**62 - 1) == 2**63 - 2


UNFIT = [
    None,
    5,
    "text",
    [1.0] * 5,
    (1.0,) * 5,
    [],
    set(),
    np.arange(10.0)[::2],
    np.arange(5.0)[::-1],
    np.arange(5),
    np.arange(5, dtype=np.float32),
    np.arange(5, dtype=">f8"),
    np.ones((5, 1)),
    np.ones((1, 5)),
    np.ones(5).view(np.matrix),
    np.float64(5.0),
    np.array(5.0),
    np.arange(5.0).astype(object),
    np.ones(5) + 0j,
]


@both
@pytest.mark.parametrize("other", UNFIT, ids=lambda x: f"{type(x).__name__}-{x!r}"[:40])
def test_anything_but_a_contiguous_vector_of_doubles_is_refused(form, other):
    with pytest.raises(MISFIT):
        form(weighted)(other, 0, 1.0, np.zeros(1))


@both
def test_a_vector_at_an_odd_address_is_read_right_or_refused(form):
    odd = np.zeros(41, np.uint8)[1:].view(np.float64)
    odd[:], out = np.arange(5.0), np.zeros(1)
    assert not odd.flags.aligned
    with contextlib.suppress(TypeError):  # Numba does either
        form(weighted)(odd, 3, 1.0, out)
        assert out[0] == 3.0


@both
def test_a_result_cannot_go_into_a_read_only_array(form):
    with pytest.raises(TypeError):
        form(weighted)(np.ones(3), 0, 1.0, frozen(np.zeros(1)))


@both
@pytest.mark.parametrize("given", [(), (1, 2), ("3",), (None,), ([3],)])
def test_a_wrong_number_or_kind_of_arguments_is_a_type_error(form, given):
    with pytest.raises(TypeError):
        form(doubled)(*given)


def test_one_signature_is_compiled_whatever_an_entry_is_given():
    model, rng = load_robot("arm7"), np.random.default_rng(0)
    q, v = rng.normal(size=(2, 7))
    expected = bias_forces(model, q, v)
    for form in (list, tuple, slices, frozen, np.ndarray.tolist, np.ma.array):
        np.testing.assert_array_equal(bias_forces(model, form(q), v), expected)
        np.testing.assert_array_equal(bias_forces(model, q, form(v)), expected)
        mass_matrix(model, form(q))
    for bad in (None, "q", [], np.ones(3), np.full(7, np.nan)):
        for given in ((bad, v), (q, bad)):
            with pytest.raises(ConfigurationError):
                bias_forces(model, *given)
    for each in (entries.bias_forces, entries.mass_matrix, weighted, doubled):
        assert len(each.signatures) == 1


def test_an_entry_that_is_not_prepared_yet_works_too():
    @entry(integer)
    def tripled(x):
        return 3 * x

    assert tripled(5) == 15


def test_what_is_not_finite_stays_visible():
    out = np.zeros(1)
    for value in (np.nan, np.inf, -np.inf):
        weighted(np.array([value]), 0, 2.0, out)
        np.testing.assert_array_equal(out, value)
