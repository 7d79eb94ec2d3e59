# SPDX-License-Identifier: Apache-2.0
"""Where robot descriptions come from: XML text, a file, a xacro file, or the robots of the package."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..data import read_shipped
from ..errors import (
    InertiaError,
    JointError,
    LimitError,
    MimicError,
    SingularInertiaError,
    SourceError,
    TreeError,
    UnknownRobotError,
    UnsafeXmlError,
    UrdfSyntaxError,
    quoted,
)
from ..reading import read_regular
from .options import LoadOptions
from .xacro_process import expand_xacro
from .xml_safety import MAX_BYTES, decode, parse_xml

BLANK = "\ufeff \t\r\n"  # what may stand before a document

# What can be wrong in a document.
OF_DOCUMENTS = (
    UrdfSyntaxError,
    UnsafeXmlError,
    TreeError,
    JointError,
    InertiaError,
    LimitError,
    MimicError,
    SingularInertiaError,
)

# The shipped robots and what load_robot assumes of them unless told otherwise.
ROBOTS: dict[str, LoadOptions] = {
    "arm7": {},
    "asimo": {"base": "floating"},
    "free_flyer": {"base": "floating", "gravity": (0.0, 0.0, 0.0)},
}


def is_xml(source: object) -> bool:
    """Is the source a document itself, and not the path of one?"""
    return isinstance(source, bytes) or (
        isinstance(source, str) and source.lstrip(BLANK).startswith("<")
    )


@contextmanager
def naming(source: object) -> Iterator[None]:
    """Let what is wrong with a document name the file that it stands in."""
    try:
        yield
    except OF_DOCUMENTS as error:
        if is_xml(source):
            raise
        raise type(error)(f"{quoted(source)}: {error}") from None


def read_source(
    source: str | bytes | os.PathLike,
    xacro_args: Mapping[str, object] | None = None,
    files: str = "a URDF or .xacro file",
) -> str:
    """The XML text of a source.

    Args:
        source: XML text (it begins with "<"), or the path of a file.
        xacro_args: arguments of the xacro file, name -> value.
        files: what files are meant, for messages.

    Raises:
        SourceError: an unreadable path, or xacro missing or failing.
    """
    if isinstance(source, bytes):
        return decode(source)
    if isinstance(source, str) and is_xml(source):
        return source.lstrip(BLANK)
    if not isinstance(source, (str, os.PathLike)):
        raise SourceError(f"a robot is the path of {files}, or XML text, not {quoted(source)}")
    if isinstance(source, str) and not source.strip():
        raise SourceError(f"the robot is empty; valid is the path of {files}, or XML text")
    path = Path(os.fsdecode(source))
    text = decode(_read_bytes(path, files))
    if path.suffix != ".xacro":
        return text
    parse_xml(text)  # what we would not read ourselves is not expanded
    return expand_xacro(path, xacro_args or {})


def _read_bytes(path: Path, files: str) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except FileNotFoundError:
        raise SourceError(
            f"no file {quoted(path)}; a robot is the path of {files}, or XML text"
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or "not a path"
        raise SourceError(f"cannot read {quoted(path)}: {reason}") from None


def robot_text(name: str) -> str:
    """The URDF of a shipped robot.

    Raises:
        UnknownRobotError: naming the robots there are.
        SourceError: the installation lacks its file.
    """
    if not isinstance(name, str) or name not in ROBOTS:
        raise UnknownRobotError(f"no shipped robot {quoted(name)}; shipped: {', '.join(ROBOTS)}")
    try:
        return decode(read_shipped("urdf", f"{name}.urdf"))
    except OSError as error:
        raise SourceError(f"the shipped robot {quoted(name)} is missing: {error}") from None
