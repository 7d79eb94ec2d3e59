"""Gaps of a loop at 1 kHz while another thread changes the tasks: least, median and worst, beside the undisturbed loop.

    python benchmarks/changing_tasks.py [--seconds 5]
The loop wakes every millisecond and calls `control`; a gap is the time from one wake-up to the next. Columns: alone;
while another thread sets `ospace.tasks`, again and again with 10 ms between; while it makes new objects, with Python's
usual turns. On a machine that does other things, too: `chrt -f 5 python benchmarks/changing_tasks.py`.
"""

from __future__ import annotations

import argparse
import threading
from time import perf_counter, sleep

import numpy as np

from opspace_ctrl import CenterOfMass, OperationalSpace, load_robot

PERIOD, PAUSE = 1e-3, 10e-3  # [s]
LISTS = {
    "arm7": (["tool"], [("tool", "position")]),
    "asimo": (
        ["left_foot", "right_foot", "left_hand", "right_hand"],
        ["left_foot", "right_foot", CenterOfMass()],
    ),
}


def gaps(ospace: OperationalSpace, seconds: float, change) -> tuple[np.ndarray, list[float]]:
    """Times [ms] from tick to tick, and how long each change took [ms]."""
    q, v = ospace.model.neutral(), np.zeros(ospace.model.nv)
    wakes, took, done = np.zeros(int(seconds / PERIOD)), [], threading.Event()

    def loop() -> None:
        due = perf_counter()
        for k in range(len(wakes)):
            due += PERIOD
            sleep(max(due - perf_counter(), 0.0))
            wakes[k] = perf_counter()
            ospace.control(q, v)
        done.set()

    thread, number = threading.Thread(target=loop), 0
    thread.start()
    while change is not None and not done.is_set():
        number += 1
        before = perf_counter()
        change(number)
        took.append(1e3 * (perf_counter() - before))
        sleep(PAUSE)
    thread.join()
    return 1e3 * np.diff(wakes), took


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    print("gaps [ms]: least / median / 99.9 % / worst; changes: how many, median [ms]")
    for robot, lists in LISTS.items():
        model = load_robot(robot)
        ospace = OperationalSpace(model, lists[0], "sparse_ltdl")

        def assign(number: int, ospace=ospace, lists=lists) -> None:
            ospace.tasks = lists[number % 2]

        def make(number: int, model=model, lists=lists) -> None:
            OperationalSpace(model, lists[number % 2], "sparse_ltdl")

        cases = {"alone": None, "tasks set": assign, "new objects": make}
        for name, change in cases.items():
            found, took = gaps(ospace, seconds, change)
            low, median, high, worst = np.quantile(found, [0.0, 0.5, 0.999, 1.0])
            row = f"{robot:6} {name:12} {low:.2f} / {median:.2f} / {high:.2f} / {worst:.2f}"
            print(row, f"; {len(took)}, {np.median(took):.1f}" if took else "")


if __name__ == "__main__":
    main()
