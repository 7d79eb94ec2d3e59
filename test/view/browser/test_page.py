# SPDX-License-Identifier: Apache-2.0
"""The viewer in a real browser: what is drawn, dragged and pressed, judged by the controller's own numbers."""

from __future__ import annotations

import io
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import numpy as np
import pytest
import viser
from helpers.viewing import PATIENCE, browser, camera_of, live_page, pixel, scene_box, until
from PIL import Image

from opspace_ctrl import frame_pose
from opspace_ctrl.control.safety.fields import BIT
from opspace_ctrl.model.rotations import from_quaternion

WIDTH, HEIGHT = 1280, 800


@pytest.fixture(scope="module")
def shown():
    with live_page("arm7") as (found, subject):
        yield found, subject


@pytest.fixture(scope="module")
def tab(shown):
    """The page in Chromium, with all that it has asked for."""
    with browser() as chromium:
        page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.set_default_timeout(1000.0 * PATIENCE)
        page.goto(shown[0].address)
        page.get_by_role("button", name="STOP").wait_for()
        camera_of(shown[0].server)
        yield page


def picture(tab) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(tab.screenshot())).convert("RGB"), float)


def tool(subject) -> np.ndarray:
    return subject.ring.latest()["pose"][0][9:]


def arrow_of(found, tab) -> tuple[float, float]:
    """A place on the arrow of the handle along its z, on the screen."""
    node = found.page.handles[0]._node
    axis = from_quaternion(np.roll(node.wxyz, -1))[:, 2]
    return pixel(camera_of(found.server), node.position + 0.11 * axis, scene_box(tab))


def drag(tab, place, by, is_held) -> None:
    """Press the mouse at a place and move it, again until the page has seen that something is held."""

    def held() -> bool:
        (x, y), (dx, dy) = place(), by
        tab.mouse.move(x - 1.0, y)
        tab.mouse.move(x, y)
        tab.mouse.down()
        for step in range(1, 21):
            tab.mouse.move(x + dx * step / 20.0, y + dy * step / 20.0)
        tab.wait_for_timeout(200)
        if not is_held():
            tab.mouse.up()
        return bool(is_held())

    until(held, "something is held")


def test_no_request_leaves_this_machine(tab):
    hosts = {
        urlsplit(url.removeprefix("blob:")).hostname
        for url in tab.asked
        if not url.startswith("data:")
    }
    assert hosts == {"localhost"}


def test_the_robot_is_drawn_in_its_colours_where_it_is(shown, tab):
    found, subject = shown
    camera, model, q = camera_of(found.server), subject.model, subject.ring.latest()["q"]
    shoulder, elbow = (frame_pose(model, q, name)[0] for name in ("link2", "link4"))

    def colour(point):
        x, y = (round(each) for each in pixel(camera, point, scene_box(tab)))
        return picture(tab)[y - 2 : y + 3, x - 2 : x + 3].mean(axis=(0, 1))

    # the URDF's grey joint, its white upper arm, the bright floor behind both
    until(lambda: colour(shoulder).max() < 110, "a dark shoulder")
    arm, floor = colour(0.5 * (shoulder + elbow)), colour(np.array([0.0, -0.7, 0.0]))
    assert 120 < arm.min() and arm.max() < 235 < floor.min() + 40
    for node in found.page.robot._nodes.values():
        node.visible = False
    until(lambda: colour(shoulder).min() > 180, "the floor where the shoulder was")
    for node in found.page.robot._nodes.values():
        node.visible = True
    until(lambda: colour(shoulder).max() < 110, "the shoulder again")


def test_a_handle_is_dragged_and_the_tool_arrives(shown, tab):
    found, subject = shown
    before, handle = tool(subject).copy(), found.page.handles[0]
    drag(tab, lambda: arrow_of(found, tab), (0.0, -60.0), lambda: handle.dragged_by is not None)
    until(lambda: np.linalg.norm(handle._node.position - before) > 0.03, "the handle moves")
    tab.mouse.up()
    until(lambda: handle.dragged_by is None, "it is let go")
    goal = np.array(handle._node.position)
    until(lambda: np.linalg.norm(tool(subject) - goal) < 1e-3, "the tool arrives")
    assert goal[2] > before[2] + 0.02  # up, as the mouse went


