"""Where robot descriptions come from: XML text, a file, a xacro file, or the robots of the package."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

from ..data import read_shipped
from ..errors import OpspaceError, SourceError, UnknownRobotError, quoted
from .xml_safety import MAX_BYTES, decode, parse_xml

# The shipped robots and what load_robot assumes of them unless told otherwise.
ROBOTS: dict[str, dict] = {
    "arm7": {},
    "asimo": {"base": "floating"},
    "free_flyer": {"base": "floating", "gravity": (0.0, 0.0, 0.0)},
}


def read_source(
    source: str | bytes | os.PathLike, xacro_args: Mapping[str, object] | None = None
) -> str:
    """The URDF text of a source.

    Args:
        source: XML text (it begins with "<"), or the path of a URDF or .xacro file.
        xacro_args: arguments of the xacro file, name -> value.

    Raises:
        SourceError: an unreadable path, or xacro missing or failing.
    """
    if isinstance(source, bytes):
        return decode(source)
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return source.lstrip("\ufeff \t\r\n")
    if not isinstance(source, (str, os.PathLike)):
        raise SourceError(f"a robot is a path or XML text, not {quoted(source)}")
    path = Path(os.fsdecode(source))
    text = decode(_read_bytes(path))
    return _expand_xacro(path, text, xacro_args or {}) if path.suffix == ".xacro" else text


def _read_bytes(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise SourceError(
                f"no file {quoted(path)}; a robot is the path of a URDF or .xacro file, or XML text"
            )
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or "not a path"
        raise SourceError(f"cannot read {quoted(path)}: {reason}") from None
    if len(data) > MAX_BYTES:
        raise SourceError(f"{quoted(path)} is larger than {MAX_BYTES} bytes")
    return data


def _expand_xacro(path: Path, text: str, arguments: Mapping[str, object]) -> str:
    try:
        import xacro
    except ImportError:
        raise SourceError(
            f"{quoted(path)} needs xacro: pip install 'opspace_ctrl[xacro]'"
        ) from None
    parse_xml(text)  # xacro's own parser would expand entities
    try:
        mappings = {str(key): str(value) for key, value in arguments.items()}
        with _includes_checked(xacro):
            return xacro.process_file(str(path), mappings=mappings).toxml()
    except OpspaceError:
        raise
    except Exception as error:  # xacro evaluates Python: anything may come out of it
        raise SourceError(
            f"xacro failed on {quoted(path)}: {type(error).__name__}: {error}"
        ) from None


_xacro_in_use = threading.Lock()


@contextmanager
def _includes_checked(xacro):
    """Let xacro read no file, the included ones neither, that we would not read ourselves."""
    parse = xacro.parse

    def parse_checked(inp, filename=None):
        if inp is None and os.path.isfile(filename):
            parse_xml(decode(_read_bytes(Path(filename))))
        return parse(inp, filename)

    with _xacro_in_use:  # xacro keeps its state in its module
        xacro.parse = parse_checked
        try:
            yield
        finally:
            xacro.parse = parse


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
