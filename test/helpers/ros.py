# SPDX-License-Identifier: Apache-2.0
"""Live tests: one ROS graph with a node in the test's process and other nodes in processes of their own.

    with Graph(tmp_path) as graph:
        controller = graph.start("controller", parameters={"robot": "arm7"})
        graph.transition("/opspace_controller", "configure")
        states = graph.publisher(JointState, "joint_states")
        commands = graph.listen(Float64MultiArray, "effort_controller/commands")
        graph.wait_for(lambda: commands.count, "a command")

Every graph has a domain of its own, held by a lock file so that tests beside it get other ones. Nothing here asserts
how quickly something happens: it waits, as a last resort for PATIENCE seconds, and then says what it was waiting for,
with what the processes have printed.
"""

import os
import signal
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from functools import partial
from pathlib import Path

import rclpy
import yaml
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParametersAtomically
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions

from opspace_ctrl.commands._domain import free_domain

RCLError = rclpy_implementation.RCLError
PATIENCE = 3600.0  # [s]
COMPILING = PATIENCE  # [s] for what may compile every kernel first
AGAIN = 0.25  # [s] between two sendings of something that has not been acknowledged
ANSWER = 10.0  # [s] after which a harmless request is sent again
LONG = 60.0  # [s] a gate's or watchdog's time-out in a test that is not about it
TRANSITIONS = {
    "configure": (Transition.TRANSITION_CONFIGURE, "inactive"),
    "activate": (Transition.TRANSITION_ACTIVATE, "active"),
    "deactivate": (Transition.TRANSITION_DEACTIVATE, "inactive"),
    "cleanup": (Transition.TRANSITION_CLEANUP, "unconfigured"),
}
SHUTDOWNS = {
    "unconfigured": Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
    "inactive": Transition.TRANSITION_INACTIVE_SHUTDOWN,
    "active": Transition.TRANSITION_ACTIVE_SHUTDOWN,
}


