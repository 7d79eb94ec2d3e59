"""All that a configured controller node has: made by `configure`, closed by `cleanup`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from std_msgs.msg import Header

from opspace_ctrl import frame_pose

from ..control.controller import Controller
from ..control.safety.fields import BIT
from ..control.safety.guarded import GuardedController
from ..control.safety.state_gate import StateGate
from ..control.settings import ControllerSettings
from ..errors import ConfigurationError
from ..model import Model
from . import privileges
from .black_box import BlackBox, default_folder
from .commands import Commands
from .control_loop import ControlLoop
from .controller_status import ControllerStatus
from .frames import Frames
from .gate_watch import GateWatch
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

    def __init__(
        self, node, model: Model, settings: ControllerSettings, progress: Callable[[str], object]
    ):
        """Progress: called with the name of each method before it is compiled.

        Raises:
            OpspaceError: The settings do not fit the robot.
        """
        own = settings.node
        self._node, self._world = node, own.world_frame
        self._root = model.frame_names[0]
        is_simulated = bool(node.get_parameter("use_sim_time").value)
        self.controller = Controller.from_settings(model, settings)
        self.controller.prepare(progress)
        self._rehearse(model)
        self.controller.use_wall_clock(not is_simulated)
        self._prefix = prefix = own.frame_prefix
        self.gate = StateGate(model, settings.safety, own.velocity_time, is_simulated, prefix)
        self.memory = privileges.lock_memory(own.lock_memory)
        self._commands = Commands(node, len(self.controller.joints))
        self._outputs = Outputs(
            node,
            self.controller,
            self._header,
            self._configuration,
            own.publish_rate,
            own.marker_rate,
            prefix,
        )
        guarded = GuardedController(self.controller, self.gate)
        self._box = BlackBox(guarded, _folder(own.black_box))
        self.loop = ControlLoop(
            node,
            guarded,
            self._commands,
            self._box,
            own.thread_priority,
            is_simulated,
            self._outputs.publish_residual,
        )
        self._watch = GateWatch(self.gate, self.loop, self._box, node.get_logger())
        frames = Frames(model, self._configuration, self._world_name, prefix)
        self._targets = Targets(node, self.controller, frames, guarded.lock, self._now)
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

    def _rehearse(self, model: Model) -> None:
        """Do once whatever is done later, so that nothing is compiled or imported while the robot moves."""
        controller, q, v = self.controller, model.neutral(), np.zeros(model.nv)
        controller.activate(q, v, 0.0)
        controller.tick(q, v, 0.0)
        for kind in ("zero", "gravity", "damping"):
            controller.safe_command(kind, q, v, 0.0)
        for task in controller.tasks:
            frame_pose(model, q, self._root)
            position, quaternion = controller.pose(task)
            controller.target_pose(task, position, quaternion, 0.0)
            controller.trajectory(task, [1.0, 2.0], [position] * 2, [quaternion] * 2, 0.0)
        controller.hold(q, v, 0.0)

    def close(self) -> None:
        """Send the last command if efforts go out, and end everything."""
        self.loop.deactivate()
        self.loop.end()
        for part in (self._status, self._targets, self._outputs, self._commands, self._box):
            part.close()
        privileges.restore_interpreter()

    # ---- what the node is asked for ----

    def apply(self, settings: ControllerSettings) -> None:
        """Change settings while it runs, all or none.

        Raises:
            OpspaceError: They cannot change, or do not fit the robot.
        """

        def change() -> None:
            self.controller.apply(settings)
            self.gate.configure(settings.safety)

        # finding the fastest takes longer than a tick
        if settings.method == "auto" != self.controller.settings.method:
            change()
        else:
            self.loop.do(change)
        self._outputs.set_rates(settings.node.publish_rate, settings.node.marker_rate)

    def hold(self) -> None:
        """Every task takes its present pose as its target.

        Raises:
            ConfigurationError: Nothing is controlled.
        """
        if self._now() is None:
            raise ConfigurationError("not active, or a gate is closed: nothing is controlled")
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

    def _now(self) -> tuple[float, int] | None:
        """The controller's time [s] and the stamp [ns]; None while nothing is controlled."""
        is_controlled = self.loop.is_active and not self.gate.must_restart
        return (self.gate.time, self.gate.stamp) if is_controlled else None

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
