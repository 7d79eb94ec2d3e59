# SPDX-License-Identifier: Apache-2.0
"""The library called from Python: for recording reference ticks, and for tests."""

from __future__ import annotations

import ctypes
from ctypes import (
    POINTER,
    byref,
    c_char_p,
    c_double,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_void_p,
)
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import ExportError
from .image import NONE, Image

__all__ = ["Library", "Robot", "SimulatedRobot"]

ALIGNMENT = 64  # of an arena


class _Field(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("unit", c_char_p),
        ("choices", c_char_p),
        ("least", c_double),
        ("most", c_double),
        ("rows", c_uint32),
        ("columns", c_uint32),
        ("stride", c_uint32),
        ("is_whole", c_uint8),
        ("is_live", c_uint8),
        ("role", c_uint8),
        ("kind", c_uint8),
        ("at", c_void_p),
    ]


class Library:
    """A libopspace.so of this machine's kind.

    Raises:
        ExportError: It cannot be loaded.
    """

    def __init__(self, path: Path):
        try:
            self.functions = ctypes.CDLL(str(path.resolve()))
        except OSError as error:
            raise ExportError(f"{path} cannot be loaded on this machine: {error}") from error
        self.functions.opspace_words.restype = c_char_p
        self.functions.opspace_size.restype = c_size_t
        for name in ("joint", "task", "method_name"):
            getattr(self.functions, f"opspace_{name}").restype = c_char_p

    def check(self, status: int) -> None:
        """Raise ExportError, in the library's words, unless the status is that of success."""
        if status:
            raise ExportError(self.functions.opspace_words(status).decode())

    def replay(self, image: bytes) -> tuple[int, int, float]:
        """Reference ticks, how many came out in every bit, and the largest difference as a share of the torque."""
        file, arena, size = self.memory(image)
        ticks, identical, worst = c_uint32(), c_uint32(), c_double()
        self.check(
            self.functions.opspace_replay(
                c_void_p(arena.ctypes.data), c_size_t(size), c_void_p(file.ctypes.data),
                c_size_t(len(image)), byref(ticks), byref(identical), byref(worst),
            )
        )  # fmt: skip
        return ticks.value, identical.value, worst.value

    def record(self, image: bytes, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a robot answers, see `record.Recorder`. Raises ExportError, in the library's words."""
        robot = SimulatedRobot(self, image) if _is_simulated(image) else Robot(self, image)
        return np.array([robot.answer(row) for row in inputs])

    def memory(self, image: bytes) -> tuple[NDArray[np.uint8], NDArray[np.uint8], int]:
        """The image and an arena for it, aligned, and the arena's size; one byte if it is no image."""
        file = aligned(len(image))
        file[:] = np.frombuffer(image, np.uint8)
        size = self.functions.opspace_size(c_void_p(file.ctypes.data), c_size_t(len(image)))
        return file, aligned(max(size, 1)), size


class Robot:
    """A robot in an arena."""

    def __init__(self, library: Library, image: bytes):
        self.library = library
        file, self._arena, size = library.memory(image)
        self._robot = c_void_p()
        library.check(
            library.functions.opspace_open(
                byref(self._robot), c_void_p(self._arena.ctypes.data), c_size_t(size),
                c_void_p(file.ctypes.data), c_size_t(len(image)),
            )
        )  # fmt: skip
        self.tau = np.zeros(library.functions.opspace_joints(self._robot))
        self._is_active = False

    def tick(self, q: NDArray[np.float64], v: NDArray[np.float64], time: float) -> int:
        """One tick; `tau` is the command. The library's status."""
        status: int = self.library.functions.opspace_tick(
            self._robot, _pointer(q), _pointer(v), c_double(time), _pointer(self.tau)
        )
        return status

    def answer(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        """The command for time, q and v; the first tick activates. Raises ExportError, in the library's words."""
        q, v = np.split(given[1:].copy(), [self.library.functions.opspace_nq(self._robot)])
        if not self._is_active:
            self.library.check(self.call("activate", q, v, float(given[0])))
        self._is_active = True
        self.library.check(self.tick(q, v, float(given[0])))
        return self.tau.copy()

    def set(self, name: str, *values: float) -> int:
        """Write a parameter. The library's status."""
        field, numbers = _Field(), np.array(values, float)
        status = self.call("find", name, byref(field))
        return status or self.call("set", byref(field), numbers, c_size_t(len(numbers)))

    def get(self, name: str) -> NDArray[np.float64]:
        """The numbers (rows, columns) of a field."""
        field = _Field()
        self.library.check(self.call("find", name, byref(field)))
        numbers = np.zeros((field.rows, field.columns))
        self.library.check(self.call("get", byref(field), numbers, c_size_t(numbers.size)))
        return numbers

    def call(self, name: str, *arguments: object) -> int:
        """Another function of the library with this robot first; numbers, texts and vectors as they are."""
        status: int = getattr(self.library.functions, f"opspace_{name}")(
            self._robot, *map(_converted, arguments)
        )
        return status


class SimulatedRobot(Robot):
    """A simulated robot in an arena, with the names of `Simulator`."""

    def __init__(self, library: Library, image: bytes):
        super().__init__(library, image)
        self.q = np.zeros(library.functions.opspace_nq(self._robot))
        self.v = np.zeros(library.functions.opspace_nv(self._robot))
        self._look()

    def step(self, tau: NDArray[np.float64]) -> None:
        """Make a step. Raises ExportError, in the library's words."""
        self.library.check(self.call("sim_step", np.array(tau, float)))
        self._look()

    def answer(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        """The state (q, v) after a step with these efforts. Raises likewise."""
        self.step(given)
        return np.concatenate([self.q, self.v])

    def hold(self) -> NDArray[np.float64]:
        """Efforts that leave the joints where they are. Raises likewise."""
        tau = np.zeros(len(self.tau))
        self.library.check(self.call("sim_hold", tau))
        return tau

    def reset(self, q: NDArray[np.float64] | None = None) -> None:
        """Go back to the initial state, or to another configuration. Raises likewise."""
        self.library.check(self.call("sim_reset", q, None))
        self._look()

    def _look(self) -> None:
        self.library.check(self.call("sim_state", self.q, self.v, self.tau, None))


def _is_simulated(image: bytes) -> bool:
    return Image.unpacked(image).engine != NONE


def aligned(size: int) -> NDArray[np.uint8]:
    """Bytes that begin on a multiple of ALIGNMENT."""
    block = np.zeros(size + ALIGNMENT, np.uint8)
    return block[-block.ctypes.data % ALIGNMENT :][:size]


def _pointer(x: NDArray[np.float64]) -> object:
    return x.ctypes.data_as(POINTER(c_double))


def _converted(x: object) -> object:
    if isinstance(x, np.ndarray):
        return _pointer(x)
    if isinstance(x, float):
        return c_double(x)
    if isinstance(x, str):
        return c_char_p(x.encode())
    return c_int64(x) if isinstance(x, int) else x
