# SPDX-License-Identifier: Apache-2.0
"""Where compiled kernels are kept: Numba's own cache, in a folder of ours for every state of our sources.

Numba looks at the stamp of one file only, but a kernel is made of many. So the folder is named by a hash of all sources
of its layer and those below, of the versions that compile them and of the processor. It is private: a cached kernel is
code. In it every kernel has a folder of its own with Numba's files, and beside them `complete`, their checksums,
once it can be relied on; and a stage's text, of which code for other processors can be made.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import time
import zlib
from functools import cache
from pathlib import Path

import llvmlite
import numba
import numpy as np
from llvmlite import binding

PACKAGE = Path(__file__).parents[1]
LAYERS = ("compiled", "model", "dynamics", "osim")  # what is built on these counts on all of them
TEXT = "text.ll.z"
KEPT = 12  # states of layers whose kernels are kept
_STATE = re.compile("[a-z_]+-[0-9a-f]{16}")  # the name of such a folder
WAIT = 300.0  # [s] for another process that compiles the same kernel


def say(line: str) -> None:
    """Tell whoever starts us, in one line, what takes time or went wrong."""
    print(f"opspace_ctrl: {line}", file=sys.stderr, flush=True)


@cache
def _digest(layer: str) -> str:
    """What compiled kernels of a layer depend on: its own sources and those of the layers below."""
    below = LAYERS[: LAYERS.index(layer)] if layer in LAYERS else LAYERS
    found = hashlib.blake2b(digest_size=8)
    for part in (
        PACKAGE,
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        platform.python_implementation(),
        sys.version,
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
        numba.config.CPU_NAME,
        numba.config.CPU_FEATURES,
    ):
        found.update(f"{part}\n".encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] in (*below, layer):
            found.update(path.read_bytes())
    return found.hexdigest()


@cache
def base_folder() -> Path | None:
    """The folder of all our folders; None, and a line that says why, if there can be none.

    Where the given one can only be read, an image's or an administrator's, it is a folder for this process alone: Numba
    looks for kernels where it could write them. `_take_prepared` fills it.
    """
    try:
        return _private(_given_folder())
    except (OSError, RuntimeError) as error:
        reason = error
    with contextlib.suppress(OSError, RuntimeError):
        _trusted(_given_folder(), (0, os.geteuid()))
        own = Path(tempfile.mkdtemp(prefix="opspace_ctrl_"))
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        return _private(own / "opspace_ctrl")
    say(f"compiled kernels are not kept, every start compiles them: {reason}")
    return None


def _given_folder() -> Path:
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(given).expanduser().resolve() / "opspace_ctrl"


def _private(path: Path) -> Path:
    """The folder, made if it is not there; PermissionError if it is not ours alone to write."""
    found = _trusted(path, (os.geteuid(),))
    if not os.access(found, os.W_OK):
        raise PermissionError(f"{found} cannot be written")
    return found


def _trusted(path: Path, owners: tuple[int, ...]) -> Path:
    """The folder, made if it is not there; PermissionError if others may write to it, or put another in its place."""
    path = path.parent.resolve() / path.name
    for above in reversed(path.parents):
        above.mkdir(mode=0o700, exist_ok=True)
        about = above.stat()
        is_open = about.st_mode & stat.S_IWOTH and not about.st_mode & stat.S_ISVTX
        if is_open or about.st_uid not in (0, os.geteuid()):
            raise PermissionError(f"{path} could be exchanged by whoever owns or may write {above}")
    path.mkdir(mode=0o700, exist_ok=True)
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        raise PermissionError(f"{path} is a link")
    if about.st_uid not in owners or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(
            f"{path} belongs to or can be written by somebody else (valid: yours, mode 700)"
        )
    return path


@cache
def folder(layer: str) -> Path | None:
    """The folder for a layer's sources, made if it is not there; None if there can be none."""
    base = base_folder()
    if base is None:
        return None
    try:
        found = _private(base / f"{layer}-{_digest(layer)}")
        os.utime(found)
    except OSError as error:
        say(f"compiled kernels are not kept, every start compiles them: {error}")
        return None
    if base != _given_folder():
        _take_prepared(found)
    _forget_old(base)
    return found


