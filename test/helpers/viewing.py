# SPDX-License-Identifier: Apache-2.0
"""A viewer's page in this process, and a real browser before it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.model.rotations import from_quaternion
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.robot_settings import load_any
from opspace_ctrl.sim.settings import simulator_settings
from opspace_ctrl.view.page import feed

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --use-angle=swiftshader --enable-unsafe-swiftshader"
).split()
PATIENCE = 3600.0  # [s] a last resort: a busy machine that draws without a graphics card is slow


def until(condition: Callable[[], Any], what: str) -> Any:
    """What a condition returns once it is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"in vain for {PATIENCE:g} s: {what}")


def shipped(robot: str) -> tuple[Any, Any, Any]:
    """Model, controller's and simulator's settings of a shipped robot."""
    path = shipped_path("config", f"{robot}.yaml")
    settings = controller_settings(node_parameters(path, "opspace_controller"))
    simulation = simulator_settings(node_parameters(path, "opspace_simulator"))
    return load_any(robot, settings.robot.base, settings.robot.locked), settings, simulation


class Driven:
    """A loop whose turns the test makes; what belongs into its thread is done at once."""

    def __init__(self, robot: str):
        from opspace_ctrl.view.loop import Loop
        from opspace_ctrl.view.requests import Requests
        from opspace_ctrl.view.rows import Ring, row_type

        model, settings, simulation = shipped(robot)
        kind = row_type(model, settings)
        self.ring = Ring(kind, bytearray(Ring.size(kind)))
        self.loop = Loop(model, settings, simulation, self.ring)
        self.loop.do = lambda task: task()
        self.requests = Requests(self.loop)

    def ask(self, name, *arguments):
        self.requests.answer(name, arguments)

    def turns(self, count):
        for _ in range(count):
            self.loop.turn()
        return self.ring.latest()


class Shown:
    """A page that is fed in a thread of its own."""

    def __init__(self, server: Any, door: Any, page: Any):
        self.server, self.door, self.page = server, door, page
        self._ended = threading.Event()
        self._thread = threading.Thread(target=feed, args=(page, self._ended.wait), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self.server.stop()

    @property
    def address(self) -> str:
        return self.door.address()


@contextmanager
def shown(make_page: Callable[[Any], Any], is_remote: bool = False) -> Iterator[Shown]:
    """A server with a page that `make_page` makes for it."""
    from opspace_ctrl.view.server import start_server

    server, door = start_server(0, is_remote, "test")
    found = Shown(server, door, make_page(server))
    try:
        yield found
    finally:
        found.close()


@contextmanager
def live_page(robot: str = "arm7") -> Iterator[tuple[Shown, Any]]:
    """The page of a shipped robot with its loop."""
    from opspace_ctrl.view.live import live_subject
    from opspace_ctrl.view.page import Page

    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        subject, _ = live_subject(robot, None, folder, stack)
        until(subject.ring.latest, "the loop's first row")
        yield stack.enter_context(shown(lambda server: Page(server, subject))), subject


@contextmanager
def browser() -> Iterator[Any]:
    """Debian's Chromium without a screen or a graphics card."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield found
        finally:
            found.close()


def camera_of(server: Any) -> Any:
    """The camera of the one client that is connected."""
    until(lambda: len(server.get_clients()) == 1, "a client")
    (client,) = server.get_clients().values()
    return client.camera


def scene_box(tab: Any) -> dict[str, float]:
    """Where the scene is on the screen: the largest canvas; plots are canvases too."""
    boxes = [canvas.bounding_box() for canvas in tab.locator("canvas").all()]
    return max((box for box in boxes if box), key=lambda box: box["width"] * box["height"])


def pixel(camera: Any, point: np.ndarray, box: dict[str, float]) -> tuple[float, float]:
    """Where a point of the world is on the screen; a camera looks along its z, y is down."""
    rotation = from_quaternion(np.roll(camera.wxyz, -1))
    x, y, z = rotation.T @ (np.asarray(point, float) - camera.position)
    focus = 0.5 * box["height"] / np.tan(0.5 * camera.fov)
    across, down = 0.5 * box["width"] + focus * x / z, 0.5 * box["height"] + focus * y / z
    return box["x"] + across, box["y"] + down
