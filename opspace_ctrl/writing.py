# SPDX-License-Identifier: Apache-2.0
"""May we write here? One answer for every file and folder that the package writes for a user.

A file is new, or replaces one because `force` says so. A folder is one that we made, that is empty, or that carries our
mark, in which we note what we wrote: only that is ever replaced or removed, and only as long as nobody has changed it.
What a command reads it never writes, links are not followed, and a file is written beside its place and moved there
whole.
"""

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .errors import OutputError, quoted
from .reading import read_regular

MARK = ".opspace.json"  # {"owner": who writes here, "files": {name: checksum, empty while it is being written}}
LARGEST_MARK = 1 << 20  # [bytes]


def check_output(path: str | Path, force: bool = False, inputs: Iterable[str | Path] = ()) -> None:
    """Raise OutputError, before the work whose result it shall hold, if a file of this path could not be written.

    Args:
        path: the file.
        force: one that exists may be replaced.
        inputs: files that are read, which never are.
    """
    path = Path(path)
    try:
        reason = _why_not_file(path, force, inputs)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or "not a path"
    if reason:
        raise OutputError(f"cannot write {quoted(Path(path))}: {reason}")


@contextmanager
def new_file(
    path: str | Path, force: bool = False, inputs: Iterable[str | Path] = ()
) -> Iterator[IO[bytes]]:
    """A file to write into, which appears under its name, whole, when the context ends without an error.

    Raises:
        OutputError: It may not or cannot be written.
    """
    path = Path(path)
    check_output(path, force, inputs)
    try:
        with _beside(path) as (file, temporary):
            yield file
            file.flush()
            if force:
                os.replace(temporary, path)
            else:
                _move_new(temporary, path)
    except FileExistsError:
        raise OutputError(f"cannot write {quoted(Path(path))}: it exists by now") from None
    except OSError as error:
        raise OutputError(f"cannot write {quoted(Path(path))}: {error.strerror or error}") from None


def open_stream(path: str | Path, force: bool = False) -> IO[bytes]:
    """A new file that grows in its place, so that what was written is there even if the process is killed.

    Raises:
        OutputError: It may not or cannot be written.
    """
    path = Path(path)
    check_output(path, force)
    try:
        if force:
            path.unlink(missing_ok=True)
        return path.open("xb")
    except OSError as error:
        raise OutputError(f"cannot write {quoted(Path(path))}: {error.strerror or error}") from None


