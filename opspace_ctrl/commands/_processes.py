# SPDX-License-Identifier: Apache-2.0
"""Processes that a command starts, and the ROS graph that they share; all end with the command."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from . import CommandError
from ._domain import free_domain

__all__ = ["Process", "Processes", "local_graph"]

# A process that does not end on the first signal within its time [s] gets the next.
ENDINGS = ((signal.SIGINT, 10.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 10.0))
POLL = 0.02  # [s]
SHOWN_LINES = 12
WARNING = re.compile(r"\[(WARN|ERROR|FATAL)\]")  # as rclpy prints a line's level
_held_domains: list[IO[str]] = []


class Process:
    """A process in a group of its own, its output in a file.

    Attributes:
        name, path: What it is called, and the file of its output.
    """

    def __init__(
        self, name: str, argv: Sequence[str], environment: Mapping[str, str] | None, path: Path
    ) -> None:
        self.name, self.path = name, path
        try:
            with open(path, "xb") as output:
                self._process = subprocess.Popen(
                    argv,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            raise CommandError(f"cannot start {name} ({argv[0]}): {error}") from None

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, None while it runs."""
        return self._process.poll()

    def last_lines(self) -> str:
        """The end of what it has printed."""
        return "\n".join(self.path.read_text(errors="replace").splitlines()[-SHOWN_LINES:])

    def warnings(self) -> list[str]:
        """What it has printed with a level above that of information."""
        lines = self.path.read_text(errors="replace").splitlines()
        return [f"{self.name}: {line}" for line in lines if WARNING.search(line)]

    def send(self, number: int) -> None:
        """Send a signal to it and to what it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def wait(self, seconds: float) -> int | None:
        """Wait for its end; the exit code, None if it has not come."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None


class Processes:
    """All processes of a command: a context manager that ends them, last started first asked, whatever happened."""

    def __init__(self, folder: str | Path | None = None) -> None:
        """Keep the outputs in this folder, which is made; by default in one that goes when all have ended."""
        self._temporary = None if folder else tempfile.TemporaryDirectory(prefix="opspace_")
        self.folder = Path(folder or self._temporary.name)  # type: ignore[union-attr]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.all: list[Process] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.end()
        finally:
            if self._temporary is not None:
                self._temporary.cleanup()

    def start(
        self, name: str, argv: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> Process:
        """Start a process; CommandError if that fails."""
        process = Process(name, argv, environment, self.folder / f"{name}.txt")
        self.all.append(process)
        return process

    def ensure_alive(self) -> None:
        """Raise CommandError, with its last lines, if one has ended."""
        for process in self.all:
            if process.code is not None:
                raise CommandError(
                    f"{process.name} ended with code {process.code}: {process.last_lines()}"
                )

    def warnings(self) -> list[str]:
        """Warnings and errors that they have printed."""
        return [line for process in self.all for line in process.warnings()]

    def end(self) -> None:
        """End those that still run: SIGINT, SIGTERM, SIGKILL, each with its time; then what they left behind."""
        running = [process for process in reversed(self.all) if process.code is None]
        for number, patience in ENDINGS:
            for process in running:
                process.send(number)
            deadline = time.monotonic() + patience
            while running and time.monotonic() < deadline:
                running = [process for process in running if process.code is None]
                if running:
                    time.sleep(POLL)
        for process in self.all:
            process.send(signal.SIGKILL)  # grandchildren: the group outlives its leader


def local_graph(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a graph on this machine alone, in a ROS domain of its own unless one is chosen already.

    The domain is held by a lock file until this process ends, so that runs beside it get other ones.
    """
    environment = dict(os.environ if environment is None else environment)
    environment.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    if "ROS_DOMAIN_ID" not in environment:
        domain, lock = free_domain()
        environment["ROS_DOMAIN_ID"] = str(domain)
        _held_domains.append(lock)
    return environment
