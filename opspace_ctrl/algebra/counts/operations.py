# SPDX-License-Identifier: Apache-2.0
"""Counting floating-point operations as [Featherstone2010], section 9, does, on the code that ships.

d, m and a are divisions, multiplications and additions. A subtraction is an addition; a negation or a
copy is free. What is known to be 0 or 1 costs nothing only if the algorithm itself avoids it: the counter
never looks at values.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Cost:
    """d divisions, m multiplications, a additions, r square roots (LTL; none in the paper's tables)."""

    d: int = 0
    m: int = 0
    a: int = 0
    r: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.d + other.d, self.m + other.m, self.a + other.a, self.r + other.r)

    def __mul__(self, times: int) -> Cost:
        return Cost(times * self.d, times * self.m, times * self.a, times * self.r)

    __rmul__ = __mul__

    @property
    def total(self) -> int:
        """Number of operations of any kind."""
        return self.d + self.m + self.a + self.r

    def __str__(self) -> str:
        """Write it as the paper does: 646d + 6075m + 5775a."""
        parts = [f"{number}{kind}" for kind, number in vars(self).items() if number]
        return " + ".join(parts) or "0"


def _counting(kind: str, operate: Callable[[float, float], float]) -> Callable[[Any, Any], Any]:
    """The method of `Counted` for an operation of one kind."""

    def method(self, other):
        if isinstance(
            other, np.ndarray
        ):  # NumPy then operates on, and so counts, element by element
            return NotImplemented
        return self._note(kind, operate(self.value, float(other)))

    return method


class Counted:
    """A number that adds one to its tally for each operation it takes part in."""

    __slots__ = ("value", "counts")

    def __init__(self, value: float, counts: dict[str, int]):
        self.value, self.counts = float(value), counts

    def _note(self, kind: str, value: float) -> Counted:
        self.counts[kind] += 1
        return Counted(value, self.counts)

    __add__ = __radd__ = _counting("a", operator.add)
    __sub__ = _counting("a", operator.sub)
    __rsub__ = _counting("a", lambda x, y: y - x)
    __mul__ = __rmul__ = _counting("m", operator.mul)
    __truediv__ = _counting("d", operator.truediv)
    __rtruediv__ = _counting("d", lambda x, y: y / x)

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.counts)

    def sqrt(self) -> Counted:
        """Called by np.sqrt."""
        return self._note("r", self.value**0.5)

    def __float__(self) -> float:
        return self.value


Number = float | Counted  # what the algorithms that are counted compute with


class _Counting:
    """One count: the totals and what stands in for NumPy inside a kernel that runs uncompiled."""

    def __init__(self):
        self.counts = dict.fromkeys("dmar", 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def zeros(self, shape: tuple, dtype: Any) -> np.ndarray:
        """np.zeros; zeros that will hold counting numbers count too."""
        return (
            self.wrap(np.zeros(shape))
            if np.dtype(dtype) == np.dtype(object)
            else np.zeros(shape, dtype)
        )

    def wrap(self, values: Any) -> Any:
        """Float arrays become copies made of counting numbers; anything else, as indices, stays as it is."""
        if not (isinstance(values, np.ndarray) and values.dtype.kind == "f"):
            return values
        numbers = np.empty(values.shape, object)
        numbers.flat[:] = [Counted(value, self.counts) for value in values.flat]
        return numbers

    def uncompiled(self, kernel: Callable) -> Callable:
        """The kernel as an ordinary function: same code object, its module's other kernels uncompiled too."""
        namespace = dict(vars(sys.modules[kernel.__module__]), np=self)
        for name, value in list(namespace.items()):
            if hasattr(value, "py_func"):
                namespace[name] = FunctionType(value.py_func.__code__, namespace, name)
        return namespace[kernel.__name__]


def count(function: Callable, *args: Any) -> tuple[Cost, Any]:
    """Run a Python function or a compiled kernel on counting copies of its float arrays.

    The kernels it calls must be in its own module.

    Returns:
        What it cost, and its result (arrays of `Counted`; `.astype(float)` gives the values).
    """
    counting = _Counting()
    if hasattr(function, "py_func"):
        function = counting.uncompiled(function)
    result = function(*(counting.wrap(arg) for arg in args))
    return Cost(**counting.counts), result
