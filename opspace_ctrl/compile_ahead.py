"""Compile many kernels at once: the first start in a fraction of the time, on a machine with several cores.

Who needs many kernels says so in advance: `together`. If several are not in the cache, helper processes compile them
into it, each from its own place in the list, while this process does the same from the first; whoever comes to a kernel
that is done or in work goes on to the next. In the end this process loads all of them. A helper is a help only: if it
fails or is killed, its lock goes with it, and what it would have compiled is compiled here. It ends with its list, when
`together` returns or raises, and when this process dies, for that closes its standard input.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from numba.core import sigutils

from . import jit
from .kernel_cache import can_lock, is_cached
from .progress import counted

__all__ = ["together"]

MOST = 3  # helpers: each takes as much memory as this process, and the longest kernel is a tenth of the work
SHARE = (
    4  # kernels or more for each: to import what it needs takes a helper as long as to compile one
)

# A new interpreter that takes from its environment what Numba takes, and neither the user's start-up files, nor the
# folder it is in, nor another copy of this package.
_HELPER = """
import json, sys
order = json.loads(sys.stdin.readline())
sys.path[:] = order["path"]
from importlib import import_module, util
spec = util.spec_from_file_location(order["name"], order["file"])
sys.modules[spec.name] = package = util.module_from_spec(spec)
spec.loader.exec_module(package)
import_module(order["module"]).help_with(order["kernels"])
"""


def together(wanted: Iterable[tuple]) -> None:
    """Compile kernels, or load them from the cache; those that are missing there in several processes.

    Args:
        wanted: Dispatchers with their signatures. What belongs together had better be side by side.
    """
    missing = [pair for pair in wanted if not _is_done(*pair)]
    with (
        counted(lambda: (sum(_is_done(*pair) for pair in missing), len(missing))),
        _helpers(missing),
    ):
        for kernel, signature in missing:
            jit.compile_unless_taken(kernel, signature)
        for kernel, signature in missing:
            jit.address_of(kernel, signature)


def _is_done(kernel, signature) -> bool:
    return bool(kernel.overloads) or is_cached(kernel, signature)


@contextlib.contextmanager
def _helpers(missing: Sequence[tuple]) -> Iterator[None]:
    """Have helpers at work inside, as many as there are other cores to use."""
    ours = [pair for pair in missing if pair[0].__module__.partition(".")[0] == __package__]
    number = min(_cores() - 1, MOST, len(ours) // SHARE) if can_lock() and _can_start() else 0
    started: list[subprocess.Popen] = []
    try:
        for i in range(1, number + 1):
            # backwards from there, towards who works from the place before
            place = i * len(ours) // number
            with contextlib.suppress(OSError):  # out of processes or memory
                started.append(_start([*ours[place:], *ours[:place]][::-1]))
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()
            process.stdin.close()


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _can_start() -> bool:
    """Is there an interpreter? A program that embeds Python may name itself, or nothing."""
    return os.path.basename(sys.executable or "").startswith("python") and not hasattr(
        sys, "frozen"
    )


def _start(share: Sequence[tuple]) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _HELPER],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    order = {
        "path": [str(path) for path in sys.path],
        "name": __package__,
        "module": __name__,
        "file": str(Path(__file__).with_name("__init__.py")),
        "kernels": [(jit.name_of(kernel), _text(signature)) for kernel, signature in share],
    }
    with contextlib.suppress(OSError):  # it has died already
        process.stdin.write(json.dumps(order).encode() + b"\n")
    return process


def _text(signature) -> str:
    return f"{signature.return_type}({', '.join(str(each) for each in signature.args)})"


def help_with(share: Sequence[tuple[str, str]]) -> None:
    """What a helper does: compile kernels, given by name and signature, that nobody has compiled or is compiling."""
    # of a terminal: whether that ends the work is not ours to decide
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_input, daemon=True).start()
    for name, text in share:
        import_module(name.partition(":")[0])
        arguments, result = sigutils.normalize_signature(text)
        jit.compile_unless_taken(jit.kernels[name], result(*arguments))


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)
