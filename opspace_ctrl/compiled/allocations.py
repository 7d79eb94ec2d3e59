# SPDX-License-Identifier: Apache-2.0
"""How often compiled code asks for memory: for tests and benchmarks that say it never does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core.runtime import _nrt_python, rtsys


@contextmanager
def counted_allocations() -> Iterator[Callable[[], int]]:
    """A context that counts; what it gives tells the number, also after it has ended."""
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats().alloc
    found: list[int] = []
    try:
        yield lambda: found[0] if found else rtsys.get_allocation_stats().alloc - before
    finally:
        found.append(rtsys.get_allocation_stats().alloc - before)
        _nrt_python.memsys_disable_stats()
