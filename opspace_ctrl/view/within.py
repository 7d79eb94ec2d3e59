# SPDX-License-Identifier: Apache-2.0
"""A server as one robot of several sees it: its nodes have a name before theirs, and a place of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Within"]


class Within:
    """A part of a scene; all else is the server's.

    Args:
        server: viser's.
        name: Of the part, "/left".
        place: (3,) where its origin is in the scene [m].
    """

    def __init__(self, server: Any, name: str, place: np.ndarray):
        self._server, self.place = server, np.asarray(place, float)
        server.scene.add_frame(name, show_axes=False, position=tuple(self.place))
        self.scene = _Part(server.scene, name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)


class _Part:
    """A scene whose new nodes are below one of its nodes."""

    def __init__(self, scene: Any, name: str):
        self._scene, self._name = scene, name

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._scene, name)
        return self._below(found) if name.startswith("add_") else found

    def _below(self, add: Callable[..., Any]) -> Callable[..., Any]:
        def added(name: str, *arguments: Any, **options: Any) -> Any:
            is_below = name.startswith(
                self._name + "/"
            )  # it was made of the name of a node that is
            return add(name if is_below else self._name + name, *arguments, **options)

        return added
