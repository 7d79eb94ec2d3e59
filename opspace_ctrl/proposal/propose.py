# SPDX-License-Identifier: Apache-2.0
"""All guesses in order: from a URDF to the values of a parameter file, with a note for each guess."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control.settings import controller_table
from ..dynamics import bias_forces, frame_pose
from ..errors import InertiaWarning, OpspaceError, listed
from ..model import Model, load_urdf
from ..model.joints import NV
from ..model.source import naming, read_source
from ..model.urdf import parse_urdf
from ..model.validate import find_root
from .gains import EFFORT_SCALE, decent, loop_stiffness, task_gains
from .limbs import A_LEG, Limb, find_limbs
from .passive import passive_joints
from .reach import start_of_hands, task_rows
from .result import BODY_TASKS, Note, Proposal
from .soles import Sole, find_sole
from .standing import center_of_mass, stand

__all__ = ["ProposalError", "propose"]

GRAVITY = 9.81  # [m/s^2]
BALANCE = 0.75  # stiffness of the centre of mass in multiples of 2 g / height: no faster than soles can balance
STEADY = 60.0  # [1/s^2] trunk of a standing robot, at most
POSTURE = 50.0  # [1/s^2] at most
HEAVY = 0.7  # share of an effort limit that gravity may take at the start before it is told
MOST_TASKS = 6
TURNED = ", which turn it and cannot place it: no frame lies beyond the last of them"


class ProposalError(OpspaceError):
    """No configuration can be proposed for the robot, and what would be needed."""


def propose(
    robot: str | Path,
    base: str = "fixed",
    rate: float = 1000.0,
    xacro_args: Mapping[str, object] | None = None,
    softer: float = 1.0,
) -> Proposal:
    """A first configuration.

    Args:
        robot: Path of a URDF or xacro file, or URDF text.
        base: "fixed" or "floating".
        rate: Of the control loop [Hz].
        xacro_args: Arguments of a xacro file.
        softer: Scales stiffness, speeds and accelerations of the tasks.

    Raises:
        ProposalError: Nothing moves, or nothing can be moved.
        StandingError: A floating base, and no pose in which its feet carry it.
        OpspaceError: What `load_urdf` raises.
    """
    with naming(robot):
        text = read_source(robot, xacro_args)
        description = parse_urdf(text)
        find_root(description)  # what is no tree cannot be walked
        passive = passive_joints(description)
        locked = {name: position for name, (position, _) in passive.items()}
        model = _load(text, base, locked)
    folder = robot.parent if isinstance(robot, Path) else None
    notes = [Note(f"{name} locked at {p:g}", "", why) for name, (p, why) in passive.items()]
    _check(model)
    limbs = find_limbs(model)
    guess = _Guess(model, limbs, notes, rate, softer, folder)
    controller, simulator = guess.made()
    where = str(robot.absolute()) if isinstance(robot, Path) else ""
    if xacro_args:
        where = ""  # nodes cannot be given the file's arguments: they wait for robot_description
    common = {"robot": where, "base": base} | (
        {"locked_joints": list(locked), "locked_positions": list(locked.values())} if locked else {}
    )
    return Proposal(model, common | controller, common | simulator, notes, guess.warnings)


def _load(text: str, base: str, locked: Mapping[str, float]) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InertiaWarning)  # `opspace check` tells them
        return load_urdf(text, base, locked=locked)


def _check(model: Model) -> None:
    if not model.joint_names:
        raise ProposalError(
            f"{model.name}: no joint is left to control; a joint that moves, is no finger or wheel, "
            "and has an effort limit above 0 is needed"
        )
    several = [
        model.body_joint_names[i]
        for i in range(len(model.parent))
        if NV[model.joint_type[i]] != 1 and not model.is_base_coordinate[model.v_index[i]]
    ]
    if several and not model.is_base_coordinate.any() and several[0] == model.body_joint_names[0]:
        raise ProposalError(
            f"{model.name}: its root is carried by {several[0]}, a joint of several coordinates; a robot "
            "that floats or walks is --base floating"
        )
    if several:
        raise ProposalError(
            f"{model.name}: {several[0]} has several coordinates; write a parameter file by hand "
            "(docs/getting_started.md) for such a robot"
        )


class _Guess:
    """The guesses about one robot; `notes` and `warnings` grow as they are made."""

    def __init__(
        self,
        model: Model,
        limbs: list[Limb],
        notes: list[Note],
        rate: float,
        softer: float,
        folder: Path | None,
    ):
        self.model, self.limbs, self.notes = model, limbs, notes
        self.rate, self.softer, self.folder = rate, softer, folder
        self.is_floating = bool(model.is_base_coordinate.any())
        self.warnings: list[str] = []

    def note(self, subject: str, taken: str, reason: str) -> None:
        """Say what was guessed."""
        self.notes.append(Note(subject, taken, reason))

    @property
    def _softened(self) -> str:
        """What the trials before this one did to the numbers, in words."""
        return "" if self.softer == 1.0 else f"; times {self.softer:g}: more was tried and failed"

    def made(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Parameters of controller and simulator."""
        model = self.model
        feet = [limb for limb in self.limbs if limb.kind == "foot"]
        q = start_of_hands(model, self.limbs)
        controller: dict[str, Any] = {"joints": list(model.joint_names), "method": "auto"}
        simulator: dict[str, Any] = {"step": 1.0 / self.rate, "rate": self.rate}
        simulator |= {"mode": "lockstep", "pace": True}  # a busy machine must not shake the robot
        if self.is_floating:
            soles = [find_sole(model, foot, self.folder) for foot in feet]
            self._check_feet(soles)
            q = stand(model, q, feet, soles)
            self.note(
                "start pose", "stands", "legs bent, soles level, the centre of mass above them"
            )
            controller |= self._contacts(soles)
            simulator["contacts"] = [_sim_contact(sole) for sole in soles]
            controller |= self._balance(q)
        else:
            reason = (
                "of random poses about the rest position the best conditioned, well inside limits"
            )
            self.note(
                "start pose", "away from singularities", f"{reason}; collisions are not looked at"
            )
            controller["tasks"] = []
            legs = [limb.frame for limb in self.limbs if limb.reason == A_LEG]
            if len(legs) > 1:
                self.warnings.append(
                    f"{listed(legs)} look like feet: a robot that stands on them needs --base floating"
                )
        self._hands(controller, q)
        self._look_at_gravity(q)
        positions = [round(float(each), 4) for each in q[model.nq - len(model.joint_names) :]]
        controller["posture"] = {
            "positions": positions,
            "stiffness": [decent(min(POSTURE, 0.25 * loop_stiffness(self.rate)))],
        }
        self.note("posture", "the start pose", "every joint in the inner part of its range")
        controller |= {
            "effort_scale": EFFORT_SCALE,
            "compensation": {"friction": True},
            "safe_command": "gravity" if self.is_floating else "damping",
            "last_command": "zero",
            "state_timeout": max(0.02, 3.0 / self.rate),
        }
        if self.is_floating:
            controller["ramp"] = 0.3
        simulator["initial_positions"] = positions
        return controller, simulator

    def _check_feet(self, soles: list[Sole]) -> None:
        """Refuse what cannot stand still."""
        points = sum(not sole.reach for sole in soles)
        if len(soles) - points or points > 2:
            return
        raise ProposalError(
            f"{self.model.name} floats and has {points} point feet, on which nothing stands still; a "
            "sole or three points are needed, or --base fixed"
        )

    def _contacts(self, soles: list[Sole]) -> dict[str, Any]:
        found: dict[str, Any] = {"contacts": []}
        for sole in soles:
            name = _name(sole.frame)
            contact: dict[str, Any] = {"frame": sole.frame, "friction": 0.6}
            if sole.reach:
                contact |= dict(zip(("front", "back", "left", "right"), sole.reach[:4]))
                contact |= {"rows": "pose", "minimum_force": 10.0}
            else:
                contact |= {"rows": "position", "axes": "world", "minimum_force": 5.0}
            found["contacts"].append(name)
            found[name] = contact
            self.note(f"foot {sole.frame}", "sole" if sole.reach else "point", sole.reason)
        return found | {"internal_forces": "balanced"}

    def _balance(self, q: NDArray[np.float64]) -> dict[str, Any]:
        """Tasks of the centre of mass and of the trunk, which come before the hands."""
        com = center_of_mass(self.model, q)
        soles = [limb.frame for limb in self.limbs if limb.kind == "foot"]
        height = com[2] - min(frame_pose(self.model, q, frame)[0][2] for frame in soles)
        kp = decent(self.softer * BALANCE * 2.0 * GRAVITY / max(height, 0.1))
        self.note(
            "com",
            f"stiffness {kp:g}",
            f"it is {height:.2f} m above the feet: no faster than they balance",
        )
        trunk = self.model.frame_names[0]
        steady = decent(min(self.softer * STEADY, 1.5 * kp))
        self.note("trunk", f"orientation of {trunk}", "the root link stays upright")
        return {
            "tasks": list(BODY_TASKS),
            "com": {
                "rows": "com", "level": 1, "stiffness": [kp], "integral": decent(0.08 * kp**0.5 * 2.0),
                "speed": 0.1, "acceleration": 0.2, "error_clip": 0.03,
            },
            "trunk": {
                "frame": trunk, "rows": "orientation", "level": 1, "stiffness": [steady],
                "integral": decent(0.08 * steady**0.5 * 2.0), "angular_speed": 0.5,
                "angular_acceleration": 1.0, "error_clip_angle": 0.2,
            },
        }  # fmt: skip

    def _hands(self, controller: dict[str, Any], q: NDArray[np.float64]) -> None:
        hands = [limb for limb in self.limbs if limb.kind == "hand"]
        for limb in self.limbs:
            if limb.kind in ("head", "trunk"):
                self.note(limb.frame, "no task", f"{limb.reason}: the posture keeps it")
        if len(hands) > MOST_TASKS:
            self.warnings.append(f"{len(hands)} tips were found; the first {MOST_TASKS} got tasks")
        if not hands and not controller["tasks"]:
            raise ProposalError(f"{self.model.name}: no limb was found that a task could move")
        for limb in hands[:MOST_TASKS]:
            name = "tool" if len(hands) == 1 else _name(limb.frame)
            rows = task_rows(self.model, limb)
            gains = task_gains(self.model, q, limb, rows, self.rate, self.softer)
            level = {"level": 2} if self.is_floating else {}
            values = {"frame": limb.frame} | level | gains.parameters()
            controller["tasks"].append(name)
            controller[name] = values
            self.note(
                f"task {name}",
                f"{rows} of {limb.frame}",
                f"{limb.reason}, {len(limb.joints)} joints{TURNED if rows == 'orientation' else ''}",
            )
            self.note(
                f"task {name}", f"stiffness {gains.stiffness:g}", gains.reason + self._softened
            )
            self.note(f"task {name}", f"speed {gains.fastest}", gains.slowest + self._softened)
            if gains.is_stuck:
                self.warnings.append(
                    f"{name}: the URDF gives its joints more dry friction than the inertia behind them "
                    "lets a loop overcome: expect an error at rest, or give the drives' armature"
                )

    def _look_at_gravity(self, q: NDArray[np.float64]) -> None:
        """Warn of joints that can hardly hold the start."""
        model = self.model
        if self.is_floating:
            return  # the feet carry it: `opspace check` computes how
        share = np.abs(bias_forces(model, q, np.zeros(model.nv))) / model.effort_limits
        for name, each in zip(model.joint_names, share):
            if each > HEAVY:
                self.warnings.append(
                    f"{name} needs {each:.0%} of its effort limit to hold the start: is the URDF's "
                    "limit right?"
                )


def _sim_contact(sole: Sole) -> str:
    return " ".join([sole.frame, *(f"{each:g}" for each in sole.reach)])


def _name(frame: str) -> str:
    """A frame's name as that of a task."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in frame).strip("_")
    reserved = {
        *BODY_TASKS,
        *(parameter.name.partition(".")[0] for parameter in controller_table()),
    }
    return name if name and name[0].isalpha() and name not in reserved else f"task_{name}"
