# SPDX-License-Identifier: Apache-2.0
"""How much the viewer's clients disturb the loop: its missed turns alone and with clients that read and discard.

    python benchmarks/view.py [ROBOT] [SECONDS]

A client here is a socket of the page's own protocol that reads everything and draws nothing, in a process of its own.
Rounds with and without clients alternate, so that a machine that becomes busier is no one's fault.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

CLIENTS, ROUNDS = 2, 4


def read_and_discard(port: int, stop) -> None:
    """A client: bytes in, nothing out but what a page says first."""
    import viser
    from websockets.sync.client import connect

    with connect(
        f"ws://localhost:{port}/",
        origin=f"http://localhost:{port}",
        subprotocols=[f"viser-v{viser.__version__}"],
        max_size=None,
    ) as socket:
        while not stop.is_set():
            try:
                socket.recv(timeout=0.2)
            except TimeoutError:
                pass


def measure(ring, seconds: float) -> tuple[int, int, float]:
    """Turns and missed ones of a while, and the median time of a tick [us]."""
    first = ring.latest()
    count = ring.count
    time.sleep(seconds)
    last, rows = ring.latest(), ring.since(count)[1]
    turns = int(last["turns"] - first["turns"])
    return turns, int(last["missed"] - first["missed"]), float(np.median(rows["tick"]))


def main() -> None:
    """Print both."""
    from opspace_ctrl.view.live import live_subject
    from opspace_ctrl.view.page import RATE, Page
    from opspace_ctrl.view.server import start_server

    robot = sys.argv[1] if len(sys.argv) > 1 else "arm7"
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        subject, _ = live_subject(robot, None, folder, stack)
        server, door = start_server(0, False, robot)
        stack.callback(server.stop)
        page = Page(server, subject)
        os.nice(5)
        ended, frames = threading.Event(), [0]

        def feed() -> None:
            while not ended.wait(1.0 / RATE):
                frames[0] += page.update() is not None

        threading.Thread(target=feed, daemon=True).start()
        stack.callback(ended.set)
        context = multiprocessing.get_context("spawn")
        totals = {0: [0, 0], CLIENTS: [0, 0]}
        time.sleep(2.0)
        for _ in range(ROUNDS):
            for clients in (0, CLIENTS):
                stop = context.Event()
                several = [
                    context.Process(target=read_and_discard, args=(door.port, stop), daemon=True)
                    for _ in range(clients)
                ]
                for each in several:
                    each.start()
                time.sleep(3.0 if several else 0.5)
                drawn = frames[0]
                turns, missed, tick = measure(subject.ring, seconds / ROUNDS)
                rate = (frames[0] - drawn) / (seconds / ROUNDS)
                totals[clients][0] += turns
                totals[clients][1] += missed
                print(
                    f"{clients} clients: {missed} of {turns} turns missed, tick {tick:.1f} us, "
                    f"{rate:.0f} frames a second sent",
                    flush=True,
                )
                stop.set()
                for each in several:
                    each.join()
        for clients, (turns, missed) in totals.items():
            print(
                f"{robot}, {clients} clients: {missed} of {turns} missed ({100 * missed / turns:.2f} %)"
            )
        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {platform.machine()}")


if __name__ == "__main__":
    main()
