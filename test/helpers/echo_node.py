# SPDX-License-Identifier: Apache-2.0
"""A node on our runtime, for the tests of the runtime: it echoes `input` to `output` and says -1 at its end.

python test/helpers/echo_node.py [wait_set | executor] --ros-args ...
"""

import sys
import threading

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from opspace_ctrl.errors import ParameterError
from opspace_ctrl.nodes import qos
from opspace_ctrl.nodes.declared import NODE_OPTIONS, Declared
from opspace_ctrl.nodes.runtime import publish_last, run
from opspace_ctrl.nodes.waiting import executor_waiter, make_waiter
from opspace_ctrl.parameters import Parameter

TABLE = (
    Parameter("gain", 1.0, "What is multiplied with.", minimum=0.0, maximum=10.0),
    Parameter("offset", 0.0, "What is added."),
    Parameter("mode", "echo", "What it does.", choices=("echo", "mute")),
    Parameter("names", [], "Names.", kind="string_array", read_only=True),
)


class EchoNode(Node):
    def __init__(self, stop, way: str):
        super().__init__("echo", **NODE_OPTIONS)
        self.finished = False
        self.parameters = Declared(self)
        self.parameters.declare(TABLE)
        self.parameters.accept = self._accept
        self.parameters.complete()
        self._publisher = self.create_publisher(Float64MultiArray, "output", qos.COMMANDS)
        self._waiter = (make_waiter if way == "wait_set" else executor_waiter)(self)
        self._inlet = self._waiter.subscribe(Float64MultiArray, "input", qos.STATES)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._loop)
        self._thread.start()

    def _accept(self, values, names):
        if values["gain"] * values["offset"] > 5.0:
            raise ParameterError("gain times offset is above 5")

    def _loop(self) -> None:
        while not self._ended.is_set():
            self._waiter.wait(60.0)
            message = self._waiter.take(self._inlet)
            if message is not None and self.parameters["mode"] == "echo":
                gain, offset = self.parameters["gain"], self.parameters["offset"]
                self._publisher.publish(
                    Float64MultiArray(data=[gain * x + offset for x in message.data])
                )

    def end(self) -> None:
        self._ended.set()
        self._waiter.wake()
        self._thread.join(60.0)
        publish_last(self._publisher, Float64MultiArray(data=[-1.0]))
        self._waiter.close()


def main() -> int:
    return run(lambda stop: EchoNode(stop, sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
