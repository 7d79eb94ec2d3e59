"""Eight doubles in a register: arithmetic, memory, sine and cosine."""

import math

import numpy as np
import pytest
from numba import types

from opspace_ctrl.jit import address_of, entry, kernel
from opspace_ctrl.lanes import (
    WIDTH,
    call,
    columns,
    first_half,
    floats_at,
    from_lane,
    halves_swapped,
    ints_at,
    last_half,
    last_half_alone,
    load,
    pair,
    splat,
    store,
    total,
)
from opspace_ctrl.trigonometry import cos8, sin8
from opspace_ctrl.vector import FLOAT64, NDARRAY, floats_of, is_vector, vector

X = np.array([1.5, -2.0, 0.25, 3.0, -0.75, 8.0, 1e-3, -5.0])
Y = np.array([2.0, 0.5, -4.0, 1.0, 7.0, -0.125, 3.0, 10.0])


@kernel
def arithmetic(x, y, out):
    """One result a row."""
    a, b, rows = load(floats_at(x, 8), 0, 0), load(floats_at(y, 8), 0, 0), floats_at(out, 8)
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
    arithmetic(X.ctypes.data, Y.ctypes.data, out.ctypes.data)
    expected = [X + Y, X - Y, X * Y, X / Y, -X, 2 * X, 2 * X, 1 - X, X - 1, 1 / X, np.full(8, 3.5)]
    np.testing.assert_allclose(out, expected, rtol=2e-16)


@kernel
def halves(x, out):
    """One result a row."""
    a, rows = load(floats_at(x, 8), 0, 0), floats_at(out, 8)
    store(rows, 0, 0, pair(2.5, -1.0))
    store(rows, 1, 0, first_half(a))
    store(rows, 2, 0, last_half(a))
    store(rows, 3, 0, halves_swapped(a))
    store(rows, 4, 0, last_half_alone(a))


def test_halves_are_picked_and_put_together():
    out, first, last = np.zeros((5, 8)), X[:4], X[4:]
    halves(X.ctypes.data, out.ctypes.data)
    expected = [
        [2.5] * 4 + [-1.0] * 4,
        [*first, *first],
        [*last, *last],
        [*last, *first],
        [*[0.0] * 4, *last],
    ]
    np.testing.assert_array_equal(out, expected)


@kernel
def columns_as_rows(address, stride, i, j, out):
    """The columns from (i, j) on, a row each."""
    found, rows = columns(floats_at(address, stride), i, j), floats_at(out, 8)
    store(rows, 0, 0, found[0])
    store(rows, 1, 0, found[1])
    store(rows, 2, 0, found[2])
    store(rows, 3, 0, found[3])
    store(rows, 4, 0, found[4])
    store(rows, 5, 0, found[5])
    store(rows, 6, 0, found[6])
    store(rows, 7, 0, found[7])


def test_columns_are_the_transpose_of_a_square_anywhere_in_a_matrix():
    matrix, out = np.arange(200.0).reshape(10, 20), np.zeros((8, 8))
    columns_as_rows(matrix.ctypes.data, 20, 1, 5, out.ctypes.data)
    np.testing.assert_array_equal(out, matrix[1:9, 5:13].T)


@kernel
def move(address, stride, i, j, to_i, to_j):
    """Eight neighbours from (i, j) to (to_i, to_j)."""
    rows = floats_at(address, stride)
    store(rows, to_i, to_j, load(rows, i, j))


@pytest.mark.parametrize("column", range(9))
def test_load_and_store_move_eight_neighbours_from_any_column_and_touch_no_others(column):
    rows = np.arange(3.0 * 24).reshape(3, 24)
    expected = rows.copy()
    expected[2, column + 3 : column + 11] = rows[1, column : column + 8]
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
    kept = from_lane(load(floats_at(x, 8), 0, 0), k)
    store(floats_at(out, 8), 0, 0, kept)
    return total(kept)


@pytest.mark.parametrize("first", [-3, *range(9), 100])
def test_from_lane_keeps_the_lanes_from_there_on_and_total_sums_them(first):
    out = np.full(8, 9.0)
    found = sum_from(X.ctypes.data, first, out.ctypes.data)
    expected = np.where(np.arange(8) >= first, X, 0.0)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_allclose(found, math.fsum(expected), rtol=1e-15, atol=1e-15)


def test_from_lane_drops_what_is_not_finite_too():
    spoiled = np.array([np.nan, np.inf, -np.inf, 1.0, 2.0, 3.0, 4.0, 5.0])
    out = np.zeros(8)
    assert sum_from(spoiled.ctypes.data, 3, out.ctypes.data) == 15.0
    assert np.isnan(sum_from(spoiled.ctypes.data, 0, out.ctypes.data))


# ---- sine and cosine ----


@kernel
def sines(x, sine, cosine, size):
    """Lane by lane; the length is a multiple of WIDTH."""
    angles, s, c = floats_at(x, 1), floats_at(sine, 1), floats_at(cosine, 1)
    for i in range(0, size, WIDTH):
        angle = load(angles, 0, i)
        store(s, 0, i, sin8(angle))
        store(c, 0, i, cos8(angle))


def sin_cos(x):
    sine, cosine = np.zeros((2, len(x)))
    sines(x.ctypes.data, sine.ctypes.data, cosine.ctypes.data, len(x))
    return sine, cosine


def angles(largest):
    """Angles up to `largest`: uniform, and where sine or cosine nearly vanish or are largest."""
    rng = np.random.default_rng(0)
    quarters = np.round(rng.uniform(-largest, largest, 8000) * 2.0 / np.pi) * (np.pi / 2.0)
    shifts = rng.choice([0.0, 1e-16, -1e-16, 1e-12, 1e-8, 1e-3], 8000)
    eighths = (np.round(rng.uniform(-largest, largest, 8000) * 2.0 / np.pi) + 0.5) * (np.pi / 2.0)
    return np.concatenate(
        [rng.uniform(-largest, largest, 80000), quarters * (1.0 + shifts), eighths]
    )


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


# ---- array arguments ----


@entry(types.boolean(vector, types.int64, types.int64, types.int64))
def is_a_vector(x, size, ndarray, float64):
    return is_vector(x, size, ndarray, float64)


@entry(types.float64(vector))
def first_of(x):
    return floats_of(x)[0]


def test_a_contiguous_vector_of_doubles_is_read_where_it_is():
    for good in (np.arange(5.0), np.arange(9.0)[2:7], np.asfortranarray(np.arange(5.0))):
        assert is_a_vector.call(good, 5, NDARRAY, FLOAT64)
        assert first_of.call(good) == good[0]
    good.setflags(write=False)
    assert is_a_vector.call(good, 5, NDARRAY, FLOAT64)


@pytest.mark.parametrize(
    "other",
    [
        None,
        5,
        "text",
        [1.0] * 5,
        (1.0,) * 5,
        np.arange(4.0),
        np.arange(10.0)[::2],
        np.arange(5.0)[::-1],
        np.arange(5),
        np.arange(5, dtype=np.float32),
        np.arange(5, dtype=">f8"),
        np.ones((5, 1)),
        np.ones((1, 5)),
        np.float64(5.0),
        np.array(5.0),
        np.ma.ones(5),
        np.ones(5).view(np.matrix),
        np.arange(5.0).astype(object),
        np.ones(5) + 0j,
        np.frombuffer(bytes(41), dtype=np.uint8)[1:].view(np.float64),
    ],
    ids=lambda x: f"{type(x).__name__}-{x!r}"[:40],
)
def test_anything_else_is_no_vector(other):
    assert not is_a_vector.call(other, 5, NDARRAY, FLOAT64)
