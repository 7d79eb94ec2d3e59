"""`Safety`: the gates between a robot and its commands, as a state machine on numbers; it knows no ROS and no clock.

Each gate of `tables.GATES` is a bit. A gate closes when its fault is seen, and opens `recovery_time` after the fault
was last seen, or, where recovery is manual, with `reset`. What may be sent while one is closed depends on what is left:

    target, publishers                      the controller runs on and holds: nothing else is sent
    overrun, position, clock, stop          the state is valid: zero, gravity or damping, as configured
    names, size, quaternion, finite, odom,  no valid state is left: zero, or, for `gravity_time` after the last valid
    state                                   one, the gravity torque of that time (`held`)
    first                                   zero: no state was ever seen

`damping` is a law and needs a running loop; the LAST command, which an effort controller keeps, is zero or gravity.
Two clocks count: `time`, that of the messages (simulated where the robot is: a paused world is not stale), and
`steady`, which never jumps. Nothing here allocates beyond numbers.
"""

from __future__ import annotations

from ..settings import SafetySettings
from ..tables import GATES

__all__ = ["ADVISORY", "BIT", "HELD", "STATE_LESS", "Safety", "names_of"]

BIT = {name: 1 << i for i, name in enumerate(GATES)}
HELD = "held"
ADVISORY = BIT["target"] | BIT["publishers"]
STATE_LESS = sum(
    BIT[name] for name in ("names", "size", "quaternion", "finite", "odom", "state", "first")
)
# What a message of joint states may be blamed for; the next message decides again.
OF_MESSAGE = sum(
    BIT[name] for name in ("names", "size", "quaternion", "finite", "position", "clock")
)
_OVERRUN, _ODOM, _STATE, _FIRST, _STOP, _CLOCK, _FINITE = (
    BIT[name] for name in ("overrun", "odom", "state", "first", "stop", "clock", "finite")
)
UNKNOWN_PERIOD = 0.2  # [s] joint states are not stale earlier while their period is not known
OVERRUN_RECOVERY = 1.0  # [s] at least, for a closed gate makes ticks cheap
NEVER = float("-inf")


def names_of(gates: int) -> list[str]:
    """Names of the gates in a set of bits, the most important one first."""
    return [name for name in reversed(GATES) if gates & BIT[name]]