def test_a_link_that_is_dragged_is_pushed(shown, tab):
    found, subject = shown
    start = subject.ring.latest()["q"].copy()
    elbow = frame_pose(subject.model, start, "link4")[0]
    camera, pushes = camera_of(found.server), found.page.pushes
    drag(
        tab, lambda: pixel(camera, elbow, scene_box(tab)), (-64.0, 0.0), lambda: pushes.force.any()
    )
    until(lambda: np.abs(subject.ring.latest()["q"] - start).max() > 0.01, "the arm gives way")
    tab.mouse.up()
    until(lambda: not pushes.force.any(), "no force")


def test_a_method_is_switched(shown, tab):
    _, subject = shown
    wanted = subject.methods.index("rjk")
    assert subject.ring.latest()["method"] != wanted
    tab.get_by_label("method").first.click()
    tab.get_by_role("option", name="rjk").click()
    row = until(
        lambda: (row := subject.ring.latest())["method"] == wanted and row, "the other method"
    )
    assert row["switches"] >= 1 and row["residual"] < 1e-9


def test_stop_latches_until_it_is_released(shown, tab):
    _, subject = shown
    tab.get_by_role("button", name="STOP").click()
    row = until(lambda: (row := subject.ring.latest())["gates"] and row, "a closed gate")
    assert row["gates"] & BIT["stop"]
    tab.get_by_text("stop: emergency stop").wait_for()
    tab.get_by_role("button", name="Hold").click()
    tab.get_by_role("alert").get_by_text("no gate is closed").wait_for()  # refused, in words
    assert subject.ring.latest()["gates"] & BIT["stop"]
    tab.get_by_role("button", name="Release").click()
    until(lambda: not subject.ring.latest()["gates"], "all gates open")
    tab.get_by_text("all gates are open").wait_for()


def test_on_a_phone_the_panel_covers_nothing_of_the_scene_and_stop_stays_in_sight(tab):
    def box(locator):
        return locator.bounding_box()

    stop = tab.get_by_role("button", name="STOP")
    tab.set_viewport_size({"width": 390, "height": 844})
    until(
        lambda: (found := box(stop)) and found["width"] > 340.0, "the panel is as wide as the phone"
    )
    scene = until(lambda: (found := scene_box(tab))["width"] == 390.0 and found, "so is the scene")
    assert scene["height"] > 300.0
    assert scene["y"] + scene["height"] <= box(stop)["y"]
    tab.get_by_role("tab", name="Gains").click()
    last = tab.get_by_text("armature", exact=True)
    last.scroll_into_view_if_needed()
    until(lambda: box(last)["y"] < 844.0, "the end of the panel")
    assert scene["y"] + scene["height"] <= box(stop)["y"] + 1.0 < 844.0
    tab.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    until(lambda: scene_box(tab)["width"] > 500.0, "the desktop again")


def test_what_is_taken_away_arrives_as_files(tab):
    tab.get_by_role("tab", name="Show").click()
    begins = {"CSV": b"time,tick_us", "HTML": b"<!doctype html>", "PNG": b"\x89PNG"}
    for kind, begin in begins.items():
        with tab.expect_download() as download:
            tab.get_by_role("button", name=kind, exact=True).click()
        assert download.value.suggested_filename == f"arm7.{kind.lower()}"
        content = download.value.path().read_bytes()
        assert content.startswith(begin)
        if kind == "PNG":
            shown = np.asarray(Image.open(io.BytesIO(content)))
            assert shown.shape[2] == 3 and shown[2, 2].min() > 240  # the sky is white, not nothing


