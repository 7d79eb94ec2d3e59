"""The robots that are timed, with their tasks: shipped ones, those of the example-robot-data wheel, or any URDF."""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
import yaml

from ..data import read_shipped
from ..errors import InertiaWarning, SourceError
from ..model import Model, load_robot, load_urdf
from ..model.source import ROBOTS as SHIPPED
from ..osim import OperationalSpace, Task
from .states import regular_states

__all__ = ["DEFAULT", "HUMANOIDS", "Case", "NoRegularStates", "default_tasks", "find_case", "wheel_urdfs"]

WHEEL = "example-robot-data"
MAX_TIPS = 4


class NoRegularStates(SourceError):
    """The tasks of a robot are singular wherever it was looked: there is no regular tick to time."""


@dataclass(frozen=True, eq=False)
class Case:
    """A robot and its tasks.

    Attributes:
        name: What it is called here.
        model: The robot.
        tasks: What `OperationalSpace` takes.
        locked: The joints that are frozen at zero, which the peers have to freeze too.
    """

    name: str
    model: Model
    tasks: tuple[Task, ...]
    locked: tuple[str, ...] = field(default=())

    @property
    def frames(self) -> list[str]:
        """Names of the task frames."""
        return [task.frame for task in self.tasks]

    @property
    def is_floating(self) -> bool:
        """Does the root float?"""
        return bool(self.model.is_base_coordinate.any())


@dataclass(frozen=True)
class _Known:
    """How a robot of the wheel is timed: file name without its ending, base, task frames, joints to freeze."""

    stem: str
    base: str
    frames: tuple[str, ...]
    locked: tuple[str, ...] = ()


KNOWN = {
    "panda": _Known("panda", "fixed", ("panda_hand",), ("panda_finger_joint1",)),
    "g1": _Known("g1_29dof_rev_1_0", "floating", ("left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link",
                                                  "right_ankle_roll_link")),
    "talos": _Known("talos_reduced", "floating", ("gripper_left_base_link", "gripper_right_base_link",
                                                  "left_sole_link", "right_sole_link")),
}
HUMANOIDS = ("g1", "talos", "asimo")
DEFAULT = (*KNOWN, "asimo", "arm7")


@cache
def wheel_urdfs() -> dict[str, Path]:
    """Every URDF of the example-robot-data wheel, by file name (and package where that is not unique).

    Raises:
        SourceError: The wheel is not installed.
    """
    try:
        files = metadata.distribution(WHEEL).files or []
    except metadata.PackageNotFoundError:
        raise SourceError(f"the wheel {WHEEL} is not installed: pip install {WHEEL}") from None
    paths = sorted(Path(str(file.locate())).resolve() for file in files if file.suffix == ".urdf")
    stems = [path.stem for path in paths]
    return {path.stem if stems.count(path.stem) == 1 else f"{path.parents[1].name}/{path.stem}": path
            for path in paths}


def find_case(name: str, base: str | None = None) -> Case:
    """A robot by name (`DEFAULT`, shipped, or of the wheel) or by the path of its URDF.

    Raises:
        SourceError: There is no such robot.
        NoRegularStates: No tasks were found that it can do.
    """
    if name in SHIPPED:
        model = load_robot(name, **({"base": base} if base else {}))
        frames = yaml.safe_load(read_shipped("config", "task_frames.yaml"))[name]
        return Case(name, model, tuple(Task(frame) for frame in frames))
    if name in KNOWN and base in (None, KNOWN[name].base):
        known = KNOWN[name]
        model = load_quietly(wheel_urdfs()[known.stem], known.base, locked=dict.fromkeys(known.locked, 0.0))
        return Case(name, model, tuple(Task(frame) for frame in known.frames), known.locked)
    if Path(name).exists():
        path = Path(name)
    elif name in wheel_urdfs():
        path = wheel_urdfs()[name]
    else:
        raise SourceError(f"no robot {name!r}: give the path of a URDF, a name of the wheel {WHEEL}, or one of "
                          f"{', '.join((*KNOWN, *SHIPPED))}")
    model = load_quietly(path, base or "fixed")
    return Case(name, model, default_tasks(model))


def load_quietly(path: Path, base: str, **options) -> Model:
    """`load_urdf` without the warnings about doubtful inertias, which real robots have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InertiaWarning)
        return load_urdf(path, base, **options)


def default_tasks(model: Model) -> tuple[Task, ...]:
    """Tasks for a robot of which nothing is known: its longest limbs, all six rows or the position, as it can.

    Raises:
        NoRegularStates: Even the position of one tip is singular everywhere.
    """
    for frames, rows in _proposals(model):
        tasks = tuple(Task(frame, rows) for frame in frames)
        try:
            regular_states(OperationalSpace(model, tasks, method="sparse_ltdl"), 4, np.random.default_rng(0))
        except ValueError:
            continue
        return tasks
    raise NoRegularStates(f"{model.name}: no tip of its tree can be moved in three directions; there is no regular "
                          "tick to time")


def _proposals(model: Model) -> list[tuple[Sequence[str], str]]:
    """Frames and rows to try, the most demanding first."""
    tips = [i for i in range(len(model.parent)) if not model.children(i)]
    longest = sorted(tips, key=lambda i: -len(model.support(i)))[:MAX_TIPS]
    names = [model.body_names[i] for i in sorted(longest)]
    deepest = [model.body_names[longest[0]]] if longest else []
    return [(frames, rows) for frames in (names, deepest) for rows in ("pose", "position") if frames]
