# SPDX-License-Identifier: Apache-2.0
"""`Controller`: from the state of a robot to joint torques, with targets, settings and methods that can change.

It knows no ROS; time is that of one clock, in seconds. All 6-vectors are linear first, in world axes (those of a task
relative to a frame: in the frame's axes). `tick` may run in one thread while targets and settings come from another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data import shipped_or_own
from ..declaration import refuse_misspelt
from ..errors import (
    ConfigurationError,
    ParameterFileError,
    SettingsError,
    TargetError,
    listed,
    quoted,
)
from ..model import Model, check_model
from ..osim import OperationalSpace
from ..parameter_file import node_parameters
from ..robot_settings import load_any
from ..turns import giving_way
from .contacts import Contact
from .core import NAN, Core
from .duty import Duty
from .fields import NO_TORQUE
from .inputs import NO_STATE, Inputs
from .live import check_fit
from .options import Compensation, Limits, Payload
from .posture import Posture
from .report import Report
from .safety.settings import SAFE_COMMANDS, SafetySettings
from .settings import (
    ControllerSettings,
    InternalForces,
    Mode,
    check_kind,
    controller_settings,
    fixed_changes,
)
from .targets.posture_target import PostureTarget
from .targets.target import instant
from .tasks import ControlTask

__all__ = ["Controller"]

NODE = "opspace_controller"


class Controller(Inputs):
    """The controller of one robot.

        controller = Controller(load_robot("arm7"), [PoseTask("tool", stiffness=400.0)])
        controller.activate(q, v, time)
        tau = controller.tick(q, v, time)

    Args:
        model: The robot.
        tasks: What it shall do; `level` of each is its priority.
        posture: What the joints do in the null space of all tasks.
        contacts: What the ground holds, before every task.
        method: Algorithm of the operational-space inertia, one of `osim.methods()`; "auto": the fastest here.
        mode: "tasks"; "raw": F and tau0 come from outside (`force`, `tau0`); "gravity": compensation only;
            "velocity": the commands are joint velocities, Jbar xdot + N qdot0, for drives that take these.
        joints: Order of the command; empty: the model's.
        internal_forces: How contacts share what the motion leaves open: "balanced" or "zero".
        compensation, payload, limits: What is added, what is carried, what is kept.
        safety: When targets are stale; the rest is for whoever runs the loop (`safety.gates.Safety`).

    Attributes:
        joints: Names in the order of the command.
        settings: Those in use; change them with `apply`.
        method_residual: Relative difference of the torques of the old and the new method at the state of the last
            switch; 0 before the first.
        switches: How often the method has changed.
        dropped: Tasks whose motion to a target the last `restart` has ended.

    Raises:
        ParameterError, SettingsError: A value is not valid, or does not fit the others or the robot.
        UnknownFrameError, ConfigurationError, MethodError: As `Core` says (frames, joints, method).
    """

    # so that a misspelt attribute is refused, and so is one that would hide a method
    __slots__ = (
        "_duty",
        "_is_active",
        "_neutral",
        "_posture",
        "_rest",
        "_ticking",
        "dropped",
        "joints",
        "method_residual",
        "model",
        "settings",
        "switches",
    )

    def __new__(cls, *args: Any, **given: Any) -> Controller:
        """An object, which `__init__` then makes; a misspelt argument is refused by name."""
        refuse_misspelt(cls, given, signature(Controller.__init__).parameters)
        return object.__new__(cls)

    def __init__(
        self,
        model: Model,
        tasks: Sequence[ControlTask] = (),
        posture: Posture = ControllerSettings.posture,
        contacts: Sequence[Contact] = (),
        method: str = ControllerSettings.method,
        *,
        mode: Mode = ControllerSettings.mode,
        joints: Sequence[str] = (),
        internal_forces: InternalForces = ControllerSettings.internal_forces,
        compensation: Compensation = ControllerSettings.compensation,
        payload: Payload = ControllerSettings.payload,
        limits: Limits = ControllerSettings.limits,
        safety: SafetySettings = ControllerSettings.safety,
    ):
        settings = ControllerSettings(
            tasks=tasks,
            posture=posture,
            contacts=contacts,
            method=method,
            mode=mode,
            joints=joints,
            internal_forces=internal_forces,
            compensation=compensation,
            payload=payload,
            limits=limits,
            safety=safety,
        )
        self._set_up(model, settings)

    @classmethod
    def from_settings(cls, model: Model, settings: ControllerSettings) -> Controller:
        """A controller of all settings at once, as `controller_settings` makes them of ROS parameters.

        Raises:
            SettingsError, UnknownFrameError, ConfigurationError, MethodError: They do not fit the robot.
        """
        controller = cls.__new__(cls)
        controller._set_up(model, settings)
        return controller

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], model: Model | None = None, node: str = NODE
    ) -> Controller:
        """The controller that a ROS 2 parameter file describes.

        Args:
            path: The file, or the name of a shipped one: "arm7.yaml".
            model: The robot; None: the one that the file names.
            node: The node whose section is read.

        Raises:
            ParameterFileError: The file cannot be read, has no section for the node, or names no robot.
            OpspaceError: What `controller_settings`, `load_urdf` and `Controller` raise.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise ParameterFileError(f"{quoted(path)} is no path of a parameter file")
        values = node_parameters(shipped_or_own("config", path), node)
        settings = controller_settings(values)
        if model is None:
            named = settings.robot
            if not named.robot:
                raise ParameterFileError(f"{path}: no `robot` is named: give the model, too")
            model = load_any(named.robot, named.base, named.locked)
        return cls.from_settings(model, settings)

    def _set_up(self, model: Model, settings: ControllerSettings) -> None:
        check_model(model)
        check_fit(model, settings)
        self.model, self.settings = model, settings
        self.joints = tuple(settings.joints or model.joint_names)
        self._duty = self._ticking = Duty(model, settings)
        self._posture = PostureTarget(model, settings.posture)
        self._is_active = False
        self.dropped: tuple[str, ...] = ()
        self.method_residual, self.switches = 0.0, 0
        self._neutral, self._rest = model.neutral(), np.zeros(model.nv)
        self._duty.apply(settings, self._posture)

    @property
    def _core(self) -> Core:
        """The law that computes the next tick."""
        return self._duty.core

    @property
    def _started(self) -> Duty:
        """The duty of a controller that knows a state; ConfigurationError before that."""
        if not self._is_active:
            raise ConfigurationError(f"the controller {NO_STATE}")
        return self._duty

    @property
    def report(self) -> Report:
        """What the last tick did."""
        return self._ticking.report

    # ---- running ----

    def prepare(self) -> None:
        """Compile every method that the robot and the tasks can use, where they are not in the cache."""
        self._core.prepare()

    def methods(self) -> tuple[str, ...]:
        """Names of the methods that can be chosen."""
        return self._core.methods()

    def activate(self, q: ArrayLike, v: ArrayLike, time: float) -> None:
        """Begin: as `restart`, and compensation comes with the first command, whatever was sent before.

        Raises:
            ConfigurationError: Wrong size or non-finite; nothing has changed then.
        """
        self.restart(q, v, time)
        self.begin()

    def _state(
        self, q: ArrayLike, v: ArrayLike, time: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        try:
            moment = instant("the state", time)
        except TargetError as error:
            raise ConfigurationError(str(error)) from None
        self.model.check_configuration(q)  # kernels normalise quaternions
        return np.array(q, float), self.model.check_velocity(v), moment

    def begin(self) -> None:
        """Let the next command be the first: whatever was sent before, it is not rate limited."""
        self._ticking.core.law.door.is_free = 1

    def left(self, tau: np.ndarray) -> None:
        """Tell what was really sent last, where that is not the newest command: the rate limit begins there."""
        self._ticking.core.law.door.sent[:] = tau

    def restart(self, q: ArrayLike, v: ArrayLike, time: float) -> None:
        """Go on after an interruption: every task holds its present pose, task torque comes over `ramp`.

        Torques move on from the last command, within the rate limit. Raises as `activate`.
        """
        q, v, time = self._state(q, v, time)
        self.dropped = self._duty.moving() if self._is_active else ()
        self._take_over(time)
        self._core.restart(q, v, time)
        self._duty.hold(q, v, time)
        self._posture.start(q, time)
        self._core.load_posture(self._posture.program)
        self._is_active = True

    def tick(
        self, q: ArrayLike, v: ArrayLike, time: float, steady: float = NAN
    ) -> NDArray[np.float64]:
        """Torques (len(joints),) in the order of `joints`: finite, within limits; a view that the next tick changes.

        In mode velocity they are joint velocities.

        Args:
            q, v: The state.
            time: Of the state [s].
            steady: The wall clock [s], which may shorten the time in which torques change, see `use_wall_clock`.

        Raises:
            ConfigurationError: Wrong size or non-finite, or a time before the last one's; the controller stays as it
                was. The same time again is the same state again.
        """
        duty = self._ticking if self._is_active else self._started  # which says why not
        if duty is not self._duty:
            duty = self._take_over(duty.core.moment(time))
        if duty.next_method is not None:
            self._switch(duty, duty.next_method, q, v, time)
        return duty.core.tick(q, v, time, steady)

    def _take_over(self, time: float) -> Duty:
        """Let the newest tasks be those of the next tick."""
        duty, before = self._duty, self._ticking
        if duty is not before:
            duty.take_over(before, time)
            self._ticking = duty
        return duty

    @property
    def is_finite(self) -> bool:
        """Was the last tick's torque finite? If not, the command before it was kept."""
        return not self._ticking.core.law.not_finite

    def hold(self, q: ArrayLike, v: ArrayLike, time: float) -> None:
        """Take the present pose of every task, and the present posture, as targets. Raises as `activate`."""
        q, v, time = self._state(q, v, time)
        self._started.hold(q, v, time)
        self._posture.hold(q, time)
        self._core.load_posture(self._posture.program)

    def safe_command(
        self,
        kind: str,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        time: float = NAN,
        steady: float = NAN,
    ) -> NDArray[np.float64]:
        """A command (len(joints),) for a closed gate, in the order of `joints`, within all limits of a tick.

        It is approached at the rate limit: ask again until it is there.

        Args:
            kind: zero; gravity: as the contacts carry it, at rest; damping: gravity, and a force that brakes every
                joint by `safe_damping` times its velocity a second. In mode velocity each is zero velocity.
            q, v: The state, for gravity and damping.
            time: Of the state [s]; without one no new state is answered, and only the wall clock counts.
            steady: The wall clock [s].

        Raises:
            ConfigurationError: An unknown kind, or a state that is missing or not finite.
        """
        if not isinstance(kind, str) or kind not in SAFE_COMMANDS:
            raise ConfigurationError(
                f"no safe command {quoted(kind)}; valid are {listed(SAFE_COMMANDS)}"
            )
        number = SAFE_COMMANDS.index(kind)
        if number == NO_TORQUE:
            q, v = self._neutral, self._rest
        return self._ticking.core.safe(number, q, v, time, steady)

    def use_wall_clock(self, is_paced: bool) -> None:
        """Let the rate limit hold by the wall clock, too: for a robot whose states are stamped by it."""
        self._ticking.core.law.door.is_paced = is_paced

    # ---- settings and method ----

    def apply(
        self,
        settings: ControllerSettings,
        between_ticks: Callable[[Callable[[], None]], object] | None = None,
    ) -> None:
        """Change settings while it runs, all or none; other tasks as `tasks` says.

        Args:
            settings: The new ones.
            between_ticks: Runs what it is given between two ticks; for settings that come from another thread than
                that which ticks. Only the writing is left to it: a loop has no time for checks and preparations.

        Raises:
            SettingsError: A parameter cannot change while it runs, or does not fit the robot.
            MethodError: The method cannot carry the robot or the tasks.
        """
        check_kind(ControllerSettings, "settings", settings)
        chooses = settings.method == "auto" != self.settings.method
        if chooses or not self._duty.is_for(settings):
            with giving_way():
                self._check_change(settings)
                self._apply(settings)  # the next tick goes over to it
            return
        self._check_change(settings)
        if between_ticks is None:
            self._apply(settings)
        else:
            between_ticks(lambda: self._apply(settings))

    def _check_change(self, settings: ControllerSettings) -> None:
        fixed = fixed_changes(self.settings, settings)
        if fixed:
            raise SettingsError(
                f"{listed(fixed)} cannot change while the controller runs; clean up, configure again"
            )
        check_fit(self.model, settings)

    def _apply(self, settings: ControllerSettings) -> None:
        duty, running = self._duty, self._ticking.core
        if not duty.is_for(settings):
            duty = duty.successor(settings, running)
        elif settings.method != self.settings.method:
            self.method = settings.method
        has_new_posture = settings.posture.positions != self.settings.posture.positions
        self.settings = settings
        self._posture.settings = settings.posture
        duty.apply(settings, self._posture)
        if has_new_posture and self._is_active:
            self._posture.move_to_settings(running.law.last_time)
        duty.core.load_posture(self._posture.program)
        self._duty = duty

    @property
    def tasks(self) -> tuple[ControlTask, ...]:
        """The tasks. Setting others prepares their law beside the present one; the next tick goes over to it.

            controller.tasks = [*controller.tasks, PositionTask("elbow", level=2)]

        A task that stays, one of the same name, rows and frames, keeps its target, its reference in motion and, if its
        law and axes stay too, its integrals; a new one holds where it is. Torques pass over within `limits.fade`, in
        which a tick computes both laws. A method that was asked for by name is kept, "auto" chooses again. Another
        thread may tick meanwhile. Raises as `apply`, and then nothing has changed.
        """
        return tuple(self.settings.tasks)

    @tasks.setter
    def tasks(self, tasks: Sequence[ControlTask]) -> None:
        self.apply(replace(self.settings, tasks=tasks))

    @property
    def task_names(self) -> tuple[str, ...]:
        """Names of the tasks, in order."""
        return self._duty.names

    @property
    def method(self) -> str:
        """Name of the method. Setting it compiles it if need be, in the setting thread; the next tick switches."""
        return self._duty.next_method or self._core.method

    @method.setter
    def method(self, asked: str) -> None:
        duty, name = self._duty, asked
        if isinstance(asked, str) and asked == "auto":
            contacts = [contact.task() for contact in self.settings.contacts]
            tasks = [*contacts, *(task.task() for task in self.settings.tasks)]
            name = OperationalSpace(self.model, tasks, "auto").method
        duty.core.prepare(name)
        duty.next_method = name
        self.settings = replace(self.settings, method=asked)

    def _switch(self, duty: Duty, name: str, q: ArrayLike, v: ArrayLike, time: float) -> None:
        """Change the method; both compute the levels at this state, which are then compared."""
        core = duty.core
        core.tick(q, v, time)
        core.tick(q, v, time)  # at the same time: the integrals stand still, here and below
        duty.next_method = None
        old = np.array(core.law.level_torque)
        core.method = name
        core.tick(q, v, time)
        size = float(np.abs(old).max())
        difference = float(np.abs(core.law.level_torque - old).max())
        self.method_residual = difference / size if size else 0.0
        self.switches += 1

    # ---- results ----

    @property
    def command(self) -> NDArray[np.float64]:
        """The last command (len(joints),), whichever it was; a view."""
        return self._ticking.core.tau

    def pose(self, task: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position (3,) and quaternion (4,) xyzw of a task at the last tick, copies."""
        return self._started.pose(task)

    def target(self, task: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where the task should have been at the last tick, likewise."""
        return self._started.wanted_pose(task)

    def error(self, task: str) -> NDArray[np.float64]:
        """Wanted minus present pose (6,) of the last tick, linear first, world axes; a view."""
        duty = self._started
        error: NDArray[np.float64] = duty.error[duty.number(task)]
        return error

    @property
    def osim(self) -> NDArray[np.float64]:
        """J H^-1 J^T (m, m) of the tasks' rows in order at the last tick: the inverse operational-space inertia."""
        return self._started.core.osim
