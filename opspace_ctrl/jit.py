"""How kernels are compiled: one decorator, one on-disk cache, one way to call a kernel by its address.

Numba's own cache looks at the file of the cached function only, not at the files of the functions it inlines; a stale
kernel would be loaded after an edit next door. Ours is stamped with that file and all that it imports from this
package, directly or not.
"""
from __future__ import annotations

import atexit
import contextlib
import gc
import hashlib
import os
import re
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

from numba import njit, types
from numba.core.caching import FunctionCache

from .compiler import Part, Whole
from .fastcall import CALL, FastFunction, adapter
from .passes import loops_as_written

try:
    import fcntl
except ImportError:  # no such locks on this platform
    fcntl = None

__all__ = ["kernel", "entry", "address_of", "cache_directory"]

# 'nnan' and 'ninf' are left out on purpose: a non-finite value must stay visible.
OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "nsz", "arcp"}}
_METHOD = types.int64(types.int64)
_PACKAGE = Path(__file__).resolve().parent
_IMPORT = re.compile(r"^from (\.+|\.*(?=[a-z_]))([\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)


class CacheWarning(UserWarning):
    """No folder can be written for compiled kernels: every start compiles again."""


@cache
def _stamp(source: Path) -> str:
    """Hash of a source file and of all that it imports from this package: what its kernels may inline."""
    found, new = set(), {source}
    while new:
        found |= new
        new = {path for each in new for path in _imports(each)} - found
    digest = hashlib.sha256()
    for path in sorted(found):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _imports(source: Path) -> tuple[Path, ...]:
    """The files of this package that a source file imports at its top level."""
    paths = []
    for dots, module, names in _IMPORT.findall(source.read_text(encoding="utf-8")):
        first, _, rest = module.partition(".")
        if dots:
            folder, inner = source.parents[len(dots) - 1], module
        elif first == _PACKAGE.name:
            folder, inner = _PACKAGE, rest
        else:
            continue
        place = folder.joinpath(*inner.split(".")) if inner else folder
        if place.is_dir():  # names of a package are its modules, or stand in its __init__
            within = [place / f"{name}.py" for name in re.findall(r"(?<!as )\b(?!as\b)\w+", names)]
            paths += [path if path.is_file() else place / "__init__.py" for path in within]
        else:
            paths.append(place.with_suffix(".py"))
    return tuple(path for path in paths if path.is_file())


@cache
def cache_directory() -> Path | None:
    """Folder of compiled kernels (NUMBA_CACHE_DIR, else the user's cache), None if none is writable."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = Path(os.environ.get("NUMBA_CACHE_DIR") or home) / "opspace_ctrl"
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        warnings.warn(f"compiled kernels are not kept: {path} is not writable ({error.strerror}); every start "
                      "compiles again. Set NUMBA_CACHE_DIR to a writable folder.", CacheWarning, stacklevel=2)
        return None
    return path


@cache
def _resolved(path: str) -> Path:
    return Path(path).resolve()


@cache
def _place(path: str) -> str:
    """Folder for the kernels of a source file."""
    place = hashlib.sha256(str(_resolved(path).parent).encode()).hexdigest()[:16]
    return str(cache_directory() / place)


class _Locator:
    """Where a kernel is cached and what makes the cached code stale (the interface Numba asks for)."""

    def __init__(self, func, path: str):
        self._lineno = func.__code__.co_firstlineno
        self._path = path

    @classmethod
    def from_function(cls, func, path: str) -> _Locator:
        return cls(func, path)

    def get_cache_path(self) -> str:
        return _place(self._path)

    def ensure_cache_path(self) -> None:
        os.makedirs(self.get_cache_path(), exist_ok=True)

    def get_source_stamp(self):
        return _stamp(_resolved(self._path))

    def get_disambiguator(self) -> str:
        return str(self._lineno)


class _Implementation(FunctionCache._impl_class):
    _locator_classes = [_Locator]


class _Cache(FunctionCache):
    """Numba's cache, but a damaged file means to compile again, and a full disk not to keep the result."""

    _impl_class = _Implementation

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling garbage may raise
            self._remove_index()
            return None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except Exception as error:
            self._remove_index()
            warnings.warn(f"a compiled kernel could not be kept: {error}", CacheWarning, stacklevel=2)

    def _remove_index(self):
        with contextlib.suppress(OSError):
            os.unlink(self._cache_file._index_path)


def kernel(func):
    """Compile `func` on its first call, keep the machine code on disk.

    Inside another kernel it is compiled as a part of that, with no way in from outside and nothing of its own on disk:
    of 200 kernels 20 are called from Python or by address, and what only those need takes a third of the compilation.
    """
    dispatcher, part = njit(**OPTIONS, pipeline_class=Whole)(func), _part(func)
    dispatcher.get_call_template, dispatcher.get_overload = part.get_call_template, part.get_overload
    return _kept(dispatcher, func)


def _part(func):
    return njit(**OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=Part)(func)


def _kept(dispatcher, func):
    """The dispatcher, with its machine code kept on disk under the name of `func`."""
    if cache_directory() is not None:
        dispatcher._cache = _Cache(func)
    return dispatcher


def entry(signature):
    """A kernel that Python calls with exactly this signature: its compiled code directly, past Numba's type look-up.

    Arguments are numbers and `vector`s; what they are is not looked at before the kernel does so itself. Compiled when
    `prepare()` is called on it (or on its first `call`), not on import.
    """
    def decorate(func):
        return _Entry(func, signature)
    return decorate


class _Entry:
    """A kernel with one signature.

    Attributes:
        call: What Python calls: compiles first, then is the compiled function itself.
    """

    def __init__(self, func, signature):
        call = adapter(_part(func), signature)
        call.__name__, call.__module__ = func.__name__, func.__module__
        call.__qualname__ = f"{func.__qualname__}.entry"  # a symbol in the machine code, so unique
        self.dispatcher = _kept(njit(**OPTIONS, no_cpython_wrapper=True, pipeline_class=Whole)(call), func)
        self.__doc__, self.__name__ = func.__doc__, func.__name__
        self.call = self._compile_and_call
        self._made = None

    def prepare(self):
        """Compile (or load from the cache); returns what to call in a hot loop."""
        if self._made is None:
            self._made = FastFunction(address_of(self.dispatcher, CALL), self.__name__)
            self.call = self._made.free()
        return self.call

    def bound(self, work):
        """`prepare`, for one workspace: what to call in a hot loop, without the address of the workspace."""
        self.prepare()
        return self._made.bound(work.head)

    def _compile_and_call(self, *args):
        return self.prepare()(*args)


def _compile(dispatcher, signature) -> None:
    """Compile for a signature, or load it from the cache; real compilation is announced, for it takes seconds."""
    if dispatcher.overloads or _is_cached(dispatcher):
        with _our_way():
            dispatcher.compile(signature)
        return
    _announce(f"{dispatcher.__module__.rpartition('.')[2]}.{dispatcher.__name__}")
    with _one_at_a_time(dispatcher), _our_way():  # whoever had to wait finds it in the cache
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


@contextlib.contextmanager
def _one_at_a_time(dispatcher):
    """Of several processes that need a kernel at once, as two nodes at their first start, only one compiles it."""
    if fcntl is None or cache_directory() is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # a full disk, a file system without locks: all compile, as without
            folder = Path(dispatcher._cache.cache_path)
            folder.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(open(folder / f"{dispatcher.__module__}.{dispatcher.__name__}.lock", "w"))
            fcntl.flock(file, fcntl.LOCK_EX)  # goes with the file, and with the process if it dies
        yield


def _is_cached(dispatcher) -> bool:
    """Has the cache an entry for this kernel that is not stale?"""
    try:
        return bool(dispatcher._cache._cache_file._load_index())
    except Exception:  # no cache, or a damaged one
        return False


_announced: list[str] = []


def _announce(name: str) -> None:
    """One line on the terminal that moves on with every kernel; in a log, one line in all."""
    if sys.stderr is None:
        return
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[Kopspace_ctrl: compiling {name}, which is kept for the next start ...")
        if not _announced:
            atexit.register(sys.stderr.write, "\r\x1b[K")
    elif not _announced:
        sys.stderr.write("opspace_ctrl: compiling kernels, which are kept for the next start ...\n")
    sys.stderr.flush()
    _announced.append(name)


def address_of(dispatcher, signature=_METHOD) -> int:
    """Machine address of a compiled kernel as a C function, for `lanes.call`."""
    _compile(dispatcher, signature)
    (result,) = dispatcher.overloads.values()
    return result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)
