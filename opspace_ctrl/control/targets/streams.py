# SPDX-License-Identifier: Apache-2.0
"""`Streams`: inputs of a controller that count for a while only: wrenches, measured wrenches, F and tau0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import entries
from ..fields import Law

__all__ = ["NEVER", "Streams"]

NEVER = float("inf")
KINDS = {
    "wrench": entries.WRENCH,
    "measured": entries.MEASURED,
    "force": entries.FORCE,
    "tau0": entries.TAU0,
}


class Streams:
    """Writes inputs into the tick's numbers; the tick takes them back when they are old."""

    def __init__(self, law: Law):
        self._law = law

    def put(self, name: str, task: int, value: np.ndarray, end: float = NEVER) -> None:
        """Let wrench or measured of a task, or force or tau0 (task 0), have a value until `end`."""
        entries.put_stream(KINDS[name], task, value, end, self._law.address)

    def go_on(self, before: Streams, same: Sequence[tuple[int, int]]) -> None:
        """Take what still counts of another law's: of (task here, task there), and tau0."""
        other = before._law
        for here, there in same:
            self.put("wrench", here, np.array(other.wrench[there]), other.wrench_end[there])
            if other.measured_on[there]:
                self.put(
                    "measured", here, np.array(other.measured[there]), other.measured_end[there]
                )
        self.put("tau0", 0, np.array(other.raw_tau0), other.tau0_end)

    def clear(self) -> None:
        """Take back everything."""
        entries.clear_streams(self._law.address)
