# SPDX-License-Identifier: Apache-2.0
"""What a kernel is to Numba: text that is compiled into whatever calls it.

Numba optimises every function by itself, makes machine code and two wrappers of it, and optimises it again in each
function that it is inlined into. A kernel is seldom wanted by itself: all that is compiled of it when another calls it
is LLVM's text, unoptimised, and the passes go over it once, in the stage or entry that is made of it. Python can call a
kernel too: then it is compiled as Numba compiles any function.
"""

import functools
from typing import Any

from numba import njit, typeof
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import typeof_impl

# 'nnan' and 'ninf' are left out on purpose: a non-finite value must stay visible.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract", "nsz", "arcp"}}


class _Text(JITCodeLibrary):
    """LLVM's text of a function and of all that it calls, to be linked into others; never machine code.

    It does less than Numba's own where Numba asks: a version that asks for something else gets what it does itself.
    """

    def _optimize_functions(self, module):
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalized = True

    def get_pointer_to_function(self, name):
        """None: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        """This object itself, so that Numba hands it the environment of a function (see `set_env`)."""
        return self

    def set_env(self, name, environment):
        """Drop the environment: a function needs it to make Python objects, and a kernel makes none."""


class _TextCompiler(Compiler):
    """Numba's compiler, which leaves the text of a function."""

    def compile_extra(self, func):
        """Compile the function, as Numba does."""
        self.state.library = _Text(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class Kernel:
    """A function that other kernels, and anybody's njit, have compiled into them; Python may call it as well.

    Attributes:
        py_func: The function itself.
    """

    def __init__(self, func):
        functools.update_wrapper(self, func)
        self.py_func = func
        self._text = njit(
            pipeline_class=_TextCompiler,
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
            **OPTIONS,
        )(func)

    def __call__(self, *arguments, **named):
        """Call it from Python; the first call with arguments of these types compiles it."""
        return self._alone(*arguments, **named)

    @functools.cached_property
    def _alone(self):
        return njit(**OPTIONS)(self.py_func)


@typeof_impl.register(Kernel)
def _typeof(kernel, context):
    return typeof(kernel._text)
