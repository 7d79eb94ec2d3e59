# SPDX-License-Identifier: Apache-2.0
"""Contacts and closures as users write them, and where they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...dynamics import frame_pose
from ...errors import ConfigurationError, quoted
from ...model import Model
from ...model.rotations import from_quaternion
from ...osim.tasks import ROWS
from ..joint_index import floating_bases

CLOSED = 1e-9  # [m]: loops that are open by less are closed
CORNERS = ((1, 1), (1, -1), (-1, -1), (-1, 1))


@dataclass(frozen=True)
class Contact:
    """A part of the robot that can touch the ground.

    Attributes:
        frame: Its frame.
        points: (p, 3) points in the frame's axes, from its origin [m].
    """

    frame: str
    points: np.ndarray

    @property
    def is_point(self) -> bool:
        """Is it a single point, which takes no torque?"""
        return len(self.points) == 1


@dataclass(frozen=True)
class Loop:
    """Two frames held together: rows "pose", "position" or "orientation" of the first seen from the second."""

    first: str
    second: str
    rows: str = "pose"

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(ROWS[self.rows])


def parse_contacts(model: Model, texts: Sequence[str]) -> tuple[Contact, ...]:
    """Contacts from 'frame', 'frame x y' or 'frame front back left right height'.

    Raises:
        ConfigurationError: Malformed, given twice, or fixed to the world.
        UnknownFrameError: The model has no such frame.
    """
    contacts: dict[str, Contact] = {}
    for text in texts:
        frame, *numbers = text.split() or [""]
        if model.frame_body[model.frame_index(frame)] < 0:
            raise ConfigurationError(f"contact {quoted(text)}: the frame is fixed to the world")
        if frame in contacts:
            raise ConfigurationError(f"contact {quoted(text)}: the frame is a contact already")
        contacts[frame] = Contact(frame, _points(text, numbers))
    return tuple(contacts.values())


def _points(text: str, numbers: list[str]) -> np.ndarray:
    if not numbers:
        return np.zeros((1, 3))
    try:
        given = np.array([float(x) for x in numbers])
    except ValueError:
        given = np.zeros(0)
    if given.shape == (2,):
        given = np.array([given[0], given[0], given[1], given[1], 0.0])
    is_sole = given.shape == (5,) and np.isfinite(given).all()
    if not is_sole or min(given[0] + given[1], given[2] + given[3]) <= 0.0:
        raise ConfigurationError(
            f"contact {quoted(text)}: 'frame', 'frame x y' with two positive half lengths [m], or "
            "'frame front back left right height' of a sole with some area is valid"
        )
    front, back, left, right, height = given
    return np.array(
        [(front if x > 0 else -back, left if y > 0 else -right, height) for x, y in CORNERS]
    )


def parse_loops(model: Model, texts: Sequence[str]) -> tuple[Loop, ...]:
    """Closures from 'first second' or 'first second rows'.

    Raises:
        ConfigurationError: Malformed, or the frames are on one body.
        UnknownFrameError: The model has no such frame.
    """
    loops = []
    for text in texts:
        words = text.split()
        if len(words) not in (2, 3) or (len(words) == 3 and words[2] not in ROWS):
            raise ConfigurationError(
                f"closure {quoted(text)}: 'first second' or 'first second rows' with rows "
                f"{', '.join(ROWS)} is valid"
            )
        bodies = [model.frame_body[model.frame_index(frame)] for frame in words[:2]]
        if bodies[0] == bodies[1]:
            raise ConfigurationError(f"closure {quoted(text)}: both frames are on the same body")
        loops.append(Loop(*words))
    return tuple(loops)


def relative_orientation(model: Model, q: np.ndarray, loop: Loop) -> np.ndarray:
    """T (3, 3), the orientation of the first frame in the second: R_1 = R_2 T."""
    first, second = (
        from_quaternion(frame_pose(model, q, frame)[1]) for frame in (loop.first, loop.second)
    )
    return second.T @ first


def closed(model: Model, q: np.ndarray, loops: Sequence[Loop]) -> np.ndarray:
    """q with the origins of the frames of all loops brought together, their orientations as they are.

    Raises:
        IllPosedError: The loops cannot be closed from here.
    """
    if all(_opening(model, q, loop) < CLOSED for loop in loops):
        return q
    from ...algebra.closure import ClosedChain, Closure  # only for a start with open loops

    held = [
        Closure(loop.first, loop.second, loop.rows, relative_orientation(model, q, loop))
        for loop in loops
    ]
    return ClosedChain(model, held).assemble(q)


def _opening(model: Model, q: np.ndarray, loop: Loop) -> float:
    first, second = (frame_pose(model, q, frame)[0] for frame in (loop.first, loop.second))
    return 0.0 if loop.rows == "orientation" else float(np.abs(first - second).max())


def on_the_ground(
    model: Model, q: np.ndarray, contacts: Sequence[Contact], normal, height: float
) -> np.ndarray:
    """q with every floating robot that has contacts moved along the normal until its lowest point is on the ground."""
    n, q = ground_axes(normal)[0], q.copy()
    for base in floating_bases(model):
        own = [
            c
            for c in contacts
            if model.support(int(model.frame_body[model.frame_index(c.frame)]))[0] == base
        ]
        if own:
            q[model.q_index[base] :][:3] -= n * (
                min(float((points_of(model, q, c) @ n).min()) for c in own) - height
            )
    return q


def points_of(model: Model, q: np.ndarray, contact: Contact) -> np.ndarray:
    """World positions (p, 3) of a contact's points."""
    position, quaternion = frame_pose(model, q, contact.frame)
    return position + contact.points @ from_quaternion(quaternion).T


def ground_axes(normal) -> np.ndarray:
    """Unit normal and two tangents (3, 3), row by row; for the level ground z, x, y."""
    n = np.asarray(normal, dtype=float) / np.linalg.norm(normal)
    least = np.eye(3)[np.argmin(np.abs(n))]
    x = least - n * (n @ least)
    x /= np.linalg.norm(x)
    return np.array([n, x, np.cross(n, x)])
