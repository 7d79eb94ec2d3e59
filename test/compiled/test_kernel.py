# SPDX-License-Identifier: Apache-2.0
"""Kernels: compiled into what calls them, and callable from Python and from anybody's njit."""

import numpy as np
import pytest
from numba import njit

from opspace_ctrl.compiled.jit import address, entry, kernel, prepare, real
from opspace_ctrl.compiled.kernel import Kernel


@kernel
def halved(x):
    """Half."""
    return 0.5 * x


@kernel
def quartered(x, times=1.0):
    """A quarter, times so much."""
    return times * halved(halved(x))


@entry(real, address)
def entered(x, n):
    """A quarter for n, and another for one."""
    return quartered(x, float(n)) + quartered(x)


def libraries(each: Kernel):
    return [made.library for made in each._text.overloads.values()]


def test_python_calls_a_kernel_as_any_function():
    assert halved(3.0) == 1.5
    assert quartered(8.0) == 2.0 and quartered(8.0, times=3.0) == quartered(8.0, 3.0) == 6.0
    assert (quartered.__name__, quartered.__doc__) == ("quartered", quartered.py_func.__doc__)
    with pytest.raises(TypeError):
        halved()


def test_an_entry_is_made_of_kernels_that_have_no_machine_code():
    prepare([entered])
    assert entered(4.0, 2) == 3.0
    made = libraries(halved) + libraries(quartered)
    assert made and not any(each.get_pointer_to_function(each.name) for each in made)
    assert "fmul" in str(libraries(halved)[0].get_llvm_str())


def test_anybodys_njit_calls_a_kernel_before_and_after_python_does():
    @kernel
    def squared(x):
        return x * x

    @njit
    def before(x):
        return quartered(x) + squared(x[0])

    @njit
    def after(x):
        return before(x) + squared(x[1])

    x = np.array([4.0, 2.0])
    np.testing.assert_array_equal(before(x), [17.0, 16.5])
    assert squared(3.0) == 9.0
    np.testing.assert_array_equal(after(x), [21.0, 20.5])


def test_an_error_in_a_kernel_is_told_to_who_calls_it():
    @kernel
    def refused(x):
        if x < 0.0:
            raise ValueError("below zero")
        return x

    @njit
    def asks(x):
        return refused(x)

    for call in (refused, asks):
        assert call(2.0) == 2.0
        with pytest.raises(ValueError, match="below zero"):
            call(-2.0)
