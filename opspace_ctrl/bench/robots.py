# SPDX-License-Identifier: Apache-2.0
"""The robots that are timed, with their tasks: shipped, of the example-robot-data wheel, or any URDF."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
import yaml

from ..data import read_shipped
from ..dynamics import frame_jacobian
from ..errors import InertiaWarning, SourceError
from ..model import Model, load_robot, load_urdf
from ..model.options import LoadOptions
from ..model.source import ROBOTS as SHIPPED
from ..osim import OperationalSpace, Task
from .states import NoRegularStates, regular_states

WHEEL = "example-robot-data"
MAX_TIPS = 4


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
    """A robot of the wheel that is timed in one way: its file (without ending), base, task frames, joints to freeze."""

    stem: str
    base: str
    frames: tuple[str, ...]
    locked: tuple[str, ...] = ()


KNOWN = {
    "panda": _Known("panda", "fixed", ("panda_hand",), ("panda_finger_joint1",)),
    "g1": _Known(
        "g1_29dof_rev_1_0",
        "floating",
        ("left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link"),
    ),
    "talos": _Known(
        "talos_reduced",
        "floating",
        ("gripper_left_base_link", "gripper_right_base_link", "left_sole_link", "right_sole_link"),
    ),
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
    return {
        path.stem if stems.count(path.stem) == 1 else f"{path.parents[1].name}/{path.stem}": path
        for path in paths
    }


def find_case(name: str, base: str | None = None, frames: Sequence[str] = ()) -> Case:
    """A robot by name (`DEFAULT`, shipped, or of the wheel) or by the path of its URDF; frames: its tasks' instead.

    Raises:
        SourceError: There is no such robot.
        UnknownFrameError: It lacks one of the frames.
        NoRegularStates: Nothing of it moves.
    """
    case = _usual_case(name, base)
    for frame in frames:
        case.model.frame_index(frame)
    return replace(case, tasks=tuple(map(Task, frames))) if frames else case


def _usual_case(name: str, base: str | None) -> Case:
    """A robot with the tasks that it has by default."""
    if name in SHIPPED:
        options: LoadOptions = {"base": base} if base else {}
        model = load_robot(name, **options)
        frames = yaml.safe_load(read_shipped("config", "task_frames.yaml"))[name]
        return Case(name, model, tuple(Task(frame) for frame in frames))
    known = KNOWN.get(name)
    if known and base in (None, known.base):
        model = load_quietly(
            _wheel_urdf(known.stem), known.base, locked=dict.fromkeys(known.locked, 0.0)
        )
        return Case(name, model, tuple(Task(frame) for frame in known.frames), known.locked)
    path = Path(name) if is_path(name) else _wheel_urdf(known.stem if known else name)
    model = load_quietly(path, base or "fixed")
    return Case(name, model, default_tasks(model))


def is_path(name: str) -> bool:
    """Is it a file that is meant, not a robot with a name of its own?"""
    return name not in (*SHIPPED, *KNOWN) and Path(name).exists()


def ensure_exists(name: str) -> None:
    """Raise SourceError if there is no such robot: a name that is mistyped is refused before anything is measured."""
    if name not in SHIPPED and not is_path(name):
        _wheel_urdf(KNOWN[name].stem if name in KNOWN else name)


def labels(names: Sequence[str]) -> dict[str, str]:
    """The names as given, by how they head a column: a file by its stem, unless that is another robot's name."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        path, taken = Path(name), {*SHIPPED, *KNOWN, *found}
        shorter = (path.stem, f"{path.parent.name}/{path.stem}") if is_path(name) else ()
        found[next((label for label in shorter if label not in taken), name)] = name
    return found


def _wheel_urdf(name: str) -> Path:
    known = wheel_urdfs()
    if name not in known:
        names = (*KNOWN, *SHIPPED, *known)
        close = [other for other in names if name.lower() in other.lower()] or get_close_matches(
            name, names
        )
        nearest = f"; did you mean {', '.join(close[:5])}?" if name and close else ""
        raise SourceError(
            f"no robot {name!r}{nearest or ':'} give the path of a URDF, the name of one in the wheel "
            f"{WHEEL}, or one of {', '.join((*KNOWN, *SHIPPED))}"
        )
    return known[name]


def load_quietly(path: Path, base: str, **options) -> Model:
    """`load_urdf` without the warnings about doubtful inertias, which real robots have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InertiaWarning)
        return load_urdf(path, base, **options)


def default_tasks(model: Model) -> tuple[Task, ...]:
    """Tasks for a robot of which nothing is known: its longest limbs, in as many directions as it can.

    Raises:
        NoRegularStates: Nothing moves.
    """
    for tasks in _proposals(model):
        try:
            regular_states(
                OperationalSpace(model, tasks, "sparse_ltdl"), 4, np.random.default_rng(0)
            )
        except NoRegularStates:
            continue
        return tasks
    raise NoRegularStates(f"{model.name}: nothing moves, there is no tick to time")


def _proposals(model: Model) -> Iterator[tuple[Task, ...]]:
    """Tasks to try, the most demanding first; at last the direction in which the longest limb moves most."""
    tips = [i for i in range(len(model.parent)) if not model.children(i)]
    longest = sorted(tips, key=lambda i: -len(model.support(i)))[:MAX_TIPS]
    if not longest:
        return
    frames = [_farthest_frame(model, i) for i in longest]
    for chosen in (sorted(frames), frames[:1]):
        for rows in ("pose", "position"):
            yield tuple(Task(frame, rows) for frame in chosen)
    J = frame_jacobian(model, model.random_configuration(np.random.default_rng(0)), frames[0])
    yield (Task(frames[0], np.eye(6)[[np.argmax(np.abs(J).max(axis=1))]]),)


def _farthest_frame(model: Model, body: int) -> str:
    """The frame on a body that is farthest from its joint: a foot, rather than the knee above it."""
    own = np.flatnonzero(model.frame_body == body)
    return model.frame_names[own[np.argmax(np.linalg.norm(model.frame_translation[own], axis=1))]]
