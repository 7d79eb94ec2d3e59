# SPDX-License-Identifier: Apache-2.0
"""All that a configured controller node has: made by `configure`, closed by `cleanup`."""

from pathlib import Path

import numpy as np
from std_msgs.msg import Header

from opspace_ctrl import frame_pose

from ..control.controller import Controller
from ..control.safety.fields import ADVISORY, BIT
from ..control.safety.guarded import GuardedController
from ..control.safety.state_gate import StateGate
from ..control.safety.words import gates_in_words
from ..control.settings import ControllerSettings
from ..errors import TargetError
from ..model import Model
from . import privileges
from .black_box import BlackBox, default_folder
from .commands import Commands
from .control_loop import ControlLoop
from .controller_status import ControllerStatus
from .following import Following, has_control_msgs
from .frames import Frames
from .gate_watch import GateWatch
from .inbox import Inbox
from .messages import stamp_of
from .outputs import Outputs
from .targets import Targets
from .transforms import BaseTransform, has_tf2

__all__ = ["Session"]


class Session:
    """A robot, its controller, the loop, and every topic that needs them.

    Everything but what `ControlLoop` does itself runs in the executor's thread.

    Attributes:
        controller, loop, gate: see there.
        memory: what became of locking it.
    """

    def __init__(self, node, inbox: Inbox, model: Model, settings: ControllerSettings):
        """Compile what is not in the cache, and start the loop; inbox: where targets come.

        Raises:
            OpspaceError: The settings do not fit the robot.
        """
        own = settings.node
        self._node, self._world = node, own.world_frame
        self._root = model.frame_names[0]
        is_simulated = bool(node.get_parameter("use_sim_time").value)
        self.controller = Controller.from_settings(model, settings)
        self.controller.prepare()
        self._rehearse(model)
        self.controller.use_wall_clock(not is_simulated)
        self._prefix = prefix = own.frame_prefix
        self.gate = StateGate(model, settings.safety, is_simulated, prefix)
        self.memory = privileges.lock_memory(own.lock_memory)
        self._commands = Commands(node, len(self.controller.joints), settings.commands)
        guarded = GuardedController(self.controller, self.gate)
        self._box = BlackBox(guarded, _folder(own.black_box))
        self._outputs = Outputs(
            node,
            self.controller,
            self._box,
            self._header,
            self._configuration,
            own.publish_rate,
            own.marker_rate,
            prefix,
        )
        self.loop = ControlLoop(
            node,
            guarded,
            self._commands,
            self._box,
            own.thread_priority,
            is_simulated,
            self._outputs.publish_residual,
        )
        self._watch = GateWatch(
            self.gate, self.loop, self._box, lambda: self.controller.dropped, node.get_logger()
        )
        frames = Frames(model, self._configuration, self._world_name, prefix)
        self._lock = guarded.lock
        self._targets = Targets(node, inbox, self.controller, frames, self._lock, self._now)
        self._following = self._make_following(node)
        if self.gate.has_base and own.publish_tf and has_tf2():
            transform = BaseTransform(node, prefix + self._root)
            self._outputs.also = lambda: transform.publish(self.gate, self._world_name())
        self._status = ControllerStatus(
            node,
            self.controller,
            self.loop,
            self.gate,
            self._targets,
            self._commands,
            self.memory,
            self._each_second,
        )
        self.loop.start()
        privileges.quiet_interpreter()

    def _make_following(self, node) -> Following | None:
        """The actions, where control_msgs is installed."""
        if not has_control_msgs():
            return None
        take = self._targets.take
        return Following(node, self.controller, take, self._now, self._header, self._stop)

    def _rehearse(self, model: Model) -> None:
        """Do once whatever is done later, so that nothing is compiled or imported while the robot moves."""
        controller, q, v = self.controller, model.neutral(), np.zeros(model.nv)
        controller.activate(q, v, 0.0)
        controller.tick(q, v, 0.0)
        for kind in ("zero", "gravity", "damping"):
            controller.safe_command(kind, q, v, 0.0)
        for task in controller.task_names:
            frame_pose(model, q, self._root)
            position, quaternion = controller.pose(task)
            controller.target_pose(task, position, quaternion, 0.0)
            controller.trajectory(task, [1.0, 2.0], [position] * 2, [quaternion] * 2, 0.0)
        controller.hold(q, v, 0.0)

    def close(self) -> None:
        """Send the last command if efforts go out, and end everything."""
        self.loop.deactivate()
        self.loop.end()
        if self._following is not None:
            self._following.close()
        for part in (self._status, self._targets, self._outputs, self._commands, self._box):
            part.close()
        privileges.restore_interpreter()

    # ---- what the node is asked for ----

    def apply(self, settings: ControllerSettings) -> None:
        """Change settings while it runs, all or none.

        Raises:
            OpspaceError: They cannot change, or do not fit the robot.
        """
        parts = (self._targets, self._outputs, self._following)
        topics = [part.of_tasks for part in parts if part is not None]
        try:
            for each in topics:
                each.add(task.name for task in settings.tasks)
            self.controller.apply(settings, self.loop.do)
        finally:
            for each in topics:
                each.keep(self.controller.task_names)
        self.loop.do(lambda: self.gate.configure(settings.safety))
        self._outputs.set_rates(settings.node.publish_rate, settings.node.marker_rate)

    def hold(self) -> None:
        """Every task takes its present pose as its target.

        Raises:
            TargetError: Nothing is controlled.
        """
        self._now()
        gate = self.gate
        self.loop.do(lambda: self.controller.hold(gate.q, gate.v, gate.time))

    def reset(self) -> None:
        """Open the gates whose fault is gone, the emergency stop among them."""
        self.loop.do(self.gate.open_all)

    def emergency_stop(self) -> None:
        """Safe command at once, until `reset`; any thread may ask for it."""
        self.gate.stop()
        self.loop.wake()

    def enable(self, is_permitted: bool, steady: int) -> None:
        """Somebody permits motion, or not any longer; any thread may say so."""
        self.gate.enable(is_permitted, steady)
        self.loop.wake()

    def look(self) -> str:
        """Say what the gates have done; the state of safety."""
        return self._watch.look()

    # ---- what others ask for ----

    def _configuration(self) -> np.ndarray:
        return self.gate.q.copy()

    def _world_name(self) -> str:
        """The world in messages."""
        gate = self.gate
        return self._world or (
            gate.frame_id or "odom" if gate.has_base else self._prefix + self._root
        )

    def _header(self) -> Header | None:
        """Of what is told about the newest tick."""
        if not self.loop.statistics.ticks:
            return None
        return Header(stamp=stamp_of(self.gate.stamp), frame_id=self._world_name())

    def _now(self) -> tuple[float, int]:
        """The controller's time [s] and the stamp [ns] of the newest tick.

        Raises:
            TargetError: Nothing is controlled, and why.
        """
        gate = self.gate
        if not self.loop.is_active:
            raise TargetError("targets are taken only while the node is active")
        if gate.must_restart:
            reason = gates_in_words(gate, gate.closed & ~ADVISORY) or "the next state opens it"
            raise TargetError(f"targets are taken only while no gate is closed: {reason}")
        return gate.time, gate.stamp

    def _stop(self, task: str) -> None:
        """Bring a task to rest."""
        with self._lock:
            self.controller.stop(task, self.gate.time)

    def _each_second(self) -> None:
        for topic in [*self.loop.hear_the_unreliable(), *self._targets.hear_the_unreliable()]:
            self._node.get_logger().info(f"{topic} is published with best effort: so it is taken")
        self._outputs.look()
        is_single = self.controller.settings.safety.single_publisher
        self._targets.several = self._targets.several_publishers() if is_single else ""
        is_stale = bool(self.controller.stale_targets(self.gate.time))
        self.gate.advise(BIT["publishers"] * bool(self._targets.several) | BIT["target"] * is_stale)


def _folder(black_box: str) -> Path | None:
    """Where the parameter `black_box` says."""
    if not black_box:
        return None
    return default_folder() if black_box == "auto" else Path(black_box)
