"""How LLVM treats the loops of our kernels: as they are written.

They run over a few registers, along a limb or a pair of tasks: two to sixteen rounds. Unrolled eight times or
vectorised again, as is usual, most of the code never runs, and choosing between the copies costs more than they save.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from llvmlite import binding as llvm
from numba.core import codegen
from numba.core.compiler_lock import global_compiler_lock

__all__ = ["loops_as_written"]


def _pass_builder(tm, opt=2, loop_vectorize=False, slp_vectorize=False):
    """Numba's `create_pass_builder`, loops left alone."""
    options = llvm.create_pipeline_tuning_options(opt)
    options.loop_unrolling = options.loop_vectorization = options.loop_interleaving = False
    options.slp_vectorization = slp_vectorize
    return llvm.create_pass_builder(tm, options)


@contextlib.contextmanager
def loops_as_written() -> Iterator[None]:
    """What is compiled inside keeps its loops; with a Numba that builds its passes otherwise, as that likes."""
    # compiling takes it anyway, and two threads must not restore in the wrong order
    with global_compiler_lock:
        usual = getattr(codegen, "create_pass_builder", None)
        if usual is None:
            yield
            return
        codegen.create_pass_builder = _pass_builder
        try:
            yield
        finally:
            codegen.create_pass_builder = usual
