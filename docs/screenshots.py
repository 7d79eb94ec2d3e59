# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of docs/view.md: the viewer in Chromium, without a screen.

python docs/screenshots.py [NAME ...]        # arm7, asimo, panda, phone; it needs the extra `test` and Chromium
"""

from __future__ import annotations

import io
import shutil
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from opspace_ctrl.view.live import live_subject
from opspace_ctrl.view.page import Page, feed
from opspace_ctrl.view.server import start_server

HERE = Path(__file__).parent
FLAGS = (
    "--no-sandbox --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --use-angle=swiftshader --enable-unsafe-swiftshader"
).split()
PATIENCE = 600_000  # [ms] of a browser that draws without a graphics card
SETTLE = 6.0  # [s] of motion before the picture


@dataclass(frozen=True)
class Picture:
    """What is drawn: a robot, what it is asked for, what is shown, and how large."""

    robot: str
    move: dict[str, tuple[float, float, float]]
    tab: str
    boxes: tuple[str, ...] = ()
    params: str | None = None
    size: tuple[int, int] = (1280, 800)


def panda() -> str:
    """The URDF of a real robot with meshes, from the wheel of example-robot-data."""
    files = metadata.distribution("example-robot-data").files or []
    return next(str(Path(each.locate()).resolve()) for each in files if each.name == "panda.urdf")


PICTURES: dict[str, Callable[[], Picture]] = {
    "arm7": lambda: Picture(
        "arm7", {"tool": (0.0, 0.2, 0.1)}, "Show", ("inertia (belted ellipsoid)",)
    ),
    "asimo": lambda: Picture(
        "asimo",
        {"right_hand": (0.08, 0.0, 0.15), "com": (0.0, 0.03, 0.0)},
        "Show",
        ("see through the robot",),
    ),
    "panda": lambda: Picture(panda(), {"hand": (0.0, -0.2, 0.1)}, "Gains", params="panda"),
    "phone": lambda: Picture("arm7", {"tool": (0.0, 0.15, 0.1)}, "", size=(390, 844)),
}


def draw(name: str, picture: Picture, chromium: Any) -> None:
    """Draw one picture into docs/view_<name>.png."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        subject, title = live_subject(picture.robot, picture.params, folder, stack)
        server, door = start_server(0, False, title)
        stack.callback(server.stop)
        page, ended = Page(server, subject), threading.Event()
        threading.Thread(target=feed, args=(page, ended.wait), daemon=True).start()
        stack.callback(ended.set)
        width, height = picture.size
        tab = chromium.new_page(viewport={"width": width, "height": height})
        tab.set_default_timeout(PATIENCE)
        tab.goto(door.address())
        tab.get_by_role("button", name="STOP").wait_for(state="attached")
        if picture.tab:
            tab.get_by_role("tab", name=picture.tab).click()
        for title in picture.boxes:
            tab.get_by_label(title).check()
        for word in tab.get_by_text("Software WebGL").all():
            word.locator("xpath=ancestor::*[.//button][1]").get_by_role("button").first.click()
        while subject.ring.latest() is None:
            time.sleep(0.1)
        row = subject.ring.latest()
        tasks = subject.settings.values["tasks"]
        for task, by in picture.move.items():
            place = row["pose"][tasks.index(task)][9:] + np.array(by)
            subject.ask("target", task, place, None)
        time.sleep(SETTLE)
        shot = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
        shot.save(HERE / f"view_{name}.png", optimize=True)
        tab.close()
    print(f"docs/view_{name}.png", flush=True)


def main() -> None:
    """Draw those that are named, or all."""
    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("no Chromium here: sudo apt install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for name in sys.argv[1:] or PICTURES:
            draw(name, PICTURES[name](), chromium)
        chromium.close()


if __name__ == "__main__":
    main()
