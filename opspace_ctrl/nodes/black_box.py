# SPDX-License-Identifier: Apache-2.0
"""The last seconds before and after a gate closed: a ring that the loop writes, and a thread that keeps it as a file.

`opspace blackbox FILE` shows one.
"""

import os
import re
import threading
from datetime import datetime, timezone
from pathlib import Path
from time import monotonic

import numpy as np

from ..control.safety.guarded import GuardedController
from ..control.safety.settings import GATES

__all__ = ["BlackBox", "default_folder"]

KEPT = 8192  # commands in the ring: five seconds at up to 1.6 kHz
MARGIN = 256  # of them, the oldest, that the loop may overwrite while somebody reads
SECONDS = 5.0  # that a file holds
PLACES = 8  # tasks whose targets are kept, at least
CHANGES = (
    256  # of the tasks that are told apart: more than there can be while the ring is written once
)
AFTERMATH = 0.5  # [s] of them after the event, in which further events are part of the same file
FILES = 20  # kept in a folder; the oldest goes
ROWS = 256  # that are copied at a time: the loop need not wait for all of them
MARK = "black_box-"  # how the names of our files begin
NAME = re.compile(MARK + r"\d{8}T\d{6}\.\d{6}-\d+\.npz")


def default_folder() -> Path:
    """`opspace_ctrl` in ROS's folder of logs."""
    home = os.environ.get("ROS_HOME") or Path.home() / ".ros"
    return Path(os.environ.get("ROS_LOG_DIR") or Path(home) / "log") / "opspace_ctrl"


class BlackBox:
    """Remembers states, commands, gates and targets.

    Attributes:
        files: How many have been written.
        trouble: Why the last one could not be, or "".
    """

    def __init__(self, guarded: GuardedController, folder: Path | None):
        """Folder: where files are kept; None: nowhere."""
        self._guarded, self._gate, self._folder = guarded, guarded.gate, folder
        controller, gate = guarded.controller, guarded.gate
        # what a row is made of: views of what the loop writes; and the targets of the tasks, which may change
        self._sources = (gate.q, gate.v, controller.command)
        self._report, self._tasks = controller.report, [controller.report.tasks] * CHANGES
        # stamp and arrival of the state, bits of the closed gates, 1 for a tick of the law, place of its `_tasks`
        self._numbers = np.zeros((KEPT, 5), dtype=np.int64)
        self._ring = np.zeros((KEPT, sum(map(len, self._sources))))
        self._targets = np.zeros((KEPT, max(PLACES, len(self._report.tasks)), 12))
        self.count = self.files = self._change = 0
        self.trouble = ""
        self._event, self._ended, self._why = threading.Event(), threading.Event(), ""
        self._thread: threading.Thread | None = None
        if folder is not None:
            self._thread = threading.Thread(target=self._run, name="black_box", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Keep what is to be kept, and end the thread."""
        self._ended.set()
        self._event.set()
        if self._thread is not None:
            self._thread.join(10.0)

    def note(self, arrival: int) -> None:
        """A command has been made; in the loop's thread."""
        gate, row = self._gate, self.count % KEPT
        report = self._guarded.controller.report
        if report is not self._report:
            self._report, self._change = report, (self._change + 1) % CHANGES
            self._tasks[self._change] = report.tasks
        np.concatenate(self._sources, out=self._ring[row])
        places = self._targets[row]
        places[: len(report.target)] = report.target[: len(places)]
        is_ticking, change = self._guarded.is_ticking, self._change
        self._numbers[row] = gate.stamp, arrival, gate.closed, is_ticking, change
        self.count += 1

    def references(self, since: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """What was asked of the tasks in the ticks after the first `since` commands, as far back as the ring goes.

        Returns:
            When the states of these ticks came (n,), on the steady clock [s]; by task the targets (n, 12): rotation,
            row by row, and position; NaN while the task was not there.
        """
        order = np.arange(max(since, self.count - KEPT + MARGIN, 0), self.count) % KEPT
        order = order[self._numbers[order, 3] == 1]
        names, target = self._targets_by_name(self._numbers[order, 4], self._targets[order])
        parts = np.split(target, len(names), axis=1) if names else []
        return self._numbers[order, 1] * 1e-9, dict(zip(names, parts))

    def keep(self, why: str) -> None:
        """Something has happened: a file is written soon, which names all that has happened since the last one."""
        self._why = " ".join(dict.fromkeys([*self._why.split(), *why.split()]))
        self._event.set()

    def _run(self) -> None:
        last = -SECONDS  # when a file was written: nothing is kept twice, and of gates that flap no second is lost
        while not self._ended.is_set() or self._why:
            self._event.wait()
            self._event.clear()
            if not self._why:
                continue
            self._ended.wait(max(AFTERMATH, last + SECONDS - monotonic()))
            last = monotonic()
            why, self._why = self._why, ""
            try:
                self._write(why)
                self.trouble = ""
            except OSError as error:  # a full disk is no reason to stop
                self.trouble = str(error)

    def _targets_by_name(
        self, change: np.ndarray, values: np.ndarray
    ) -> tuple[list[str], np.ndarray]:
        """Names of all tasks that there were, and their targets (rows, 12 a task), NaN while a task was not there."""
        changes = np.unique(change)
        names = list(dict.fromkeys(name for each in changes for name in self._tasks[each]))
        target = np.full((len(values), len(names), 12), np.nan)
        for each in changes:
            places = [names.index(name) for name in self._tasks[each][: values.shape[1]]]
            rows = change == each
            target[np.ix_(rows, places)] = values[rows, : len(places)]
        return names, target.reshape(len(values), 12 * len(names))

    def _write(self, why: str) -> None:
        """Copy the ring and write it, first under another name, so that a file is whole or not there."""
        count = self.count
        kept = min(count, KEPT)
        order = np.arange(count - kept, count) % KEPT
        if kept:
            arrivals = self._numbers[order, 1]
            order = order[arrivals >= arrivals[-1] - SECONDS * 1e9]
        ends = np.cumsum([len(part) for part in self._sources[:2]])
        q, v, command = np.split(_copied(self._ring, order), ends, axis=1)
        stamp, arrival, closed, is_ticking, change = self._numbers[order].T
        tasks, target = self._targets_by_name(change, _copied(self._targets, order))
        controller = self._guarded.controller
        assert self._folder is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%f")
        path = self._folder / f"{MARK}{now}-{os.getpid()}.npz"
        draft = path.with_suffix(".part")
        try:
            with draft.open("xb") as file:
                np.savez_compressed(
                    file,
                    why=why,
                    robot=controller.model.name,
                    joints=controller.joints,
                    state_joints=self._gate.names,
                    tasks=tasks,
                    gates=GATES,
                    stamp=stamp,
                    arrival=arrival,
                    closed=closed,
                    is_ticking=is_ticking.astype(bool),
                    q=q,
                    v=v,
                    command=command,
                    target=target,
                )
            draft.rename(path)
        finally:
            draft.unlink(missing_ok=True)  # on a full disk half a file would only be in the way
        self.files += 1
        ours = [each for each in self._folder.iterdir() if NAME.fullmatch(each.name)]
        for old in sorted(ours)[:-FILES]:
            old.unlink(missing_ok=True)


def _copied(ring: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Rows of a ring, some at a time."""
    starts = range(0, len(order) or 1, ROWS)
    return np.concatenate([ring[order[start : start + ROWS]] for start in starts])
