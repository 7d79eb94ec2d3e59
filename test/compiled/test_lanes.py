# SPDX-License-Identifier: Apache-2.0
"""Eight doubles in a register and rows of memory: every operation compiled, uncompiled and in plain NumPy."""

import math
import operator

import numpy as np
import pytest
from numba.core.errors import TypingError

from opspace_ctrl.compiled.jit import kernel
from opspace_ctrl.compiled.lanes import (
    Rows,
    W,
    absolute,
    columns,
    first_half,
    from_lane,
    halves_swapped,
    last_half,
    last_half_alone,
    numbers,
    pair,
    row,
    splat,
    total,
)
from opspace_ctrl.compiled.trigonometry import cos8, sin8
from opspace_ctrl.compiled.workspace import Workspace, count, state

X = np.array([1.5, -2.0, 0.25, 3.0, -0.75, 8.0, 1e-3, -5.0])
Y = np.array([2.0, 0.5, -4.0, 1.0, 7.0, -0.125, 3.0, 10.0])


class Sheet(Workspace):
    """Numbers to calculate with."""

    rows = count("rows")
    wide = count("columns")
    a = state("rows, wide", "numbers")
    whole = state("rows, wide", "whole numbers", int)
    x = state("8", "a register")
    y = state("8", "another")
    out = state("8, 8", "results, a register a row")
    found = state("", "a result")


class Loose:
    """The same fields as uncompiled kernels see them."""

    def __init__(self, sheet):
        for name, field in Sheet.fields.items():
            value = getattr(sheet, name)
            setattr(self, name, as_rows(value) if field.is_array else value)


def as_rows(array):
    """What `_shown` gives uncompiled kernels for the view of a field."""
    shown = array.view(Rows)
    shown.stride = array.strides[0] // 8 if array.ndim == 2 else 1
    shown.memory = np.lib.stride_tricks.as_strided(array, (len(array) * shown.stride,), (8,))
    return shown


def both(text, sheet, uncompiled=None):
    """The sheet after a kernel's text ran compiled; uncompiled, on the same numbers, it must do the same."""
    other = Sheet(rows=sheet.rows, wide=sheet.wide)
    for name, field in Sheet.fields.items():
        if field.is_array:
            setattr(other, name, getattr(sheet, name))
    loose = Loose(other)
    kernel(text)(sheet)
    (uncompiled or text)(loose)
    for name, field in Sheet.fields.items():
        given, found = getattr(sheet, name), getattr(loose, name)
        if field.is_array:
            np.testing.assert_array_max_ulp(np.asarray(found), given, 1)
        else:
            np.testing.assert_allclose(found, given, rtol=1e-15)
    return sheet


def sheet(rows=3, wide=24):
    made = Sheet(rows=rows, wide=wide, x=X, y=Y)
    made.a = np.arange(float(rows * wide)).reshape(rows, wide)
    made.whole = np.arange(rows * wide).reshape(rows, wide)
    return made


def _add_to(x, y):
    x += y
    return x


def _take_off(x, y):
    x -= y
    return x


def _times_it(x, y):
    x *= y
    return x


def _part_of(x, y):
    x /= y
    return x


LANE_BY_LANE = {
    "x + y": (operator.add, X + Y),
    "x - y": (operator.sub, X - Y),
    "x * y": (operator.mul, X * Y),
    "x / y": (operator.truediv, X / Y),
    "x += y": (_add_to, X + Y),
    "x -= y": (_take_off, X - Y),
    "x *= y": (_times_it, X * Y),
    "x /= y": (_part_of, X / Y),
    "-x": (lambda x, y: -x, -X),
    "2 x": (lambda x, y: 2.0 * x, 2.0 * X),
    "x 2": (lambda x, y: x * 2.0, 2.0 * X),
    "1 - x": (lambda x, y: 1.0 - x, 1.0 - X),
    "x - 1": (lambda x, y: x - 1.0, X - 1.0),
    "1 / x": (lambda x, y: 1.0 / x, 1.0 / X),
    "x / 2": (lambda x, y: x / 2.0, X / 2.0),
    "1 + x": (lambda x, y: 1.0 + x, 1.0 + X),
    "|x|": (lambda x, y: absolute(x), np.abs(X)),
    "splat": (lambda x, y: splat(3.5), np.full(8, 3.5)),
    "pair": (lambda x, y: pair(2.5, -1.0), [2.5] * 4 + [-1.0] * 4),
    "first_half": (lambda x, y: first_half(x), [*X[:4], *X[:4]]),
    "last_half": (lambda x, y: last_half(x), [*X[4:], *X[4:]]),
    "halves_swapped": (lambda x, y: halves_swapped(x), [*X[4:], *X[:4]]),
    "last_half_alone": (lambda x, y: last_half_alone(x), [0.0] * 4 + [*X[4:]]),
}


