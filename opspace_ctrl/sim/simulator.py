# SPDX-License-Identifier: Apache-2.0
"""`Simulator`: the robot as a body that efforts move, without ROS; what every engine offers."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data import shipped_or_own
from ..declaration import Numbers, NumbersByName, declared, refuse_misspelt
from ..dynamics import kinetic_energy, potential_energy
from ..dynamics.forward import forward_methods
from ..errors import ConfigurationError, MethodError, ParameterFileError, quoted
from ..model import Model
from ..model.configuration import check_vector
from ..parameter_file import node_parameters
from ..parameters import checked_value
from ..robot_settings import load_any
from .engine.sensors import joint_wrench, outside_wrench
from .initial import start_configuration
from .settings import EngineName, IntegratorName, SimulatorSettings, simulator_settings

__all__ = ["Simulator"]

NODE = "opspace_simulator"


class Simulator:
    """A robot that moves by its physics, a step at a time.

        robot = Simulator("arm7", initial_positions=[0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
        robot.step(tau)

    Args:
        robot: A model, the name of a shipped robot, the path of a URDF or xacro file, or URDF text.
        engine: Who computes the motion: "native", our own recursions, "dart" or "mujoco". What is made is a `Simulator`
            of it.
        initial_positions: A position for every joint coordinate (k,), or {joint: position}; else zero, or a limit.
        initial_pose: (7,) a floating base, x y z qx qy qz qw; for a forest one after the other.
        step: [s]
        integrator, forward_method, contacts, closures, ground_normal, ground_height, ground_friction, joint_limits,
            joint_friction, joint_damping, velocity_limits, effort_limits, solver_sweeps: As the parameters of these
            names say, docs/ros_interface.md.

    Attributes:
        model: The robot.
        settings: How it is simulated.

    Raises:
        ParameterError: A value has the wrong type, is out of range or not among the choices.
        MethodError: The forward dynamics or the engine cannot carry the robot.
        UnknownFrameError: A contact or closure names no frame.
        ConfigurationError: The initial state does not fit the robot.
    """

    # so that a misspelt attribute is refused, and so is one that would hide a method
    __slots__ = ("_count", "_initial", "_seen", "model", "settings")

    model: Model
    settings: SimulatorSettings
    _seen: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

    def __new__(
        cls,
        robot: Model | str | os.PathLike[str],
        *,
        engine: str = SimulatorSettings.engine,
        **settings: Any,
    ) -> Simulator:
        """An object of the engine's class, which `__init__` then makes; a misspelt argument is refused by name."""
        refuse_misspelt(cls, settings, signature(Simulator.__init__).parameters)
        integrator = settings.get("integrator", SimulatorSettings.integrator)
        return object.__new__(_engine_class(engine, integrator) if cls is Simulator else cls)

    def __init__(
        self,
        robot: Model | str | os.PathLike[str],
        *,
        engine: EngineName = SimulatorSettings.engine,
        step: float = SimulatorSettings.step,
        integrator: IntegratorName = SimulatorSettings.integrator,
        forward_method: str = SimulatorSettings.forward_method,
        initial_positions: NumbersByName = SimulatorSettings.initial_positions,
        initial_pose: Numbers = SimulatorSettings.initial_pose,
        contacts: Sequence[str] = SimulatorSettings.contacts,
        closures: Sequence[str] = SimulatorSettings.closures,
        ground_normal: Numbers = SimulatorSettings.ground_normal,
        ground_height: float = SimulatorSettings.ground_height,
        ground_friction: float = SimulatorSettings.ground_friction,
        joint_limits: bool = SimulatorSettings.joint_limits,
        joint_friction: bool = SimulatorSettings.joint_friction,
        joint_damping: bool = SimulatorSettings.joint_damping,
        velocity_limits: bool = SimulatorSettings.velocity_limits,
        effort_limits: bool = SimulatorSettings.effort_limits,
        solver_sweeps: int = SimulatorSettings.solver_sweeps,
    ) -> None:
        settings = SimulatorSettings(
            engine=engine,
            step=step,
            integrator=integrator,
            forward_method=forward_method,
            initial_positions=initial_positions,
            initial_pose=initial_pose,
            contacts=contacts,
            closures=closures,
            ground_normal=ground_normal,
            ground_height=ground_height,
            ground_friction=ground_friction,
            joint_limits=joint_limits,
            joint_friction=joint_friction,
            joint_damping=joint_damping,
            velocity_limits=velocity_limits,
            effort_limits=effort_limits,
            solver_sweeps=solver_sweeps,
        )
        self._set_up(robot, settings)

    @staticmethod
    def from_settings(
        robot: Model | str | os.PathLike[str], settings: SimulatorSettings
    ) -> Simulator:
        """A simulator of all settings at once, as `simulator_settings` makes them of ROS parameters.

        Raises:
            MethodError, UnknownFrameError, ConfigurationError: They do not fit the robot.
        """
        simulator: Simulator = object.__new__(_engine_class(settings.engine, settings.integrator))
        simulator._set_up(robot, settings)
        return simulator

    @staticmethod
    def from_file(path: str | os.PathLike[str], model: Model, node: str = NODE) -> Simulator:
        """The simulator that a ROS 2 parameter file describes: where the robot starts, what it stands on.

            controller = Controller.from_file("my_robot.yaml")
            robot = Simulator.from_file("my_robot.yaml", controller.model)

        Args:
            path: The file, or the name of a shipped one: "arm7.yaml".
            model: The robot.
            node: The node whose section is read.

        Raises:
            ParameterFileError: The file cannot be read, or has no section for the node.
            OpspaceError: What `simulator_settings` and `Simulator` raise.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise ParameterFileError(f"{quoted(path)} is no path of a parameter file")
        values = node_parameters(shipped_or_own("config", path), node)
        return Simulator.from_settings(model, simulator_settings(values))

    def _set_up(self, robot: Model | str | os.PathLike[str], settings: SimulatorSettings) -> None:
        model = robot if isinstance(robot, Model) else load_any(robot)
        self.model, self.settings, self._count = model, settings, 0
        self._check()
        self._initial = start_configuration(model, settings)
        self._build()
        self.reset()

    def _check(self) -> None:
        """Refuse by name what the engine does not carry."""

    def _build(self) -> None:
        """Make what the engine needs, and let `_seen` be read-only views of q, v and tau."""
        raise NotImplementedError

    @property
    def q(self) -> NDArray[np.float64]:
        """Configuration (nq,), a read-only view that follows the motion; `reset(q, v)` sets it."""
        return self._seen[0]

    @property
    def v(self) -> NDArray[np.float64]:
        """Velocity (nv,), likewise."""
        return self._seen[1]

    @property
    def tau(self) -> NDArray[np.float64]:
        """Efforts (k,) of the last step after saturation, in the order of the joint coordinates, likewise."""
        return self._seen[2]

    @property
    def time(self) -> float:
        """Simulated time [s]: the number of steps times the step."""
        return self._count * self.settings.step

    @property
    def forward_method(self) -> str:
        """The forward dynamics, one of `forward_methods()`.

        Setting it takes effect with the next step: no part of the state changes. A method that was not prepared is
        compiled first.

        Raises:
            MethodError: There is no such method, or it cannot carry the robot; those that can are named.
        """
        return self.settings.forward_method

    @forward_method.setter
    def forward_method(self, name: str) -> None:
        if name != self.forward_method:
            self.prepare(name)
            self.settings = replace(self.settings, forward_method=name)
            self._take_forward_method(name)

    def forward_methods(self) -> tuple[str, ...]:
        """Names of the forward dynamics that can be chosen."""
        return forward_methods(self.model)

    def prepare(self, *names: str) -> None:
        """Compile methods of forward dynamics (all that can be chosen, if none is named): switching takes no time then.

        May be called from another thread than the one that makes the steps.

        Raises:
            MethodError: As for `forward_method`.
        """
        raise MethodError(
            f"engine {self.settings.engine!r} has a forward dynamics of its own; engine 'native' has a choice"
        )

    def _take_forward_method(self, name: str) -> None:
        """Make the steps with a prepared method from now on."""
        raise NotImplementedError

    def step(self, tau: ArrayLike) -> None:
        """One step of `settings.step` with joint efforts (k,), cut off at the effort limits.

        Raises:
            ConfigurationError: tau has the wrong size or is not finite; nothing has moved.
            SimulationError: The motion leaves the range of numbers; the state before it is kept.
        """
        raise NotImplementedError

    def hold(self) -> NDArray[np.float64]:
        """Efforts (k,), a read-only view, that keep the joints where they are when `step` gets them.

        They are what brakes would take in the coming step, cut off at the effort limits. As long as every step is made
        with them, the joints stay where the first call found them.
        """
        raise NotImplementedError

    def servo(self, velocity: ArrayLike) -> NDArray[np.float64]:
        """Efforts (k,) that bring the joints to a velocity (k,) when `step` gets them: drives that follow velocities.

        As `hold`, they are cut off at the effort limits, and those of the coming step only.

        Raises:
            ConfigurationError: The velocity has the wrong size or is not finite.
        """
        wanted = np.zeros(self.model.nv)
        wanted[~self.model.is_base_coordinate] = check_vector(velocity, len(self.tau), "velocity")
        return self._servo(wanted)

    def _servo(self, velocity: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same for a checked velocity (nv,), whose base coordinates do not count."""
        raise NotImplementedError

    def push(self, frame: str, wrench: ArrayLike, duration: float) -> None:
        """Let a wrench (force, torque; world axes, at the frame's moving origin) act on a frame from now on.

        A frame has one such wrench: another push replaces it, and zero ends it.

        Args:
            duration: [s], rounded to whole steps, at least one; infinity is for good.

        Raises:
            UnknownFrameError: The model has no such frame.
            ConfigurationError: The wrench is not 6 finite numbers, or the duration is not positive.
        """
        index = self.model.frame_index(frame)
        wrench = check_vector(wrench, 6, f"wrench (force, torque) at {frame!r}")
        if not isinstance(duration, (int, float)) or not duration > 0.0:
            raise ConfigurationError(
                f"push on {frame!r}: duration {quoted(duration)} is not a positive number [s]"
            )
        steps = math.inf if math.isinf(duration) else max(1, round(duration / self.settings.step))
        self._push(index, wrench, float(steps))

    def _push(self, frame: int, wrench: NDArray[np.float64], steps: float) -> None:
        """Let a checked wrench act on a frame for so many steps."""
        raise NotImplementedError

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Back to time zero: the initial configuration at rest, or the state that is given.

        Closures keep the orientations that their frames have there.
        """
        q = self._initial if q is None else self.model.check_configuration(q)
        v = np.zeros(self.model.nv) if v is None else self.model.check_velocity(v)
        self._count = 0
        self._reset(q, v)

    def _reset(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> None:
        """Take a checked state; forget efforts, pushes and forces."""
        raise NotImplementedError

    def save(self) -> Mapping[str, NDArray[np.float64]]:
        """Everything the motion from here on depends on, as copies."""
        raise NotImplementedError

    def restore(self, state: Mapping[str, NDArray[np.float64]]) -> None:
        """Go on from a saved state of this robot and these settings, bit for bit as it did then.

        Raises:
            SimulationError: The state is of another robot or other settings.
        """
        raise NotImplementedError

    def contact_forces(self) -> dict[str, NDArray[np.float64]]:
        """Forces of the ground on the robot in the last step, by frame: (3,) at a point, a wrench (6,) at a patch.

        World axes, at the frame's origin, mean over the step.
        """
        raise NotImplementedError

    def constraint_forces(self) -> dict[tuple[str, str], NDArray[np.float64]]:
        """Wrenches (6,) of the closures on their first frames in the last step (world axes, at its origin)."""
        raise NotImplementedError

    def frame_wrench(self, frame: str, compensated: bool = True) -> NDArray[np.float64]:
        """What a force-torque sensor at a frame reads (6,): force, torque; world axes, at the frame's origin.

        Args:
            compensated: The wrench from outside (pushes, contacts, closures) on the frame's body and all bodies it
                carries: what a sensor says whose load is tared. Otherwise the wrench that these bodies take from the
                joint that moves them, weight and inertia included.
        """
        (q, v), outside = self._before(), self._outside()
        if compensated:
            return outside_wrench(self.model, q, frame, outside)
        return joint_wrench(self.model, q, v, (self.v - v) / self.settings.step, frame, outside)

    def _before(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """q and v before the last step."""
        raise NotImplementedError

    def _outside(self) -> list[tuple[str, NDArray[np.float64]]]:
        """(frame, wrench at its origin) of all that acted from outside in the last step."""
        raise NotImplementedError

    def energy(self) -> float:
        """Kinetic and potential energy [J]."""
        return kinetic_energy(self.model, self.q, self.v) + potential_energy(self.model, self.q)


def _engine_class(engine: str, integrator: str) -> type[Simulator]:
    """The class of an engine and integrator; what it needs is imported only now.

    Raises:
        ParameterError: There is no such engine.
        MethodError: Its package is not installed.
    """
    checked_value(declared(SimulatorSettings)["engine"], engine)
    if engine == "dart":
        from .engine.dart import DartSimulator

        return DartSimulator
    if engine == "mujoco":
        from .engine.mujoco import MujocoSimulator

        return MujocoSimulator
    if integrator == "algorithm7":
        from .engine.links import LinkSimulator

        return LinkSimulator
    from .engine.native import NativeSimulator

    return NativeSimulator
