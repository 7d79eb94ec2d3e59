"""Where compiled kernels are kept, for the next start and for other processes.

Numba's own cache looks at the file of the cached function only, not at the files of the functions it inlines; a stale
kernel would be loaded after an edit next door. Ours is stamped with that file and all that it imports from this
package, directly or not.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

try:
    import fcntl
except ImportError:  # no such locks on this platform
    fcntl = None

__all__ = [
    "CacheWarning",
    "KernelCache",
    "cache_directory",
    "can_lock",
    "is_cached",
    "is_writable",
    "lock",
]

PATIENCE = (
    60.0  # [s] to wait for another process that compiles a kernel: it may have been suspended
)
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
    """Folder of compiled kernels (NUMBA_CACHE_DIR, else the user's cache), None if there is none, nor can be."""
    path = _wanted_directory()
    return path if is_writable() or path.is_dir() else None


def _wanted_directory() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(os.environ.get("NUMBA_CACHE_DIR") or home).absolute() / "opspace_ctrl"


@cache
def is_writable() -> bool:
    """Can kernels be kept? Where they cannot, those that are there are used all the same."""
    path = _wanted_directory()
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        warnings.warn(
            f"compiled kernels are not kept: {path} is not writable ({error.strerror}); every start "
            "compiles again what is not there. Set NUMBA_CACHE_DIR to a writable folder.",
            CacheWarning,
            stacklevel=2,
        )
        return False
    return True


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
        if is_writable():
            os.makedirs(self.get_cache_path(), exist_ok=True)

    def get_source_stamp(self):
        return _stamp(_resolved(self._path))

    def get_disambiguator(self) -> str:
        return str(self._lineno)


class _Implementation(FunctionCache._impl_class):
    """What is kept of a kernel: with a checksum, for a flipped bit in machine code would end the process."""

    _locator_classes = [_Locator]

    def reduce(self, data):
        """For Numba to write."""
        kept = dumps(super().reduce(data))
        return hashlib.sha256(kept).digest(), kept

    def rebuild(self, target_context, payload):
        """From what Numba has read."""
        checksum, kept = payload
        if hashlib.sha256(kept).digest() != checksum:
            raise ValueError("a damaged file")
        return super().rebuild(target_context, pickle.loads(kept))


class KernelCache(FunctionCache):
    """Numba's cache, but a damaged file means to compile again, and a full disk not to keep the result."""

    _impl_class = _Implementation

    def load_overload(self, sig, target_context):
        """The compiled kernel, None if it is not kept."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling garbage may raise
            self._remove_index()
            return None

    def save_overload(self, sig, data):
        """Keep a compiled kernel."""
        if not is_writable():
            return
        try:
            super().save_overload(sig, data)
        except Exception as error:
            self._remove_index()
            warnings.warn(
                f"a compiled kernel could not be kept: {error}", CacheWarning, stacklevel=2
            )

    def _remove_index(self):
        with contextlib.suppress(OSError):
            os.unlink(self._cache_file._index_path)


@contextlib.contextmanager
def lock(dispatcher, wait: bool = True):
    """Of several processes that need a kernel at once, as two nodes at their first start, only one compiles it.

    Yields whether this is the one. The lock goes with its file, and with the process if it dies.
    """
    with contextlib.ExitStack() as stack:
        is_free = True
        if can_lock():
            try:
                folder = Path(dispatcher._cache.cache_path)
                folder.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(
                    open(folder / f"{dispatcher.__module__}.{dispatcher.__name__}.lock", "w")
                )
                is_free = _take(file, PATIENCE if wait else 0.0)
            except OSError:  # a full disk, a file system without locks: all compile, as without
                pass
        yield is_free


def _take(file, patience: float) -> bool:
    """Lock a file within so many seconds."""
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.02)
        else:
            return True


def can_lock() -> bool:
    """Can processes share the work: is there a cache that all can fill, and are there locks?"""
    return fcntl is not None and is_writable()


def is_cached(dispatcher, signature) -> bool:
    """Has the cache this kernel, for this processor and not stale?"""
    try:
        store, file = dispatcher._cache, dispatcher._cache._cache_file
        name = file._load_index().get(store._index_key(signature, dispatcher.targetctx.codegen()))
        return name is not None and os.path.isfile(file._data_path(name))
    except Exception:  # no cache, or a damaged one
        return False