@pytest.mark.parametrize("name", LANE_BY_LANE)
def test_arithmetic_is_lane_by_lane_with_numbers_on_either_side(name):
    operation, expected = LANE_BY_LANE[name]

    def text_of(operate):
        def text(sheet):
            x, y, out = sheet.x, sheet.y, sheet.out
            out[0, 0:W] = operate(x[0:W], y[0:W])

        return text

    is_builtin = operation.__module__ == "_operator"
    compiled = text_of(operation if is_builtin else kernel(operation))
    found = both(compiled, sheet(), text_of(operation)).out[0]
    np.testing.assert_array_max_ulp(found, np.array(expected), 1)


def test_a_number_fills_a_register_of_memory():
    def text(sheet):
        a = sheet.a
        a[1, 3 : 3 + W] = 2.5

    expected = sheet().a.copy()
    expected[1, 3:11] = 2.5
    np.testing.assert_array_equal(both(text, sheet()).a, expected)


@pytest.mark.parametrize("column", range(9))
def test_registers_move_eight_neighbours_from_any_column_and_touch_no_others(column):
    def text(sheet):
        a = sheet.a
        a[2, column + 3 : column + 3 + W] = a[1, column : column + W]

    expected = sheet().a.copy()
    expected[2, column + 3 : column + 11] = expected[1, column : column + 8]
    np.testing.assert_array_equal(both(text, sheet()).a, expected)


def test_a_register_of_a_narrow_row_reads_its_padding_and_the_row_after_it_is_apart():
    def text(sheet):
        a, out = sheet.a, sheet.out
        out[0, 0:W] = a[1, 0:W]
        out[1, 0:W] = a[1, 2 : 2 + W]

    found = both(text, sheet(3, 5)).out
    np.testing.assert_array_equal(found[0], [5, 6, 7, 8, 9, 0, 0, 0])
    # beyond its own eight, what stands there
    np.testing.assert_array_equal(found[1], [7, 8, 9, 0, 0, 0, 10, 11])


def test_the_last_register_of_a_field_may_reach_past_its_end():
    def text(sheet):
        a, out = sheet.a, sheet.out
        out[0, 0:W] = a[2, 23 : 23 + W]

    made = sheet()
    kernel(text)(made)
    np.testing.assert_array_equal(made.out[0], [71, *[0] * 7])


def test_single_entries_are_read_and_written_by_one_or_two_indices():
    def text(sheet):
        a, whole = sheet.a, sheet.whole
        a[1, 2] = a[0, 3] + whole[1, 1]
        whole[1, 0] = 7
        whole[2, 0] = whole[1, 0] + 1

    found = both(text, sheet())
    assert found.a[1, 2] == 3.0 + 25.0
    np.testing.assert_array_equal(found.whole[:, 0], [0, 7, 8])

    def flat(sheet):
        x = sheet.x
        x[5] = x[7]
        x[0] += 1.0

    np.testing.assert_array_equal(both(flat, sheet()).x[[0, 5]], [2.5, -5.0])


def test_a_row_is_a_vector_that_can_be_written():
    def text(sheet):
        b, out = row(sheet.a, 1), sheet.out
        out[0, 0:W] = b[2 : 2 + W]
        b[0] = 100.0
        b[8 : 8 + W] = 1.0
        out[1, 0] = row(sheet.whole, 2)[1]

    found = both(text, sheet())
    np.testing.assert_array_equal(found.out[0], np.arange(26.0, 34.0))
    assert found.a[1, 0] == 100.0 and (found.a[1, 8:16] == 1.0).all() and found.out[1, 0] == 49


