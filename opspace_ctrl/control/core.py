"""`Core`: the compiled control tick of a robot, and NumPy views of everything in it that can change while it runs."""

from __future__ import annotations

import numpy as np

from ..dynamics.state import OK, TOO_LARGE
from ..errors import ConfigurationError
from ..model import Model
from ..model.configuration import check_vector
from ..model.rotations import to_quaternion
from ..osim import OperationalSpace, Task
from ..osim.fields import B_ROW
from ..osim.registry import able_methods
from .fields import (
    COULOMB,
    COULOMB_SPEED,
    EFFORT,
    J_Q,
    LAST_TIME,
    LOWER,
    POSITION_MARGIN,
    POSTURE_DAMPING,
    POSTURE_ERROR,
    POSTURE_STIFFNESS,
    RATE,
    REPULSION,
    REPULSION_DAMPING,
    SPEED,
    SPEED_MARGIN,
    T_BLOCK,
    T_ROWS,
    UPPER,
    VISCOUS,
)
from .law import tick
from .law.reference import FIRST_JOINT
from .law.typical import measure_typical
from .needs import compile_needed
from .pack import command_order, pack_control
from .structure import Structure
from .targets import segments

__all__ = ["Core"]

_TASK_VIEWS = {
    "task_on": "task_on",
    "stiffness": "stiffness",
    "damping": "damping",
    "error_limit": "error_limit",
    "motion": "motion",
    "wrench": "wrench",
    "measured": "measured",
    "measured_on": "measured_on",
    "force_gain": "force_gain",
    "integral_gain": "integral_gain",
    "integral_limit": "integral_limit",
    "force_damping": "force_damping",
}
_CONTACT_VIEWS = {
    "contact_on": "contact_on",
    "contact_damping": "contact_damping",
    "friction": "mu",
    "half_lengths": "half_lengths",
    "sole_centre": "sole_centre",
    "minimum_force": "minimum_force",
}
_JOINT_VIEWS = {
    "effort_limits": EFFORT,
    "velocity_limits": SPEED,
    "rate_limits": RATE,
    "position_margin": POSITION_MARGIN,
    "velocity_margin": SPEED_MARGIN,
    "limit_stiffness": REPULSION,
    "limit_damping": REPULSION_DAMPING,
    "viscous": VISCOUS,
    "coulomb": COULOMB,
    "coulomb_speed": COULOMB_SPEED,
    "posture_stiffness": POSTURE_STIFFNESS,
    "posture_damping": POSTURE_DAMPING,
    "posture_error": POSTURE_ERROR,
}
_RESULTS = {
    "tau": ("tau", "k"),
    "held": ("tau_held", "k"),
    "pose": ("pose", "t"),
    "target": ("target", "t"),
    "velocity": ("velocity", "t"),
    "target_velocity": ("target_velocity", "t"),
    "target_acceleration": ("target_acceleration", "t"),
    "error": ("error", "t"),
    "applied": ("applied", "t"),
    "contact_wrench": ("contact_wrench", "c"),
    "margins": ("contact_margin", "c"),
    "contact_weight": ("contact_weight", "c"),
    "task_weight": ("task_weight", "t"),
    "levels": ("level_torque", "lk"),
    "scale": ("level_scale", ""),
    "rank": ("level_rank", ""),
    "damped": ("level_damped", ""),
    "limited": ("activation", "k"),
    "saturated": ("saturated", "k"),
    "report": ("REPORT_SLOT", ""),
}


