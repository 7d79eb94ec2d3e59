# SPDX-License-Identifier: Apache-2.0
"""The log of a run, streamed to a folder while the robot runs, and read back for the report.

The folder holds header.json (what was simulated), rows.f64 (one row of numbers for each state measured), events.jsonl
(what was out of the ordinary) and counts.json (counters and faults). All are written a few times a second, so that a
run that is killed leaves all but its last instant, and another process can follow it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from ...errors import LogError, quoted
from ...model import Model
from ...writing import OutputFolder
from ..joint_index import base_index, coordinate_names, position_index

__all__ = ["Log", "Run", "log_folder", "progress", "read_log"]

HEADER, ROWS, EVENTS, COUNTS = "header.json", "rows.f64", "events.jsonl", "counts.json"
FLUSH_EVERY = 0.2  # [s] of the wall clock
BUFFER = 256  # rows
EVENTS_OF_A_KIND = 200  # written; the rest is only counted

# The columns before the vectors: simulated time [s]; time since the first command [s], NaN before it; when the state
# left and when its command came, on the wall [s], NaN for never; whether the watchdog acted.
SCALARS = ("time", "schedule", "left", "arrived", "watchdog")


def _columns(nq: int, nv: int, k: int) -> dict[str, slice]:
    """The columns of a row that each quantity takes."""
    widths = {
        **dict.fromkeys(SCALARS, 1),
        "q": nq,
        "v": nv,
        "position": k,
        "velocity": k,
        "command": k,
        "applied": k,
    }
    columns, at = {}, 0
    for name, width in widths.items():
        columns[name] = slice(at, at + width)
        at += width
    return columns


def log_folder(folder: str | Path, force: bool = False) -> OutputFolder:
    """The folder of a log.

    Raises:
        OutputError: It holds something else.
    """
    return OutputFolder(folder, "opspace log", (HEADER, ROWS, EVENTS, COUNTS), force)


class Log:
    """Writes the log of one run."""

    def __init__(
        self,
        folder: str | Path,
        model: Model,
        header: Mapping,
        clock: Callable[[], float] = perf_counter,
    ):
        """Start a log in this folder, which is made if need be; an older log in it is replaced.

        Args:
            model: Whose states will come.
            header: More plain data about the run.
            clock: The wall clock that decides when to write [s].

        Raises:
            OutputError: The folder holds something else than a log.
            LogError: It cannot be written.
        """
        self.folder, self._clock, self._flushed = Path(folder), clock, clock()
        k = len(model.effort_limits)
        self._columns = _columns(model.nq, model.nv, k)
        self._buffer = np.full((BUFFER, self._columns["applied"].stop), np.nan)
        self._filled = 0
        self._written: dict[str, int] = {}
        own = {
            "robot": model.name,
            "nq": model.nq,
            "nv": model.nv,
            "k": k,
            "joints": coordinate_names(model),
            "positions": position_index(model).tolist(),
            "rates": np.flatnonzero(~model.is_base_coordinate).tolist(),
            "base": base_index(model),
            "root": model.body_names[0] if model.body_names else "",
            "effort_limits": [
                None if np.isinf(limit) else float(limit) for limit in model.effort_limits
            ],
        }
        self._out = log_folder(folder)
        self._out.claim()
        try:
            self._rows = open(self._out.place(ROWS), "xb", buffering=0)
            self._events = open(self._out.place(EVENTS), "x", encoding="utf-8", buffering=1)
        except OSError as error:
            raise LogError(f"cannot write the log {quoted(self.folder)}: {error}") from None
        self._out.write({HEADER: json.dumps({**own, **header})})

    def row(self, **values) -> None:
        """Add a row; the names are those of the columns."""
        if self._filled == BUFFER:
            self._write_rows()
        row = self._buffer[self._filled]
        for name, value in values.items():
            row[self._columns[name]] = value
        self._filled += 1

    def event(self, kind: str, time: float, text: str) -> None:
        """Add an event at a time of the schedule [s]; of one kind only the first are kept."""
        self._written[kind] = self._written.get(kind, 0) + 1
        if self._written[kind] <= EVENTS_OF_A_KIND:
            self._events.write(json.dumps({"time": time, "kind": kind, "text": text}) + "\n")

    def is_due(self) -> bool:
        """Is it time to write?"""
        return self._clock() - self._flushed > FLUSH_EVERY

    def flush(self, counters: Mapping[str, int], faults: list[dict]) -> None:
        """Write what has gathered."""
        self._write_rows()
        counted = json.dumps({"counters": dict(counters), "faults": faults})
        self._out.write({COUNTS: counted}, is_final=False)
        self._flushed = self._clock()

    def close(self) -> None:
        """Close the files; flush first."""
        self._rows.close()
        self._events.close()

    def _write_rows(self) -> None:
        self._rows.write(self._buffer[: self._filled].tobytes())
        self._buffer[: self._filled] = np.nan
        self._filled = 0


@dataclass(frozen=True)
class Run:
    """A log that was read.

    Attributes:
        header, counters, faults, events: As they were written.
        columns: Where each quantity stands in a row.
        rows: (n, width).
    """

    header: dict
    counters: dict[str, int]
    faults: list[dict]
    events: list[dict]
    columns: dict[str, slice]
    rows: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        """A column: (n,) for a scalar, (n, width) for a vector."""
        values = self.rows[:, self.columns[name]]
        return values[:, 0] if name in SCALARS else values

    @property
    def period(self) -> float:
        """Simulated time between two states [s]."""
        return (
            float(np.median(np.diff(self["time"]))) if len(self.rows) > 1 else self.header["step"]
        )

    def until(self, seconds: float) -> Run:
        """The run without what came after this time of the schedule [s]."""
        keep = ~(self["schedule"] > seconds + 1e-9)
        return Run(
            self.header,
            self.counters,
            self.faults,
            [event for event in self.events if event["time"] <= seconds + 1e-9],
            self.columns,
            self.rows[keep],
        )


def read_log(folder: str | Path) -> Run:
    """Read the log of a run, whole or cut short.

    Raises:
        LogError: There is none, or it is damaged.
    """
    folder = Path(folder)
    try:
        header = json.loads((folder / HEADER).read_text(encoding="utf-8"))
        columns = _columns(header["nq"], header["nv"], header["k"])
        width = columns["applied"].stop
        numbers = np.fromfile(folder / ROWS)
        rows = numbers[: len(numbers) // width * width].reshape(-1, width)
        # the last may be cut short
        lines = (folder / EVENTS).read_text(encoding="utf-8").split("\n")[:-1]
        counts = folder / COUNTS
        counted = (
            json.loads(counts.read_text(encoding="utf-8"))
            if counts.exists()
            else {"counters": {}, "faults": []}
        )
        events = [json.loads(line) for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LogError(f"{quoted(folder)} holds no log of a run: {error}") from None
    return Run(header, counted["counters"], counted["faults"], events, columns, rows)


def progress(folder: str | Path) -> float | None:
    """The time of the schedule that a run being written has reached [s]; None before its first command."""
    folder = Path(folder)
    try:
        header = json.loads((folder / HEADER).read_text(encoding="utf-8"))
        width = 8 * _columns(header["nq"], header["nv"], header["k"])["applied"].stop
        with open(folder / ROWS, "rb") as file:
            count = file.seek(0, os.SEEK_END) // width
            if not count:
                return None
            file.seek((count - 1) * width)
            row = np.frombuffer(file.read(width))
    except (OSError, ValueError, KeyError):
        return None
    schedule = float(row[SCALARS.index("schedule")])
    return None if np.isnan(schedule) else schedule
