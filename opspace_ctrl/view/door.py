# SPDX-License-Identifier: Apache-2.0
"""The door of the page: who may load it, and who may open its socket.

viser answers whoever connects. Its server is made by `websockets.serve`, which has a hook for every request
(`process_request`), but viser does not pass one on; so while it starts, `serve` is wrapped, and the door stands before
viser's own hook. Whether it does is tried with a forged request before the address is told (`Door.prove`).

A request passes only if
- `Host` is the address that was told (a name that somebody else's DNS leads here is refused),
- of a socket, `Origin` is the page itself: a page from elsewhere in the same browser cannot drive the robot,
- where other hosts may connect, it carries the token, in the address at first, then in a cookie.
"""

from __future__ import annotations

import hmac
import http.client
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ..errors import ViewError

__all__ = ["Door", "check_port"]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
# Nothing is loaded from elsewhere, and nobody frames the page to have it clicked.
HEADERS = {
    "Content-Security-Policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' data: blob:; "
    "connect-src 'self' ws: wss: data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_starting = Lock()  # one server at a time is started with a wrapped `serve`


class Door:
    """Judges requests.

    Args:
        is_remote: Other hosts may connect, with the token.

    Attributes:
        port: Of the server, once it is known.
        token: What other hosts must bring; "" where none may connect.
        refused: How many requests were not let in.
    """

    def __init__(self, is_remote: bool = False):
        self.token = secrets.token_urlsafe(24) if is_remote else ""
        self.port, self.refused = 0, 0

    def address(self, host: str = "localhost") -> str:
        """What a browser is to open."""
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    # ---- judging ----

    def trouble(self, headers: Any, path: str, is_socket: bool) -> str:
        """Why a request with these headers is refused, "" if it is not."""
        host = headers.get("Host", "")
        name = host.rpartition(":")[0] if host.endswith(f":{self.port}") else host
        if not self.token and name not in LOOPBACK:
            return "this page answers to localhost only (opspace view --allow-remote)"
        if is_socket and headers.get("Origin", "") not in (f"http://{host}", f"https://{host}"):
            return "the socket is for the page itself"
        if self.token and not self._has_token(headers, path):
            return "the address lacks the token that opspace view printed"
        return ""

    def _has_token(self, headers: Any, path: str) -> bool:
        try:
            cookie = SimpleCookie(headers.get("Cookie", "")).get(self._cookie)
        except CookieError:
            cookie = None
        given = [*parse_qs(urlsplit(path).query).get("token", []), cookie.value if cookie else ""]
        return any(hmac.compare_digest(each.encode(), self.token.encode()) for each in given)

    @property
    def _cookie(self) -> str:
        return f"opspace_{self.port}"

    def judge(self, inner: Callable[..., Any], connection: Any, request: Any) -> Any:
        """The answer to a request: a refusal, what `inner` says, or None for a socket that may open."""
        from websockets import Headers
        from websockets.http11 import Response

        is_socket = "websocket" in request.headers.get("Upgrade", "").lower()
        trouble = self.trouble(request.headers, request.path, is_socket)
        if trouble:
            self.refused += 1
            text = f"refused: {trouble}\n".encode()
            kept = {"Content-Type": "text/plain", "Content-Length": str(len(text)), **HEADERS}
            return Response(HTTPStatus.FORBIDDEN, "Forbidden", Headers(**kept), text)
        if self.token and "token=" in request.path and not is_socket:
            # out of the address bar, and so out of screenshots and the history
            kept = {
                "Location": "/",
                "Set-Cookie": f"{self._cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/",
                "Content-Length": "0",
                **HEADERS,
            }
            return Response(HTTPStatus.SEE_OTHER, "See Other", Headers(**kept), b"")
        answer = inner(connection, request)
        if answer is not None:
            for name, value in HEADERS.items():
                answer.headers[name] = value
        return answer

    # ---- standing in the way ----

    @contextmanager
    def standing(self) -> Iterator[None]:
        """While this lasts, servers that start ask the door first."""
        from websockets.asyncio import server

        serve = server.serve

        def guarded(*arguments: Any, process_request: Callable[..., Any], **options: Any) -> Any:
            def judge(connection: Any, request: Any) -> Any:
                return self.judge(process_request, connection, request)

            return serve(*arguments, process_request=judge, **options)

        with _starting:
            server.serve = guarded  # type: ignore[misc, assignment]
            try:
                yield
            finally:
                server.serve = serve  # type: ignore[misc]

    def prove(self) -> None:
        """Try a forged request.

        Raises:
            ViewError: It was let in: this version of viser starts its server in another way.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10.0)
        try:
            forged = {"Host": "elsewhere.example", "Origin": "http://elsewhere.example"}
            connection.request("GET", "/", headers=forged)
            status = connection.getresponse().status
        except OSError as error:
            raise ViewError(f"the page does not answer: {error}") from None
        finally:
            connection.close()
        if status != HTTPStatus.FORBIDDEN:
            raise ViewError("viser has let a forged request in: this version of it is not guarded")


def check_port(host: str, port: int) -> None:
    """Refuse a port that is taken, which viser would silently exchange for the next.

    Raises:
        ViewError: It is taken.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ViewError(
                f"port {port}: {error.strerror}; choose another one with --port N, or --port 0 for any"
            ) from None
