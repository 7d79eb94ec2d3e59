# SPDX-License-Identifier: Apache-2.0
"""Schedules of faults for hardware-in-the-loop tests: YAML to checked, immutable records.

    seed: 7                      # optional; a seed given to the simulator, if it is not 0, goes before it
    faults:
      - {kind: latency, side: command, start: 1.0, duration: 2.0, delay: 0.004}
      - {kind: noise, joints: [joint1, joint2], position: 0.0005, velocity: 0.01}
      - {kind: push, frame: tool, start: 4.0, duration: 0.2, force: [20, 0, 0]}

`start` and `duration` are simulated seconds, counted from the first command that reaches the robot, so that a slow
start of the controller shifts nothing; by default a fault acts from 0 to the end. The kinds are in `fault_kinds`.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import FaultError, OpspaceError, UnknownJointError, listed, quoted, shown
from ...model import Model
from ...yaml_reader import load_yaml, parse_yaml
from .fault_kinds import KINDS, POINTS, SIDES, Kind, Value

__all__ = ["Fault", "Schedule", "faults_of_text", "load_faults", "parse_faults"]

ALL = "all"
COMMON = ("kind", "start", "duration")
MAX_FAULTS = 1000  # of a schedule
MAX_POINTS = 10_000  # of a trajectory
NAMED = {"frame": "the name of a link", "task": "the name of a task", "name": "that of a method"}
TASK = re.compile(r"[A-Za-z]\w*")  # it is part of a topic


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        kind: A key of KINDS.
        start, duration: [s]; the duration may be infinite.
        side: state, command or both, for faults of the bus; else "".
        joints: Names, empty for all, for faults of sensors and drives.
        frame: For pushes and masses, and the one that a task moves; else "".
        name: Of the task, or of the method, that the controller is asked for; else "".
        values: Numbers, triples or way points as `KINDS` says, by name; those left out at their neutral value.
    """

    kind: str
    start: float = 0.0
    duration: float = math.inf
    side: str = ""
    joints: tuple[str, ...] = ()
    frame: str = ""
    name: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def end(self) -> float:
        """The time at which it stops acting [s]."""
        return self.start + self.duration

    @property
    def target(self) -> str:
        """Its target in words."""
        if KINDS[self.kind].target == "side":
            return {"state": "states", "command": "commands", "both": "states and commands"}[
                self.side
            ]
        return self.name or self.frame or ", ".join(self.joints) or "all joints"

    @property
    def title(self) -> str:
        """The kind and its target, in words."""
        if KINDS[self.kind].target == "name":
            return f"{self.kind} {self.name}"
        if "points" in self.values:
            return f"{self.kind} of {self.target} ({len(self.values['points'])} points)"
        numbers = ", ".join(
            f"{name} {_shown(value)} {KINDS[self.kind].values[name].unit}".removesuffix(" 1")
            for name, value in self.values.items()
            if value != _neutral(self.kind, name)
        )
        return f"{self.kind} of {self.target}" + (f" ({numbers})" if numbers else "")


@dataclass(frozen=True)
class Schedule:
    """Faults in the order of the file, and its seed (None: not given)."""

    faults: tuple[Fault, ...] = ()
    seed: int | None = None

    def check(self, model: Model) -> None:
        """Raise FaultError if a joint or frame that a fault names is not the model's."""
        for number, fault in enumerate(self.faults, 1):
            try:
                if fault.frame and model.frame_body[model.frame_index(fault.frame)] < 0:
                    moving = [
                        name for name, body in zip(model.frame_names, model.frame_body) if body >= 0
                    ]
                    raise OpspaceError(
                        f"frame {quoted(fault.frame)} does not move; frames that do: {listed(moving)}"
                    )
                for name in fault.joints:
                    if name not in model.joint_names:
                        raise UnknownJointError(
                            f"no joint {quoted(name)}; joints: {listed(model.joint_names)}"
                        )
            except OpspaceError as error:
                raise FaultError(f"fault {number} ({fault.kind}): {error}") from None


