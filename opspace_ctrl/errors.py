# SPDX-License-Identifier: Apache-2.0
"""Every error the package raises on purpose, under one parent.

The message of each names the offending element and what would be valid.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

MOST_MISTAKES = 20  # that one message tells


class OpspaceError(Exception):
    """Parent of all errors of opspace_ctrl; `parts` are the errors that one tells of, where it tells of several."""

    parts: tuple[OpspaceError, ...] = ()


class UrdfSyntaxError(OpspaceError):
    """The text is not XML, not a URDF, or a number or attribute in it is malformed."""


class MjcfError(OpspaceError):
    """MuJoCo cannot read the MJCF, or it has what a Model cannot carry."""


class UnsafeXmlError(OpspaceError):
    """The XML declares a document type or entities, or exceeds the size or depth that is parsed."""


class TreeError(OpspaceError):
    """The links and joints are not one tree: no or two roots, a cycle, a missing or repeated name."""


class JointError(OpspaceError):
    """A joint has an unknown type, a zero axis, or lacks a required part."""


class InertiaError(OpspaceError):
    """A mass is negative, or an inertia is impossible and `strict` was asked for."""


class LimitError(OpspaceError):
    """A joint limit is impossible: lower above upper, or negative velocity or effort."""


class MimicError(OpspaceError):
    """A mimic joint follows a missing joint, itself, or a joint with several coordinates."""


class SingularInertiaError(OpspaceError):
    """Some joint moves no inertia, so that the joint-space inertia matrix is singular."""


class SourceError(OpspaceError):
    """A robot description cannot be read: missing file, failed or missing xacro."""


class ConfigurationError(OpspaceError):
    """An argument has the wrong length, is not finite, or is not one of the valid choices."""


class UnknownFrameError(OpspaceError):
    """The model has no frame (link) of that name."""


class UnknownJointError(OpspaceError):
    """The model has no joint of that name."""


class UnknownRobotError(OpspaceError):
    """No robot of that name is shipped with the package."""


class MethodError(OpspaceError):
    """The method does not exist, or cannot carry this model or these tasks."""


class IllPosedError(OpspaceError):
    """Constraint rows of a closed chain or grasp depend on each other, so that their forces are not unique."""


class ParameterError(OpspaceError):
    """A parameter does not exist, has the wrong type, is out of range or not one of its choices."""


class ParameterFileError(OpspaceError):
    """A YAML file cannot be read, or is not a parameter file with the node that is asked for."""


class SettingsError(OpspaceError):
    """Settings contradict each other or the robot, or cannot change while the controller runs."""


class TargetError(OpspaceError):
    """A target, trajectory, posture or force that was sent is malformed, or meant for something that does not exist."""


class FaultError(OpspaceError):
    """A schedule of faults cannot be read, or a fault in it is unknown, incomplete or impossible for the robot."""


class LogError(OpspaceError):
    """The folder with the log of a simulated run cannot be written, or does not hold one."""


class OutputError(OpspaceError):
    """A result cannot be written, or something that is not ours is in its way."""


class ExpressionError(OpspaceError):
    """An operator expression cannot be read or evaluated; the place is marked where it is known."""

    # reason: what is wrong, without the place; text, start, end: the expression and the part of it that is meant
    def __init__(self, reason: str, text: str | None = None, start: int = 0, end: int = 0):
        self.reason, self.text, self.start, self.end = reason, text, start, end
        super().__init__(reason if text is None else f"{reason}\n{self.marked()}")

    def __reduce__(self) -> tuple[type[ExpressionError], tuple[str, str | None, int, int]]:
        return type(self), (self.reason, self.text, self.start, self.end)

    def marked(self) -> str:
        """The expression with a line of carets below the place."""
        line = " ".join(str(self.text).split("\n"))
        return f"    {line}\n    {' ' * self.start}{'^' * max(1, self.end - self.start)}"


class UnknownSymbolError(ExpressionError):
    """An operator expression names no such operator."""


class DimensionError(ExpressionError):
    """Operators are multiplied or added whose spaces (joints, bodies, tasks) do not match."""


class NotInvertibleError(ExpressionError):
    """The inverse of an operator does not exist, or no recursion for it is known."""


class SimulationError(OpspaceError):
    """The simulated motion leaves the range of numbers, or a state does not belong to the simulator."""


class GazeboError(OpspaceError):
    """The bridge to Gazebo cannot do what is asked of it."""


class ExportError(OpspaceError):
    """A controller cannot be exported, or an exported one cannot be read."""


class ViewError(OpspaceError):
    """The viewer cannot do what is asked of it: a missing extra, a port that is taken, a run that cannot be read."""


class BringupError(OpspaceError):
    """An argument of a launch file is unknown or not valid."""


class InertiaWarning(UserWarning):
    """A link's inertia is doubtful: not positive semi-definite, or breaking the triangle inequality."""


