# SPDX-License-Identifier: Apache-2.0
"""Gaps of a loop at 1 kHz while another thread changes the tasks, beside the undisturbed loop.

    python benchmarks/changing_tasks.py [--seconds 5]
The loop wakes every millisecond and ticks; a gap is the time from one wake-up to the next. Rows: an operational space,
a controller, alone and while another thread sets `tasks`, again and again with 10 ms between. On a machine that does
other things, too, gaps are its doing as well: `held` is the longest time for which the other thread computed from one
pause to the next (processor time of its own), and so the longest for which it can have kept the interpreter's lock.
"""

import argparse
import gc
import threading
from collections.abc import Callable
from time import perf_counter, sleep, thread_time

import numpy as np

from opspace_ctrl import (
    CenterOfMass,
    Controller,
    OperationalSpace,
    PositionTask,
    load_robot,
    turns,
)

PERIOD, PAUSE = 1e-3, 10e-3  # [s]
LISTS = {
    "arm7": (["tool"], [("tool", "position")]),
    "asimo": (
        ["left_foot", "right_foot", "left_hand", "right_hand"],
        ["left_foot", "right_foot", CenterOfMass()],
    ),
}
ADDED = {"arm7": PositionTask("elbow", frame="link4", level=2), "asimo": PositionTask("head")}


class Stretches:
    """The longest time [s] for which the thread that changes computes from one pause to the next."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.began = thread_time()

    def end(self) -> None:
        """A stretch has ended, another begins."""
        now = thread_time()
        self.longest = max(self.longest, now - self.began)
        self.began = now

    def pause(self, seconds: float) -> None:
        """Sleep between two stretches."""
        self.end()
        sleep(seconds)
        self.began = thread_time()


def gaps(tick: Callable[[float], object], seconds: float, change) -> tuple[np.ndarray, float, list]:
    """Times [ms] from tick to tick, the longest stretch of the other thread, and what each change took [ms]."""
    wakes, took, done = np.zeros(int(seconds / PERIOD)), [], threading.Event()

    def loop() -> None:
        due = perf_counter()
        try:
            for k in range(len(wakes)):
                due += PERIOD
                sleep(max(due - perf_counter(), 0.0))
                wakes[k] = perf_counter()
                tick(wakes[k])
                due = max(due, wakes[k] - PERIOD)  # what was missed is not made good
        finally:
            done.set()  # the other thread must end, too, when a tick is refused

    thread, number, stretches = threading.Thread(target=loop), 0, Stretches()
    turns.sleep = stretches.pause
    thread.start()
    while change is not None and not done.is_set():
        number += 1
        before = perf_counter()
        stretches.began = thread_time()
        change(number)
        stretches.end()
        took.append(1e3 * (perf_counter() - before))
        sleep(PAUSE)
    thread.join()
    turns.sleep = sleep
    return 1e3 * np.diff(wakes), 1e3 * stretches.longest, took


def cases(robot: str):
    """(what, its tick, what changes its tasks) of an operational space and a controller."""
    model, lists = load_robot(robot), LISTS[robot]
    q, v = model.neutral(), np.zeros(model.nv)
    ospace = OperationalSpace(model, lists[0], "sparse_ltdl")
    controller = Controller.from_file(f"{robot}.yaml", model)
    controller.method = "sparse_ltdl"
    controller.activate(q, v, perf_counter())
    first = controller.tasks

    def set_tasks(number: int) -> None:
        ospace.tasks = lists[number % 2]

    def set_more(number: int) -> None:
        controller.tasks = [*first, ADDED[robot]][: len(first) + number % 2]

    yield "space", lambda time: ospace.control(q, v), set_tasks
    yield "controller", lambda time: controller.tick(q, v, time), set_more


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    gc.disable()  # as the node does while efforts go out
    print("gaps [ms]: median / 99.9 % / worst; held [ms]; changes: how many, median [ms]")
    for robot in LISTS:
        for what, tick, change in cases(robot):
            for number in range(5):  # so that the next is another list
                change(number)
            for name, act in (("alone", None), ("tasks set", change)):
                found, held, took = gaps(tick, seconds, act)
                median, high, worst = np.quantile(found, [0.5, 0.999, 1.0])
                row = f"{robot:6} {what:10} {name:9} {median:.2f} / {high:.2f} / {worst:.2f}; {held:.2f}"
                print(row, f"; {len(took)}, {np.median(took):.1f}" if took else "")


if __name__ == "__main__":
    main()
