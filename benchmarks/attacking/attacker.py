# SPDX-License-Identifier: Apache-2.0
"""What every scenario needs: publishers, clients, and the monitor outside."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

NODE = "/opspace_controller"
READY = 1800.0  # [s] for the first command: kernels may have to be compiled
PATIENCE = 30.0  # [s] for a recovery


class Attacker:
    """Publishers, clients and the monitor outside; see `Scenarios`."""

    def __init__(self, robot: str, controller, inside: Path):
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from std_msgs.msg import Float64MultiArray, String

        from opspace_ctrl.model import load_robot
        from opspace_ctrl.nodes.qos import profile

        self.model, self.rng = load_robot(robot), np.random.default_rng(1)
        self.task = "hand"
        self._controller, self._inside = controller, inside
        self.node = rclpy.create_node("attacker")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self.sent = 0
        self.outside = {"commands": 0, "not_finite": 0, "over_limit": 0}
        self.safety = ""
        self._limit = self.model.effort_limits
        self.node.create_subscription(
            Float64MultiArray, "effort_controller/commands", self._note, profile(10)
        )
        latched = profile(1, latched=True)
        self.node.create_subscription(String, f"{NODE}/safety", self._note_safety, latched)
        self._publishers: dict[str, Any] = {}
        self._clients: dict[str, Any] = {}
        self._is_ended = False
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._is_ended:
            self._executor.spin_once(timeout_sec=0.1)

    def close(self) -> None:
        """End the thread, and only then what it uses."""
        self._is_ended = True
        self._thread.join()
        self._executor.shutdown()
        self.node.destroy_node()

    def _note(self, message) -> None:
        tau = np.array(message.data)
        self.outside["commands"] += 1
        self.outside["not_finite"] += not np.isfinite(tau).all()
        self.outside["over_limit"] += bool((np.abs(tau) > self._limit).any())

    def _note_safety(self, message) -> None:
        self.safety = message.data

    def inside(self) -> dict[str, float]:
        """What the monitor in the controller has counted."""
        return json.loads(self._inside.read_text())

    def send(self, kind, topic: str, message) -> None:
        """Publish a message or bytes."""
        from opspace_ctrl.nodes import qos

        if topic not in self._publishers:
            policy = qos.STATES if topic in ("joint_states", "odom") else qos.profile(10)
            self._publishers[topic] = self.node.create_publisher(kind, topic, policy)
            time.sleep(0.5)  # to be found
        self._publishers[topic].publish(message)
        self.sent += 1

    def call(self, kind, name: str, request=None, patience: float = PATIENCE, node: str = NODE):
        """Call a service of a node; the answer, or None."""
        name = f"{node}/{name}"
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        client = self._clients[name]
        if not client.wait_for_service(patience):
            return None
        future = client.call_async(request or kind.Request())
        end = time.monotonic() + patience
        while not future.done() and time.monotonic() < end:
            time.sleep(2e-4)
        return future.result() if future.done() else None

    def stop(self) -> None:
        """One emergency stop, and its reset."""
        from std_srvs.srv import Trigger

        self.call(Trigger, "emergency_stop")
        self.call(Trigger, "reset")

    def recover(self) -> float | None:
        """Seconds until the controller is active, None if it does not become so."""
        from lifecycle_msgs.msg import Transition
        from lifecycle_msgs.srv import ChangeState, GetState
        from std_srvs.srv import Trigger

        start = time.monotonic()
        self.call(Trigger, "reset")
        while time.monotonic() < start + PATIENCE:
            state = self.call(GetState, "get_state")
            label = state.current_state.label if state else ""
            # the node's own word first: what `~/safety` said may be from before a transition
            if label == self.safety == "active":
                return time.monotonic() - start
            wanted = {"unconfigured": 1, "inactive": 3}.get(label)
            if wanted and self.is_lifecycle:
                change = ChangeState.Request(transition=Transition(id=wanted))
                self.call(ChangeState, "change_state", change)
            time.sleep(0.05)
        return None

    is_lifecycle = False  # the scenario itself has deactivated the controller
