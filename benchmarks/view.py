# SPDX-License-Identifier: Apache-2.0
"""How much the viewer's clients disturb the loop, and how many frames a second its page sends.

    python benchmarks/view.py [ROBOT] [--pairs 50] [--spell 4] [--rate 1000] [--priority N]

That takes eight minutes on a machine that does nothing else.

Spells with two clients and without alternate within one run, in the order that the pair before did not have, so that a
machine that becomes busier is no one's fault. A client is a socket of the page's own protocol in a process of its own
that reads everything and draws nothing; it is connected, and has had what is sent first, before its spell begins. The
robot moves all the time: a robot that stands is not sent.

A turn of the loop is missed if it begins more than its period late. Whether clients make at most 5 % more of that is
decided by the ratio of missed turns with clients to those without, over all pairs: the interval that 95 % of 10,000
draws of pairs are in (bootstrap) lies below 1.05, or above it, or this run was too short or the machine too busy to
tell. Then it says how many times as long a run would do, and three things that such a run can still tell:
- how wide chance alone would have spread the ratio, had clients made no difference (the two spells of each pair
  exchanged at random): 0.9 to 1.1 is a measurement of 10 %, not of 5;
- how many turns of a million are missed more with clients, with the same kind of interval: where next to none is
  missed at all, no ratio can be had, and this is what counts;
- whether the typical pair misses more, by Wilcoxon's signed ranks of with - 1.05 * without, in which a few spells that
  somebody else has spoiled have no more weight than others.
A ratio within 5 % takes some 3,000 misses of each kind even if they come one by one, and none is judged by fewer than
50, or ten pairs. The same is told for nearer deadlines, of which more are missed; of a row, of which there are
200 a second, the latest turn counts.

--rate N lets the loop turn N times a second instead of a thousand: its deadline comes nearer as well, and in as many
minutes there are more turns to judge by.

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
import yaml

from opspace_ctrl.view.process import PRIORITY

CLIENTS = 2
SETTLE = 0.5  # [s] before a spell counts
DRAWS = 10_000
LATE = (50.0, 100.0, 250.0, 500.0, 1000.0)  # [us]
ALLOWED = 1.05
FEWEST, FEWEST_PAIRS = 50, 10  # misses and pairs that a ratio is judged by
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


def at_rate(robot: str, rate: float, folder: Path) -> str:
    """A parameter file of the robot with which the loop turns so many times a second."""
    from opspace_ctrl.commands._demo.own import parameters_for

    content = yaml.safe_load(Path(parameters_for(robot, None, folder)).read_text())
    for name, section in content.items():
        if name.endswith("opspace_simulator"):
            section["ros__parameters"]["step"] = 1.0 / rate
    path = folder / "at_rate.yaml"
    path.write_text(yaml.safe_dump(content))
    return str(path)


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


def by_chance(without: np.ndarray, with_clients: np.ndarray) -> tuple[float, float]:
    """The interval that 95 % of ratios are in if the spells of each pair are exchanged at random."""
    is_exchanged = np.random.default_rng(2).random((DRAWS, len(without))) < 0.5
    ones = np.where(is_exchanged, without, with_clients).sum(axis=1)
    others = without.sum() + with_clients.sum() - ones
    low, high = np.percentile((ones + 0.5) / (others + 0.5), (2.5, 97.5))
    return float(low), float(high)


def more_of_a_million(missed: np.ndarray, turns: np.ndarray) -> tuple[float, float, float]:
    """Missed turns (pairs, 2) of a million, with less without, and the interval of 95 % of draws of pairs.

    Of turns that none of n was missed of, up to 3 / n may be (95 %).
    """
    draws = np.random.default_rng(3).integers(0, len(missed), (DRAWS, len(missed)))
    shares = [
        1e6 * missed[:, i][draws].sum(axis=1) / turns[:, i][draws].sum(axis=1) for i in (0, 1)
    ]
    low, high = np.percentile(shares[1] - shares[0], (2.5, 97.5))
    seen = 1e6 * missed.sum(axis=0) / turns.sum(axis=0)
    unseen = 3e6 / turns.sum(axis=0) * (missed.sum(axis=0) == 0)
    return float(seen[1] - seen[0]), float(low - unseen[0]), float(high + unseen[1])


def in_a_typical_pair(without: np.ndarray, with_clients: np.ndarray) -> float:
    """How likely such ranks are if the typical pair misses 5 % more or worse; below 0.05: it does not."""
    from scipy.stats import wilcoxon

    differences = with_clients - ALLOWED * without
    if not differences.any():
        return 1.0
    return float(wilcoxon(differences, zero_method="pratt", alternative="less").pvalue)


def verdict(pairs: int, count: int, times: float, low: float, high: float) -> str:
    """What an interval of a ratio of so many misses, in so many pairs, says about at most 5 % more."""
    if count < FEWEST or pairs < FEWEST_PAIRS:
        return "too few for a ratio" if count else "none in either"
    if high <= ALLOWED:
        return "at most 5 % more: reached"
    if low > ALLOWED:
        return "at most 5 % more: not reached"
    if times >= ALLOWED:
        return "too few to tell"
    longer = (np.log(high / max(times, 1e-3)) / np.log(ALLOWED / max(times, 1e-3))) ** 2
    return f"too few to tell; {longer:.0f} times as many pairs would do"


def measure(options: argparse.Namespace) -> list[tuple[dict[str, float], dict[str, float]]]:
    """(without, with clients) of each pair of spells."""
    from opspace_ctrl.commands.view import give_way
    from opspace_ctrl.view.live import live_subject
    from opspace_ctrl.view.page import Page, feed
    from opspace_ctrl.view.server import start_server

    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        params = at_rate(options.robot, options.rate, folder)
        subject, _ = live_subject(options.robot, params, folder, stack, options.priority)
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


def show(pairs: list[tuple[dict[str, float], dict[str, float]]]) -> None:
    """Print what pairs of spells say."""
    columns = {
        name: np.array([[each[name] for each in pair] for pair in pairs]) for name in pairs[0][0]
    }
    missed, turns = columns["missed"], columns["turns"]
    print(f"{turns[:, 0].sum()} turns without clients, {turns[:, 1].sum()} with {CLIENTS}")
    is_quiet = (missed < BUSY * turns).all(axis=1)
    columns["missed_quiet"] = missed[is_quiet]
    for name, words in (
        ("missed", "missed"),
        ("missed_quiet", f"missed in the {is_quiet.sum()} quiet pairs"),
        *((f"late_{x:g}", f"rows later than {x:g} us") for x in LATE),
    ):
        without, with_clients = columns[name].T
        if not len(without):
            continue
        times, low, high = ratio(without, with_clients)
        least, most = by_chance(without, with_clients)
        words_of_it = verdict(len(without), columns[name].sum(), times, low, high)
        print(
            f"  {words}: {without.sum()} without, {with_clients.sum()} with: {times:.3f} times "
            f"[{low:.3f}, {high:.3f}]; {words_of_it} (by chance alone {least:.3f} to {most:.3f}; "
            f"typical pair: p = {in_a_typical_pair(without, with_clients):.3f})"
        )
    for words, which in (("all", np.full(len(missed), True)), ("quiet", is_quiet)):
        if which.any():
            more, low, high = more_of_a_million(missed[which], turns[which])
            print(
                f"  of a million turns, {words} pairs: {more:+.1f} [{low:+.1f}, {high:+.1f}] more with clients"
            )
    for name in ("late_p50", "late_p99", "frames", "messages", "kilobytes"):
        print(
            f"  {name}: {columns[name][:, 0].mean():.1f} without, {columns[name][:, 1].mean():.1f} with"
        )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robot", nargs="?", default="arm7")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--spell", type=float, default=4.0, help="length of one [s]")
    parser.add_argument("--rate", type=float, default=1000.0, help="turns of the loop a second")
    parser.add_argument("--priority", type=int, default=PRIORITY, help="SCHED_FIFO; 0: none")
    parser.add_argument("--json", metavar="FILE", help="all spells")
    options = parser.parse_args()
    pairs = measure(options)
    print(f"{options.robot}, SCHED_FIFO {options.priority} (0: none, else where permitted)")
    show(pairs)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {platform.machine()}")
    if options.json:
        Path(options.json).write_text(json.dumps(pairs))


if __name__ == "__main__":
    main()
