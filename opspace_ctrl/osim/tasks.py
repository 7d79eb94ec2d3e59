# SPDX-License-Identifier: Apache-2.0
"""What a task is: which frame, which rows of its motion, relative to what."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigurationError, MethodError
from ..model import Model

BLOCK_ROWS = 6  # rows of one block: they share a register
FRAME, RELATIVE, CENTER = 0, 1, 2  # kinds of tasks; kernels see them as `block_kind`
# What `Method.carries` has to name for a kind that not every method can carry, and what messages call it.
FEATURES = {
    RELATIVE: ("relative", "relative tasks"),
    CENTER: ("center_of_mass", "centre-of-mass tasks"),
}
Rows: TypeAlias = str | Sequence[Sequence[float]] | NDArray[Any]  # a word of ROWS, or (k, 6)
ROWS = {"pose": np.eye(6), "position": np.eye(6)[:3], "orientation": np.eye(6)[3:]}


@dataclass(frozen=True, eq=False)
class Task:
    """Rows of the motion of a frame, in the world or seen from another frame.

    Attributes:
        frame: Name of the frame (a link).
        rows: "pose" (6), "position" (3), "orientation" (3), or a constant (k, 6) matrix that picks combinations of the
            frame's velocity (linear first; world axes, or the axes of `relative_to`).
        relative_to: None for the world, or a frame a: then the motion is d/dt of R_a^T (x - x_a), and R_a^T (w - w_a).
    """

    frame: str
    rows: Rows = "pose"
    relative_to: str | None = None

    @property
    def kind(self) -> int:
        """FRAME or RELATIVE."""
        return FRAME if self.relative_to is None else RELATIVE

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames that it depends on: the one that is moved first."""
        return (self.frame,) if self.relative_to is None else (self.frame, self.relative_to)

    def selection(self) -> NDArray[np.float64]:
        """The rows as a (k, 6) matrix."""
        if isinstance(self.rows, str):
            if self.rows not in ROWS:
                raise ConfigurationError(
                    f"task {self.frame!r}: rows {self.rows!r} unknown; choose "
                    f"{', '.join(ROWS)} or a (k, 6) matrix"
                )
            return ROWS[self.rows]
        return _row_matrix(self.rows, 6, f"task {self.frame!r}")


@dataclass(frozen=True, eq=False)
class CenterOfMass:
    """The velocity of the centre of the moving mass, world axes.

    Attributes:
        rows: "position" (3), or a constant (k, 3) matrix.
    """

    rows: Rows = "position"
    kind: ClassVar[int] = CENTER
    frames: ClassVar[tuple[str, ...]] = ()  # none, and so every body

    def selection(self) -> NDArray[np.float64]:
        """The rows as a (k, 6) matrix, angular columns zero."""
        if isinstance(self.rows, str):
            if self.rows != "position":
                raise ConfigurationError(
                    f"centre of mass: rows {self.rows!r} unknown; choose position or a (k, 3) "
                    "matrix"
                )
            return ROWS["position"]
        rows = _row_matrix(self.rows, 3, "centre of mass")
        return np.hstack([rows, np.zeros_like(rows)])


# Every class of tasks, each with `kind`, `frames` and `selection()`.
AnyTask: TypeAlias = Task | CenterOfMass
# What a user may write for one task, and for all.
TaskLike: TypeAlias = str | tuple[str, Rows] | AnyTask
Tasks: TypeAlias = TaskLike | Iterable[TaskLike]


def _row_matrix(rows: Rows, columns: int, name: str) -> NDArray[np.float64]:
    """Rows as a (k, columns) matrix of finite numbers."""
    try:
        matrix = np.array(rows, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ConfigurationError(f"{name}: rows must be numbers, (k, {columns})") from None
    if matrix.ndim != 2 or matrix.shape[1] != columns or len(matrix) == 0:
        raise ConfigurationError(
            f"{name}: rows must be a (k, {columns}) matrix that picks combinations of the velocity"
            f"{' (linear first)' if columns == 6 else ''}, got the shape {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ConfigurationError(f"{name}: rows must be finite")
    return matrix


@dataclass(frozen=True, eq=False)
class Block:
    """Up to six rows of one task: what the kernels work on.

    Attributes:
        kind: FRAME, RELATIVE, CENTER ...
        frame, reference: Frame numbers; -1 for the whole robot and for the world.
        selection: (k, 6), k <= 6.
        row: Where its rows start among the m rows of all tasks.
    """

    kind: int
    frame: int
    reference: int
    selection: NDArray[np.float64]
    row: int

    @property
    def is_whole_robot(self) -> bool:
        """Does it depend on every body?"""
        return self.frame < 0

    @property
    def is_relative(self) -> bool:
        """Does it depend on a second frame, as a motion that is seen from there does?"""
        return self.reference >= 0


def parse_tasks(tasks: Tasks) -> tuple[AnyTask, ...]:
    """Whatever a user may write for tasks: a name, (name, rows), Task, CenterOfMass, or a list of these."""
    if isinstance(tasks, str | AnyTask) or _is_pair(tasks):
        tasks = [tasks]
    if not isinstance(tasks, Iterable):
        raise ConfigurationError(
            f"tasks are frame names, (name, rows), Task(...) or CenterOfMass(), not {tasks!r}"
        )
    parsed = []
    for task in tasks:
        if isinstance(task, str):
            task = Task(task)
        elif _is_pair(task):
            task = Task(*task)
        elif not isinstance(task, AnyTask):
            raise ConfigurationError(
                f"a task is a frame name, (name, rows) with rows {', '.join(ROWS)} or a (k, 6) "
                f"matrix (linear first), Task(...) or CenterOfMass(), not {task!r}"
            )
        parsed.append(task)
    if not parsed:
        raise ConfigurationError("at least one task is needed")
    return tuple(parsed)


def _is_pair(task: object) -> TypeGuard[tuple[str, Rows]]:
    """Is this ("frame", rows), and not two frame names?"""
    return (
        isinstance(task, tuple)
        and len(task) == 2
        and isinstance(task[0], str)
        and (not isinstance(task[1], str) or task[1] in ROWS)
    )


def blocks_of(model: Model, tasks: tuple[AnyTask, ...]) -> list[Block]:
    """Cut the tasks into blocks of up to six rows.

    Raises:
        UnknownFrameError: A frame that the model does not have.
        MethodError: A task that nothing can move.
    """
    blocks, row = [], 0
    for task in tasks:
        selection, frames = task.selection(), [model.frame_index(name) for name in task.frames]
        _check_motion(model, task, frames)
        frame, reference = [*frames, -1, -1][:2]
        for k in range(0, len(selection), BLOCK_ROWS):
            part = selection[k : k + BLOCK_ROWS]
            blocks.append(Block(task.kind, frame, reference, part, row))
            row += len(part)
    return blocks


def _check_motion(model: Model, task: AnyTask, frames: list[int]) -> None:
    """Raise MethodError if nothing moves the task, whose frames have these numbers."""
    ends = {int(model.frame_body[f]) for f in frames}
    if not frames:
        if not model.mass.any():
            raise MethodError(f"{FEATURES[task.kind][1]}: nothing of the robot moves")
    elif ends == {-1} or len(frames) > len(ends):
        where = "the world" if len(frames) == 1 else repr(task.frames[1])
        raise MethodError(f"task {task.frames[0]!r}: nothing moves it, it is fixed to {where}")
