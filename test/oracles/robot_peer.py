# SPDX-License-Identifier: Apache-2.0
"""A robot for live tests of the controller: the test sends its states one by one, and the answers come back."""

import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from helpers.ros import PATIENCE
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from opspace_ctrl.nodes import qos

STEP = 1_000_000  # [ns]


class RobotPeer:
    """States out, efforts in.

    Attributes:
        q, v: what the next state tells.
        stamp: of the newest state [ns].
        sent: how many states were sent.
        answers: the Listener of the commands.
    """

    def __init__(self, graph, model, node: str):
        self.graph, self.model, self.node = graph, model, node
        self.q, self.v = model.neutral(), np.zeros(model.nv)
        self.floating = bool(model.is_base_coordinate.any())
        self.names = list(model.joint_names)
        self.stamp, self.sent, self.going = 10**9, 0, False
        self._states = graph.publisher(JointState, "joint_states", qos.STATES)
        self._odom = graph.publisher(Odometry, "odom", qos.STATES) if self.floating else None
        self.answers = graph.listen(
            Float64MultiArray, "effort_controller/commands", callback=self._go_on
        )
        self._statuses = {}
        graph.node.create_subscription(DiagnosticArray, "/diagnostics", self._note, 10)

    # states

    def message(self, **changes) -> JointState:
        """The joint states of q and v, with some fields changed."""
        count = len(self.names)
        message = JointState(
            name=self.names, position=self.q[-count:].tolist(), velocity=self.v[-count:].tolist()
        )
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self.stamp, 10**9)
        for name, value in changes.items():
            setattr(message, name, value)
        return message

    def odometry(self, **pose) -> Odometry:
        """The odometry of q and v; pose: fields of the orientation to change."""
        message = Odometry(child_frame_id=self.model.frame_names[0])
        message.header.frame_id = "odom"
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self.stamp, 10**9)
        p, o = message.pose.pose.position, message.pose.pose.orientation
        p.x, p.y, p.z, o.x, o.y, o.z, o.w = self.q[:7].tolist()
        u, w = message.twist.twist.linear, message.twist.twist.angular
        u.x, u.y, u.z, w.x, w.y, w.z = self.v[:6].tolist()
        for name, value in pose.items():
            setattr(o, name, value)
        return message

    def send(
        self,
        step: int = STEP,
        message: JointState | None = None,
        odometry: Odometry | None = None,
        **changes,
    ):
        """The next state, `step` ns after the last; or a given message."""
        self.stamp += step
        if self.floating:
            self._odom.publish(odometry or self.odometry())
        self._states.publish(message or self.message(**changes))
        self.sent += 1

    def send_odometry(self, message: Odometry) -> None:
        self._odom.publish(message)

    def send_joints(self, message: JointState) -> None:
        self._states.publish(message)

    def first_answer(self) -> np.ndarray:
        """Send states until one is answered: then both ends know each other."""
        count = self.answers.count
        self.graph.wait_for(lambda: self.answers.count > count, "the first answer", each=self.send)
        return self.effort()

    def answer(self, step: int = STEP, **changes) -> np.ndarray:
        """Send one state and return the next command (k,).

        That is the answer, unless a closed gate repeats its command meanwhile, or an earlier answer was still under
        way: what must be exact is waited for with `step_until`.
        """
        count = self.answers.count
        self.send(step, **changes)
        self.graph.wait_for(lambda: self.answers.count > count, "an answer to a state")
        return self.effort()

    def effort(self) -> np.ndarray:
        """The newest command (k,)."""
        return np.array(self.answers.last.data)

    def step_until(self, condition, what: str, step: int = STEP, **changes) -> None:
        """Send states, with some fields changed, until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"{what}: not within {PATIENCE} s"
            self.answer(step, **changes)

    def quiet(self) -> dict:
        """Wait until no tick has come for a second; the status of the loop then."""
        before = self.status("loop", lambda text, values: True, "the loop")
        return self.status(
            "loop", lambda text, values: self._is_repeated(before, values), "a second without ticks"
        )

    @staticmethod
    def _is_repeated(before: dict, values: dict) -> bool:
        same = before["ticks"] == values["ticks"]
        before["ticks"] = values["ticks"]
        return same

    # running by itself: each answer brings the next state

    def _go_on(self, _) -> None:
        if self.going:
            self.send()

    def start(self) -> None:
        self.going = True
        self.send()

    # diagnostics

    def _note(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.startswith(f"{self.node.strip('/')}: "):
                self._statuses[status.name.partition(": ")[2]] = (
                    status.level,
                    status.message,
                    {value.key: value.value for value in status.values},
                )

    def status(self, which: str, condition, what: str, each=None) -> dict:
        """Wait until a status (gates, loop or tick) fulfils condition(text, values); its values with level, message."""

        def fulfilled():
            if which in self._statuses:
                level, text, values = self._statuses[which]
                return condition(text, values) and values | {"level": level, "message": text}
            return None

        self._statuses.clear()
        return self.graph.wait_for(fulfilled, what, each)