def load_faults(source: str | Path) -> Schedule:
    """The schedule in a YAML file, or in YAML text (anything with a line break or a colon that is no file).

    Raises:
        FaultError: It cannot be read, or something in it is wrong.
    """
    text = str(source)
    if not text.strip():
        return Schedule()
    is_text = not isinstance(source, Path) and (
        "\n" in text or ": " in text or text.lstrip()[0] in "[{"
    )
    if is_text:
        return faults_of_text(text)
    document, name = load_yaml(source, FaultError), shown(source, 400)
    try:
        return parse_faults(document, _word)
    except FaultError as error:
        raise FaultError(f"{name}: {error}") from None


def faults_of_text(text: str) -> Schedule:
    """The schedule in YAML text; no file is ever read.

    Raises:
        FaultError: Something in it is wrong.
    """
    return parse_faults(parse_yaml(text, "the schedule of faults", FaultError))


def _word(value: object) -> str:
    """What is said of something in a file that may not be a schedule: a plain word, else nothing but its type."""
    is_plain = isinstance(value, str) and re.fullmatch("[a-z_]{1,20}", value)
    return repr(value) if is_plain or value is None else f"a {type(value).__name__}"


def parse_faults(document: Any, show: Callable[[object], str] = quoted) -> Schedule:
    """A schedule from what YAML gave: {seed, faults}, a list of faults, or one fault.

    Args:
        document: as plain data.
        show: how to tell what stands in the place of a schedule or a fault.

    Raises:
        FaultError: Naming the fault's number, its element and what is valid.
    """
    seed = None
    if isinstance(document, Mapping) and "kind" in document:
        document = [document]
    if isinstance(document, Mapping):
        _refuse_unknown(document, ("seed", "faults"), "the schedule", show)
        seed = document.get("seed")
        if seed is not None and not (
            isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < 2**63
        ):
            raise FaultError(f"seed = {quoted(seed)}: a whole number from 0 to 2^63 - 1 is valid")
        document = document.get("faults")
    if document is None:
        document = []
    if isinstance(document, (str, bytes)) or not isinstance(document, Sequence):
        raise FaultError(
            f"a schedule is {{seed: ..., faults: [...]}} or a list of faults, not {show(document)}"
        )
    if len(document) > MAX_FAULTS:
        raise FaultError(f"a schedule of {len(document)} faults; at most {MAX_FAULTS} are valid")
    faults = (_fault(entry, number, show) for number, entry in enumerate(document, 1))
    return Schedule(tuple(faults), seed)


def _fault(entry, number: int, show: Callable[[object], str]) -> Fault:
    if not isinstance(entry, Mapping):
        raise FaultError(
            f"fault {number} is {show(entry)}, not a mapping such as {{kind: loss, side: state}}"
        )
    kind_name = entry.get("kind")
    if not isinstance(kind_name, str) or kind_name not in KINDS:
        raise FaultError(f"fault {number}: no kind {show(kind_name)}; kinds: {listed(KINDS)}")
    kind, what = KINDS[kind_name], f"fault {number} ({kind_name})"
    own = ("task", "frame") if kind.target == "task" else (kind.target,)
    _refuse_unknown(entry, (*COMMON, *own, *kind.values), what, show)
    start = _number(entry.get("start", 0.0), Value("s", 0.0), f"{what}: start")
    target, values = _target(entry, kind, what), _values(entry, kind, what)
    duration = entry.get(
        "duration", values["points"][-1][0] if "points" in values else kind.duration
    )
    if duration != math.inf:
        duration = _number(duration, Value("s", 0.0), f"{what}: duration")
    return Fault(kind_name, start, duration, **target, values=values)


