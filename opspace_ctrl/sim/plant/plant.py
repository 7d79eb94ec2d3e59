# SPDX-License-Identifier: Apache-2.0
"""The robot as its bus shows it: a simulator behind channels, encoders, drives and a watchdog, all with their faults.

One turn of the loop is

    plant.command(command)          # whatever has come, refused with a reason if it is no command
    plant.step()                    # one step of simulated time
    for measurement in plant.measure(): ...   # what leaves now: nothing if it was lost or is late, more if delays end

Until the first command the robot holds its pose and no fault acts. With the same seed and the same commands at the same
times everything is the same, bit for bit; the wall clock enters the log alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from ...command_kind import CommandKind
from ...errors import FaultError
from ..altered import Variants
from ..joint_index import base_index, position_index
from ..record.log import Log
from ..simulator import Simulator
from .actuation import Actuation
from .channel import Channel
from .disturbance import Disturbance
from .fault_kinds import ACTUATION, ALTERED, ASKED, CHANNEL, SENSING
from .faults import MAX_FAULTS, Schedule
from .refusal import Refusal
from .sensing import Sensing
from .timetable import Activity, Timetable
from .watchdog import Watchdog, damping_effort

__all__ = ["Measurement", "Plant"]

NAN = float("nan")
COUNTERS = ("steps", "commands", "refused", "extra", "missed", "unanswered")


@dataclass(frozen=True)
class Measurement:
    """A state as it left the robot.

    Attributes:
        stamp: Simulated time of the state [s].
        positions, velocities, efforts: (k,) as the encoders measured them; the efforts are those the drives applied.
        base_pose: (7,) position and quaternion xyzw of a floating base in the world, else None.
        base_twist: (6,) its linear and angular velocity in base axes, else None.
    """

    stamp: float
    positions: np.ndarray
    velocities: np.ndarray
    efforts: np.ndarray
    base_pose: np.ndarray | None
    base_twist: np.ndarray | None


class Plant:
    """A simulated robot on its bus.

    Attributes:
        simulator: The one that runs now; mass and friction errors swap in another.
        model: What the controller knows: without those errors.
        awaits: Whether the newest state that left has had no command yet; a lock-step waits while it is True.
        timetable, watchdog, states, commands: The faults, the watchdog and the two channels.
        asked: What the schedule asks of the controller since somebody looked last; whoever takes it empties the list.
        home: (nq,) where the robot was at the first command.
    """

    def __init__(
        self,
        simulator: Simulator,
        schedule: Schedule | None = None,
        seed: int = 0,
        *,
        commands: CommandKind = "effort",
        lockstep: bool = False,
        command_timeout: float = 0.02,
        timeout_action: str = "zero",
        log_folder: str | Path = "",
        clock: Callable[[], float] = perf_counter,
    ):
        """Put a simulator on a bus.

        Args:
            simulator: The robot as it is without faults.
            schedule: The faults.
            seed: Of all random numbers; 0: the schedule's.
            commands: What the drives take; velocities are followed within the effort limits.
            lockstep: Only the first command after each state counts.
            command_timeout: Simulated time without a command after which the watchdog acts [s]; 0 = never.
            timeout_action: What it does: zero, hold or damping.
            log_folder: Where the log goes; none if empty.
            clock: The wall clock of the log [s].

        Raises:
            FaultError: The schedule names what the robot does not have.
        """
        schedule, model = schedule or Schedule(), simulator.model
        schedule.check(model)
        self.seed = int(seed or schedule.seed or 0)
        self.simulator, self.model, self.is_lockstep = simulator, model, lockstep
        self.watchdog, self.timetable = (
            Watchdog(command_timeout, timeout_action),
            Timetable(schedule, self.seed),
        )
        self.states, self.commands = Channel("state"), Channel("command")
        self._sensing, self._actuation, self._disturbance = (
            Sensing(model),
            Actuation(model),
            Disturbance(),
        )
        self._clock = clock
        self.take_commands_of(commands)
        self._positions, self._joints = (
            position_index(model),
            np.flatnonzero(~model.is_base_coordinate),
        )
        self._base = base_index(model)
        self._altered: list[Activity] = []
        self._variants = Variants(simulator)
        self._variants.prepare(self.timetable.combinations(ALTERED))
        self._counters = dict.fromkeys(COUNTERS, 0)
        self._log = self._new_log(log_folder) if str(log_folder) else None
        self._begin()

    def _begin(self) -> None:
        """Forget the past: the next command is the first."""
        self._start: float | None = None  # simulated time of the first command
        self._latest: np.ndarray | None = None  # the command that reached the drives last
        self._row: dict | None = (
            None  # of the log, waiting for the command to the state that was measured last
        )
        self._awaited = 0  # states that left at the last instant and have had no command
        self.awaits = False
        self.asked: list[Activity] = []
        self.home = np.array(self.simulator.q)

    def reset(self) -> None:
        """After the simulator was reset: channels empty, watchdog fresh, the schedule from its beginning."""
        self._write_row()
        self._begin()
        self.watchdog.clear()
        self.timetable.rewind()
        self._advance()
        self.states.clear()
        self.commands.clear()
        self._event("reset", "the simulator was reset")

    @property
    def schedule_time(self) -> float:
        """Simulated time since the first command [s]; -inf before it."""
        return -np.inf if self._start is None else self.simulator.time - self._start

    @property
    def counters(self) -> dict[str, int]:
        """The counts so far.

        Steps; commands that came, those refused, and the extra ones beyond one a state; missed:
        states that were followed by the next without a command; unanswered: time-outs of a lock-step; trips of the
        watchdog; states measured; states and commands that faults lost.
        """
        return {
            **self._counters,
            "watchdog": self.watchdog.trips,
            "states": self.states.sent,
            "states_lost": self.states.lost,
            "commands_lost": self.commands.lost,
        }

    # The method of forward dynamics.

    def prepare_forward_methods(self, *names: str) -> None:
        """Compile methods (all that the robot can use, if none is named); another thread than the loop's may do it.

        Raises:
            MethodError: There is no such method, or it cannot carry the robot.
        """
        self._variants.prepare_forward_methods(*names)

    def take_forward_method(self, name: str) -> None:
        """Let the robot move by a prepared method from the next step on, whatever faults act."""
        self._variants.take_forward_method(name)
        self._event("forward_method", name)

    # Faults.

    def inject(self, schedule: Schedule) -> list[Activity]:
        """Add faults while the robot runs, their times counted from now; what they have become.

        Raises:
            FaultError: The robot lacks their target, or too many were set before.
        """
        self.check(schedule)
        added = self.timetable.add(schedule, max(self.schedule_time, 0.0))
        self._variants.prepare(self.timetable.combinations(ALTERED))
        return added

    def end(self, activity: Activity) -> None:
        """End a fault now."""
        self.timetable.end(activity, self.schedule_time)

    def check(self, schedule: Schedule) -> None:
        """Raise FaultError if `inject` would not take a schedule."""
        schedule.check(self.model)
        count = len(self.timetable.all) + len(schedule.faults)
        if count > MAX_FAULTS:
            raise FaultError(
                f"{count} faults of this run; at most {MAX_FAULTS} are valid, over ones included"
            )

    def clear_injected(self) -> None:
        """End the faults that `inject` added."""
        self.timetable.clear_live(self.schedule_time)

    def take_commands_of(self, kind: CommandKind) -> None:
        """From now on the drives take commands of another kind; until the first of them the robot holds its pose."""
        self._kind, self._latest = kind, None
        is_limited = kind == "velocity" or self.simulator.settings.effort_limits
        self._refusal = Refusal(self.model, kind, is_limited)
        self.commands.clear()

    def _advance(self) -> None:
        """Let faults begin and end."""
        changed = self.timetable.advance(self.schedule_time)
        if not changed:
            return
        for activity in changed:
            self._event("fault", f"{activity.fault.title} {'begins' if activity.acts else 'ends'}")
        self.asked += [each for each in changed if each.acts and each.fault.kind in ASKED]
        bus = self.timetable.active(CHANNEL)
        self.states.faults = [
            activity for activity in bus if activity.fault.side in ("state", "both")
        ]
        self.commands.faults = [
            activity for activity in bus if activity.fault.side in ("command", "both")
        ]
        self._sensing.set_faults(self.timetable.active(SENSING))
        self._actuation.set_faults(self.timetable.active(ACTUATION))
        self._disturbance.set_faults(self.timetable.active(("push",)))
        self._altered = self.timetable.active(ALTERED)
        self.simulator = self._variants.going_on(self.simulator, self._altered)

    # The loop.

    def command(self, values: ArrayLike, time: float | None = None) -> str | None:
        """A command came from the bus at a simulated time [s], by default now.

        Returns:
            None if it was taken, else why it was refused: the command before it stays in force.
        """
        time = self.simulator.time if time is None else time
        self._counters["commands"] += 1
        self._counters["extra"] += self._awaited == 0 and self._start is not None
        self._awaited = max(self._awaited - 1, 0)
        is_first, self.awaits = self.awaits, False
        if self._row is not None and is_first:
            self._row["arrived"] = self._clock()
        taken, reason = self._refusal.judge(values)
        if taken is None:
            self._counters["refused"] += 1
            self._event("refused", reason)
            return reason
        if self._start is None:
            self._start, is_first, self.home = time, True, np.array(self.simulator.q)
            self._event("start", "the first command came")
            self._advance()
        if self._row is not None and is_first:
            self._row["schedule"], self._row["command"] = self._row["time"] - self._start, taken
        if is_first or not self.is_lockstep:
            self.commands.send(taken, time)
        return None

    def step(self) -> None:
        """One step of the simulator with what the drives make of the commands that have arrived."""
        now = self.simulator.time
        self._advance()
        for command in self.commands.receive(now):
            self._latest = command
            if self.watchdog.feed(now):
                self._event("watchdog", "commands came again")
        if self.watchdog.trip(now):
            self._event(
                "watchdog",
                f"no command for {1e3 * self.watchdog.timeout:g} ms: {self.watchdog.action}",
            )
        self._disturbance.act(self.simulator, self.simulator.settings.step)
        for activity in self._altered:
            activity.count("steps")
        self._counters["steps"] += 1
        self.simulator.step(self._actuation.apply(self._wanted()))

    def _wanted(self) -> np.ndarray:
        """The efforts (k,) that the drives are to apply in this step."""
        if self._latest is None:
            return self.simulator.hold()
        if not self.watchdog.is_tripped:
            return self._followed(self._latest)
        if self.watchdog.action == "hold":
            return self.simulator.hold()
        if self.watchdog.action == "damping":
            return damping_effort(self.simulator.model, self.simulator.q, self.simulator.v)
        return self._followed(np.zeros(len(self._joints)))

    def _followed(self, command: np.ndarray) -> np.ndarray:
        """The efforts of a command: itself, or those of the servo that follows a velocity."""
        return command if self._kind == "effort" else self.simulator.servo(command)

    def measure(self) -> list[Measurement]:
        """Measure the state now; what leaves the robot at this instant, oldest first."""
        simulator = self.simulator
        if self.awaits and self._start is not None:
            self._counters["missed"] += 1
            self._event("missed", "a state was followed by the next without a command")
        self._write_row()
        self._advance()
        measurement = Measurement(
            simulator.time,
            simulator.q[self._positions],
            simulator.v[self._joints],
            np.array(simulator.tau),
            *self._base_state(),
        )
        self._sensing.measure(measurement.positions, measurement.velocities, measurement.efforts)
        self.states.send(measurement, simulator.time)
        leaving = self.states.receive(simulator.time)
        self._awaited, self.awaits = len(leaving), bool(leaving)
        if self._log is not None:
            self._row = {
                "time": simulator.time,
                "schedule": NAN if self._start is None else self.schedule_time,
                "left": self._clock() if leaving else NAN,
                "watchdog": self.watchdog.is_tripped,
                "q": np.array(simulator.q),
                "v": np.array(simulator.v),
                "applied": np.array(simulator.tau),
                "position": measurement.positions,
                "velocity": measurement.velocities,
            }
        return leaving

    def _base_state(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        if self._base is None:
            return None, None
        at_q, at_v = self._base
        return np.array(self.simulator.q[at_q : at_q + 7]), np.array(
            self.simulator.v[at_v : at_v + 6]
        )

    def timed_out(self) -> None:
        """A lock-step has waited in vain for a command."""
        self._counters["unanswered"] += 1
        self._event("unanswered", "no command came for the state that was sent")

    def answered(self, activity: Activity, problem: str) -> None:
        """The controller has what the schedule asked of it, or not, and why."""
        if problem:
            self._event("unheard", f"{activity.fault.title}: {problem}")
        else:
            activity.count("sent")

    # The log.

    def _new_log(self, folder: str | Path) -> Log:
        header = {
            "step": float(self.simulator.settings.step),
            "seed": self.seed,
            "lockstep": self.is_lockstep,
            "command_timeout": self.watchdog.timeout,
            "timeout_action": self.watchdog.action,
            "commands": self._kind,
            "command_limits": self._refusal.limits,
        }
        return Log(folder, self.model, header, self._clock)

    def _event(self, kind: str, text: str) -> None:
        if self._log is not None:
            self._log.event(kind, max(self.schedule_time, 0.0), text)

    def _write_row(self) -> None:
        """Write down the state that was measured last, now that it is known what came back."""
        if self._log is None or self._row is None:
            return
        self._log.row(**self._row)
        self._row = None
        if self._log.is_due():
            self._flush(self._log)

    def _flush(self, log: Log) -> None:
        log.flush(self.counters, [activity.record() for activity in self.timetable.all])

    def close(self) -> None:
        """Write the rest of the log; call it at the end of every run."""
        if self._log is not None:
            self._write_row()
            self._flush(self._log)
            self._log.close()
            self._log = None
