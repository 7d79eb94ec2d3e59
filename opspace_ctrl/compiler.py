"""How Numba turns kernels into machine code: fewer passes than for Python at large, and no work that is thrown away.

Kernels are plain: numbers, tuples, loops, calls of other kernels. Of Numba's twenty passes over a function they need
ten; the others look for closures, `with`, exceptions, array expressions and inlining by hand, and their walks through
every function took a third of the time to compile. Numba also optimises every function and makes machine code of it
before it inlines it into its callers, where both are done once more: a `Part` leaves that to them.
"""

from __future__ import annotations

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)

__all__ = ["Part", "Whole"]

_PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    GenericRewrites,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
    AnnotateTypes,
    NativeLowering,
    NoPythonBackend,
)


class Whole(CompilerBase):
    """Compiles a kernel that is called from Python or by its address, with all the kernels that it calls."""

    def define_pipelines(self):
        """The passes, for Numba."""
        self.state.library = self.new_library()
        manager = PassManager("kernel")
        for each in _PASSES:
            manager.add_pass(each, each.__name__)
        manager.finalize()
        return [manager]

    def new_library(self):
        """What the code goes into."""
        library = _Linked(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        return library


class Part(Whole):
    """Compiles a kernel for its callers alone, as far as they need it: to LLVM's intermediate code."""

    def new_library(self):
        """What the code goes into."""
        return _Unfinished(self.state.targetctx.codegen(), self.state.func_id.func_qualname)


class _Linked(JITCodeLibrary):
    """A kernel and all that it calls, directly or not."""

    def finalize(self) -> None:
        """Link everything, each function once; optimise; make machine code."""
        found, new = {}, self._linking_libraries
        while new:
            found.update(dict.fromkeys(new))
            new = [
                each for library in new for each in library._linking_libraries if each not in found
            ]
        self._linking_libraries = list(found)
        super().finalize()


class _NoEngine:
    """Stands where Numba would register an environment with the machine code."""

    def set_env(self, name, env) -> None:
        """There is no machine code."""


class _Unfinished(JITCodeLibrary):
    """A function by itself, to be linked into its callers with what it calls."""

    codegen = _NoEngine()

    def finalize(self) -> None:
        """Nothing to do."""
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0: no machine code."""
        self._ensure_finalized()
        return 0
