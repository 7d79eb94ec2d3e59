"""All that a configured controller node has: made by `configure`, closed by `cleanup`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from std_msgs.msg import Header

from opspace_ctrl import frame_pose

from ..control.controller import Controller
from ..control.safety.gates import BIT, HELD, Safety
from ..control.safety.guard import Guard
from ..control.settings import ControllerSettings
from ..errors import ConfigurationError
from ..model import Model
from . import privileges
from .commands import Commands
from .control_loop import ControlLoop
from .controller_status import ControllerStatus
from .frames import Frames
from .intake import Intake
from .messages import stamp_of
from .outputs import Outputs
from .targets import Targets
from .transforms import BaseTransform, has_tf2

__all__ = ["Session"]


class Session:
    """A robot, its controller, the loop, and every topic that needs them.

    Everything but what `ControlLoop` does itself runs in the executor's thread.

    Attributes:
        controller, loop, safety: see there.
        memory: what became of locking it.
    """

    def __init__(
        self, node, model: Model, settings: ControllerSettings, progress: Callable[[str], object]
    ):
        """Progress: called with the name of each method before it is compiled.

        Raises:
            OpspaceError: The settings do not fit the robot.
        """
        values = settings.values
        self._node, self._world = node, values["world_frame"]
        self._root = model.frame_names[0]
        floating = bool(model.is_base_coordinate.any())
        is_simulated = bool(node.get_parameter("use_sim_time").value)
        self.controller = Controller(model, settings)
        self.controller.prepare(progress)
        self._guard = Guard(model, settings.safety.position_margin)
        self._rehearse(model)
        self._prefix = prefix = values["frame_prefix"]
        self._intake = Intake(
            model, self._root, floating, settings.safety.clock_jump, values["velocity_time"], prefix
        )
        self.safety = Safety(settings.safety, floating, is_simulated)
        self.memory = privileges.lock_memory(values["lock_memory"])
        places = [model.joint_names.index(name) for name in self.controller.joints]
        self._commands = Commands(node, model.effort_limits[places])
        self._outputs = Outputs(
            node,
            self.controller,
            self._header,
            self._configuration,
            values["publish_rate"],
            values["marker_rate"],
            prefix,
        )
        self.loop = ControlLoop(
            node,
            self.controller,
            self._intake,
            self.safety,
            self._guard,
            self._commands,
            values["thread_priority"],
            is_simulated,
            self._outputs.publish_residual,
        )
        frames = Frames(model, self._configuration, self._world_name, prefix)
        self._targets = Targets(node, self.controller, frames, self.loop.lock, self._now)
        odometry = self._intake.odometry
        if self._intake.is_floating and values["publish_tf"] and has_tf2():
            transform = BaseTransform(node, prefix + self._root)
            self._outputs.also = lambda: transform.publish(odometry, self._world_name())
        self._status = ControllerStatus(
            node,
            self.controller,
            self.loop,
            self.safety,
            self._intake,
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
        self._guard.faults(q, v)
        controller.activate(q, v, 0.0)
        controller.tick(q, v, 0.0)
        for kind in ("zero", "gravity", "damping", HELD):
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
        for part in (self._status, self._targets, self._outputs, self._commands):
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
            self.safety.settings = settings.safety
            self._guard.margin, self._intake.stamps.jump = (
                settings.safety.position_margin,
                settings.safety.clock_jump,
            )

        # finding the fastest takes longer than a tick
        if settings.method == "auto" != self.controller.settings.method:
            change()
        else:
            self.loop.do(change)
        self._outputs.set_rates(settings.values["publish_rate"], settings.values["marker_rate"])

    def hold(self) -> None:
        """Every task takes its present pose as its target.

        Raises:
            ConfigurationError: Nothing is controlled.
        """
        if self._now() is None:
            raise ConfigurationError("not active, or a gate is closed: nothing is controlled")
        intake = self._intake
        self.loop.do(lambda: self.controller.hold(intake.q, intake.v, intake.time))

    def reset(self) -> None:
        """Open the gates whose fault is gone, the emergency stop among them."""
        self.loop.do(self.safety.reset)

    def emergency_stop(self) -> None:
        """Safe command at once, until `reset`."""
        self.safety.stop()
        self.loop.wake()

    # ---- what others ask for ----

    def _configuration(self) -> np.ndarray:
        return self._intake.q.copy()

    def _world_name(self) -> str:
        """The world in messages."""
        told = self._intake.odometry.frame_id or "odom"
        return self._world or (told if self._intake.is_floating else self._prefix + self._root)

    def _header(self) -> Header | None:
        """Of what is told about the newest tick."""
        if not self.loop.statistics.ticks:
            return None
        return Header(stamp=stamp_of(self._intake.stamp), frame_id=self._world_name())

    def _now(self) -> tuple[float, int] | None:
        """The controller's time [s] and the stamp [ns]; None while nothing is controlled."""
        is_controlled = (
            self.loop.is_active and not self.safety.must_restart and not self.loop.failure
        )
        return (self._intake.time, self._intake.stamp) if is_controlled else None

    def _each_second(self) -> None:
        if self.loop.failure and self.loop.is_active:
            self._node.trigger_deactivate()
        for topic in self.loop.hear_the_unreliable():
            self._node.get_logger().info(f"{topic} is published with best effort: so it is taken")
        self._outputs.look()
        safety = self.safety
        self._targets.several = (
            self._targets.several_publishers() if safety.settings.single_publisher else ""
        )
        is_stale = bool(self.controller.stale_targets(self._intake.time))
        safety.advise(BIT["publishers"] * bool(self._targets.several) | BIT["target"] * is_stale)