class MjcfWarning(UserWarning):
    """An MJCF has what a Model does not know, such as springs or tendons; it is left out."""


class UrdfWarning(UserWarning):
    """A URDF has elements or attributes that are unknown, probably misspelt, and ignored."""


class MeshWarning(UserWarning):
    """A mesh that a robot's description names cannot be shown: it is missing, or in no format that is read."""


class Mistakes:
    """Errors that are gathered, so that whoever made several mistakes hears of all of them.

        mistakes = Mistakes()
        with mistakes:
            check_one()
        with mistakes:
            check_another()
        mistakes.tell()

    Attributes:
        found: Each once, in order.
    """

    def __init__(self) -> None:
        self.found: list[OpspaceError] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, OpspaceError):
            return False
        known = {str(each) for each in self.found}
        self.found += [each for each in error.parts or (error,) if str(each) not in known]
        return True

    def tell(self) -> None:
        """Raise what was found, if anything: several as one error of the first one's class, with all as its `parts`.

        They are forgotten here: an error knows the frames that it came through, and what these hold. If that were the
        error itself it would stay in memory until garbage is collected, which a control loop does not do.
        """
        found, self.found = self.found, []
        if not found:
            return
        try:
            raise found[0] if len(found) == 1 else _together(found)
        finally:
            del found


def _together(found: list[OpspaceError]) -> OpspaceError:
    texts = [f"({i}) {each}" for i, each in enumerate(found[:MOST_MISTAKES], 1)]
    more = len(found) - len(texts)
    together = type(found[0])(
        f"{len(found)} mistakes: {'; '.join(texts)}{f'; and {more} more' * (more > 0)}"
    )
    together.parts = tuple(found)
    return together


class _Short(reprlib.Repr):
    """A repr that takes no longer for a large value than for a small one."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother = 3, 80, 80

    def repr1(self, x: Any, level: int) -> str:
        """An array, or what else has no short repr, is named by its type."""
        if isinstance(x, int) and x.bit_length() > 256:
            return f"<an integer of {x.bit_length()} bits>"
        if isinstance(x, (str, bytes, bytearray)) and len(x) > 80:
            return f"{x[:60]!r}...{x[-10:]!r}"
        if isinstance(x, (dict, set, frozenset)) and len(x) > 40:  # reprlib would sort all of it
            return f"<{type(x).__name__} of {len(x)}>"
        return super().repr1(x, level)


_short = _Short()


def quoted(value: object) -> str:
    """The repr of a value from outside, shortened so that a message stays one readable line; paths are left long."""
    if isinstance(value, os.PathLike):
        text, longest = os.fspath(value), 400
        text = repr(text if len(text) <= longest else text[:longest])
    else:
        text, longest = _short.repr(value), 80
    return shown(text if len(text) <= longest else f"{text[:60]}...{text[-10:]}", longest + 20)


def shown(text: object, longest: int = 200) -> str:
    """Text from outside in one line, which can neither move a terminal's cursor nor turn the direction of writing.

    Controls (C0, C1, DEL), marks that change the direction of writing, and separators of lines and paragraphs come out
    as Python would write them in a string; what is longer is cut.
    """
    text = str(text)
    if len(text) > longest:
        text = f"{text[: longest - 20]}...{text[-10:]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def listed(names: Iterable[object]) -> str:
    """A list of valid names for a message, cut after forty."""
    names = list(names)
    tail = f", ... ({len(names)} in all)" if len(names) > 40 else ""
    return (", ".join(shown(name, 80) for name in names[:40]) or "(none)") + tail


def offered(name: object, known: Iterable[str]) -> str:
    """A question for the end of a message: was the nearest of the known names meant?"""
    near = get_close_matches(str(name)[:200], list(known), 1)
    return f"; did you mean {quoted(near[0])}?" if near else ""


def without_ros(what: str, error: ImportError) -> str:
    """What is missing where ROS 2 cannot be imported, and what brings it; what: the program that needs it."""
    return f"{what} needs ROS 2 ({error}): source it, or pip install 'opspace_ctrl[ros-kilted]'"


def in_one_line(error: BaseException) -> str:
    """The message of an error in one line, with its kind before it unless it is one of ours."""
    kind = "" if isinstance(error, OpspaceError) else f"{type(error).__name__}: "
    return on_one_line(f"{kind}{error}")


def on_one_line(text: str, longest: int = 4000) -> str:
    """A message that may hold line breaks of its own, as `shown`."""
    return shown(" ".join(text[: 2 * longest].split()), longest)