class Safety:
    """Which gates are closed, and what may be sent.

    Feed it `state` with every message of joint states (after `odom`, where a message of that came), `computed` with
    every tick, `advise` with what is known about targets; then ask `check` before every command and, when messages
    stay away, from a watchdog.

    Args:
        settings: May be replaced while it runs.
        has_odom: The robot has a floating base, so that joint states alone are no state.
        is_simulated: `time` is simulated: stale is counted in it, and overruns do not count.

    Attributes:
        closed: Bits of the closed gates.
        period: Mean period of the joint states [s]; 0 while it is not known.
        overruns: How many ticks took too long, in all.
        must_restart: A gate that had stopped the control has opened: activate the controller anew, then `restarted`.
    """

    def __init__(
        self, settings: SafetySettings, has_odom: bool = False, is_simulated: bool = False
    ):
        self.settings, self._has_odom, self._is_simulated = settings, has_odom, is_simulated
        self.overruns = 0
        self._stopped = False
        self.begin()

    def begin(self) -> None:
        """Forget all messages, as before the first one; an emergency stop stays."""
        self.closed = _FIRST | (_STOP if self._stopped else 0)
        self.period, self.must_restart = 0.0, True
        self._faults, self._advice, self._in_a_row = 0, 0, 0
        self._stamp = self._odom_stamp = self._arrival = self._arrival_steady = self._valid = NEVER
        self._last_fault = [NEVER] * len(GATES)

    # ---- what happens ----

    def state(self, stamp: float, time: float, steady: float, faults: int = 0) -> None:
        """A message of joint states came.

        Args:
            stamp: Its stamp [s].
            time, steady: The two clocks [s].
            faults: Bits of what is wrong with it: names, size, quaternion, finite, position.
        """
        step = stamp - self._stamp
        if self._stamp != NEVER and not 0.0 <= step <= self.settings.clock_jump:  # NaN, too
            faults |= _CLOCK
        elif 0.0 < step < float("inf"):  # one long gap hardly counts
            self.period += (
                0.05 * (min(step, 4.0 * self.period) - self.period) if self.period > 0.0 else step
            )
        self._stamp = stamp
        self._faults = self._faults & ~OF_MESSAGE | faults
        self._arrival, self._arrival_steady = time, steady

    def odom(self, stamp: float) -> None:
        """A message of odometry came."""
        self._odom_stamp = stamp

    def computed(self, seconds: float) -> None:
        """A tick took so long."""
        limit = self.settings.overrun_time or self.period
        is_overrun = limit > 0.0 and seconds > limit and not self._is_simulated
        self.overruns += is_overrun
        self._in_a_row = self._in_a_row + 1 if is_overrun else 0
        if self.settings.overrun_count and self._in_a_row >= self.settings.overrun_count:
            self._faults |= _OVERRUN
        else:
            self._faults &= ~_OVERRUN

    def failed(self) -> None:
        """A tick found no finite torque: the gate `finite` closes, and the next message decides again."""
        self._faults |= _FINITE

    def advise(self, gates: int) -> None:
        """What is wrong with targets: bits of `target` and `publishers`."""
        self._advice = gates & ADVISORY

    def stop(self) -> None:
        """Emergency stop: latched until `reset`."""
        self._stopped = True

    def reset(self) -> None:
        """Let the emergency stop go, and open every gate whose fault is gone."""
        self._stopped = False
        self._last_fault = [NEVER] * len(GATES)
        self.closed &= (
            self._faults | self._advice | (_FIRST if self._arrival_steady == NEVER else 0)
        )

    def restarted(self) -> None:
        """The controller was activated anew."""
        self.must_restart = False

    # ---- what follows ----

    def check(self, time: float, steady: float) -> int:
        """Close and open gates; returns the bits of those that stop the control, 0 if none does."""
        faults = (
            self._faults
            | self._advice
            | self._by_age(time, steady)
            | (_STOP if self._stopped else 0)
        )
        if faults | self.closed:
            self._open_and_close(faults, steady)
        blocking = self.closed & ~ADVISORY
        if blocking:
            self.must_restart = True
        if not blocking & STATE_LESS:
            self._valid = steady
        return blocking

    def _by_age(self, time: float, steady: float) -> int:
        """What time alone makes a fault: first, state, odom."""
        if self._arrival_steady == NEVER:
            return _FIRST
        s, faults = self.settings, 0
        limit = max(
            s.state_timeout, s.state_periods * self.period if self.period > 0.0 else UNKNOWN_PERIOD
        )
        silence = steady - self._arrival_steady
        age = time - self._arrival if self._is_simulated else silence
        if not age <= limit or (
            self._is_simulated and s.liveness_timeout > 0.0 and silence > s.liveness_timeout
        ):
            faults |= _STATE
        if self._has_odom and not self._stamp - self._odom_stamp <= s.odom_timeout:
            faults |= _ODOM
        return faults

    def _open_and_close(self, faults: int, steady: float) -> None:
        manual, wait, last = (
            self.settings.manual_recovery,
            self.settings.recovery_time,
            self._last_fault,
        )
        for i, name in enumerate(GATES):
            bit = 1 << i
            if faults & bit:
                self.closed |= bit
                last[i] = steady
            elif self.closed & bit and name not in manual:
                if steady - last[i] >= (max(wait, OVERRUN_RECOVERY) if bit == _OVERRUN else wait):
                    self.closed &= ~bit

    @property
    def gate(self) -> str:
        """Name of the most important closed gate, "" if all are open."""
        return GATES[self.closed.bit_length() - 1] if self.closed else ""

    def command(self, steady: float) -> str:
        """What may be sent while a gate is closed: zero, gravity, damping or held (the last gravity torque)."""
        kind = self.settings.safe_command
        if kind == "zero" or not self.closed & STATE_LESS:
            return kind
        return HELD if steady - self._valid < self.settings.gravity_time else "zero"

    def last_command(self) -> str:
        """What may be left standing for good: zero or gravity."""
        return "zero" if self.closed & STATE_LESS else self.settings.last_command
