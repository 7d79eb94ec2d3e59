# SPDX-License-Identifier: Apache-2.0
"""What the tests of the control law share: cores without limits, states, and the law written with dense matrices.

The dense law is that of Sentis and Khatib, with pseudo-inverses of full matrices:
    N_s = 1 - Jbar_s J_s,  Phi = U N_s H^-1 (U N_s)^T,  B = H^-1 (U N_s)^T Phi^+,  J* = J B,  tau = J*^T F
"""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from helpers import segments, shipped_robots
from helpers.support import load_quietly, urdf_path
from opspace_ctrl import bias_forces, frame_jacobian, load_robot, mass_matrix
from opspace_ctrl.control import fields as at
from opspace_ctrl.control.contacts import Contact
from opspace_ctrl.control.core import Core
from opspace_ctrl.control.posture import Posture
from opspace_ctrl.control.settings import ControllerSettings
from opspace_ctrl.control.tasks import TASKS, CenterOfMassTask, RowsTask
from opspace_ctrl.dynamics import center_of_mass_bias, center_of_mass_jacobian, frame_acceleration

EPS = np.finfo(float).eps
NO_POSTURE = Posture(enabled=False, null_damping=0.0)
FEET = {
    "asimo": ("left_foot", "right_foot"),
    "g1": ("left_ankle_roll_link", "right_ankle_roll_link"),
    "talos": ("left_sole_link", "right_sole_link"),
}
HANDS = {
    "asimo": ("left_hand", "right_hand"),
    "g1": ("left_wrist_yaw_link", "right_wrist_yaw_link"),
    "talos": ("gripper_left_base_link", "gripper_right_base_link"),
}
FILES = {"panda": "panda", "g1": "g1_29dof_rev_1_0", "talos": "talos_reduced"}


@cache
def robot(name: str):
    """A shipped robot, or one of example-robot-data; the humanoids float."""
    if name in FILES:
        return load_quietly(urdf_path(FILES[name]), "fixed" if name == "panda" else "floating")
    return load_robot(name)


def TaskSpec(
    name, frame, rows="pose", relative_to=None, axes=None, level=1, law="inertia", **numbers
):
    """A task, of a frame or (None) the centre of mass, with gains of its own and nothing clipped."""
    options = {
        "stiffness": 100.0,
        "damping": 20.0,
        "error_clip": 100.0,
        "error_clip_angle": 3.2,
        "force_damping": 0.0,
        "force_limit": 0.0,
        **numbers,
    }
    options |= {"axes": axes or "", "level": level, "law": law}
    if frame is None:
        return CenterOfMassTask(name, **options)
    options |= {"frame": frame, "relative_to": relative_to or ""}
    if isinstance(rows, str):
        return TASKS[rows](name, **options)
    return RowsTask(name, rows, **options)


def ContactSpec(name, frame, rows=6, axes="frame"):
    """A contact of six rows or three, with a large sole."""
    large = dict.fromkeys(("front", "back", "left", "right"), 10.0)
    options = {"friction": 0.5, "minimum_force": 0.0, "damping": 0.0, **large}
    return Contact(name, frame=frame, rows={6: "pose", 3: "position"}[rows], axes=axes, **options)


def set_sole(law, x, y, centre=0.0):
    """Half lengths of every contact's sole along x and y, and where its centre is along x [m]."""
    law.contact_front, law.contact_back = x + centre, x - centre
    law.contact_left, law.contact_right = y, y


def make_core(model, tasks=(), contacts=(), method="sparse_ltdl", **options) -> Core:
    """A core without limits, ramp or fade, unless told otherwise."""
    given = {"tasks": tasks, "contacts": contacts, "method": method}
    core = Core(model, ControllerSettings(**given, posture=NO_POSTURE))
    core.law.position_margin, core.law.velocity_margin = 0.0, 0.0
    core.law.hard_limits = core.law.command_limits = core.law.command_rate = np.inf
    core.law.posture_damping, core.law.posture_error_clip = 2.0, np.inf
    core.law.compensation_friction_speed = 0.01
    core.law.ramp, core.law.fade = 0.0, 0.0
    core.law.singularity_damping, core.law.singularity_cut = (
        1e-6,
        1e-8,
    )  # strictness is a property of regular levels
    core.law.internal_forces = at.ZERO
    for name, value in options.items():
        setattr(core.law, name, value)
    return core


def state(name: str, seed: int, speed: float = 0.5):
    """A configuration near the home pose (or a random one), and a velocity."""
    model, rng = robot(name), np.random.default_rng(seed)
    q = shipped_robots.home(name) if name in shipped_robots.ROBOTS else model.neutral()
    step = 0.4 * rng.normal(size=model.nv)
    return model.integrate(q, step, 1.0), speed * rng.normal(size=model.nv)


