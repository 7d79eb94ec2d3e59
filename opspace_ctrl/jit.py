"""How kernels are compiled: one decorator, one on-disk cache, one way to call a kernel by its address."""

from __future__ import annotations

import contextlib
import gc

from numba import config, njit, types

from .compiler import Part, Whole
from .fastcall import CALL, FastFunction, adapter
from .fastmethod import getter_adapter, method_adapter
from .kernel_cache import KernelCache, cache_directory, is_cached, lock
from .passes import loops_as_written
from .progress import shown

__all__ = [
    "METHOD",
    "address_of",
    "compile_unless_taken",
    "entry",
    "getter",
    "kernel",
    "kernels",
    "method",
    "name_of",
]

if config.DISABLE_JIT:
    raise ImportError(
        "opspace_ctrl works on machine code that Numba makes: unset NUMBA_DISABLE_JIT"
    )

# 'nnan' and 'ninf' are left out on purpose: a non-finite value must stay visible.
OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "nsz", "arcp"}}
METHOD = types.int64(types.int64)
kernels: dict[str, object] = {}  # what is kept on disk once compiled, by `name_of`


def kernel(func):
    """Compile `func` on its first call, keep the machine code on disk.

    Inside another kernel it is compiled as a part of that, with no way in from outside and nothing of its own on disk:
    of 200 kernels 20 are called from Python or by address, and what only those need takes a third of the compilation.
    """
    dispatcher, part = njit(**OPTIONS, pipeline_class=Whole)(func), _part(func)
    dispatcher.get_call_template, dispatcher.get_overload = (
        part.get_call_template,
        part.get_overload,
    )
    return _kept(dispatcher, func)


def _part(func):
    return njit(**OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=Part)(
        func
    )


def _kept(dispatcher, func):
    """The dispatcher, with its machine code kept on disk under the name of `func`."""
    kernels[name_of(dispatcher)] = dispatcher
    if cache_directory() is not None:
        dispatcher._cache = KernelCache(func)
    return dispatcher


def entry(signature):
    """A kernel that Python calls with exactly this signature: its compiled code directly, past Numba's type look-up.

    Arguments are numbers and `vector`s; what they are is not looked at before the kernel does so itself. Compiled when
    `prepare()` is called on it (or on its first `call`), not on import.
    """

    def decorate(func):
        return _Entry(func, signature)

    return decorate


class _Machine:
    """Machine code for CPython to call: the C function `call` around the kernel `func`."""

    def __init__(self, func, call, signature):
        call.__name__, call.__module__ = func.__name__, func.__module__
        call.__qualname__ = f"{func.__qualname__}.entry"  # a symbol in the machine code, so unique
        self.dispatcher = _kept(
            njit(**OPTIONS, no_cpython_wrapper=True, pipeline_class=Whole)(call), func
        )
        self.__doc__, self.__name__ = func.__doc__, func.__name__
        self.kernel = self.dispatcher, signature  # for `compile_ahead.together`

    def address(self) -> int:
        """Where it is; compiled first, or loaded from the cache."""
        return address_of(*self.kernel)


class _Entry(_Machine):
    """A kernel with one signature.

    Attributes:
        call: What Python calls: compiles first, then is the compiled function itself.
    """

    def __init__(self, func, signature):
        super().__init__(func, adapter(_part(func), signature), CALL)
        self.call = self._compile_and_call
        self._made = None

    def prepare(self):
        """Compile (or load from the cache); returns what to call in a hot loop."""
        if self._made is None:
            self._made = FastFunction(self.address(), self.__name__)
            self.call = self._made.free()
        return self.call

    def bound(self, work):
        """`prepare`, for one workspace: what to call in a hot loop, without the address of the workspace."""
        self.prepare()
        return self._made.bound(work.head)

    def _compile_and_call(self, *args):
        return self.prepare()(*args)


def method(signature, defaults: tuple = (), returns_self: bool = False):
    """A kernel that is a method of a `Compiled` class, see `fastmethod.method_adapter`."""

    def decorate(func):
        call = method_adapter(_part(func), func.__name__, signature, defaults, returns_self)
        return _Machine(func, call, types.int64(*[types.int64] * 4))

    return decorate


def getter(func):
    """A kernel `f(number, w)` that reads attributes of a `Compiled` class, see `fastmethod.getter_adapter`."""
    return _Machine(func, getter_adapter(_part(func)), types.int64(types.int64, types.int64))


def name_of(dispatcher) -> str:
    """A kernel's name in `kernels`: of its module, and in there."""
    return f"{dispatcher.py_func.__module__}:{dispatcher.py_func.__qualname__}"


def _compile(dispatcher, signature) -> None:
    """Compile for a signature, or load it from the cache; real compilation is shown, for it takes seconds."""
    if dispatcher.overloads or is_cached(dispatcher, signature):
        with _our_way():
            dispatcher.compile(signature)
        return
    # whoever had to wait finds it in the cache
    with shown(dispatcher), lock(dispatcher), _our_way():
        dispatcher.compile(signature)


def compile_unless_taken(dispatcher, signature) -> None:
    """Compile a kernel into the cache, unless it is there or another process is about it."""
    with lock(dispatcher, wait=False) as is_free:
        if is_free and not is_cached(dispatcher, signature):
            with shown(dispatcher), _our_way():
                dispatcher.compile(signature)


@contextlib.contextmanager
def _our_way():
    """Our passes; and no search for garbage, which goes through all that the compiler holds: a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with loops_as_written():
            yield
    finally:
        if was_enabled:
            gc.enable()


def address_of(dispatcher, signature=METHOD) -> int:
    """Machine address of a compiled kernel as a C function, for `lanes.call`."""
    _compile(dispatcher, signature)
    (result,) = dispatcher.overloads.values()
    return result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)
