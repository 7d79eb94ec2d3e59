# SPDX-License-Identifier: Apache-2.0
"""How much memory calls ask for: of Python, of NumPy, and inside compiled code."""

from __future__ import annotations

import tracemalloc

from opspace_ctrl.compiled.allocations import counted_allocations

SMALL = 1024  # bytes: the integers and frames that Python itself juggles with, whatever the number of ticks


def traced(call, times):
    """Growth and peak [bytes] of Python's and NumPy's memory over many calls."""
    for _ in range(10):
        call()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for _ in range(times):
            call()
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after - before, peak - before


def compiled_allocations(call):
    """Blocks that compiled code, and what hands it its arguments, ask for in one call."""
    with counted_allocations() as allocations:
        call()
    return allocations()