def size(contact):
    """Number of its rows."""
    return len(contact.task().selection())


class Dense:
    """The constrained dynamics of a robot at a state, by pseudo-inverses."""

    def __init__(self, model, q, v, contacts=()):
        self.model, self.q, self.v = model, q, v
        self.H, self.h, n = mass_matrix(model, q), bias_forces(model, q, v), model.nv
        self.Hi = np.linalg.inv(self.H)
        self.U = np.eye(n)[~model.is_base_coordinate]
        self.J_s = np.vstack([np.zeros((0, n)), *(self.rows(c.frame, size(c)) for c in contacts)])
        self.drift_s = np.concatenate(
            [np.zeros(0), *(self.drift(c.frame)[: size(c)] for c in contacts)]
        )
        self.Li_s = (
            np.linalg.pinv(self.J_s @ self.Hi @ self.J_s.T) if len(self.J_s) else np.zeros((0, 0))
        )
        self.Jbar_s = self.Hi @ self.J_s.T @ self.Li_s
        self.N_s = np.eye(n) - self.Jbar_s @ self.J_s

    @cached_property
    def Phi(self):
        return self.U @ self.N_s @ self.Hi @ (self.U @ self.N_s).T

    @cached_property
    def Phi_inv(self):
        return np.linalg.pinv(self.Phi, rcond=1e-10, hermitian=True)

    @cached_property
    def B(self):
        return self.Hi @ (self.U @ self.N_s).T @ self.Phi_inv

    def rows(self, frame, count=6):
        """J of a frame, or of the centre of mass for none."""
        return (
            center_of_mass_jacobian(self.model, self.q)
            if not frame
            else (frame_jacobian(self.model, self.q, frame)[:count])
        )

    def drift(self, frame):
        """Jdot v."""
        if not frame:
            return center_of_mass_bias(self.model, self.q, self.v)
        return frame_acceleration(self.model, self.q, self.v, np.zeros(self.model.nv), frame)

    def acceleration(self, tau):
        """dv/dt under joint torques, the contacts holding."""
        return self.N_s @ self.Hi @ (self.U.T @ tau - self.h) - self.Jbar_s @ self.drift_s

    def contact_forces(self, tau):
        """What the contacts exert then."""
        return self.Li_s @ (-self.drift_s - self.J_s @ self.Hi @ (self.U.T @ tau - self.h))

    def law(self, levels, posture):
        """Torque of the levels [(J, wanted acceleration, drift)] and of an acceleration of the joints, summed up."""
        tau, N = self.B.T @ self.h, np.eye(len(self.U))
        parts = [tau]
        for J, wanted, drift in levels:
            star = J @ self.B @ N
            inertia = np.linalg.pinv(star @ self.Phi @ star.T, rcond=1e-10, hermitian=True)
            F = inertia @ (wanted - drift - J @ self.acceleration(tau))
            parts.append(star.T @ F)
            tau = tau + parts[-1]
            N = N - self.Phi @ star.T @ inertia @ star
        parts.append(N.T @ self.Phi_inv @ posture)
        return tau + parts[-1], parts

    def tolerance(self) -> float:
        """max(1e-12, 50 eps cond H): what derived quantities may differ by, of their size."""
        return max(1e-12, 50 * EPS * np.linalg.cond(self.H))


def wanted(core, i):
    """The acceleration that task i asks for by the inertia law, from the numbers that the core shows."""
    return (
        core.law.target_acceleration[i]
        + core.law.task_stiffness[i] * core.law.error[i]
        + core.law.task_damping[i] * (core.law.target_velocity[i] - core.law.velocity[i])
    )


def hold_another_pose(core, q, v, rng):
    """Targets away from where the tasks are, and in motion: a program of one segment for each task."""
    core.activate(q, v, 0.0)
    for i, task in enumerate(core.settings.tasks):
        start = (
            Rotation.identity()
            if not task.moved_frame
            else Rotation.from_matrix(core.law.pose[i, :9].reshape(3, 3))
        )
        turn = Rotation.from_rotvec(0.3 * rng.normal(size=3)) * start
        position = 0.2 * rng.normal(size=(3, 6))
        position[:, 0] += core.law.pose[i, 9:]
        core.load_program(
            i,
            segments.row(-0.3, 1.0, position, turn.as_quat(), 0.3 * rng.normal(size=(3, 6)))[None],
        )


__all__ = [
    "ContactSpec",
    "Dense",
    "FEET",
    "HANDS",
    "TaskSpec",
    "at",
    "hold_another_pose",
    "make_core",
    "robot",
    "set_sole",
    "size",
    "state",
    "wanted",
]
