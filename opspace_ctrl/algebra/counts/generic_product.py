# SPDX-License-Identifier: Apache-2.0
"""A product that looks at every element and skips the zeros ([Featherstone2010] figure 7), beside figure 5."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...osim import sparse
from .asimo import asimo_variant


def generic_product(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """y = A x for any sparse A: zeros are found by looking, not by knowing where they are."""
    y = np.zeros(A.shape[0], x.dtype)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] != 0.0:
                y[i] = y[i] + A[i, j] * x[j]
    return y


class Watched(np.ndarray):
    """An array that counts how often one of its elements is read."""

    reads: int

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 2:
            self.reads += 1
        return super().__getitem__(key)


def reads_of(product: Callable[..., np.ndarray], A: np.ndarray, *arguments: Any) -> int:
    """How many different elements of A a product looks at: reads less those it repeats to multiply what it found."""
    watched = A.copy().view(Watched)
    watched.reads = 0
    product(watched, *arguments)
    return watched.reads


def accesses() -> dict[str, int]:
    """Elements of ASIMO's Jacobian that J x touches: figure 7 looks at all, figure 5 at those that can be non-zero."""
    robot = asimo_variant()
    pattern = np.eye(robot.n)
    for i, parent in enumerate(robot.lambda_e):
        if parent >= 0:
            pattern[i] += pattern[parent]
    J, x = pattern[robot.b_e], np.ones(robot.n)
    figure_5 = getattr(sparse.jx, "py_func", sparse.jx)
    generic = reads_of(generic_product, J, x) - int(np.count_nonzero(J))
    return {"figure 7": generic, "figure 5": reads_of(figure_5, J, x, robot.lambda_e, robot.b_e)}
