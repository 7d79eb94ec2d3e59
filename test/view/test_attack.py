# SPDX-License-Identifier: Apache-2.0
"""Clients that do what no page does, against a real page with a real loop: others are served, and the loop goes on."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import msgspec
import numpy as np
import pytest
import viser
from helpers.viewing import live_page, until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

RNG = np.random.default_rng(7)


@pytest.fixture(scope="module")
def shown():
    with live_page("arm7") as found:
        yield found


def client(shown, **options):
    port = shown[0].door.port
    return connect(
        f"ws://localhost:{port}/",
        origin=f"http://localhost:{port}",
        subprotocols=[f"viser-v{viser.__version__}"],
        max_size=None,
        open_timeout=120,
        **options,
    )


def is_served(shown) -> bool:
    """A new client gets the whole scene, and what the robot does after it."""
    with client(shown) as socket:
        return sum(len(socket.recv(timeout=120)) for _ in range(3)) > 10_000


def goes_on(shown) -> bool:
    """The loop turns, no gate has closed, and a target is followed."""
    _, subject = shown
    row = subject.ring.latest()
    goal = row["pose"][0][9:] + [0.0, 0.01 * RNG.choice([-1.0, 1.0]), 0.0]
    subject.ask("target", "tool", goal, None)
    until(lambda: np.linalg.norm(subject.ring.latest()["pose"][0][9:] - goal) < 2e-3, "it arrives")
    return not subject.ring.latest()["gates"]


def widget(shown, label: str):
    """The number of an element of the panel that every client knows."""
    handles = shown[0].server.gui._gui_input_handle_from_uuid.values()
    return next(each for each in handles if each.label == label)._impl.uuid


def update(uuid, **changes) -> bytes:
    return msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": changes})


HOSTILE = {
    "no message at all": lambda shown: b"\x00\xff\xfe rubbish",
    "text": lambda shown: "stop",
    "a list": lambda shown: msgspec.msgpack.encode([1, 2, 3]),
    "of no type": lambda shown: msgspec.msgpack.encode({"type": "Robot", "stop": 1}),
    "with other fields": lambda shown: msgspec.msgpack.encode({"type": "GuiUpdateMessage", "x": 1}),
    "of no element": lambda shown: update("nobody", value=1.0),
    "deep": lambda shown: b"\x91" * 100_000,
    "a property that is none": lambda shown: update(widget(shown, "stiffness"), bogus=1),
    "not a number": lambda shown: update(widget(shown, "stiffness"), value=float("nan")),
    "words for a number": lambda shown: update(widget(shown, "stiffness"), value="x" * 1000),
    "a dictionary for a number": lambda shown: update(widget(shown, "stiffness"), value={}),
    "a choice that is none": lambda shown: update(widget(shown, "mode"), value="bogus"),
    "60 MB": lambda shown: bytes(60_000_000),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_whatever_a_client_sends_the_others_are_served_and_the_loop_goes_on(shown, kind):
    _, subject = shown
    before = subject.ring.latest()
    with client(shown) as watcher, client(shown) as hostile:
        hostile.recv(timeout=120)
        try:
            for _ in range(3):
                hostile.send(HOSTILE[kind](shown))
            for _ in range(3):
                hostile.recv(timeout=5)
        except (ConnectionClosed, TimeoutError):
            pass
        for _ in range(3):
            watcher.recv(timeout=120)  # it has not been closed
    assert is_served(shown) and goes_on(shown)
    assert subject.ring.latest()["switches"] == before["switches"]


def test_twenty_clients_are_served_and_leave_nothing_behind(shown):
    found, _ = shown
    with ExitStack() as stack:
        several = [stack.enter_context(client(shown)) for _ in range(20)]
        for each in several:
            assert len(each.recv(timeout=300))
        assert goes_on(shown)
    until(lambda: not found.server._websock_server._live_connections, "all have gone")


def test_a_client_that_never_reads_costs_no_memory_and_delays_nobody(shown):
    found, subject = shown
    buffer = found.server._websock_server.get_message_buffer()
    with client(shown, max_queue=1) as deaf:
        deaf.recv(timeout=120)  # and no more
        sizes = []
        for _ in range(4):
            assert goes_on(shown)
            sizes.append(len(buffer.message_from_id))
        assert is_served(shown)
    assert max(sizes) < sizes[0] + 200, sizes  # what is out of date is not kept for it


def test_two_pages_that_drive_at_once_do_not_fight_and_the_last_word_counts(shown):
    found, subject = shown
    handle = found.page.handles[0]
    start = subject.ring.latest()["pose"][0][9:].copy()
    ends = [start + [0.0, y, 0.0] for y in (-0.03, 0.03)]

    def drive(end):
        for share in np.linspace(0.0, 1.0, 50):
            subject.ask("target", "tool", start + share * (end - start), None)

    several = [threading.Thread(target=drive, args=(end,)) for end in ends]
    for each in several:
        each.start()
    for each in several:
        each.join()
    subject.ask("target", "tool", ends[0], None)
    until(lambda: np.linalg.norm(subject.ring.latest()["pose"][0][9:] - ends[0]) < 1e-3, "arrived")
    assert not subject.ring.latest()["gates"] and handle.dragged_by is None
