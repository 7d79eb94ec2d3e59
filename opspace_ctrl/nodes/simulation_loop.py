# SPDX-License-Identifier: Apache-2.0
"""The simulator's loop in a thread of its own: steps when they are due, states out, commands in.

free and scaled: a cycle (the steps between two states) begins when its time has come on a steady clock. lockstep: when
the last state has been answered by a command; without an answer the state is sent again, so that a controller that
comes back is served. Whatever touches the plant is done in this thread: others hand it over with `do`.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from time import monotonic
from typing import Any

import numpy as np

from ..errors import ConfigurationError, SimulationError
from ..sim.plant.plant import Measurement, Plant
from ..sim.plant.timetable import Activity
from .pacing import Pacer
from .robot_topics import RobotTopics
from .stamping import Stamping

__all__ = ["SimulationLoop"]

LONGEST_WAIT = 0.1  # [s]
PAUSED = (
    0.05  # [s] between two sendings of the state of a world that stands: it is there, and says so
)
ANSWER = 10.0  # [s] that another thread waits for the loop
FOREVER = -1


class SimulationLoop:
    """Runs a plant.

    Args:
        plant: the robot; belongs to the loop's thread from `start` to `stop`.
        topics: of the robot.
        values: the simulator's parameters; `values` may be replaced while it runs.
        now: the time of the node's clock [ns].

    Attributes:
        pacer: when cycles are due, and what was late.
        failure: why the simulation cannot go on, "" if it can; a reset clears it.
        refusal: why the last command was refused, "" if none was.
        ask: takes what the schedule asks of the controller, and where the robot was at the first command; whoever is
            asked calls `answered`.
    """

    def __init__(
        self, plant: Plant, topics: RobotTopics, values: Mapping[str, Any], now: Callable[[], int]
    ) -> None:
        self.plant, self.values = plant, values
        self._topics = topics
        step = plant.simulator.settings.step
        self._cycle = max(1, round(1.0 / (values["rate"] * step)))  # steps
        self._is_lockstep = values["mode"] == "lockstep"
        self.pacer = Pacer(
            self._cycle * step,
            self._factor(),
            values["catch_up"] and not self._is_lockstep,
            values["max_catch_up"],
        )
        self._stamping = Stamping(values["mode"] == "free", now)
        # states
        self._clock_every = max(1, round(1.0 / (values["clock_rate"] * self._cycle * step)))
        self.failure = ""
        self.refusal = ""
        self._tasks: deque[tuple[Callable[[], Any], Future]] = deque()
        self._thread: threading.Thread | None = None
        self._to_do = 0  # steps left of the cycle that has begun
        self._states = 0
        self._allowed = FOREVER  # steps while paused
        self._newest: Measurement | None = None  # of those that left
        self._outgoing: deque[Measurement] = deque()  # in lock-step, those that will
        self._measured_at = self._sent_at = 0.0  # when the newest state was sent first, and last
        self.ask: Callable[[list[Activity], np.ndarray], object] = lambda activities, home: None
        self._unanswered = 0  # requests to the controller

    def _factor(self) -> float:
        """Simulated seconds a second; 0: nothing waits for the clock."""
        if self.values["mode"] == "free":
            return 1.0
        return (
            self.values["real_time_factor"]
            if self.values["mode"] == "scaled" or self.values["pace"]
            else 0.0
        )

    # For other threads.

    @property
    def is_running(self) -> bool:
        """Is the thread there?"""
        return self._thread is not None

    @property
    def is_paused(self) -> bool:
        """Do steps happen only when asked for?"""
        return self._allowed != FOREVER

    @property
    def is_waiting(self) -> bool:
        """Has a lock-step waited in vain for an answer to its last state?"""
        return (
            self._is_lockstep
            and self.plant.awaits
            and (monotonic() - self._measured_at > self.values["lockstep_timeout"])
        )

    def start(self) -> None:
        """Send the first state and begin."""
        self._stopping = False
        self._stamping.anchor(self.plant.simulator.time)
        self.pacer.start(monotonic())
        self._to_do = 0
        self._send()
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; the state stays."""
        if self._thread is None:
            return
        self._stopping = True
        self._topics.waiter.wake()
        self._thread.join()
        self._thread = None

    def do(self, task: Callable[[], Any]) -> Any:
        """Have the loop's thread do something between two steps, and return what it returns or raise what it raises."""
        if self._thread is None:
            return task()
        future: Future = Future()
        self._tasks.append((task, future))
        self._topics.waiter.wake()
        return future.result(ANSWER)

    def answered(self, activity: Activity, problem: str) -> None:
        """The controller has taken what the schedule asked for, or `problem` says why not."""

        def note() -> None:
            self._unanswered = max(0, self._unanswered - 1)
            self.plant.answered(activity, problem)

        self.do(note)

    def pause(self, paused: bool) -> None:
        """Stand, or go on."""
        self.do(lambda: self._allow(0 if paused else FOREVER))

    def step(self, count: int) -> None:
        """Allow so many steps more while it is paused; they begin at once.

        Raises:
            ConfigurationError: it is not paused.
        """

        def allow_more() -> None:
            if not self.is_paused:
                raise ConfigurationError(
                    "steps are made one by one only while the simulator is paused"
                )
            self._allow(self._allowed + count)

        self.do(allow_more)

    def reset(self) -> None:
        """Back to the initial state; a pause stays."""
        self.do(self._reset)

    # In the loop's thread.

    def _allow(self, steps: int) -> None:
        self._allowed = steps
        self._resume_clock()

    def _resume_clock(self) -> None:
        self.pacer.start(monotonic())
        self._stamping.anchor(self.plant.simulator.time)

    def _reset(self) -> None:
        while self._topics.command() is not None:
            pass  # an answer to what is no longer so
        self.plant.simulator.reset()
        self.plant.reset()
        self.failure = ""
        self._newest = None
        self._outgoing.clear()
        self._to_do = self._states = self._unanswered = 0
        self._allowed = min(self._allowed, 0)
        self._resume_clock()
        self._send()

    def _run(self) -> None:
        waiter = self._topics.waiter
        while not self._stopping:
            while self._tasks:
                self._do(*self._tasks.popleft())
            try:
                self._take()
                delay = self._delay()
                if delay == 0.0:
                    self._step()
            except (
                Exception
            ) as error:  # the thread must live: a reset may help, and somebody must be told
                self.failure = (
                    str(error)
                    if isinstance(error, SimulationError)
                    else f"{type(error).__name__}: {error}"
                )
                delay = LONGEST_WAIT
            if delay > 0.0:
                waiter.wait(min(delay, LONGEST_WAIT))

    def _do(self, task: Callable[[], Any], future: Future) -> None:
        try:
            future.set_result(task())
        except Exception as error:  # belongs to the thread that asked
            future.set_exception(error)

    def _take(self) -> None:
        """Hand over what has come."""
        plant = self.plant
        while (command := self._topics.command()) is not None:
            self.refusal = plant.command(command) or self.refusal
        while self._topics.push(plant.simulator, self.values["wrench_hold"]):
            pass

    def _delay(self) -> float:
        """Seconds until the next step may be due; 0: now."""
        now = monotonic()
        if self.failure:
            return LONGEST_WAIT
        if self._allowed == 0:
            return self._repeat(now, PAUSED)
        if self._to_do and not self.is_paused:
            return 0.0  # the rest of a cycle
        if self._outgoing and not self.plant.awaits:
            self._publish_states()
        if self._is_lockstep and self.plant.awaits:
            return self._wait_for_command(now)
        if self.plant.asked:
            self._ask()
        if self._is_lockstep and self._unanswered:
            return self._repeat(now, PAUSED)
        return 0.0 if self.is_paused else self.pacer.delay(now)

    def _ask(self) -> None:
        """Hand over what the schedule asks of the controller."""
        asked, self.plant.asked = self.plant.asked, []
        self._unanswered += len(asked)
        self.ask(asked, self.plant.home)

    def _wait_for_command(self, now: float) -> float:
        timeout = self.values["lockstep_timeout"]
        if now - self._sent_at >= timeout and self.plant.schedule_time >= 0.0:
            self.plant.timed_out()  # before the first command nothing is late
        return self._repeat(now, timeout)

    def _repeat(self, now: float, interval: float) -> float:
        """Send the newest state again, as it was, where the last time is this long ago [s]; when the next is due."""
        left = self._sent_at + interval - now
        if left > 0.0 or self._newest is None:
            return left if left > 0.0 else LONGEST_WAIT
        self._topics.publish_clock(self._stamping.last)
        self._topics.publish(self._newest, self._stamping.stamp(self._newest.stamp))
        self._sent_at = now
        return interval

    def _step(self) -> None:
        """One step; the last of a cycle sends the state."""
        plant = self.plant
        if not self._to_do:
            self.pacer.factor = self._factor()
            self._stamping.skip(self.pacer.begin(monotonic()))
            self._to_do = self._cycle
        plant.step()
        self._to_do -= 1
        if self.is_paused:
            self._allowed -= 1
        if not self._to_do:
            self._send()

    def _send(self) -> None:
        """Measure, and send what leaves."""
        plant, topics, stamping = self.plant, self._topics, self._stamping
        self._outgoing.extend(plant.measure())
        time = stamping.now(plant.simulator.time)
        if self._states % self._clock_every == 0:
            topics.publish_clock(time)
        self._states += 1
        self._publish_states()
        topics.publish_wrenches(plant.simulator, time)
        self._measured_at = self._sent_at = monotonic()

    def _publish_states(self) -> None:
        """Send what leaves. In lock-step a new state is answered before the next one follows, even at one instant.

        Else it would depend on the machine which of them the controller hears. One that comes late or twice needs no
        answer.
        """
        self.plant.awaits = False
        while self._outgoing and not (self._is_lockstep and self.plant.awaits):
            state = self._outgoing.popleft()
            self._topics.publish(state, self._stamping.stamp(state.stamp))
            if self._newest is None or state.stamp > self._newest.stamp:
                self._newest, self.plant.awaits = state, True
