"""The last seconds before and after a gate closed: a ring that the loop writes, and a thread that keeps it as a file.

`opspace blackbox FILE` shows one.
"""

from __future__ import annotations

import os
import re
import threading
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from ..control.safety.guarded import GuardedController
from ..control.safety.settings import GATES

__all__ = ["BlackBox", "default_folder"]

KEPT = 8192  # commands in the ring: five seconds at up to 1.6 kHz
SECONDS = 5.0  # that a file holds
AFTERMATH = 0.5  # [s] of them after the event, in which further events are part of the same file
FILES = 20  # kept in a folder; the oldest goes
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
        # what a row is made of: views of what the loop writes
        controller, gate = guarded.controller, guarded.gate
        self._sources = (gate.q, gate.v, controller.command, *controller.target_rows)
        # stamp and arrival of the state, bits of the closed gates, 1 for a tick of the law
        self._numbers = np.zeros((KEPT, 4), dtype=np.int64)
        self._ring = np.zeros((KEPT, sum(map(len, self._sources))))
        self.count = self.files = 0
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
        np.concatenate(self._sources, out=self._ring[row])
        self._numbers[row] = gate.stamp, arrival, gate.closed, self._guarded.is_ticking
        self.count += 1

    def keep(self, why: str) -> None:
        """Something has happened: a file is written soon."""
        self._why = self._why or why
        self._event.set()

    def _run(self) -> None:
        while not self._ended.is_set():
            self._event.wait()
            if not self._why:
                continue
            self._ended.wait(AFTERMATH)
            self._event.clear()
            why, self._why = self._why, ""
            try:
                self._write(why)
                self.trouble = ""
            except OSError as error:  # a full disk is no reason to stop
                self.trouble = str(error)

    def _write(self, why: str) -> None:
        """Copy the ring and write it, first under another name, so that a file is whole or not there."""
        count = self.count
        kept = min(count, KEPT)
        order = np.arange(count - kept, count) % KEPT
        numbers, values = self._numbers[order], self._ring[order]
        is_recent = numbers[:, 1] >= numbers[-1, 1] - SECONDS * 1e9 if kept else np.zeros(0, bool)
        ends = np.cumsum([len(part) for part in self._sources[:3]])
        q, v, command, target = np.split(values[is_recent], ends, axis=1)
        stamp, arrival, closed, is_ticking = numbers[is_recent].T
        controller = self._guarded.controller
        assert self._folder is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%f")
        path = self._folder / f"{MARK}{now}-{os.getpid()}.npz"
        draft = path.with_suffix(".part")
        with draft.open("xb") as file:
            np.savez_compressed(
                file,
                why=why,
                robot=controller.model.name,
                joints=controller.joints,
                state_joints=self._gate.names,
                tasks=controller.tasks,
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
        self.files += 1
        ours = [each for each in self._folder.iterdir() if NAME.fullmatch(each.name)]
        for old in sorted(ours)[:-FILES]:
            old.unlink(missing_ok=True)
