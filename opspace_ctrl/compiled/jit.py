# SPDX-License-Identifier: Apache-2.0
"""How kernels are compiled: as Numba does it, with the same options everywhere.

    @kernel                     called by other kernels, or by anybody's njit
    @stage(Tree)                compiled once, apart: kernels call it like any other, it is found by its address
    @entry(vector, address)     called from Python, with arrays and the address of a workspace; one signature

What a kernel calls is otherwise compiled into it, and the large stages that every entry shares would be compiled again
for each: minutes instead of seconds. Addresses change from process to process, so cached code must not know them: a
stage stands in the `call` field of its name of its last workspace argument, and a call goes through that field.

Nothing is compiled on import. `prepare` compiles, or loads from the cache; it is what constructors call.
"""

import contextlib
import functools
import gc
import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cfunc, config, njit, types
from numba.core import cgutils
from numba.core.typing.templates import signature
from numba.extending import intrinsic, overload

from .cache import PACKAGE, KernelFolder, base_folder, kernel_folder, say
from .kernel import OPTIONS, Kernel
from .lanes import compiled_form
from .workspace import Workspace, place_of

# An array that is handed to an entry is not counted by Numba's runtime: its caller holds it. That saves an allocation
# and 25 ns an argument, and it is what lets a tick allocate nothing.
ENTRY_OPTIONS = {**OPTIONS, "_nrt": False}

address = integer = types.int64
real = types.float64
flag = types.boolean
vector = types.Array(types.float64, 1, "C", readonly=True)  # takes writable ones too
writable = types.Array(types.float64, 1, "C")
# what an entry raises for arguments that it is not compiled for; ValueError: Numba cannot type an empty list or set
MISFIT = (TypeError, ValueError)
WORKERS = 4  # processes at most that compile at the same time
_preparing = threading.RLock()  # Numba's folder of the moment is a global


class _Compilable:
    """A kernel that is compiled, and kept on disk, by itself."""

    def __init__(self, func):
        self.name = f"{func.__module__}:{func.__qualname__}"
        self.func = func
        self.is_ready = False

    @functools.cached_property
    def folder(self) -> KernelFolder | None:
        """Where its machine code is kept, if it can be."""
        return kernel_folder(self.name, Path(self.func.__code__.co_filename))

    @property
    def is_kept(self) -> bool:
        """Is it in the cache?"""
        return self.folder is not None and self.folder.is_complete()

    def make(self) -> bool:
        """Compile it, or load it from the cache; whether it is kept there."""
        if self.folder is not None:
            before, config.CACHE_DIR = config.CACHE_DIR, str(self.folder.path)
            try:
                self.folder.make_room()
                self._compile(cache=True)
                self.is_ready = True
                return True
            except (OSError, RuntimeError) as error:  # no room, no right to write there
                say(f"{self.name} is compiled for this start only: {error}")
            finally:
                config.CACHE_DIR = before
        self._compile(cache=False)
        self.is_ready = True
        return False

    def _compile(self, cache: bool) -> None:
        raise NotImplementedError


class Entry(_Compilable):
    """A kernel that Python calls; `dispatcher` is what is called."""

    def __init__(self, func, arguments):
        super().__init__(func)
        self.arguments = arguments
        self.dispatcher = njit(**ENTRY_OPTIONS)(func)

    def _compile(self, cache: bool) -> None:
        if cache:
            self.dispatcher.enable_caching()
        self.dispatcher.compile(self.arguments)
        self.dispatcher.disable_compile()  # what does not fit is a TypeError, not a compilation inside the loop


class Stage(_Compilable):
    """A kernel with an address."""

    def __init__(self, func, arguments):
        super().__init__(func)
        self.signature = types.void(*(getattr(each, "type", each) for each in arguments))
        self._made: Any = None  # Numba's cfunc, once compiled
        self._siblings: dict[str, Stage] = {}

    def _compile(self, cache: bool) -> None:
        self._made = self.compiled(cache)
        if cache and not self._made.cache_hits and self.folder is not None:
            self.folder.keep_text(self._made.inspect_llvm())

    def compiled(self, cache: bool):
        """Numba's cfunc; one that is loaded from the cache cannot be inspected."""
        return cfunc(self.signature, cache=cache, **OPTIONS)(self.func)

    def text(self) -> str:
        """LLVM's text of it, optimised for this machine, of which `objects` makes machine code for others."""
        kept = self.folder.text() if self.folder is not None else None
        return kept or self.compiled(cache=False).inspect_llvm()

    @property
    def address(self) -> int:
        """The address of its machine code, compiled first if need be; 0 where nothing is compiled."""
        if config.DISABLE_JIT:
            return 0
        if not self.is_ready:
            prepare([self, *self._siblings.values()])
        return self._made.address


def kernel(func):
    """Make a kernel of a function; uncompiled it is the function."""
    return func if config.DISABLE_JIT else Kernel(func)


def entry(*arguments):
    """Make an entry of a kernel's text, for exactly these types of arguments."""

    def decorate(func):
        if config.DISABLE_JIT:
            return _as_numpy(func, arguments)
        made = Entry(func, arguments)
        made.dispatcher.entry = made
        return made.dispatcher

    return decorate


def _as_numpy(func, wanted):
    """Uncompiled: the same arguments are refused, and numbers that are not finite are no reason to warn."""

    @functools.wraps(func)
    def quietly(*arguments):
        if len(arguments) != len(wanted) or not all(map(_fits, wanted, arguments)):
            raise TypeError(f"{func.__name__} takes {wanted}, not {arguments}")
        with np.errstate(all="ignore"):
            return func(*arguments)

    return quietly


