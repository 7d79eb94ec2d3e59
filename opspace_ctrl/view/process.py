# SPDX-License-Identifier: Apache-2.0
"""The loop's process: started, asked and ended by the page's."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import Any

from ..control.settings import ControllerSettings
from ..errors import OpspaceError, ViewError
from ..model import Model
from ..nodes import privileges
from ..sim.settings import SimulatorSettings
from .rows import Ring, row_type

__all__ = ["LoopProcess"]

START = 600.0  # [s] for a first start that compiles
END = 5.0  # [s]
LOOK = 0.1  # [s] between two looks whether it is still wanted
PRIORITY = 20  # SCHED_FIFO, where permitted
NEWS = -1  # the number of what nobody has asked for: why the loop stands, or "" when it goes on

Answer = Callable[[str], object]


class LoopProcess:
    """A loop in a process of its own.

        with LoopProcess(model, settings, simulation) as loop:
            loop.ask("target", "tool", position, quaternion)
            row = loop.ring.latest()

    Args:
        model, settings, simulation: As for `Loop`.
        priority: Of the loop's thread, SCHED_FIFO where that is permitted; 0: as started.
        is_given_up: Looked at while it starts, which takes minutes where kernels are compiled: it need not any more.

    Attributes:
        ring: What the loop tells.
        methods: Names of the methods that can be chosen; a row's `method` counts them.
        notes: How regular the system lets it be.
        trouble: Why the loop stands, "" if it does not.

    Raises:
        ViewError: It cannot start, and why.
    """

    def __init__(
        self,
        model: Model,
        settings: ControllerSettings,
        simulation: SimulatorSettings,
        priority: int = PRIORITY,
        is_given_up: Callable[[], bool] = lambda: False,
    ):
        context = multiprocessing.get_context("spawn")
        kind = row_type(model, settings)
        memory = context.RawArray(ctypes.c_byte, Ring.size(kind))
        self.ring = Ring(kind, memory)
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve,
            args=(model, settings, simulation, memory, theirs, priority),
            name="opspace loop",
            daemon=True,
        )
        self._process.start()
        theirs.close()
        self.methods, self.notes = self._started(is_given_up)
        self.trouble = ""
        self._answers: dict[int, Answer] = {}
        self._numbers, self._lock = count(), threading.Lock()
        self._reader = threading.Thread(target=self._read, name="answers", daemon=True)
        self._reader.start()

    def _started(self, is_given_up: Callable[[], bool]) -> tuple[tuple[str, ...], str]:
        end = monotonic() + START
        try:
            while not self._pipe.poll(LOOK):
                if is_given_up() or monotonic() > end:
                    self._process.terminate()
                    self._process.join(END)
                    raise ViewError(
                        "given up while the loop started"
                        if is_given_up()
                        else f"the loop has not started within {START:g} s"
                    )
            trouble, methods, notes = self._pipe.recv()
        except EOFError:
            self._process.join(END)
            raise ViewError(
                f"the loop's process ended with code {self._process.exitcode}"
            ) from None
        if trouble:
            raise ViewError(trouble)
        return methods, notes

    @property
    def is_alive(self) -> bool:
        """Does the loop run?"""
        return self._process.is_alive()

    @property
    def exit_code(self) -> int | None:
        """Of the process; None while it runs, below 0 if a signal ended it."""
        return self._process.exitcode

    def ask(self, name: str, *arguments: Any, answer: Answer | None = None) -> None:
        """Ask for something (`requests.Requests`); `answer` gets why not, "" if it was done, in another thread."""
        with self._lock:
            number = next(self._numbers)
            if answer is not None:
                self._answers[number] = answer
            try:
                self._pipe.send((number, name, arguments))
            except OSError:
                self._answers.pop(number, None)
                if answer is not None:
                    answer("the loop has ended")

    def call(self, name: str, *arguments: Any, timeout: float = 30.0) -> None:
        """Ask, and wait until it was done.

        Raises:
            ViewError: It was not, and why.
        """
        done, said = threading.Event(), [""]

        def answer(text: str) -> None:
            said[0] = text
            done.set()

        self.ask(name, *arguments, answer=answer)
        if not done.wait(timeout):
            raise ViewError(f"{name}: no answer within {timeout:g} s")
        if said[0]:
            raise ViewError(said[0])

    def _read(self) -> None:
        while True:
            try:
                number, text = self._pipe.recv()
            except (EOFError, OSError):
                break
            if number == NEWS:
                self.trouble = text
                continue
            answer = self._answers.pop(number, None)
            if answer is not None:
                answer(text)
        self.trouble = "the loop's process has ended"
        for answer in list(self._answers.values()):
            answer("the loop has ended")

    def close(self) -> None:
        """End the process."""
        # closing the pipe would not do: as long as our own reader waits at it, the other end sees it open
        with self._lock, suppress(OSError):
            self._pipe.send(None)
        self._process.join(END)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(END)
        self._pipe.close()

    def __enter__(self) -> LoopProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(
    model: Model,
    settings: ControllerSettings,
    simulation: SimulatorSettings,
    memory: Any,
    pipe: Any,
    priority: int,
) -> None:
    """The loop's process; it ends when it is told None, and with the page's process at the latest."""
    from .loop import Loop
    from .requests import Requests

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the page's process, which tells us
    try:
        loop = Loop(model, settings, simulation, Ring(row_type(model, settings), memory))
    except OpspaceError as error:
        pipe.send((str(error), (), ""))
        return
    requests, sending = Requests(loop), threading.Lock()

    def send(number: int, text: str) -> None:
        with sending, suppress(OSError):  # the page's process has gone: `answer_all` sees it, too
            pipe.send((number, text))

    loop.tell = lambda text: send(NEWS, text)
    privileges.quiet_interpreter()
    notes = privileges.raise_priority(priority)

    def answer_all() -> None:
        _without_privilege()
        while True:
            try:
                request = pipe.recv()
            except (EOFError, OSError):
                request = None
            if request is None:
                loop.is_ended = True
                return
            number, name, arguments = request
            try:
                requests.answer(name, arguments)
                text = ""
            except OpspaceError as error:
                text = str(error)
            except Exception as error:  # a request must not end the loop
                text = f"{type(error).__name__}: {error}"
            send(number, text)

    threading.Thread(target=answer_all, name="requests", daemon=True).start()
    pipe.send(("", loop.methods, notes))
    loop.run()


def _without_privilege() -> None:
    """A thread that was started by one with SCHED_FIFO has it, too: requests go without."""
    with suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