def _take_prepared(own: Path) -> None:
    """Copy the kernels of a layer from the given folder, which can only be read, into one of this process."""
    try:
        prepared = _trusted(_given_folder() / own.name, (0, os.geteuid()))
        for file in prepared.glob("*/**/*"):
            if file.is_file():
                target = own / file.relative_to(prepared)
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    except OSError as error:
        say(f"kernels are compiled for this start only, {_given_folder()} has not all: {error}")


def _forget_old(base: Path) -> None:
    """Remove the kernels of states of the sources that have not been used for long."""
    with contextlib.suppress(OSError):
        ours = [each for each in base.iterdir() if _STATE.fullmatch(each.name)]
        states = sorted(ours, key=lambda each: each.stat().st_mtime, reverse=True)
        for each in states[KEPT:]:
            # [s]: a start beside us may be at work there
            if time.time() - each.stat().st_mtime > 3600.0:
                shutil.rmtree(each, ignore_errors=True)


def kernel_folder(name: str, source: Path) -> KernelFolder | None:
    """The folder of the kernel "module:name", if there can be one; of other packages' ones by their source as well."""
    if not source.is_file():  # a prompt, a notebook
        return None
    is_ours = source.is_relative_to(PACKAGE)
    base = folder(source.relative_to(PACKAGE).parts[0] if is_ours else "others")
    if base is None:
        return None
    if not is_ours:
        name = f"{name}-{zlib.crc32(source.read_bytes()):08x}"
    return KernelFolder(base / name.replace(":", "."))


class KernelFolder:
    """The folder of one kernel."""

    def __init__(self, path: Path):
        self.path = path

    def make_room(self) -> None:
        """Make the folder; OSError if nothing can be written there, where Numba would look for another one."""
        self.path.mkdir(mode=0o700, exist_ok=True)
        if not os.access(self.path, os.W_OK):
            raise PermissionError(f"{self.path} cannot be written")

    def is_complete(self) -> bool:
        """Are all files there as they were written? What is not is removed, to be compiled again."""
        try:
            wanted = json.loads((self.path / "complete").read_text())
            if wanted == self._checksums():
                return True
        except FileNotFoundError:
            return False
        except (OSError, ValueError):
            pass
        say(f"a compiled kernel is damaged and will be compiled again: {self.path.name}")
        shutil.rmtree(self.path, ignore_errors=True)
        return False

    def complete(self) -> None:
        """Note that all files are written."""
        temporary = self.path / f"complete.{os.getpid()}"
        try:
            temporary.write_text(json.dumps(self._checksums()))
            temporary.replace(self.path / "complete")
        except OSError as error:
            say(f"{self.path.name} will be compiled again at the next start: {error}")

    def keep_text(self, text: str) -> None:
        """Keep LLVM's text beside the machine code that was made of it."""
        (self.path / TEXT).write_bytes(zlib.compress(text.encode(), 1))

    def text(self) -> str | None:
        """Read what `keep_text` kept; None if it is not there, or damaged."""
        try:
            return zlib.decompress((self.path / TEXT).read_bytes()).decode()
        except (OSError, zlib.error):
            return None

    def _checksums(self) -> dict[str, int]:
        files = [*self.path.rglob("*.nbi"), *self.path.rglob("*.nbc")]
        return {str(f.relative_to(self.path)): zlib.crc32(f.read_bytes()) for f in sorted(files)}

    @contextlib.contextmanager
    def lock(self, wait: bool):
        """A context that says whether this process may compile the kernel: no other one is about it.

        With `wait`, another process that is about it is waited for, up to WAIT seconds; then the answer is yes.
        """
        try:
            self.make_room()
            lock = open(f"{self.path}.lock", "a", opener=_not_by_link)
        except OSError:  # `make` will say why
            yield True
            return
        with lock as file:
            deadline = time.monotonic() + (WAIT if wait else 0.0)
            while not (taken := _try_lock(file)) and time.monotonic() < deadline:
                time.sleep(0.02)
            yield taken or wait  # who has waited long enough compiles for itself


def _not_by_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _try_lock(file) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
