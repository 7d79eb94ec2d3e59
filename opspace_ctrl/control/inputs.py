# SPDX-License-Identifier: Apache-2.0
"""`Inputs`: what a controller is told from outside, target poses, trajectories, wrenches, postures, F and tau0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import TargetError
from .duty import Duty
from .settings import ControllerSettings
from .targets.posture_target import PostureTarget
from .targets.references import END
from .targets.streams import NEVER
from .targets.target import instant, vector

__all__ = ["NO_STATE", "Inputs"]

NO_STATE = "knows no state yet: call activate(q, v, time) first"
LARGEST_FORCE = 1e6  # [N, Nm] of a wrench, F or tau0


class Inputs:
    """The inputs of a controller; each may come from another thread than the one that ticks.

    Six-vectors are linear first, in world axes (those of a task relative to a frame: in the frame's axes).

    Attributes:
        joints: Names in the order of the command.
        settings: Those in use.
    """

    __slots__ = ()

    joints: tuple[str, ...]
    settings: ControllerSettings
    _duty: Duty
    _posture: PostureTarget
    _is_active: bool

    def target_pose(
        self, task: str, position: ArrayLike | None, quaternion: ArrayLike | None, time: float
    ) -> None:
        """Move a task to a pose; None leaves position or orientation (xyzw) as it is to be. Raises TargetError."""
        duty = self._duty
        duty.target(task).pose(position, quaternion, self._moment(task, time))
        duty.load(task)

    def target_twist(self, task: str, twist: ArrayLike, time: float) -> None:
        """Move a task with a twist (6,), which counts for `stream_timeout`. Raises TargetError."""
        duty = self._duty
        duty.target(task).twist(
            twist, self._moment(task, time), self.settings.safety.stream_timeout
        )
        duty.load(task)

    def trajectory(
        self,
        task: str,
        times: ArrayLike,
        positions: ArrayLike | None,
        quaternions: ArrayLike | None,
        time: float,
        twists: ArrayLike | None = None,
    ) -> None:
        """Move a task through way points at `times` after `time`. Raises TargetError."""
        duty = self._duty
        target = duty.target(task)
        target.trajectory(times, positions, quaternions, self._moment(task, time), twists)
        duty.load(task)

    def stop(self, task: str, time: float) -> None:
        """Bring a task to rest from where its reference is, as quickly as its limits permit. Raises TargetError."""
        duty, moment = self._duty, self._moment(task, time)
        target = duty.target(task)
        target.hold(target.reference(moment), moment)
        duty.load(task)

    def motion(self, task: str) -> tuple[float | None, float]:
        """When the target of a task came (None: it holds), and when its reference comes to rest [s]."""
        target = self._duty.target(task)
        return target.stamp, float(target.program[-1, END])

    def target_wrench(self, task: str, wrench: ArrayLike, time: float) -> None:
        """What a task shall exert along its force axes (6,), for `stream_timeout`. Raises TargetError."""
        duty = self._duty
        settings = duty.target(task).settings
        wrench = vector(f"{task}: target wrench", wrench, 6, most=LARGEST_FORCE)
        if not settings.force_axes:
            raise TargetError(
                f"{task}: it has no force axes, so that a target wrench does nothing: {task}.force_axes"
            )
        limit = settings.wrench_limit
        clipped = np.clip(wrench, -limit, limit)
        duty.streams.put("wrench", duty.number(task), clipped, self._end(time))

    def measured_wrench(self, task: str, wrench: ArrayLike, time: float | None = None) -> None:
        """What a task does exert (6,); with a time it counts for `stream_timeout`. Raises TargetError."""
        duty = self._duty
        number = duty.number(task)
        wrench = vector(f"{task}: measured wrench", wrench, 6, most=LARGEST_FORCE)
        duty.streams.put("measured", number, wrench, NEVER if time is None else self._end(time))

    def posture(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        velocities: ArrayLike | None,
        time: float,
    ) -> None:
        """Approach a posture of some joints (velocities: None, empty or one a name). Raises TargetError."""
        self._posture.move(names, positions, velocities, self._moment("posture", time))
        self._duty.core.load_posture(self._posture.program)

    def force(self, F: ArrayLike, time: float) -> None:
        """Raw mode: F, the rows of the tasks in order, for `stream_timeout`. Raises TargetError."""
        self._need_raw("force")
        duty = self._duty
        F = vector("force", F, duty.core.law.task_rows, most=LARGEST_FORCE)
        duty.streams.put("force", 0, F, self._end(time))

    def tau0(self, tau0: ArrayLike, time: float) -> None:
        """Raw mode: tau0, one a joint of `joints`, for `stream_timeout`. Raises TargetError."""
        self._need_raw("tau0")
        tau0 = vector("tau0", tau0, len(self.joints), most=LARGEST_FORCE)
        self._duty.streams.put("tau0", 0, tau0, self._end(time))

    def stale_targets(self, time: float) -> list[str]:
        """Tasks whose target pose is older than `target_timeout`: they hold."""
        return [target.name for target in self._duty.targets if target.is_stale(time)]

    def _end(self, time: float) -> float:
        """When a stream's input of this time goes stale."""
        return self._moment("a stream", time) + self.settings.safety.stream_timeout

    def _moment(self, what: str, time: float) -> float:
        """The time that an input counts from [s]: its own, or that of the last tick if that is later.

        Raises:
            TargetError: It is no time, or there is no state yet to start from.
        """
        if not self._is_active:
            raise TargetError(f"{what}: the controller {NO_STATE}")
        return max(instant(what, time), self._duty.core.law.last_time)

    def _need_raw(self, what: str) -> None:
        if self.settings.mode != "raw":
            raise TargetError(
                f"{what}: the mode is {self.settings.mode}; it counts in mode raw only"
            )
