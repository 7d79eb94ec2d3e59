# SPDX-License-Identifier: Apache-2.0
"""How our nodes run: their main function, signals and an orderly end.

rclpy's own signal handlers kill the context before anybody can send a last command. So they stay off: ours only note
the signal, the loops wait for finite times, and the node ends itself while the context still lives.

Exit codes: 0 ended in order (a signal, or the lifecycle transition `shutdown`), 1 an error (it is in the log),
2 invalid arguments or parameters.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import dedent
from time import monotonic
from types import FrameType
from typing import Any, NoReturn, Protocol

from .privileges import bound_heaps

__all__ = [
    "DONE",
    "FAILED",
    "INVALID",
    "RunnableNode",
    "Stop",
    "leave",
    "publish_last",
    "run",
    "run_lifecycle",
    "tell_failure",
]

DONE, FAILED, INVALID = 0, 1, 2
POLL = 0.1  # [s] between two looks at the signals
QUIET = 1.0  # [s] between two words about what failed
LAST_WORD = 0.5  # [s] that the last command waits for its acknowledgement


class RunnableNode(Protocol):
    """What `run` asks of a node besides being an rclpy Node.

    Attributes:
        finished: the node wants the process to end.
        exit_code: with this code, if it has such an attribute.
    """

    finished: bool

    def end(self) -> None:
        """Send the last command and stop every thread, whatever happened before; the context is still alive."""


class Stop:
    """SIGINT and SIGTERM, noted.

    Attributes:
        requested: a signal has come.
    """

    def __init__(self) -> None:
        self.requested = False
        self._raising = False

    def install(self) -> None:
        """Handle both signals from now on; only the main thread may call this."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def ignore(self) -> None:
        """Nothing that comes now changes the exit code: the interpreter would restore the deadly default at its end."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        if self._raising:
            raise KeyboardInterrupt

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """A signal interrupts what runs inside, such as a compilation that takes long, with KeyboardInterrupt."""
        self._raising = True
        try:
            if self.requested:
                raise KeyboardInterrupt
            yield
        finally:
            self._raising = False


def run(
    make_node: Callable[[Stop], RunnableNode],
    arguments: Sequence[str] | None = None,
    usage: str = "",
) -> int:
    """The main function of a node: make it, serve it until a signal or its own end, end it.

    Callbacks run in the main thread. What a callback raises is logged and survived: a service request must not be able
    to end the node.

    Args:
        make_node: makes the node; an OpspaceError it raises is an invalid parameter.
        arguments: instead of sys.argv[1:].
        usage: what `--help` prints after the word "usage: "; indentation is removed.

    Returns:
        The exit code.
    """
    stop = Stop()
    stop.install()
    arguments = sys.argv[1:] if arguments is None else [*arguments]
    if "--help" in arguments or "-h" in arguments:
        print(f"usage: {dedent(usage).strip()}")
        return DONE
    bound_heaps()
    try:
        with stop.interruptible():
            import rclpy
            from rclpy.signals import SignalHandlerOptions

            rclpy.init(
                args=[sys.argv[0], *arguments], signal_handler_options=SignalHandlerOptions.NO
            )
    except KeyboardInterrupt:
        return DONE
    except Exception as error:  # rcl's own errors about --ros-args have no common parent
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return INVALID
    try:
        return _serve(make_node, stop)
    except KeyboardInterrupt:
        return DONE
    finally:
        stop.ignore()
        rclpy.try_shutdown()


def run_lifecycle(
    make_node: Callable[[Stop], RunnableNode],
    arguments: Sequence[str] | None = None,
    usage: str = "",
) -> int:
    """`run` for a lifecycle node: with its parameter `autostart` it configures and activates by itself.

    Where that fails the process ends with INVALID.
    """

    def make(stop: Stop) -> RunnableNode:
        from rclpy.lifecycle import TransitionCallbackReturn

        success = TransitionCallbackReturn.SUCCESS
        node: Any = make_node(stop)
        if not node.get_parameter("autostart").value:
            name = node.get_fully_qualified_name()
            node.get_logger().info(
                f"waits to be configured and activated: by a launch file, by `ros2 lifecycle set {name} "
                "configure` and `... activate`, or, at its start, by -p autostart:=true"
            )
        elif not (node.trigger_configure() == success and node.trigger_activate() == success):
            node.finished, node.exit_code = True, INVALID
        return node

    return run(make, arguments, usage)


def _serve(make_node: Callable[[Stop], RunnableNode], stop: Stop) -> int:
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.logging import get_logger

    from opspace_ctrl.errors import OpspaceError

    try:
        with stop.interruptible():
            node: Any = make_node(stop)
    except OpspaceError as error:
        get_logger("opspace_ctrl").fatal(str(error))
        return INVALID
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        while not (stop.requested or node.finished):
            try:
                executor.spin_once(timeout_sec=POLL)
            except ExternalShutdownException:
                break
            except Exception as error:
                tell_failure("a callback", error, node.get_logger())
    except KeyboardInterrupt:
        pass
    return _ended(node, executor)


def tell_failure(what: str, error: Exception, logger: Any) -> None:
    """Say, at most once a second, that something in a spinning executor has failed, and forget where.

    rclpy's task keeps the error, whose frames keep the task: a circle, and nobody collects garbage while efforts go
    out.
    """
    text = f"{what} failed: {type(error).__name__}: {error}"
    logger.error(text, throttle_duration_sec=QUIET)
    each: BaseException | None = error
    while each is not None:
        each.__traceback__ = None
        each = each.__context__


def _ended(node, executor) -> int:
    """End the node; a further signal changes nothing any more."""
    code = getattr(node, "exit_code", DONE)
    try:
        node.end()
    except Exception as error:
        node.get_logger().error(f"the end failed: {type(error).__name__}: {error}")
        code = FAILED
    executor.remove_node(node)
    executor.shutdown(timeout_sec=1.0)
    node.destroy_node()
    return code


def leave(code: int) -> NoReturn:
    """End the process at once: everything is said and closed.

    The interpreter's own end would take down every compiled module first, for seconds on a busy machine; whoever has
    started the node would kill it meanwhile.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)  # the log is written in C
    os._exit(code)


def publish_last(publisher, message) -> bool:
    """Publish what must arrive before the publisher goes; whether every reliable subscriber has acknowledged it.

    Where DDS has no room for it in time, it is tried again.

    Raises:
        RuntimeError: It could not be sent.
    """
    from rclpy.duration import Duration

    deadline = monotonic() + LAST_WORD
    while True:
        try:
            publisher.publish(message)
            return publisher.wait_for_all_acked(Duration(seconds=LAST_WORD))
        except RuntimeError:
            if monotonic() > deadline:
                raise
