# SPDX-License-Identifier: Apache-2.0
"""viser's server behind our door."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import Any

import viser

from ..errors import ViewError
from .door import Door, check_port
from .scene import add_lights
from .style import add_style

__all__ = ["start_server"]

PANEL = 340  # pixels


class _Server(viser.ViserServer):
    """viser's server, without its service that shares a page over a host of its maker."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: nothing leaves this machine."""
        del verbose
        return None


def start_server(port: int, is_remote: bool, title: str) -> tuple[Any, Door]:
    """A server that listens, and its door.

    Args:
        port: 0 for any.
        is_remote: Listen for other hosts, too; they need the token of the door.
        title: Over the panel.

    Raises:
        ViewError: The port is taken, or the door does not stand.
    """
    host, door = "0.0.0.0" if is_remote else "127.0.0.1", Door(is_remote)
    if port:
        check_port(host, port)
    with (
        door.standing(),
        redirect_stdout(io.StringIO()),
    ):  # viser prints addresses without the token
        server = _Server(host=host, port=port, label=title, verbose=False)
    door.port = server.get_port()
    try:
        door.prove()
    except ViewError:
        server.stop()
        raise
    server.gui.configure_theme(
        show_logo=False, show_share_button=False, brand_color=(38, 98, 160), control_width="large"
    )
    server.gui.main_panel.dock_right()
    server.gui.main_panel.set_width(PANEL)
    add_style(server.gui)
    add_lights(server)
    return server, door
