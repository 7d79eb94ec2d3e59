# SPDX-License-Identifier: Apache-2.0
"""What makes a loop's thread regular, as far as the system permits: priority, locked memory, no garbage collection.

Each function returns a phrase for the log and the diagnostics: what was done, or why not.
"""

import ctypes
import gc
import os
import sys
from contextlib import suppress

__all__ = [
    "bound_heaps",
    "collect_garbage",
    "fill_tuple_store",
    "lock_memory",
    "quiet_interpreter",
    "raise_priority",
    "restore_interpreter",
]

LOCK_CURRENT, LOCK_FUTURE, LOCK_ON_FAULT = 1, 2, 4  # of mlockall(2)
MMAP_THRESHOLD, ARENA_MAX = -3, -8  # of mallopt(3)
HEAPS = 2  # glibc's own is eight a core
LARGE_BLOCK = 1 << 17  # [bytes] where glibc begins to ask the system for a block of its own
MOST_KEPT, LONGEST_KEPT = 2000, 20  # free tuples of each length, and their lengths, in CPython
SWITCH = 1e-4  # [s] after which a thread yields the interpreter to a loop that waits for it
USUAL_SWITCH = 5e-3  # [s] Python's own


def raise_priority(priority: int) -> str:
    """SCHED_FIFO with this priority (1 to 99) for the calling thread; 0 leaves it as it is."""
    if not priority:
        return "as started"
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (AttributeError, OSError) as error:
        return f"as started (SCHED_FIFO {priority}: {getattr(error, 'strerror', None) or 'not on this system'})"
    return f"SCHED_FIFO {priority}"


def lock_memory(wanted: bool) -> str:
    """Keep every page of the process that is in use in memory; pages are locked as they are touched, none is added."""
    if not wanted:
        return "not locked"
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        failed = libc.mlockall(LOCK_CURRENT | LOCK_FUTURE | LOCK_ON_FAULT)
    except (AttributeError, OSError):
        return "not locked (not on this system)"
    return f"not locked ({os.strerror(ctypes.get_errno())})" if failed else "locked"


def bound_heaps() -> None:
    """Let all threads share few heaps, and every large block of memory go back to the system as soon as it is free.

    A message is often allocated by one thread and freed by another. With a heap for each of the middleware's threads
    what is free lies scattered over all of them: 0.35 MB more a minute under attack, of which nothing was in use. And
    glibc raises the size that it takes for large up to 32 MB as such blocks are freed: long messages then lie in a
    heap, and stay there, for locked memory goes back in whole blocks only.
    """
    with suppress(AttributeError, OSError):  # a C library other than glibc
        libc = ctypes.CDLL(None)
        libc.mallopt(ARENA_MAX, HEAPS)
        libc.mallopt(MMAP_THRESHOLD, LARGE_BLOCK)


def quiet_interpreter() -> str:
    """Exempt what exists from garbage collection, collect only when told, and switch threads quickly.

    What compiling has left free goes back to the system.
    """
    gc.collect()
    with suppress(AttributeError, OSError):  # a C library other than glibc
        ctypes.CDLL(None).malloc_trim(0)
    gc.freeze()
    gc.disable()
    sys.setswitchinterval(SWITCH)
    return "collected while no efforts go out"


def collect_garbage() -> None:
    """Collect what has become garbage since `quiet_interpreter`; quick, because little has been made since."""
    gc.collect()


def fill_tuple_store() -> None:
    """Let CPython keep from now on as many free tuples as it ever will, 2000 of each length up to 20.

    A tuple made of an iterator, as dataclasses and rclpy make them, grows until it fits: it is not taken from that
    store, but goes there when it is freed. So every change of a gain would leave some kB, for hours, until the store
    is full. A collection of garbage empties it.
    """
    for length in range(1, LONGEST_KEPT + 1):
        [(None,) * length for _ in range(MOST_KEPT)]


def restore_interpreter() -> None:
    """Undo `quiet_interpreter`."""
    gc.unfreeze()
    gc.enable()
    sys.setswitchinterval(USUAL_SWITCH)
