# SPDX-License-Identifier: Apache-2.0
"""What must never wait behind anybody's message: the emergency stop, the dead man's switch, the state of safety.

They are served by a node, an executor and a thread of their own, and come to a participant of the middleware to which
nothing else comes. While the node's other thread converts a message, the only thing both share is Python's interpreter
lock, which is passed on every tenth of a millisecond.
"""

import threading
from collections.abc import Callable
from time import monotonic_ns

from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from . import qos
from .runtime import tell_failure
from .sending import send
from .side_node import close_side_node, make_side_node

__all__ = ["Sentry"]

LOOK = 0.02  # [s] between two looks at the gates
WAIT = 0.5  # [s] longest wait of the thread
HEADER = 4  # [bytes] before what a message says


class Sentry:
    """Serves `~/emergency_stop` and `~/enable`, and tells `~/safety`, under the names of another node.

    Attributes:
        latest: What `~/safety` last said.
    """

    def __init__(
        self,
        node: Node,
        stop: Callable[[], str],
        enable: Callable[[bool, int], None],
        look: Callable[[], str],
    ):
        """Begin to serve.

        Args:
            node: Whose names it uses.
            stop: Stops the robot at once; returns what to answer.
            enable: Takes what `~/enable` says, and when it came (steady clock [ns]).
            look: Called every 20 ms; returns the text for `~/safety`.
        """
        self._node = make_side_node(node, "sentry")
        self._stop, self._enable, self._look, self.latest = stop, enable, look, ""
        self._logger = node.get_logger()
        name = node.resolve_service_name("~/emergency_stop")
        self._node.create_service(Trigger, name, self._on_stop)
        name = node.resolve_topic_name("~/enable")
        self._node.create_subscription(Bool, name, self._on_enable, qos.TARGETS, raw=True)
        name = node.resolve_topic_name("~/safety")
        self._safety = self._node.create_publisher(String, name, qos.profile(1, latched=True))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._node.create_timer(LOOK, self._on_timer, clock=steady)
        self._executor = SingleThreadedExecutor(context=self._node.context)
        self._executor.add_node(self._node)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sentry", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._ended.set()
        self._executor.wake()
        self._thread.join(10.0 * WAIT)
        self._executor.shutdown(timeout_sec=WAIT)
        close_side_node(self._node)

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._executor.spin_once(timeout_sec=WAIT)
            except ExternalShutdownException:
                return
            except Exception as error:  # the stop must go on being served
                tell_failure("the sentry", error, self._logger)

    def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = self._stop()
        response.success = True
        return response

    def _on_enable(self, data: bytes) -> None:
        """Four bytes of encapsulation and the permission; what is shorter says nothing."""
        if len(data) > HEADER:
            self._enable(data[HEADER] == 1, monotonic_ns())

    def _on_timer(self) -> None:
        text = self._look()
        if text != self.latest and send(self._node, self._safety, String(data=text)):
            self.latest = text  # else it is tried again