def test_columns_are_the_transpose_of_a_square_anywhere_in_a_matrix():
    def text(sheet):
        found, out = columns(sheet.a, 1, 5), sheet.out
        out[0, 0:W], out[1, 0:W], out[2, 0:W], out[3, 0:W] = found[0], found[1], found[2], found[3]
        out[4, 0:W], out[5, 0:W], out[6, 0:W], out[7, 0:W] = found[4], found[5], found[6], found[7]

    made = both(text, sheet(10, 20))
    np.testing.assert_array_equal(made.out, made.a[1:9, 5:13].T)


@pytest.mark.parametrize("first", [-3, *range(9), 100])
def test_from_lane_keeps_the_lanes_from_there_on_and_total_sums_them(first):
    def text(sheet):
        x, out = sheet.x, sheet.out
        kept = from_lane(x[0:W], first)
        out[0, 0:W] = kept
        sheet.found = total(kept)

    found, expected = both(text, sheet()), np.where(np.arange(8) >= first, X, 0.0)
    np.testing.assert_array_equal(found.out[0], expected)
    np.testing.assert_allclose(found.found, math.fsum(expected), rtol=1e-15, atol=1e-15)


def test_from_lane_drops_what_is_not_finite_too():
    def text(sheet):
        x, out = sheet.x, sheet.out
        out[0, 0] = total(from_lane(x[0:W], 3))
        out[0, 1] = total(x[0:W])

    made = sheet()
    made.x[:3] = np.nan, np.inf, -np.inf
    made.x[3:] = np.arange(1.0, 6.0)
    kernel(text)(made)
    assert made.out[0, 0] == 15.0 and np.isnan(made.out[0, 1])


def test_numpy_vectors_are_read_as_rows():
    @kernel
    def third(x):
        return total(numbers(x)[1 : 1 + W]) + numbers(x)[2]

    x = np.arange(10.0)
    assert third(x) == third.py_func(x) == 36.0 + 2.0
    x.setflags(write=False)
    assert third(x) == 38.0


@pytest.mark.parametrize("other", [np.arange(20.0)[::2], np.arange(10), np.ones((2, 5))])
def test_other_arrays_are_no_rows(other):
    @kernel
    def first(x):
        return numbers(x)[0]

    with pytest.raises(TypingError):
        first(other)


# ---- what uncompiled rows check ----


@pytest.mark.parametrize(
    "index", [-1, (0, -1), (-1, 0), np.s_[0, -1:7], np.s_[-1, 0:8], np.s_[2, 30:38], np.s_[9, 0:8]]
)
def test_uncompiled_rows_refuse_what_wraps_or_leaves_the_field(index):
    rows = Loose(sheet()).a
    with pytest.raises(IndexError):
        rows[index]
    with pytest.raises(IndexError):
        rows[index] = 0.0


def test_uncompiled_rows_refuse_places_beyond_their_shape():
    rows = Loose(sheet(3, 5)).a
    for index in ((0, 5), (3, 0), (0, 7)):  # the padding too: only registers reach there
        with pytest.raises(IndexError):
            rows[index]


def test_a_register_is_a_value_and_no_view():
    rows = Loose(sheet()).a
    kept = rows[0, 0:W]
    rows[0, 0] = 99.0
    assert kept[0] == 0.0 and type(kept) is np.ndarray


def test_what_numpy_makes_of_rows_is_plain():
    rows = Loose(sheet()).a
    assert type(rows[:2]) is np.ndarray and type(rows[0]) is np.ndarray
    assert rows[1:, 2:4].tolist() == [[26.0, 27.0], [50.0, 51.0]]


# ---- sine and cosine ----


@kernel
def sines(x, sine, cosine):
    """Lane by lane; the length is a multiple of W."""
    angles, s, c = numbers(x), numbers(sine), numbers(cosine)
    for i in range(0, len(x), W):
        angle = angles[i : i + W]
        s[i : i + W] = sin8(angle)
        c[i : i + W] = cos8(angle)


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