def _fits(wanted, x) -> bool:
    """Would a compiled entry take x for an argument of this type?"""
    if not isinstance(wanted, types.Array):
        return isinstance(x, (int, np.integer) if wanted == integer else (int, float, np.number))
    if type(x) is not np.ndarray or x.dtype != float or x.ndim != 1:
        return False
    return x.flags.c_contiguous and (x.flags.writeable or not wanted.mutable)


def stage(*arguments, fills: str | None = None):
    """Make a stage of a kernel's text: it stands in the call field of its name, or `fills`, of its last workspace."""
    owner = max(k for k, each in enumerate(arguments) if isinstance(each, type))
    cls: type[Workspace] = arguments[owner]

    def decorate(func):
        made = Stage(func, arguments)
        name = fills or func.__name__
        field = cls.fields[name]
        cls.stages[name] = made
        made._siblings = cls.stages  # a workspace needs them all: they are compiled together

        @functools.wraps(func)
        def call_stage(*given):
            return func(*given)

        call_stage.stage = made  # type: ignore[attr-defined]  # for `export` and the tests

        @compiled_form(call_stage, signature(types.void, *made.signature.args))
        def lower(context, builder, sig, args):
            _call(builder, builder.load(place_of(builder, args[owner], field)), args)
            return context.get_dummy_value()

        return call_stage

    return decorate


def choice(*arguments):
    """Make a stage that no workspace has until it is put there: `engine.integrator = semi_implicit`."""
    return lambda func: Stage(func, arguments)


def _call(builder, where, args) -> None:
    function = ir.FunctionType(ir.VoidType(), [value.type for value in args])
    builder.call(builder.inttoptr(where, function.as_pointer()), args)


def run(stage, *arguments):
    """Call the stage in a call field: `run(method.compute, space, method)`."""
    stage.func(*arguments)


@intrinsic
def _run_at(typingctx, where, arguments):
    def codegen(context, builder, sig, args):
        _call(builder, args[0], cgutils.unpack_tuple(builder, args[1], len(sig.args[1])))
        return context.get_dummy_value()

    return types.void(where, arguments), codegen


@overload(run)
def _run(stage, *arguments):
    return lambda stage, *arguments: _run_at(stage, arguments)


def prepare(wanted: Iterable) -> None:
    """Compile entries and stages, or load them from the cache; those that are missing on all cores.

    Several processes may start together: each kernel is compiled by one of them, and the others find it in the cache.
    """
    if config.DISABLE_JIT:
        return
    with _preparing, _no_garbage_collection():
        kernels = [_compilable(each) for each in wanted]
        kernels = [each for each in dict.fromkeys(kernels) if not each.is_ready]
        missing = [each for each in kernels if not each.is_kept]
        if missing:
            _compile_together(missing)
        for each in kernels:
            if not each.is_ready:
                each.make()


@contextlib.contextmanager
def _no_garbage_collection():
    """While a kernel is compiled: it would go through all that the compiler holds, a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _compilable(each) -> _Compilable:
    return each if isinstance(each, _Compilable) else getattr(each, "entry", None) or each.stage


def _compile_together(missing: list[_Compilable]) -> None:
    """Compile into the cache, with the help of other processes."""
    what = "a kernel" if len(missing) == 1 else f"{len(missing)} kernels"
    say(f"compiling {what}, once for this version on this machine ...")
    helpers = _start_helpers(missing)
    try:
        compile_missing(missing)
    finally:
        for each in helpers:
            each.kill()  # whatever it is about: what it has not finished is compiled by now, or is not wanted
            each.communicate()


def _start_helpers(missing: list[_Compilable]) -> list[subprocess.Popen]:
    """Processes that compile our own kernels beside this one; none where they could not help."""
    ours = [each.name for each in missing if each.name.startswith(f"{PACKAGE.name}.")]
    number = min(WORKERS, len(os.sched_getaffinity(0)), len(ours)) - 1
    # a program that embeds Python may name itself, or nothing
    is_python = os.path.basename(sys.executable or "").startswith("python")
    started: list[subprocess.Popen] = []
    base = base_folder()
    if base is None or missing[0].folder is None or not is_python or hasattr(sys, "frozen"):
        return started
    # Not a pool of `multiprocessing`: that would run an unguarded script of the user's again in every worker. Not
    # `python -m`: that would look for the package in the current folder first.
    command = [sys.executable, "-I", "-S", "-c", _HELPER, repr([str(PACKAGE.parent), *sys.path])]
    for _ in range(number):
        with contextlib.suppress(OSError):  # out of processes or memory
            started.append(
                subprocess.Popen(
                    [*command, *ours],
                    env={**os.environ, "NUMBA_CACHE_DIR": str(base.parent)},
                    stdin=subprocess.PIPE,  # which nobody writes: it ends when this process does
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
    return started


_HELPER = """
import ast, os, sys, threading
def end_with_parent():
    sys.stdin.buffer.read()
    os._exit(1)
threading.Thread(target=end_with_parent, daemon=True).start()
sys.path[:] = ast.literal_eval(sys.argv[1])
from opspace_ctrl.compiled.jit import compile_missing, named
compile_missing([named(each) for each in sys.argv[2:]], wait=False)
"""


def compile_missing(missing: Iterable[_Compilable], wait: bool = True) -> None:
    """Compile what no other process is about; then, if asked to, wait for what others have begun."""
    for may_wait in (False, True) if wait else (False,):
        for each in missing:
            if each.is_ready or each.is_kept:
                continue
            if each.folder is None:
                each.make()
                continue
            with each.folder.lock(may_wait) as is_mine:
                if is_mine and not each.folder.is_complete() and each.make():
                    each.folder.complete()


def named(name: str) -> _Compilable:
    """The entry or stage "module:name"."""
    module, _, attribute = name.partition(":")
    return _compilable(getattr(importlib.import_module(module), attribute))
