"""`Core`: the compiled control tick of a robot, and NumPy views of everything in it that can change while it runs."""
from __future__ import annotations

import numpy as np

from ..model import Model
from .structure import Structure

__all__ = ["Core"]


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
        margins           (c, 4)  layout.UNILATERAL [N], CONE, CENTRE, TORSION (1 = unloaded, 0 = on the limit, < 0 = beyond)
        contact_weight    (c,), task_weight (t,): 1 = fully in, 0 = out, in between while it fades
        levels            (L + 3, k) torque of each level before scaling, model order: 0 bias and contacts, 1 joint
                          limits, 2 .. L + 1 the levels of tasks, L + 2 posture (raw mode: tau0)
        scale, rank, damped (L + 3,): what was left of the level's torque; independent rows; 1 if its inertia is damped
        limited           (k,)    activation of the joint limits
        saturated         (k,)    1 where the torque is at its limit
        report            (layout.REPORT,): numbers named in `layout`
        osim              (m, m)  Lambda^-1 of the tasks' rows in the user's order (see `osim_rows`), a copy
    """

    def __init__(self, model: Model, structure: Structure, method: str = "auto"):
        """Builds and compiles. Raises what `Structure.check` and `OperationalSpace` raise."""

    method: str  # property: name in use; setting it takes effect with the next tick
    choice: str

    def prepare(self, *names: str) -> None:
        """Compile methods (all that are able, if none is named), so that switching takes no time."""

    def load_program(self, task: int, program: np.ndarray) -> None:
        """Give task number `task` a program (n, segments.COLUMNS); the next tick samples it. One pointer is swapped."""

    def load_posture(self, program: np.ndarray) -> None:
        """Give the posture a program (n, 2 + 6 k): start, end, then six coefficients a joint (model order).

        Before the first and after the last segment it holds; the powers are of t - start as in `segments`.
        """

    def set_payload(self, frame: str | None, mass: float = 0.0, centre=(0.0, 0.0, 0.0)) -> None:
        """Let a point mass [kg] sit at `centre` [m] of a frame (its axes); None: no payload."""

    def activate(self, q, v, time: float) -> None:
        """Start anew: the ramp begins, integrals and fades are forgotten, the first tick is not rate limited."""

    def tick(self, q, v, time: float) -> np.ndarray:
        """Torques `tau`. Raises ConfigurationError on a wrong size or non-finite number; state and tau stay."""

    def measure(self, q, v) -> None:
        """Only `pose` and `velocity` of the tasks, for targets before the first tick."""

    def gravity(self, q, v) -> np.ndarray:
        """Torques (k,) of level 0 alone (bias and contacts), clipped, command order; leaves the control state alone."""
