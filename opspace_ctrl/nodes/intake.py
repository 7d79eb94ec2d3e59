"""What comes from the robot, made into one state at one time: joint states, and the odometry that belongs to them."""

from __future__ import annotations

import numpy as np

from ..model import Model
from . import joint_state, stamps
from .cdr import Base, State
from .joint_state import JointStates
from .odometry import Odometry
from .stamps import Stamps

__all__ = ["Intake"]

UNPAIRED_IN_A_ROW = (
    10  # after so many joint states without odometry of their stamp it is no longer waited for
)


class Intake:
    """q and v of the robot, as its messages tell; one thread feeds it.

    The state is ready when every joint has been told and, on a floating base, when odometry of the same stamp is there.
    Where stamps of the two topics never agree (an estimator with a rate of its own), the newest odometry counts.

    Attributes:
        q, v: (nq,), (nv,), overwritten by each state.
        time: of the state [s], from the first stamp ever seen; for the controller.
        stamp: the same as it was told [ns].
        stamps: judges the joint states' stamps; also the mean period.
        is_floating: whether odometry tells where the base is.
        odometry: the newest; nothing ever comes for a fixed base.
        faults: how often each gate's fault was seen in a message.
        repeated, late, foreign: messages that were dropped.
        verdict: of the newest joint state that counted: stamps.NEW, BACK or AHEAD.
        odometry_fault: what was wrong with the newest odometry.
    """

    def __init__(
        self,
        model: Model,
        root: str,
        floating: bool,
        clock_jump: float = 1.0,
        velocity_time: float = 0.0,
        prefix: str = "",
    ):
        """Root: the link that odometry is about; prefix: may stand before its name."""
        self.q, self.v = model.neutral(), np.zeros(model.nv)
        self.joints = JointStates(model, self.q, self.v, velocity_time)
        self.odometry, self.is_floating = Odometry(root, prefix), floating
        self.stamps = Stamps(clock_jump)
        self.faults: dict[str, int] = {}
        self.repeated = self.late = self.foreign = self.unpaired = 0
        self.verdict = stamps.NEW
        self.odometry_fault = ""
        self.time, self.stamp = 0.0, 0
        self._origin = 0
        self._is_waiting = False  # for the odometry of `stamp`
        self._unpaired_in_a_row = 0

    @property
    def is_waiting(self) -> bool:
        """Joint states are there, and their odometry is awaited."""
        return self._is_waiting

    @property
    def odometry_age(self) -> float:
        """How much older the odometry is than the joint states [s]; inf when there is none, 0 on a fixed base."""
        if not self.is_floating:
            return 0.0
        return (self.stamp - self.odometry.stamp) * 1e-9 if self.odometry.stamp else np.inf

    @property
    def state_age(self) -> float:
        """How much older the oldest joint is than the newest [s]."""
        return (self.stamp - self.joints.oldest) * 1e-9

    def joint_states(self, state: State, arrival: int) -> tuple[bool, str]:
        """Take joint states that came at `arrival` (steady clock [ns]): whether the state is ready, and what is wrong.

        A message with a fault changes nothing.
        """
        verdict = self.stamps.judge(state.stamp, arrival)
        if verdict == stamps.REPEATED and not self._is_partial(state):
            self.repeated += 1
            return False, ""
        if verdict == stamps.LATE:
            self.late += 1
            return False, ""
        if verdict in (stamps.BACK, stamps.AHEAD):
            self._start_again()
        stamp = self.stamps.last
        fault = self.joints.read(state.names, state.position, state.velocity, stamp)
        if fault == joint_state.FOREIGN:
            self.foreign += 1
            return False, ""
        if fault:
            self.faults[fault] = self.faults.get(fault, 0) + 1
            return False, fault
        self.verdict = verdict if verdict in (stamps.BACK, stamps.AHEAD) else stamps.NEW
        self.stamp = stamp
        self._origin = self._origin or stamp
        self.time = (stamp - self._origin) * 1e-9
        if self.joints.missing or not self.joints.is_round:
            return False, ""
        is_ready = self._paired()
        return is_ready, "" if is_ready else self._blamed()

    def odom(self, base: Base, arrival: int) -> tuple[bool, str]:
        """Take odometry; the same result as of `joint_states`. A fault counts when joint states need the message."""
        fault = self.odometry.read(base, arrival if self.stamps.is_unstamped else 1)
        self.odometry_fault = fault
        if fault:
            self.faults[fault] = self.faults.get(fault, 0) + 1
            return False, self._blamed()
        if not self._is_waiting or self.odometry.stamp < self.stamp:
            return False, ""
        self._note_pair(self.odometry.stamp == self.stamp)
        return self._with_base(), ""

    def give_up_waiting(self) -> None:
        """Take the newest odometry there is, if any."""
        if self.odometry.stamp:
            self._with_base()
        self._is_waiting = False

    def _blamed(self) -> str:
        """The fault of the odometry that joint states wait for; then they do not wait any longer."""
        fault = self.odometry_fault if self._is_waiting else ""
        self._is_waiting = self._is_waiting and not fault
        return fault

    def _is_partial(self, state: State) -> bool:
        """Parts of one state may come in messages of one stamp."""
        return len(state.names) < len(self.joints.names)

    def _start_again(self) -> None:
        """The clock was set: what was told before belongs to another time."""
        self.joints.forget()
        self._origin, self._is_waiting = 0, False
        if abs(self.odometry.stamp - self.stamps.last) > self.stamps.jump * 1e9:
            self.odometry.forget()

    def _paired(self) -> bool:
        """The joints are there: is the base?"""
        if not self.is_floating:
            return True
        if self.odometry.stamp == self.stamp:
            self._note_pair(True)
            return self._with_base()
        if self._is_waiting:  # the one before has not been paired
            self._note_pair(False)
        if self._unpaired_in_a_row >= UNPAIRED_IN_A_ROW and self.odometry.stamp:
            return self._with_base()
        self._is_waiting = True
        return False

    def _note_pair(self, found: bool) -> None:
        self.unpaired += not found
        self._unpaired_in_a_row = 0 if found else self._unpaired_in_a_row + 1

    def _with_base(self) -> bool:
        self.q[:7], self.v[:6] = self.odometry.pose, self.odometry.twist
        self._is_waiting = False
        return True