class Graph:
    """A ROS graph of one test or one module; a context manager that ends everything it started.

    Attributes:
        node: the test's own node.
        domain: the ROS_DOMAIN_ID.
        environment: what the processes inherit.
    """

    def __init__(self, folder: Path, namespace: str = ""):
        self.folder = Path(folder)
        self.namespace = namespace
        self.processes: list[Process] = []
        self._clients = {}

    def __enter__(self) -> "Graph":
        self.domain, self._lock = free_domain()
        self.environment = os.environ | {
            "ROS_DOMAIN_ID": str(self.domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_LOG_DIR": str(self.folder / "log"),
            "PYTHONUNBUFFERED": "1",
            "RCUTILS_LOGGING_BUFFERED_STREAM": "0",
        }
        self._before = {
            name: os.environ.get(name) for name in ("ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOG_DIR")
        }
        # rcl reads the environment itself
        os.environ.update({name: self.environment[name] for name in self._before})
        self.context = rclpy.Context()
        rclpy.init(
            context=self.context,
            domain_id=self.domain,
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self.node = PeerNode("test_peer", namespace=self.namespace, context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        return self

    def __exit__(self, kind, *_) -> None:
        if kind is not None:
            # pytest shows it with the failure
            print("\n".join(process.tail() for process in self.processes))
        try:
            for process in self.processes:
                process.end()
            self._executor.shutdown(timeout_sec=1.0)
            self.node.destroy_node()
            self.context.try_shutdown()
        finally:
            for name, value in self._before.items():
                os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
            self._lock.close()

    # processes

    def start(
        self,
        module: str,
        name: str = "",
        namespace: str | None = None,
        parameters: dict | None = None,
        arguments: tuple[str, ...] = (),
        remap: dict | None = None,
    ) -> "Process":
        """Start `opspace_ctrl.nodes.<module>` with parameters {dotted name: value}, a node name, and a namespace
        (the graph's unless given)."""
        command = [sys.executable, "-m", f"opspace_ctrl.nodes.{module}", *arguments, "--ros-args"]
        namespace = self.namespace if namespace is None else namespace
        rules = (
            dict(remap or {})
            | ({"__node": name} if name else {})
            | ({"__ns": namespace} if namespace else {})
        )
        for source, target in rules.items():
            command += ["-r", f"{source}:={target}"]
        if parameters:
            path = self.folder / f"parameters{len(self.processes)}.yaml"
            path.write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}))
            command += ["--params-file", str(path)]
        return self.run(command, module)

    def run(self, command: list[str], name: str, **environment: str) -> "Process":
        """Start any command in this graph."""
        process = Process(
            command,
            self.environment | environment,
            self.folder / f"{len(self.processes)}_{name}.txt",
        )
        self.processes.append(process)
        return process

    # waiting

    def spin(self, seconds: float = 0.05) -> None:
        """Serve the test's node once, for at most this long."""
        self._executor.spin_once(timeout_sec=seconds)

    def wait_for(
        self, condition, what: str, each=None, ended: bool = False, patience: float = PATIENCE
    ):
        """Spin until condition() is true and return its value; `each`, if given, is called again and again meanwhile.

        It fails at once when a process has ended, unless the test has ended it, or `ended` says that one may.
        """
        deadline = time.monotonic() + patience
        next_time = 0.0
        while True:
            value = condition()
            if value:
                return value
            dead = [
                process
                for process in self.processes
                if not process.ending and process.code is not None
            ]
            if time.monotonic() > deadline or (dead and not ended):
                reason = (
                    f"{dead[0].name} ended with code {dead[0].code}"
                    if dead
                    else f"not within {patience} s"
                )
                raise AssertionError(
                    f"{what}: {reason}\n" + "\n".join(p.tail() for p in self.processes)
                )
            if each is not None and time.monotonic() >= next_time:
                each()
                next_time = time.monotonic() + AGAIN
            self.spin()

    # topics

    def publisher(self, message_type, topic: str, qos=10, subscribers: int = 1):
        """A publisher that has at least so many subscribers."""
        publisher = self.node.create_publisher(message_type, topic, qos)
        self.wait_for(
            lambda: publisher.get_subscription_count() >= subscribers, f"a subscriber of {topic}"
        )
        return publisher

    def listen(
        self, message_type, topic: str, qos=10, publishers: int = 1, callback=None
    ) -> "Listener":
        """A subscription that has at least so many publishers and keeps what it hears."""
        listener = Listener(callback)
        subscription = self.node.create_subscription(message_type, topic, listener, qos)
        name = subscription.topic_name
        self.wait_for(
            lambda: self.node.count_publishers(name) >= publishers, f"a publisher of {topic}"
        )
        return listener

    def publish_until(self, publisher, message, condition, what: str) -> None:
        """Send a message again and again until its effect is seen."""
        self.wait_for(
            condition,
            what,
            each=lambda: publisher.publish(message() if callable(message) else message),
        )

    # services

    def call(
        self, service_type, name: str, request=None, again: bool = True, patience: float = PATIENCE
    ):
        """Call a service and return its response; again: a lost answer is asked for again, which must be harmless."""
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = self.node.create_client(service_type, name)
        self.wait_for(client.service_is_ready, f"the service {name}")
        request = service_type.Request() if request is None else request
        futures = [client.call_async(request)]
        asked = time.monotonic()

        def answered():
            nonlocal asked
            if again and time.monotonic() > asked + ANSWER:
                futures.append(client.call_async(request))
                asked = time.monotonic()
            return next((future for future in futures if future.done()), None)

        return self.wait_for(answered, f"an answer of {name}", patience=patience).result()

    def state(self, node: str, patience: float = PATIENCE) -> str:
        """The lifecycle state of a node, such as "inactive"."""
        return self.call(GetState, f"{node}/get_state", patience=patience).current_state.label

    def transition(self, node: str, name: str) -> bool:
        """A lifecycle transition: configure, activate, deactivate, cleanup or shutdown. Whether it succeeded.

        A transition must not be asked for twice, so a lost answer shows in the state.
        """
        number, goal = TRANSITIONS.get(name) or (SHUTDOWNS[self.state(node)], "finalized")
        client = self.node.create_client(ChangeState, f"{node}/change_state")
        try:
            self.wait_for(client.service_is_ready, f"the service {node}/change_state")
            future = client.call_async(ChangeState.Request(transition=Transition(id=number)))
            asked = time.monotonic()

            def done():
                nonlocal asked
                if not future.done() and time.monotonic() > asked + ANSWER:
                    asked = time.monotonic()
                    return self.state(node, COMPILING) == goal
                return future.done()

            self.wait_for(done, f"{name} of {node}", patience=COMPILING)
            return future.result().success if future.done() else True
        finally:
            self.node.destroy_client(client)

    # parameters

    def set_parameters(self, node: str, **values) -> tuple[bool, str]:
        """Set parameters atomically; a double underscore stands for the dot. (successful, reason)."""
        request = SetParametersAtomically.Request(
            parameters=[
                Parameter(name.replace("__", "."), value=value).to_parameter_msg()
                for name, value in values.items()
            ]
        )
        result = self.call(
            SetParametersAtomically, f"{node}/set_parameters_atomically", request
        ).result
        return result.successful, result.reason

    def get_parameter(self, node: str, name: str):
        """The value of a parameter, None if there is no such."""
        values = self.call(
            GetParameters, f"{node}/get_parameters", GetParameters.Request(names=[name])
        ).values
        return parameter_value_to_python(values[0]) if values else None

    def describe_parameter(self, node: str, name: str):
        """The descriptor of a parameter."""
        request = DescribeParameters.Request(names=[name])
        return self.call(DescribeParameters, f"{node}/describe_parameters", request).descriptors[0]


