"""What every engine offers: the robot as a body that efforts move, without ROS."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...dynamics import kinetic_energy, potential_energy
from ...dynamics.forward import forward_methods
from ...errors import ConfigurationError, MethodError, quoted
from ...model import Model
from ...model.configuration import check_vector
from ..initial import start_configuration
from ..settings import SimulatorSettings
from .sensors import joint_wrench, outside_wrench

__all__ = ["Simulator"]


class Simulator(ABC):
    """A robot that moves by its physics, a step at a time.

    Attributes:
        model: The robot.
        settings: How it is simulated.
        q, v: Configuration (nq,) and velocity (nv,), read-only views that follow the motion.
        tau: (k,) efforts of the last step after saturation, in the order of the joint coordinates.
    """

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray

    def __init__(self, model: Model, settings: SimulatorSettings):
        self.model, self.settings, self._count = model, settings, 0
        self._initial = start_configuration(model, settings)

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

    @abstractmethod
    def step(self, tau) -> None:
        """One step of `settings.step` with joint efforts (k,), cut off at the effort limits.

        Raises:
            ConfigurationError: tau has the wrong size or is not finite; nothing has moved.
            SimulationError: The motion leaves the range of numbers; the state before it is kept.
        """

    @abstractmethod
    def hold(self) -> np.ndarray:
        """Efforts (k,), a read-only view, that keep the joints where they are when `step` gets them.

        They are what brakes would take in the coming step, cut off at the effort limits. As long as every step is made
        with them, the joints stay where the first call found them.
        """

    def push(self, frame: str, wrench, duration: float) -> None:
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

    @abstractmethod
    def _push(self, frame: int, wrench: np.ndarray, steps: float) -> None:
        """Let a checked wrench act on a frame for so many steps."""

    def reset(self, q=None, v=None) -> None:
        """Back to time zero: the initial configuration at rest, or the state that is given.

        Closures keep the orientations that their frames have there.
        """
        q = self._initial if q is None else self.model.check_configuration(q)
        v = np.zeros(self.model.nv) if v is None else self.model.check_velocity(v)
        self._count = 0
        self._reset(q, v)

    @abstractmethod
    def _reset(self, q: np.ndarray, v: np.ndarray) -> None:
        """Take a checked state; forget efforts, pushes and forces."""

    @abstractmethod
    def save(self) -> Mapping[str, np.ndarray]:
        """Everything the motion from here on depends on, as copies."""

    @abstractmethod
    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a saved state of this robot and these settings, bit for bit as it did then.

        Raises:
            SimulationError: The state is of another robot or other settings.
        """

    @abstractmethod
    def contact_forces(self) -> dict[str, np.ndarray]:
        """Of the ground on the robot in the last step, by frame: force (3,) of a point, or wrench (6,) of a patch.

        World axes, at the frame's origin, mean over the step.
        """

    @abstractmethod
    def constraint_forces(self) -> dict[tuple[str, str], np.ndarray]:
        """Wrenches (6,) of the closures on their first frames in the last step (world axes, at its origin)."""

    def frame_wrench(self, frame: str, compensated: bool = True) -> np.ndarray:
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

    @abstractmethod
    def _before(self) -> tuple[np.ndarray, np.ndarray]:
        """q and v before the last step."""

    @abstractmethod
    def _outside(self) -> list[tuple[str, np.ndarray]]:
        """(frame, wrench at its origin) of all that acted from outside in the last step."""

    def energy(self) -> float:
        """Kinetic and potential energy [J]."""
        return kinetic_energy(self.model, self.q, self.v) + potential_energy(self.model, self.q)
