# SPDX-License-Identifier: Apache-2.0
"""How much the viewer's clients disturb the loop, and how many frames a second its page sends.

    python benchmarks/view.py [ROBOT] [--pairs 60] [--spell 2] [--priority N]

Spells with two clients and without alternate within one run, in the order that the pair before did not have, so that a
machine that becomes busier is no one's fault. A client is a socket of the page's own protocol in a process of its own
that reads everything and draws nothing; it is connected, and has had what is sent first, before its spell begins. The
robot moves all the time: a robot that stands is not sent.

A turn of the loop is missed if it begins more than its period late. The figure is the ratio of missed turns with
clients to those without, over all pairs, with the 95 % interval of 10,000 draws of pairs (bootstrap).

On a machine that others use, too, spells in which somebody else takes a core are neither's fault and hide all else: the
second line of figures leaves out pairs that missed a hundredth of their turns or more, with clients or without.
--priority 0: the loop runs as any program does, not with SCHED_FIFO.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from opspace_ctrl.view.process import PRIORITY

CLIENTS = 2
SETTLE = 0.5  # [s] before a spell counts
DRAWS = 10_000
LATE = (100.0, 250.0, 1000.0)  # [us]
ALLOWED = 1.05
BUSY = 0.01  # share of turns that are missed where somebody else holds a core


def read_and_discard(port: int, is_on, is_there, count) -> None:
    """A client: while `is_on`, bytes in, and nothing out but what a page says first; `count`: messages, bytes."""
    import viser
    from websockets.sync.client import connect

    while is_on.wait():
        with connect(
            f"ws://localhost:{port}/",
            origin=f"http://localhost:{port}",
            subprotocols=[f"viser-v{viser.__version__}"],
            max_size=None,
        ) as socket:
            socket.recv()
            is_there.release()
            while is_on.is_set():
                try:
                    count[1] += len(socket.recv(timeout=0.2))
                    count[0] += 1
                except TimeoutError:
                    pass
        is_there.release()


class Clients:
    """Two processes that connect and leave together."""

    def __init__(self, port: int, stack: ExitStack):
        context = multiprocessing.get_context("spawn")
        self._is_on, self._there = context.Event(), context.Semaphore(0)
        self.counts = [context.RawArray("q", 2) for _ in range(CLIENTS)]
        for count in self.counts:
            process = context.Process(
                target=read_and_discard, args=(port, self._is_on, self._there, count), daemon=True
            )
            process.start()
            stack.callback(process.terminate)

    def connect(self, are_there: bool) -> None:
        """Be connected, or not, when this returns."""
        if self._is_on.is_set() == are_there:
            return
        (self._is_on.set if are_there else self._is_on.clear)()
        for _ in self.counts:
            self._there.acquire()


def keep_moving(subject, ended: threading.Event) -> None:
    """Let the first task with a position go to and fro."""
    tasks = subject.settings.tasks
    number = next(i for i, task in enumerate(tasks) if task.rows in ("pose", "position"))
    start = subject.ring.latest()["pose"][number][9:].copy()
    side = 1.0
    while not ended.wait(0.7):
        side = -side
        subject.ask("target", tasks[number].name, start + [0.0, 0.04 * side, 0.03], None)


def spell(subject, seconds: float, frames: list[int], clients: Clients) -> dict[str, float]:
    """What a while was like."""
    ring = subject.ring
    first, count, drawn = ring.latest(), ring.count, frames[0]
    before = [tuple(each) for each in clients.counts]
    start, rows = time.monotonic(), []
    while time.monotonic() < start + seconds or not len(rows[-1]):
        time.sleep(0.5)
        count, some = ring.since(count)
        rows.append(some)
    taken, late = time.monotonic() - start, np.concatenate(rows)["late"]
    last = np.concatenate(rows)[-1]
    received = [[b - a for a, b in zip(old, new)] for old, new in zip(before, clients.counts)]
    return {
        "turns": int(last["turns"] - first["turns"]),
        "missed": int(last["missed"] - first["missed"]),
        **{f"late_{limit:g}": int((late > limit).sum()) for limit in LATE},
        "rows": len(late),
        "late_p50": float(np.median(late)),
        "late_p99": float(np.percentile(late, 99.0)),
        "frames": (frames[0] - drawn) / taken,
        "messages": np.mean([each[0] for each in received]) / taken,
        "kilobytes": np.mean([each[1] for each in received]) / taken / 1e3,
    }


def ratio(without: np.ndarray, with_clients: np.ndarray) -> tuple[float, float, float]:
    """With to without, and the interval that 95 % of draws of pairs are in."""
    draws = np.random.default_rng(1).integers(0, len(without), (DRAWS, len(without)))
    sums = [each[draws].sum(axis=1) + 0.5 for each in (with_clients, without)]
    low, high = np.percentile(sums[0] / sums[1], (2.5, 97.5))
    return float(with_clients.sum() / max(without.sum(), 1)), float(low), float(high)


def verdict(low: float, high: float) -> str:
    """What an interval says about at most 5 % more."""
    if high <= ALLOWED:
        return "at most 5 % more: reached"
    return "at most 5 % more: not reached" if low > ALLOWED else "too few to tell"


def measure(options: argparse.Namespace) -> list[tuple[dict[str, float], dict[str, float]]]:
    """(without, with clients) of each pair of spells."""
    from opspace_ctrl.commands.view import give_way
    from opspace_ctrl.view.live import live_subject
    from opspace_ctrl.view.page import Page, feed
    from opspace_ctrl.view.server import start_server

    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        subject, _ = live_subject(options.robot, None, folder, stack, options.priority)
        give_way()
        server, door = start_server(0, False, options.robot)
        stack.callback(server.stop)
        page, ended, frames = Page(server, subject), threading.Event(), [0]
        clients = Clients(door.port, stack)

        def count(row: np.void) -> None:
            frames[0] += 1

        for target, arguments in (
            (feed, (page, ended.wait, count)),
            (keep_moving, (subject, ended)),
        ):
            threading.Thread(target=target, args=arguments, daemon=True).start()
        stack.callback(ended.set)
        time.sleep(2.0)
        pairs = []
        for number in range(options.pairs):
            found = {}
            for are_there in (False, True) if number % 2 else (True, False):
                clients.connect(are_there)
                time.sleep(SETTLE)
                found[are_there] = spell(subject, options.spell, frames, clients)
            pairs.append((found[False], found[True]))
            missed = [each["missed"] for each in pairs[-1]]
            print(f"pair {number + 1}: missed {missed[0]} without, {missed[1]} with", flush=True)
        return pairs


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robot", nargs="?", default="arm7")
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--spell", type=float, default=2.0, help="length of one [s]")
    parser.add_argument("--priority", type=int, default=PRIORITY, help="SCHED_FIFO; 0: none")
    parser.add_argument("--json", metavar="FILE", help="all spells")
    options = parser.parse_args()
    pairs = measure(options)
    columns = {
        name: np.array([[each[name] for each in pair] for pair in pairs]) for name in pairs[0][0]
    }
    turns = columns["turns"].sum(axis=0)
    print(
        f"{options.robot}, SCHED_FIFO {options.priority} (0: none, else where permitted), "
        f"{turns[0]} turns without clients, {turns[1]} with {CLIENTS}"
    )
    missed = columns["missed"]
    more, fewer = (missed[:, 1] > missed[:, 0]).sum(), (missed[:, 1] < missed[:, 0]).sum()
    print(f"  of {len(pairs)} pairs {more} missed more with clients, {fewer} missed fewer")
    is_quiet = (missed < BUSY * columns["turns"]).all(axis=1)
    columns["missed_quiet"] = missed[is_quiet]
    for name, words in (
        ("missed", "missed"),
        ("missed_quiet", f"missed in the {is_quiet.sum()} quiet pairs"),
        *((f"late_{x:g}", f"rows later than {x:g} us") for x in LATE),
    ):
        found = columns[name]
        times, low, high = ratio(found[:, 0], found[:, 1])
        print(
            f"  {words}: {found[:, 0].sum()} without, {found[:, 1].sum()} with: {times:.3f} times "
            f"[{low:.3f}, {high:.3f}]; {verdict(low, high)}"
        )
    for name in ("late_p50", "late_p99", "frames", "messages", "kilobytes"):
        print(
            f"  {name}: {columns[name][:, 0].mean():.1f} without, {columns[name][:, 1].mean():.1f} with"
        )
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {platform.machine()}")
    if options.json:
        Path(options.json).write_text(json.dumps(pairs))


if __name__ == "__main__":
    main()
