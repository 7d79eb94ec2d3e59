"""Eight doubles in a register: arithmetic, memory, sine and cosine."""

import math

import numpy as np
import pytest

from opspace_ctrl.jit import address_of, entry, kernel
from opspace_ctrl.lanes import (
    WIDTH,
    call,
    cos8,
    floats_at,
    floats_of,
    from_lane,
    ints_at,
    load,
    sin8,
    splat,
    store,
    total,
)

X = np.array([1.5, -2.0, 0.25, 3.0, -0.75, 8.0, 1e-3, -5.0])
Y = np.array([2.0, 0.5, -4.0, 1.0, 7.0, -0.125, 3.0, 10.0])


@kernel
def arithmetic(x, y, out):
    """One result a row."""
    a, b, rows = load(floats_of(x), 0, 0), load(floats_of(y), 0, 0), floats_at(out, 8)
    store(rows, 0, 0, a + b)
    store(rows, 1, 0, a - b)
    store(rows, 2, 0, a * b)
    store(rows, 3, 0, a / b)
    store(rows, 4, 0, -a)
    store(rows, 5, 0, 2.0 * a)
    store(rows, 6, 0, a * 2.0)
    store(rows, 7, 0, 1.0 - a)
    store(rows, 8, 0, a - 1.0)
    store(rows, 9, 0, 1.0 / a)
    store(rows, 10, 0, splat(3.5))


def test_arithmetic_is_lane_by_lane_with_scalars_on_either_side():
    out = np.zeros((11, 8))
    arithmetic(X, Y, out.ctypes.data)
    expected = [X + Y, X - Y, X * Y, X / Y, -X, 2 * X, 2 * X, 1 - X, X - 1, 1 / X, np.full(8, 3.5)]
    np.testing.assert_allclose(out, expected, rtol=2e-16)


@kernel
def move(address, stride, i, j, to_i, to_j):
    """Eight neighbours from (i, j) to (to_i, to_j)."""
    rows = floats_at(address, stride)
    store(rows, to_i, to_j, load(rows, i, j))


@pytest.mark.parametrize("column", range(9))
def test_load_and_store_move_eight_neighbours_from_any_column_and_touch_no_others(column):
    rows = np.arange(3.0 * 24).reshape(3, 24)
    expected = rows.copy()
    expected[2, column + 3:column + 11] = rows[1, column:column + 8]
    move(rows.ctypes.data, 24, 1, column, 2, column + 3)
    np.testing.assert_array_equal(rows, expected)


@kernel
def write(address, ints_address):
    """Single entries of rows of numbers and of integers, by one and by two indices."""
    rows, whole = floats_at(address, 4), ints_at(ints_address, 4)
    rows[1, 2] = rows[0, 3] + whole[1, 1]
    rows[5] = rows[7]
    whole[1, 0] = 7
    whole[1] = whole[1, 0] + 1


def test_single_entries_are_read_and_written_by_one_or_two_indices():
    rows, whole = np.arange(8.0), np.arange(8)
    write(rows.ctypes.data, whole.ctypes.data)
    np.testing.assert_array_equal(rows, [0, 1, 2, 3, 4, 7, 3 + 5, 7])
    np.testing.assert_array_equal(whole, [0, 8, 2, 3, 7, 5, 6, 7])


@kernel
def sum_from(x, k, out):
    kept = from_lane(load(floats_of(x), 0, 0), k)
    store(floats_of(out), 0, 0, kept)
    return total(kept)


@pytest.mark.parametrize("first", [-3, *range(9), 100])
def test_from_lane_keeps_the_lanes_from_there_on_and_total_sums_them(first):
    out = np.full(8, 9.0)
    found = sum_from(X, first, out)
    expected = np.where(np.arange(8) >= first, X, 0.0)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_allclose(found, math.fsum(expected), rtol=1e-15, atol=1e-15)


def test_from_lane_drops_what_is_not_finite_too():
    spoiled = np.array([np.nan, np.inf, -np.inf, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert sum_from(spoiled, 3, np.zeros(8)) == 15.0
    assert np.isnan(sum_from(spoiled, 0, np.zeros(8)))


# ---- sine and cosine ----

@kernel
def sines(x, sine, cosine):
    """Lane by lane; the length is a multiple of WIDTH."""
    angles, s, c = floats_of(x), floats_of(sine), floats_of(cosine)
    for i in range(0, x.size, WIDTH):
        angle = load(angles, 0, i)
        store(s, 0, i, sin8(angle))
        store(c, 0, i, cos8(angle))


def sin_cos(x):
    sine, cosine = np.zeros((2, len(x)))
    sines(x, sine, cosine)
    return sine, cosine


def angles(largest):
    """Angles up to `largest`: uniform, and where sine or cosine nearly vanish or are largest."""
    rng = np.random.default_rng(0)
    quarters = np.round(rng.uniform(-largest, largest, 8000) * 2.0 / np.pi) * (np.pi / 2.0)
    shifts = rng.choice([0.0, 1e-16, -1e-16, 1e-12, 1e-8, 1e-3], 8000)
    eighths = (np.round(rng.uniform(-largest, largest, 8000) * 2.0 / np.pi) + 0.5) * (np.pi / 2.0)
    return np.concatenate([rng.uniform(-largest, largest, 80000), quarters * (1.0 + shifts), eighths])


@pytest.mark.parametrize("largest", [0.7, 10.0, 1e4, 1e5])
def test_sine_and_cosine_are_within_three_units_in_the_last_place(largest):
    x = angles(largest)
    exact = x.astype(np.longdouble)
    for found, expected in zip(sin_cos(x), (np.sin(exact), np.cos(exact))):
        last_place = np.spacing(np.abs(expected.astype(np.float64)))
        assert np.max(np.abs(found - expected) / last_place) < 3.0


@pytest.mark.parametrize("largest", [1e6, 1e9, 1e12, 1e15])
def test_beyond_sine_and_cosine_still_make_a_rotation(largest):
    sine, cosine = sin_cos(angles(largest))
    assert np.max(np.abs(sine**2 + cosine**2 - 1.0)) < 2e-15


def test_sine_and_cosine_of_special_angles():
    x = np.array([0.0, -0.0, 5e-324, 1e-300, 1e-9, -1e-9, np.pi / 2.0, np.pi])
    sine, cosine = sin_cos(x)
    np.testing.assert_array_equal(sine[:6], x[:6])
    np.testing.assert_array_equal(cosine[:6], np.ones(6))
    np.testing.assert_allclose(sine[6:], [1.0, 1.2246467991473532e-16], rtol=1e-15)
    np.testing.assert_allclose(cosine[6:], [6.123233995736766e-17, -1.0], rtol=1e-15)


def test_what_is_not_finite_stays_visible_and_in_its_lane():
    x = np.array([0.5, np.nan, 0.5, np.inf, -np.inf, 0.5, 0.5, 0.5])
    for found, expected in zip(sin_cos(x), (math.sin(0.5), math.cos(0.5))):
        np.testing.assert_array_equal(np.isnan(found), ~np.isfinite(x))
        np.testing.assert_allclose(found[np.isfinite(x)], expected, rtol=5e-16)


# ---- calls by address ----

@kernel
def double_it(x):
    return 2 * x


@entry("int64(int64,int64)")
def call_it(address, x):
    return call(address, x)


def test_a_kernel_can_be_called_by_its_address():
    assert call_it.call(address_of(double_it), 21) == 42


def test_an_entry_refuses_other_types_instead_of_compiling_for_them():
    call_it.prepare()
    with pytest.raises(TypeError):
        call_it.call("address", 1)
    assert len(call_it.dispatcher.signatures) == 1