class Core:
    """From q, v and the time to joint torques, in one compiled call that allocates nothing.

    Sizes: t tasks and c contacts in the order of the structure, k joint coordinates in the order of v without the
    floating base ("model order"), L levels of tasks (`structure.levels()`). Six-vectors are linear first, in world axes
    (for a task relative to a frame: in that frame's axes). Views are written in place (`core.stiffness[0] = 400`), and
    the next tick uses what it finds; it expects finite numbers in the ranges given, which the owner of the core checks.

    Live inputs (attribute, shape, start value, meaning):
        task_on           (t,)    1    1 = wanted, 0 = not; a change fades over `options.FADE`
        stiffness         (t, 6)  100  Kp along the task's axes: [1/s^2] by the inertia law, [N/m, Nm/rad] by impedance
        damping           (t, 6)  20   Kd likewise: [1/s], or [Ns/m, Nms/rad]
        error_limit       (t, 2)  inf  position [m] and orientation error [rad] are shortened to these
        motion            (t, 6)  1    1 = motion, 0 = force, along the task's axes (in between: a mixture)
        wrench            (t, 6)  0    what the robot shall exert on its environment, where `motion` is 0
        measured          (t, 6)  0    what it does exert
        measured_on       (t,)    0    1 = the force loop is closed on `measured`
        force_gain        (t, 6)  0    K_f along the task's axes
        integral_gain     (t, 6)  0    K_i [1/s]
        integral_limit    (t, 6)  0    largest integral part [N, Nm]
        force_damping     (t, 6)  0    [1/s] of the motion along the force axes
        contact_on        (c,)    1    1 = this contact carries, 0 = not; fades like `task_on`
        contact_damping   (c,)    0    [1/s] of what is left of a contact's velocity
        friction          (c,)    0.5  mu
        half_lengths      (c, 2)  inf  of the sole along x and y [m], from the frame's origin; a point: not used
        sole_centre       (c, 2)  0    centre of the sole in the frame [m]
        minimum_force     (c,)    0    normal force below which the contact is reported as lifting [N]
        posture_stiffness (k,)    0    [1/s^2]; 0: the null space is only damped
        posture_damping   (k,)    2    [1/s]
        posture_error     (k,)    inf  errors of the posture are clipped to these [rad or m]
        effort_limits, velocity_limits (k,), position_limits (k, 2): of the model; inf where none
        rate_limits       (k,)    1000 [Nm/s]
        position_margin   (k,)    0    where the repulsion begins, before the limit [rad or m]; 0: none
        velocity_margin   (k,)    0    likewise [rad/s or m/s]; 0: none
        limit_stiffness, limit_damping (k,) 400, 40: of the repulsion [1/s^2], [1/s]
        viscous, coulomb  (k,)    of the model: joint friction for options.FRICTION [Nms/rad], [Nm]
        coulomb_speed     (k,)    0.01 speed at which tanh reaches 0.76 of the Coulomb friction
        force             (m,)    0    raw mode: F, rows of the tasks in the user's order
        tau0              (k,)    0    raw mode: in the order of the command
        options           (layout.OPTIONS,): see the names in `layout`, e.g. core.options[layout.MODE] = layout.RAW

    Results (read-only, of the last tick):
        tau               (k,)    in the order of the command
        pose, target      (t, 12) rotation (9, row major) and position (3) as they are and as they should be
        velocity, target_velocity, target_acceleration, error (t, 6); `error` = wanted - present, before it is shortened
        applied           (t, 6)  force-axes wrench as applied (feed-forward and loop)
        contact_wrench    (c, 6)  of the ground on the robot at the contact frame, world axes
        margins           (c, 4)  layout.UNILATERAL [N], CONE, CENTRE, TORSION (1: unloaded, 0: on the limit)
        contact_weight    (c,), task_weight (t,): 1 = fully in, 0 = out, in between while it fades
        levels            (L + 3, k) torque of each level before scaling, model order: 0 bias and contacts, 1 joint
                          limits, 2 .. L + 1 the levels of tasks, L + 2 posture (raw mode: tau0)
        scale, rank, damped (L + 3,): what was left of the level's torque; independent rows; 1 if its inertia is damped
        limited           (k,)    activation of the joint limits
        saturated         (k,)    1 where the torque is at its limit
        report            (layout.REPORT,): numbers named in `layout`
        held              (k,)    what `gravity` returned last
        osim              (m, m)  Lambda^-1 of the tasks' rows in the user's order, a copy

    Args:
        model: The robot.
        structure: What is controlled.
        method: One of `osim.methods()`, or "auto".

    Raises:
        ConfigurationError, UnknownFrameError, MethodError: As `Structure.check` and `OperationalSpace` say.
    """

    def __init__(self, model: Model, structure: Structure, method: str = "auto"):
        structure.check(model)
        self.model, self.structure = model, structure
        order = [i for level in structure.levels() for i in level]
        tasks = [
            each.task() for each in (*structure.contacts, *(structure.tasks[i] for i in order))
        ]
        compile_needed(model, tasks or [_some_task(model)], method)
        self._space = OperationalSpace(model, tasks or [_some_task(model)], method)
        self._work = work = self._space._work
        pack_control(work, model, structure, self._space._supports)
        self._tick = tick.tick.bound(work)
        self._programs: list[np.ndarray] = [np.empty(0)] * (len(structure.tasks) + 1)
        t, c, k = (
            len(structure.tasks),
            len(structure.contacts),
            len(command_order(model, structure.joints)),
        )
        for name, slot in _TASK_VIEWS.items():
            setattr(self, name, work[slot][:t])
        for name, slot in _CONTACT_VIEWS.items():
            setattr(self, name, work[slot][:c])
        for name, row in _JOINT_VIEWS.items():
            setattr(self, name, work["LIMIT"][row][:k])
        self.position_limits = work["LIMIT"][LOWER : UPPER + 1, :k].T
        self.options, self.tau0, self.force = (
            work["OPTION"],
            work["raw_tau0"][:k],
            work["raw_force"],
        )
        for name, (slot, size) in _RESULTS.items():
            shape = {
                "t": np.s_[:t],
                "c": np.s_[:c],
                "k": np.s_[:k],
                "lk": np.s_[:, :k],
                "": np.s_[:],
            }[size]
            setattr(self, name, _read_only(work[slot][shape]))
        self._hold_everything(np.zeros(k), 0.0)
        measure_typical(self)

    # ---- the method ----

    @property
    def method(self) -> str:
        """Name of the method that computes Lambda^-1. Setting it takes effect with the next tick and misses none."""
        return self._space.method

    @method.setter
    def method(self, name: str) -> None:
        self._space.method = name

    @property
    def choice(self) -> str:
        """What "auto" chose and why."""
        return self._space.choice

    def prepare(self, *names: str) -> None:
        """Compile methods (all that are able, if none is named), so that switching takes no time."""
        self._space.prepare(*names)

    def methods(self) -> tuple[str, ...]:
        """Names of the methods that can carry the robot and its tasks."""
        return able_methods(self.model, self._space._blocks)

    # ---- what is asked for ----

    def load_program(self, task: int, program: np.ndarray) -> None:
        """Give task number `task` a program (n, segments.COLUMNS); the next tick samples it. One pointer is swapped."""
        self._load(task, program, segments.COLUMNS)

    def load_posture(self, program: np.ndarray) -> None:
        """Give the posture a program (n, 2 + 6 k): start, end, then six coefficients a joint (model order).

        Before the first and after the last segment it holds; the powers are of t - start, as in `targets.segments`.
        """
        self._load(len(self.structure.tasks), program, FIRST_JOINT + 6 * len(self.tau))

    def _load(self, place: int, program: np.ndarray, columns: int) -> None:
        table = np.zeros((len(program) + 1, columns))
        table[0, :2], table[1:] = (len(program), 1), program
        self._work["program"][place] = table.ctypes.data
        self._programs[place] = table  # only now is the old one let go

    def set_payload(self, frame: str | None, mass: float = 0.0, centre=(0.0, 0.0, 0.0)) -> None:
        """Let a point mass [kg] sit at `centre` (3,) [m] of a frame, in its axes; None: no payload.

        Raises:
            UnknownFrameError: The model has no such frame.
            ConfigurationError: The frame does not move, or a number is unusable.
        """
        model, nodes, inertia = self.model, self._space._supports.nodes, self._work["inertia"]
        loaded = -1
        if frame is not None:
            f = model.frame_index(frame)
            loaded, centre = int(model.frame_body[f]), check_vector(centre, 3, "payload centre")
            if loaded < 0 or not 0.0 <= mass < np.inf:
                raise ConfigurationError(
                    f"payload: {mass} kg on {frame!r}; valid is a mass of 0 or more on a frame "
                    "that moves"
                )
            point = model.frame_translation[f] + model.frame_rotation[f] @ centre
        for body in range(len(model.parent)):
            added = (mass, point) if body == loaded else (0.0, np.zeros(3))
            inertia[:, nodes.last[body]] = _with_mass(model, body, nodes.axes[body], *added)

    # ---- the loop ----

    def activate(self, q, v, time: float) -> None:
        """Start anew: tasks and posture hold what is, the ramp begins, the first tick is not rate limited.

        Raises:
            ConfigurationError: Wrong size or non-finite.
        """
        self.measure(q, v)
        q = self.model.check_configuration(q)
        joint = self._work["JOINT"][: len(self.tau)]
        self._hold_everything(np.where(joint[:, J_Q] >= 0, q[joint[:, J_Q]], 0.0), float(time))
        for slot in ("integral", "error_side", "STATE"):
            self._work[slot][...] = 0.0

    def _hold_everything(self, positions: np.ndarray, time: float) -> None:
        """Programs that keep the measured poses and the given joint positions."""
        none = np.zeros((3, 6))
        for i, task in enumerate(self.structure.tasks):
            here = none.copy()
            here[:, 0] = self.pose[i, 9:]
            rotation = self.pose[i, :9].reshape(3, 3)
            turned = task.frame is not None and rotation.any()
            quaternion = to_quaternion(rotation) if turned else (0.0, 0.0, 0.0, 1.0)
            self.load_program(i, segments.row(time, time, here, quaternion, none)[None])
        row = np.zeros(FIRST_JOINT + 6 * len(positions))
        row[:2], row[FIRST_JOINT::6] = time, positions
        self.load_posture(row[None])

    def tick(self, q, v, time: float) -> np.ndarray:
        """The torques `tau` for a state at a time [s].

        Raises:
            ConfigurationError: Wrong size or non-finite; `tau` and all that the next tick depends on stay.
        """
        if self._tick(q, v, time, False) != OK:
            self._again(q, v, time, False)
        return self.tau

    def gravity(self, q, v) -> np.ndarray:
        """Torques (k,) of level 0 alone (bias and contacts), clipped, in the order of the command.

        It overwrites the results of the last tick but nothing that the next one depends on.
        """
        if self._tick(q, v, 0.0, True) != OK:
            self._again(q, v, 0.0, True)
        return self.held

    def measure(self, q, v) -> None:
        """Only `pose` and `velocity` of the tasks."""
        if tick.look.call(q, v, self._work.address) != OK:
            checked = self.model.check_configuration(q), self.model.check_velocity(v)
            if tick.look.call(*checked, self._work.address) != OK:
                raise ConfigurationError(f"{self.model.name}: {TOO_LARGE}")

    def _again(self, q, v, time, holding: bool) -> None:
        """Once more with what was refused converted and checked in words."""
        checked = self.model.check_configuration(q), self.model.check_velocity(v)
        if self._tick(*checked, float(time), holding) != OK:
            raise ConfigurationError(
                f"{self.model.name}: {TOO_LARGE}, or the time {time} is not finite"
            )

    @property
    def time(self) -> float:
        """Of the last tick [s]; 0 before the first."""
        return float(self._work["STATE"][LAST_TIME])

    @property
    def osim(self) -> np.ndarray:
        """Lambda^-1 (m, m) of the tasks' rows in the user's order, at the last tick; a copy."""
        blocks = self._work["BLOCK"]
        rows = [
            blocks[task[T_BLOCK], B_ROW] + r
            for task in self._work["TASK"][: len(self.structure.tasks)]
            for r in range(task[T_ROWS])
        ]
        upper = np.triu(self._work["Lambda_inv"][: self._space.m, : self._space.m])
        return (upper + np.triu(upper, 1).T)[np.ix_(rows, rows)]


def _read_only(view: np.ndarray) -> np.ndarray:
    view = view.view()
    view.setflags(write=False)
    return view


def _some_task(model: Model) -> Task:
    """A task to compute with where nobody asks for one: it never enters the law."""
    return Task(model.frame_names[int(np.flatnonzero(model.frame_body >= 0)[-1])])


def _with_mass(
    model: Model, body: int, axes: np.ndarray, mass: float, point: np.ndarray
) -> np.ndarray:
    """The ten numbers (`dynamics.layout.INERTIA`) of a body and a point mass at a point of it."""
    total = model.mass[body] + mass
    com = (model.mass[body] * model.com[body] + mass * point) / total if mass else model.com[body]
    inertia = model.inertia[body].copy()
    for m, d in ((model.mass[body], model.com[body] - com), (mass, point - com)):
        inertia += m * (d @ d * np.eye(3) - np.outer(d, d))
    return np.concatenate([[total], axes.T @ com, (axes.T @ inertia @ axes)[np.triu_indices(3)]])
