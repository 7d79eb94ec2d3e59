# SPDX-License-Identifier: Apache-2.0
"""Writes what is said on a graph into an MCAP file, message by message, as it comes: the bytes as they were sent.

A topic is subscribed to when its publisher appears, with what that publisher offers, so that none goes unheard.
"""

import re
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from mcap.writer import Writer
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from ..errors import shown
from .qos import profile
from .schemas import schema_of

__all__ = ["Recorder"]

DEPTH = 1000  # messages that wait to be written
LOOK = 0.25  # [s] between two looks for new topics


class Recorder(Node):
    """The node; it writes in the executor's thread.

    Attributes:
        counts: messages written, by topic.
        unknown: types whose package is not importable here, so that they are left out.
    """

    def __init__(self, file: IO[bytes], patterns: Sequence[str]) -> None:
        """Write into a file what topics of these patterns (such as /left/*) say."""
        super().__init__("opspace_recorder")
        self._writer = Writer(file)
        self._writer.start(profile="ros2", library="opspace_ctrl")
        self._patterns = [
            name if name.startswith("/") else f"{self.get_namespace().rstrip('/')}/{name}"
            for name in patterns
        ]
        self._schemas: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        self.unknown: set[str] = set()
        self._look()
        self._timer = self.create_timer(LOOK, self._look)

    def unmatched(self) -> list[str]:
        """The patterns that no topic has had which is recorded."""
        return [
            pattern
            for pattern in self._patterns
            if not any(fnmatchcase(topic, pattern) for topic in self.counts)
        ]

    def close(self) -> None:
        """Write the file's index; only then is it whole."""
        self._writer.finish()
        self.destroy_node()

    def _look(self) -> None:
        """Subscribe to what is new."""
        for topic, kinds in self.get_topic_names_and_types():
            wanted = any(fnmatchcase(topic, pattern) for pattern in self._patterns)
            if topic not in self.counts and wanted and self.count_publishers(topic):
                self._subscribe(topic, kinds[0])

    def _subscribe(self, topic: str, kind: str) -> None:
        message = _message_class(kind)
        if message is None:
            self.unknown.add(shown(kind))
            return
        if kind not in self._schemas:
            self._schemas[kind] = self._writer.register_schema(
                kind, "ros2msg", schema_of(message).encode()
            )
        channel = self._writer.register_channel(topic, "cdr", self._schemas[kind])
        self.counts[topic] = 0
        write = partial(self._write, topic, channel)
        self.create_subscription(
            message, topic, lambda data, info: write(data, info), self._offered(topic), raw=True
        )

    def _write(self, topic: str, channel: int, data: bytes, info: dict[str, Any]) -> None:
        now = time.time_ns()
        self._writer.add_message(
            channel, now, data, info["source_timestamp"] or now, self.counts[topic]
        )
        self.counts[topic] += 1

    def _offered(self, topic: str) -> QoSProfile:
        """The most that all publishers of a topic offer."""
        offered = [info.qos_profile for info in self.get_publishers_info_by_topic(topic)]
        return profile(
            DEPTH,
            reliable=all(each.reliability == ReliabilityPolicy.RELIABLE for each in offered),
            latched=all(each.durability == DurabilityPolicy.TRANSIENT_LOCAL for each in offered),
        )


def _message_class(kind: str) -> Any:
    """The class of a type such as std_msgs/msg/Bool, None if it is not installed.

    Anybody in the graph can name a type: only a package that holds messages is imported for it.
    """
    parts = re.fullmatch(r"([a-z][a-z0-9_]*)/msg/([A-Za-z][A-Za-z0-9]*)", kind)
    package = find_spec(parts[1]) if parts else None
    folders = (package.submodule_search_locations or ()) if package else ()
    if parts is None or not any(Path(folder, "msg", "__init__.py").is_file() for folder in folders):
        return None
    try:
        return getattr(import_module(f"{parts[1]}.msg"), parts[2], None)
    except ImportError:
        return None
