# SPDX-License-Identifier: Apache-2.0
"""What `recorder.c` has written: read, and done again by the Python controller behind its gates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from opspace_ctrl import Controller
from opspace_ctrl.control.safety.guarded import GuardedController
from opspace_ctrl.control.safety.state_gate import StateGate

KINDS = (
    "begin",
    "joint_states",
    "odometry",
    "command",
    "elapsed",
    "target_pose",
    "target_twist",
    "set",
    "use_method",
    "hold",
    "stop",
    "open_gates",
    "end",
)


@dataclass(frozen=True)
class Call:
    """A call of the library: what it was given, what it answered (`status`), and a torque where there is one."""

    kind: str
    status: int
    integers: tuple[int, ...]
    numbers: np.ndarray
    text: str


def calls(path: Path) -> Iterator[Call]:
    """All calls of a record."""
    words = np.fromfile(path, np.int64)
    at = 0
    while at < len(words):
        kind, status, *sizes = words[at : at + 5].tolist()
        ends = at + 5 + np.cumsum(sizes)
        integers = tuple(words[at + 5 : ends[0]].tolist())
        numbers = words[ends[0] : ends[1]].view(np.float64)
        text = words[ends[1] : ends[2]].tobytes().split(b"\0")[0].decode()
        yield Call(KINDS[kind], status, integers, numbers, text)
        at = int(ends[2])


class Repeated:
    """The Python controller, given what a record says; `command` of each cycle to be compared."""

    def __init__(self, controller: Controller):
        self.controller = controller
        self.gate = StateGate(controller.model, controller.settings.safety)
        self.guarded = GuardedController(controller, self.gate)
        self.verdict = 0
        controller.use_wall_clock(True)

    def answer(self, call: Call) -> np.ndarray | None:
        """Do one call; the torque of a command."""
        return getattr(self, f"_{call.kind}")(call)

    def _begin(self, call: Call) -> None:
        self.guarded.activate(*call.integers)

    def _joint_states(self, call: Call) -> None:
        positions, velocities = np.split(call.numbers, 2)
        joints = self.controller.joints
        self.verdict = self.gate.joint_states(joints, positions, velocities, *call.integers)

    def _odometry(self, call: Call) -> None:
        stamp, arrival, time = call.integers
        child = self.controller.model.root
        self.gate.odometry(call.numbers[:7], call.numbers[7:], stamp, child, arrival, time)

    def _command(self, call: Call) -> np.ndarray | None:
        return self.guarded.answer(self.verdict, *call.integers)

    def _elapsed(self, call: Call) -> None:
        self.gate.computed(*call.integers)

    def _target_pose(self, call: Call) -> None:
        task, x = self.controller.task_names[call.integers[0]], call.numbers
        if self.guarded.is_ticking:
            self.controller.target_pose(task, x[:3], x[3:7], x[7])

    def _use_method(self, call: Call) -> None:
        self.controller.method = call.text

    def _hold(self, call: Call) -> None:
        self.controller.hold(self.gate.q, self.gate.v, call.numbers[0])

    def _stop(self, call: Call) -> None:
        self.gate.stop()

    def _open_gates(self, call: Call) -> None:
        self.gate.open_all()

    def _end(self, call: Call) -> np.ndarray | None:
        return self.guarded.deactivate()