class OutputFolder:
    """A folder for the results of one command.

    Attributes:
        path: where it is.
    """

    def __init__(
        self,
        path: str | Path,
        owner: str,
        names: Iterable[str],
        force: bool = False,
        inputs: Iterable[str | Path] = (),
    ):
        """Ask whether the folder may be used; nothing is changed yet.

        Args:
            path: the folder, which need not exist.
            owner: who writes, such as "opspace hil".
            names: all files that it may ever write there.
            force: use a folder of somebody else's too, and replace files of these names.
            inputs: files that are read, which are never replaced.

        Raises:
            OutputError: Naming what is in the way.
        """
        self.path, self._owner, self._names = Path(path).absolute(), owner, tuple(names)
        self._is_noted = False  # the mark says what `_files` does
        try:
            marked = self._marked()
            self._files = marked or {}
            reason = self._why_not(marked is not None or force, force, tuple(inputs))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not a path"
        if reason:
            raise OutputError(f"cannot write into {quoted(Path(path))}: {reason}")

    def claim(self) -> None:
        """Make the folder, mark it, and remove what an earlier run has left."""
        with self._errors():
            self.path.mkdir(parents=True, exist_ok=True)
            self._note({})
            self.remove_all_but(())

    def remove_all_but(self, names: Iterable[str]) -> None:
        """Remove what an earlier run has written, except these."""
        with self._errors():
            for name in set(self._files) - set(names):
                (self.path / name).unlink(missing_ok=True)
                del self._files[name]
                self._is_noted = False
            self._note({})

    def write(self, files: Mapping[str, str | bytes], is_final: bool = True) -> list[Path]:
        """Write these files, each whole and at once; their paths.

        Args:
            files: {name: content}.
            is_final: they stay so; else they will be written again, and no checksum of them is kept.
        """
        contents = {
            name: text.encode() if isinstance(text, str) else text for name, text in files.items()
        }
        with self._errors():
            self.path.mkdir(parents=True, exist_ok=True)
            self._note(dict.fromkeys(contents, ""))
            self._move_in(contents)
            if is_final:
                self._note({name: _checksum(data) for name, data in contents.items()})
        return [self.path / name for name in contents]

    def place(self, name: str) -> Path:
        """The path of a file that somebody else is about to create; none is there."""
        with self._errors():
            self._note({name: ""})
            (self.path / name).unlink(missing_ok=True)
        return self.path / name

    def _move_in(self, contents: Mapping[str, bytes]) -> None:
        temporaries: dict[str, str] = {}
        try:
            for name, data in contents.items():
                with _beside(self.path / name, keep=True) as (file, temporary):
                    temporaries[name] = temporary
                    file.write(data)
            for name, temporary in temporaries.items():
                os.replace(temporary, self.path / name)
        finally:
            for temporary in temporaries.values():
                with suppress(OSError):
                    os.unlink(temporary)

    def _why_not(self, is_ours: bool, force: bool, inputs: tuple[str | Path, ...]) -> str:
        if not _exists(self.path):
            return _why_not_made(self.path)
        if self.path.is_symlink():
            return f"it is a link to {quoted(os.readlink(self.path))}: name that folder itself"
        if not self.path.is_dir():
            return "it is a file, not a folder"
        if not os.access(self.path, os.W_OK | os.X_OK):
            return "permission denied"
        for name in self._names:
            if reason := self._why_not_name(name, force, inputs):
                return reason
        there = () if is_ours else sorted(os.listdir(self.path))
        return _in_the_way(there[0], f"{self._owner} did not make this folder") if there else ""

    def _why_not_name(self, name: str, force: bool, inputs: tuple[str | Path, ...]) -> str:
        """The reason why a file of this name may not be replaced, "" if it may or is not there."""
        path = self.path / name
        if not os.path.lexists(path):
            return ""
        if _is_one_of(path, inputs):
            return f"{quoted(name)} in it is read by this command: write elsewhere"
        if path.is_dir() and not path.is_symlink():
            return f"{quoted(name)} in it is a folder"
        if force:
            return ""
        if name not in self._files or path.is_symlink() or not path.is_file():
            return _in_the_way(name, f"not written by {self._owner}")
        wanted = self._files[name]
        if wanted and _checksum(path.read_bytes()) != wanted:
            return _in_the_way(name, f"changed since {self._owner} wrote it")
        return ""

    def _marked(self) -> dict[str, str] | None:
        """The files that our mark says are ours; None without a mark, or with one of somebody else's."""
        try:
            content = json.loads(read_regular(self.path / MARK, LARGEST_MARK, follow=False))
            files = content["files"]
            is_ours = content["owner"] == self._owner
            return (
                {name: str(files[name]) for name in self._names if name in files}
                if is_ours
                else None
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _note(self, files: Mapping[str, str]) -> None:
        if self._is_noted and files.items() <= self._files.items():
            return
        self._files.update(files)
        self._is_noted = True
        content = {"owner": self._owner, "files": dict(sorted(self._files.items()))}
        self._move_in({MARK: json.dumps(content, indent=1).encode() + b"\n"})

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"cannot write into {quoted(self.path)}: {error.strerror or error}"
            ) from None


def _why_not_file(path: Path, force: bool, inputs: Iterable[str | Path]) -> str:
    if path.is_dir():
        return "it is a folder"
    if not path.absolute().parent.is_dir():
        return "its folder does not exist"
    if _exists(path):
        if _is_one_of(path, inputs):
            return "this command reads it"
        if not (stat.S_ISREG(os.lstat(path).st_mode) or (force and path.is_symlink())):
            return "it is a link, a device or a pipe"
        if not force:
            return "it exists (--force replaces it)"
    if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
        return "permission denied"
    return ""


def _why_not_made(path: Path) -> str:
    """The reason why a folder cannot be made, "" if it can."""
    above = next(each for each in path.parents if os.path.lexists(each))
    if not above.is_dir():
        return f"{quoted(above)} is a file, not a folder"
    return "" if os.access(above, os.W_OK | os.X_OK) else "permission denied"


def _exists(path: Path) -> bool:
    """Is there anything of this name? OSError or ValueError if it is no name."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _in_the_way(name: str, reason: str) -> str:
    return f"{quoted(name)} is in the way ({reason}); --force replaces files of ours and no others"


def _is_one_of(path: Path, inputs: Iterable[str | Path]) -> bool:
    for each in inputs:
        with suppress(OSError, ValueError):
            if each and os.path.samefile(path, each):
                return True
    return False


@contextmanager
def _beside(path: Path, keep: bool = False) -> Iterator[tuple[IO[bytes], str]]:
    """A new file in the folder of `path`, removed at the end unless that is left to the caller; and its path."""
    temporary = str(path.absolute().parent / f".{path.name[:50]}.{secrets.token_hex(6)}.part")
    try:
        with open(temporary, "xb") as file:
            yield file, temporary
    finally:
        if not keep:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def _move_new(temporary: str, path: Path) -> None:
    """Move a file to a name that nobody has; FileExistsError if somebody has it by now."""
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.replace(temporary, path)


def _checksum(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
