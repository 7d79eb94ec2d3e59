# SPDX-License-Identifier: Apache-2.0
"""Who is let in: requests to a real server, with headers as a browser, a foreign page and another host send them."""

from __future__ import annotations

import http.client
import socket

import pytest
from helpers.viewing import PATIENCE, shown
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from opspace_ctrl.commands.view import own_name
from opspace_ctrl.errors import ViewError
from opspace_ctrl.view.door import Door, check_port
from opspace_ctrl.view.server import start_server


class Nothing:
    """A page without anything."""

    def __init__(self, server):
        self.server = server

    def update(self):
        pass


@pytest.fixture(scope="module")
def local():
    with shown(Nothing) as found:
        yield found.door


@pytest.fixture(scope="module")
def remote():
    with shown(Nothing, is_remote=True) as found:
        yield found.door


def get(door, path="/", to="127.0.0.1", **headers):
    connection = http.client.HTTPConnection(to, door.port, timeout=PATIENCE)
    try:
        connection.request(
            "GET", path, headers={name.title(): text for name, text in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def opens(door, origin, host=None, cookie=None):
    import viser

    headers = {"Cookie": cookie} if cookie else {}
    if host:
        headers["Host"] = host
    try:
        with connect(
            f"ws://localhost:{door.port}/",
            origin=origin,
            subprotocols=[f"viser-v{viser.__version__}"],
            additional_headers=headers,
            open_timeout=PATIENCE,
        ):
            return True
    except InvalidStatus as error:
        assert error.response.status_code == 403
        return False


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_the_page_is_served_to_its_own_names(local, name):
    status, headers, body = get(local, host=f"{name}:{local.port}")
    assert status == 200 and b"<html" in body.lower()
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert (
        "http://" not in headers["Content-Security-Policy"]
    )  # nothing may be fetched from elsewhere


@pytest.mark.parametrize(
    "name", ["elsewhere.example", "192.168.0.7", "localhost.elsewhere.example", ""]
)
def test_a_name_that_leads_here_is_refused(local, name):
    status, _, body = get(local, host=f"{name}:{local.port}")
    assert status == 403 and b"--allow-remote" in body


def test_only_the_page_itself_opens_the_socket(local):
    own = f"http://localhost:{local.port}"
    assert opens(local, own)
    for origin in (
        "http://elsewhere.example",
        "null",
        None,
        "http://localhost:1",
        own + ".example",
    ):
        assert not opens(local, origin), origin


def test_another_host_needs_the_token(remote):
    address, host = remote.address("robot.example"), f"robot.example:{remote.port}"
    path = address.removeprefix(f"http://{host}")
    assert get(remote, host=host)[0] == 403
    assert get(remote, "/?token=guessed", host=host)[0] == 403
    status, headers, _ = get(remote, path, host=host)
    assert status == 303 and headers["Location"] == "/"  # the token leaves the address bar
    cookie = headers["Set-Cookie"].partition(";")[0]
    assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]
    assert get(remote, host=host, cookie=cookie)[0] == 200
    origin = f"http://localhost:{remote.port}"
    assert opens(remote, origin, cookie=cookie)
    assert not opens(remote, origin) and not opens(
        remote, "http://elsewhere.example", cookie=cookie
    )


def test_at_other_addresses_of_this_machine_nobody_listens_unless_told_to(local, remote):
    with pytest.raises(ConnectionRefusedError):
        get(local, to="127.0.0.2")
    status, _, body = get(remote, to="127.0.0.2")
    assert status == 403 and b"token" in body


@pytest.mark.parametrize("leads_to", ["127.0.1.1", None])
def test_an_address_for_other_hosts_does_not_lead_back_to_them(monkeypatch, leads_to):
    """Debian has a host's own name at 127.0.1.1."""

    def resolve(name):
        if leads_to is None:
            raise OSError(name)
        return leads_to

    monkeypatch.setattr(socket, "getfqdn", lambda: "robot")
    monkeypatch.setattr(socket, "gethostbyname", resolve)
    monkeypatch.setattr(socket.socket, "connect", lambda self, to: None)
    monkeypatch.setattr(socket.socket, "getsockname", lambda self: ("192.0.2.7", 9))
    assert own_name() == "192.0.2.7"
    monkeypatch.setattr(socket, "gethostbyname", lambda name: "192.0.2.8")
    assert own_name() == "robot"


def test_tokens_differ_and_are_long():
    tokens = {Door(is_remote=True).token for _ in range(100)}
    assert len(tokens) == 100 and min(map(len, tokens)) >= 32


def test_a_server_that_the_door_does_not_guard_is_not_used(monkeypatch):
    import contextlib

    monkeypatch.setattr(Door, "standing", lambda self: contextlib.nullcontext())
    with pytest.raises(ViewError, match="not guarded"):
        start_server(0, False, "test")


def test_a_port_that_is_taken_is_refused_by_name(local):
    with pytest.raises(ViewError, match=f"port {local.port}.*--port"):
        check_port("127.0.0.1", local.port)


def test_nobody_can_make_the_server_call_its_makers_host(local):
    server, _ = start_server(0, False, "test")
    try:
        assert server.request_share_url() is None
    finally:
        server.stop()