@pytest.fixture
def foreign(tmp_path):
    """The address of a page that somebody else serves."""
    (tmp_path / "index.html").write_text("<p>a page from elsewhere</p>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_page_from_elsewhere_in_the_same_browser_cannot_open_the_socket(shown, tab, foreign):
    found, _ = shown
    elsewhere = tab.context.browser.new_page()
    elsewhere.goto(foreign)
    count = found.door.refused
    outcome = elsewhere.evaluate(
        """address => new Promise(done => {
            const socket = new WebSocket(address[0], [address[1]]);
            socket.onopen = () => done("open");
            socket.onerror = () => done("refused");
        })""",
        [f"ws://localhost:{found.door.port}/", f"viser-v{viser.__version__}"],
    )
    elsewhere.close()
    assert outcome == "refused" and found.door.refused == count + 1


def test_what_a_parameter_refuses_is_said_beside_it(shown, tab):
    _, subject = shown
    tab.get_by_role("tab", name="Gains").click()
    tab.get_by_text("more", exact=True).first.click()
    box = tab.get_by_label("error clip").first
    box.fill("1000")
    box.press("Enter")
    alert = tab.get_by_role("alert").get_by_text("tool.error_clip")
    alert.wait_for()
    assert "0.0001 to 100" in alert.inner_text()
    below = alert.bounding_box()["y"] - box.bounding_box()["y"]
    assert 0.0 < below < 60.0  # pixels: right under it


def test_a_mode_and_rotors_are_changed_in_the_panel(shown, tab):
    _, subject = shown
    tab.get_by_role("tab", name="Drive").click()
    tab.get_by_label("mode", exact=True).click()
    tab.get_by_role("option", name="velocity").click()
    levels = until(lambda: subject.ring.latest()["trip"] > 0.0, "it goes on")
    assert levels and not subject.ring.latest()["gates"]
    tab.get_by_label("mode", exact=True).click()
    tab.get_by_role("option", name="tasks").click()
    tab.get_by_role("tab", name="Gains").click()
    tab.get_by_text("armature", exact=True).click()
    added = tab.get_by_label("added").first
    added.fill("-1")  # the page itself keeps it within what is valid
    added.fill("0.3")
    added.press("Enter")
    tab.wait_for_timeout(500)
    assert tab.get_by_role("alert").get_by_text("armature").count() == 0
    assert not subject.ring.latest()["gates"]


def test_a_run_that_was_taken_away_plays_from_a_file_without_a_server(shown, tab, tmp_path):
    tab.get_by_role("tab", name="Show").click()
    with tab.expect_download() as download:
        tab.get_by_role("button", name="HTML", exact=True).click()
    file = tmp_path / "run.html"
    download.value.save_as(file)
    alone = tab.context.browser.new_page(viewport={"width": 640, "height": 400})
    asked = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(file.as_uri())
    alone.locator("canvas").first.wait_for()

    def dark():
        """Pixels of the arm's dark joints."""
        return (picture(alone).max(axis=2) < 90).sum()

    until(lambda: dark() > 100, "the robot is drawn")
    alone.close()
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked), asked


def test_a_page_that_is_lost_while_it_drags_lets_the_task_hold(shown, tab):
    found, subject = shown
    handle = found.page.handles[0]
    before = tool(subject).copy()
    subject.ask("settings", {"tool.speed": 0.002})  # so that it is still on its way
    drag(tab, lambda: arrow_of(found, tab), (0.0, 60.0), lambda: handle.dragged_by is not None)
    until(lambda: np.linalg.norm(handle._node.position - before) > 0.05, "the handle is far away")
    goal = np.array(handle._node.position)
    found.server._websock_server.disconnect_all_clients()
    until(lambda: handle.dragged_by is None, "it is seen that the page is lost")
    until(lambda: np.abs(subject.ring.latest()["v"]).max() < 1e-3, "the robot stands")
    assert np.linalg.norm(tool(subject) - goal) > 0.02
    # the handle is where the task holds
    until(
        lambda: np.linalg.norm(handle._node.position - tool(subject)) < 2e-3, "the handle is back"
    )