class PeerNode(Node):
    """A node whose publishers try again when DDS has no room for a message in time, as on a busy machine."""

    def create_publisher(self, *arguments, **options):
        publisher = super().create_publisher(*arguments, **options)
        publisher.publish = partial(publish_patiently, publisher.publish)
        return publisher


def publish_patiently(publish, message) -> None:
    """Publish, again and again until DDS has taken it; raw bytes once, for they may be none that can ever leave."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return publish(message)
        except RCLError:
            if isinstance(message, bytes) or time.monotonic() > deadline:
                raise


class Listener:
    """What a subscription has heard: `count`, `last`, and `messages` (the newest 10,000)."""

    def __init__(self, callback=None):
        self.messages = deque(maxlen=10_000)
        self.count = 0
        self._callback = callback

    def __call__(self, message) -> None:
        self.messages.append(message)
        self.count += 1
        if self._callback is not None:
            self._callback(message)

    @property
    def last(self):
        return self.messages[-1] if self.messages else None


class Process:
    """A process with its output in a file."""

    def __init__(self, command: list[str], environment: dict, path: Path):
        self.name, self.path, self.ending = path.stem, path, False
        with path.open("wb") as file:
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        self.pid = self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, None while it runs."""
        return self._process.poll()

    def output(self) -> str:
        """What it has printed so far."""
        return self.path.read_text(errors="replace")

    def tail(self) -> str:
        """The end of the output, for messages."""
        return f"--- {self.name} (code {self.code})\n{self.output()[-4000:]}"

    def send(self, number: int) -> None:
        """Send a signal that may end it."""
        self.ending = True
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait for its end; the exit code."""
        self.ending = True
        try:
            return self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"{self.name} did not end within {PATIENCE} s\n{self.tail()}"
            ) from None

    def end(self) -> None:
        """End it with SIGTERM, and with SIGKILL if it does not within 20 s."""
        self.ending = True
        if self.code is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(20.0)
            if self.code is None:
                self._process.send_signal(signal.SIGKILL)
                self._process.wait(20.0)


def latched(depth: int = 1) -> QoSProfile:
    """The profile of robot_description."""
    from opspace_ctrl.nodes.qos import profile

    return profile(depth, latched=True)
