# SPDX-License-Identifier: Apache-2.0
"""The controller's own main function, with every command judged where it is sent, and the memory of processes."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

TORQUE_RATE = 1000.0  # [Nm/s]
WARM_UP = 0.25  # share of the run after which memory is judged


def run_inside(path: str, arguments: list[str]) -> int:
    """The controller's own main function, with every command judged where it is sent."""
    from opspace_ctrl.control.safety import guarded
    from opspace_ctrl.nodes import controller
    from opspace_ctrl.nodes.commands import Commands

    monitor = InsideMonitor(path)
    send, send_last = Commands.send, Commands.send_last
    made, activate = guarded.GuardedController.__init__, guarded.GuardedController.activate

    def make(self, of, gate):
        made(self, of, gate)
        monitor.begin(of)

    def activated(self, *times):
        monitor.last = None  # the first command after activation is free
        return activate(self, *times)

    def sent(self, tau):
        is_sent = send(self, tau)
        if is_sent:
            monitor.note(tau)
        return is_sent

    def sent_last(self, tau):
        monitor.last = None
        monitor.note(tau)
        send_last(self, tau)

    guarded.GuardedController.__init__, guarded.GuardedController.activate = make, activated
    Commands.send, Commands.send_last = sent, sent_last
    return controller.main(arguments)


class InsideMonitor:
    """Counts, and writes its counts every half second."""

    def __init__(self, path: str):
        self._path, self.last, self._steady = Path(path), None, 0.0
        self.counts = dict.fromkeys(("commands", "not_finite", "over_limit", "over_rate"), 0)
        self.largest_step = self.largest_gap = 0.0
        self._sent: list[tuple[float, np.ndarray]] = []
        threading.Thread(target=self._write, daemon=True).start()

    def begin(self, controller) -> None:
        """A controller was made."""
        model = controller.model
        self._door = controller._core.law.door
        places = [model.joint_names.index(name) for name in controller.joints]
        self._limit, self.last = model.effort_limits[places], None

    def note(self, tau: np.ndarray) -> None:
        """A command leaves."""
        now, counts = time.monotonic(), self.counts
        counts["commands"] += 1
        counts["not_finite"] += not np.isfinite(tau).all()
        counts["over_limit"] += bool((np.abs(tau) > self._limit).any())
        if self.last is None:
            self._sent = []
        else:
            step, period = float(np.abs(tau - self.last).max()), self._door.period
            self.largest_step = max(self.largest_step, step)
            self.largest_gap = max(self.largest_gap, now - self._steady)
            is_over = step > TORQUE_RATE * 3.0 * 1.06 * period
            for (
                then,
                before,
            ) in self._sent:  # by the wall clock: what moved since fits into the time since
                most = TORQUE_RATE * (now - then + 6.0 * period + 1e-3)
                is_over = is_over or bool((np.abs(tau - before) > most).any())
            counts["over_rate"] += is_over
        self.last, self._steady = tau.copy(), now
        self._sent = [*self._sent[-20:], (now, self.last)]

    def _write(self) -> None:
        while True:
            time.sleep(0.5)
            numbers = {"step": self.largest_step, "gap": self.largest_gap, **self.counts}
            draft = self._path.with_suffix(".draft")
            draft.write_text(json.dumps(numbers))
            draft.rename(self._path)
            self.largest_step = self.largest_gap = 0.0


def resident(pid: int) -> float:
    """Anonymous memory of a process [MB]."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024.0
    return 0.0


class Memory:
    """The memory of processes, looked at whenever they have come to rest."""

    def __init__(self, processes: dict[str, int]):
        """Processes: names and numbers."""
        self._processes = processes
        self.times: list[float] = []
        self.sizes: dict[str, list[float]] = {name: [] for name in processes}

    def look(self) -> None:
        """Note their sizes."""
        self.times.append(time.monotonic())
        for name, pid in self._processes.items():
            self.sizes[name].append(resident(pid))

    def found(self) -> dict[str, Any]:
        """Of each process the first, middle and last size [MB], and the slope after the warm-up [MB/h]."""
        first = int(len(self.times) * WARM_UP)
        hours = np.array(self.times[first:]) / 3600.0
        found: dict[str, Any] = {}
        for name, sizes in self.sizes.items():
            late = sizes[first:]
            slope = float(np.polyfit(hours, late, 1)[0]) if len(late) > 2 else None
            found[name] = {"MB": [sizes[0], late[0], late[-1]] if late else [], "MB_per_h": slope}
            found[name]["all_MB"] = sizes
        return found