def _target(entry: Mapping, kind: Kind, what: str) -> dict:
    value = entry.get(kind.target)
    if kind.target == "side":
        if value not in SIDES:
            raise FaultError(f"{what}: side = {quoted(value)}; valid: {listed(SIDES)}")
        return {"side": value}
    if kind.target in NAMED:
        given = {kind.target: value}
        if kind.target == "task":
            given["frame"] = entry.get("frame", value)
        for key, name in given.items():
            if (
                not isinstance(name, str)
                or not name
                or (key == "task" and not TASK.fullmatch(name))
            ):
                raise FaultError(f"{what}: {key} = {quoted(name)}; {NAMED[key]} is valid")
        return {("frame" if key == "frame" else "name"): name for key, name in given.items()}
    if value is None or value == ALL:
        return {}
    names = [value] if isinstance(value, str) else value
    if (
        not isinstance(names, list)
        or not names
        or not all(isinstance(name, str) and name for name in names)
    ):
        raise FaultError(
            f"{what}: joints = {quoted(value)}; a name, a list of names or '{ALL}' is valid"
        )
    return {"joints": tuple(names)}


def _values(entry: Mapping, kind: Kind, what: str) -> dict[str, Any]:
    if kind.values and not any(name in entry for name in kind.values):
        raise FaultError(f"{what}: give {' or '.join(kind.values)}")
    values: dict[str, Any] = {}
    for name, value in kind.values.items():
        given = entry.get(name, _neutral_of(value))
        if value.length == 1:
            values[name] = _number(given, value, f"{what}: {name}")
        elif value.length == POINTS:
            values[name] = _points(given, value, f"{what}: {name}")
        else:
            values[name] = _numbers(given, value, f"{what}: {name}", value.length)
    return values


def _numbers(given, value: Value, what: str, *lengths: int) -> tuple[float, ...]:
    """As many numbers as one of the lengths says."""
    if not isinstance(given, (list, tuple)) or len(given) not in lengths:
        counts = " or ".join(map(str, lengths))
        raise FaultError(f"{what} = {quoted(given)}; {counts} numbers [{value.unit}] are valid")
    return tuple(_number(item, value, what) for item in given)


def _points(given, value: Value, what: str) -> tuple[tuple[float, ...], ...]:
    """Way points of seven numbers each, their times rising."""
    if not isinstance(given, (list, tuple)) or not 0 < len(given) <= MAX_POINTS:
        raise FaultError(f"{what} = {quoted(given)}; a list of 1 to {MAX_POINTS} points is valid")
    rows = [
        _numbers(row, value, f"{what}, number {k}", 4, POINTS) for k, row in enumerate(given, 1)
    ]
    for k, (before, row) in enumerate(zip([(0.0,), *rows], rows), 1):
        if row[0] <= before[0]:
            raise FaultError(
                f"{what}, number {k}: its time {row[0]:g} s; valid is one after {before[0]:g} s"
            )
    return tuple(row + (0.0,) * (POINTS - len(row)) for row in rows)


def _number(given, value: Value, what: str) -> float:
    number = math.nan
    if not isinstance(given, bool):
        try:
            number = float(given)  # text too: YAML 1.1 reads 1e-3 as a word
        except (TypeError, ValueError, OverflowError):
            pass
    low, high = value.minimum, value.maximum
    if (
        not math.isfinite(number)
        or (low is not None and number < low)
        or (high is not None and number > high)
    ):
        bounds = (
            "" if low is None else f" >= {low:g}" if high is None else f" from {low:g} to {high:g}"
        )
        raise FaultError(
            f"{what} = {quoted(given)}; a finite number{bounds} [{value.unit}] is valid"
        )
    return number


def _refuse_unknown(
    mapping: Mapping, valid: Sequence[str], what: str, show: Callable[[object], str] = quoted
) -> None:
    for key in mapping:
        if key not in valid:
            raise FaultError(f"{what} has no {show(key)}; valid: {listed(valid)}")


def _neutral_of(value: Value) -> float | tuple[float, ...]:
    return value.neutral if value.length == 1 else (value.neutral,) * value.length


def _neutral(kind: str, name: str) -> float | tuple[float, ...]:
    return _neutral_of(KINDS[kind].values[name])


def _shown(value) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "[" + ", ".join(f"{item:g}" for item in value) + "]"
