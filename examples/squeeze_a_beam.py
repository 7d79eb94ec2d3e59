# SPDX-License-Identifier: Apache-2.0
"""Two arms move a beam and squeeze it with 20 N, in closed loop: a free flyer's, and a humanoid's under gravity.

Robot and beam are simulated as a forest whose closures weld the hands to the ends of the beam. The controller takes the
beam for 5 % heavier than it is, and knows nothing of the joints' friction; it sees joint states and the forces at the
wrists. Run it: python examples/squeeze_a_beam.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from opspace_ctrl import Model, Simulator, frame_pose, load_robot, load_urdf
from opspace_ctrl.algebra.closure import Grasp, GraspController, RigidObject, squeezing
from opspace_ctrl.model.rotations import from_quaternion

FORCE = 20.0  # [N]
WAY = np.array([0.03, 0.04, 0.05])  # [m] that the beam is moved
MOVING, SECONDS, STEP = 1.5, 3.0, 2e-3  # [s]
MASS, MOMENT, MISTAKE = (
    3.0,
    0.12,
    1.05,
)  # [kg], [kg m^2]; what the controller takes its mass for, as a factor
SIDES = ("left", "right")
END = """<link name="{name}"/><joint name="to_{name}" type="fixed"><parent link="middle"/><child link="{name}"/>
  <origin xyz="{x} {y} {z}"/></joint>"""
BEAM = """<robot name="beam"><link name="middle"><inertial><mass value="{mass}"/>
  <inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial></link>{ends}</robot>"""


@dataclass(frozen=True)
class Case:
    """A robot with two arms: how its base is held, its hands, how the left arm is bent, and gravity."""

    base: str
    hand: str
    bent: dict[str, float]
    gravity: tuple[float, float, float]


CASES = {
    "free_flyer": Case(
        "floating",
        "tool",
        {"shoulder_yaw": 0.6, "elbow_yaw": -1.2, "wrist_yaw": 0.6},
        (0.0, 0.0, 0.0),
    ),
    "asimo": Case(
        "fixed",
        "hand",
        {"shoulder_pitch": 0.3, "shoulder_roll": 0.2, "elbow_pitch": -1.4},
        (0.0, 0.0, -9.81),
    ),
}


@dataclass(frozen=True)
class Outcome:
    """How it went.

    Attributes:
        moved, error: How far the beam has moved, and how far from its goal it ends [m].
        squeeze: The measured force, mean of the last second [N].
        worst: By how much it differs from FORCE in the last second at most [N].
    """

    moved: float
    error: float
    squeeze: float
    worst: float


def bent(robot: Model, case: Case) -> np.ndarray:
    """Both arms bent, one the mirror image of the other."""
    q = robot.neutral()
    for joint, angle in case.bent.items():
        for side in SIDES:
            sign = -1.0 if side == "right" and not joint.endswith("pitch") else 1.0
            body = robot.body_joint_names.index(f"{side}_{joint}")
            q[robot.q_index[body]] = sign * angle
    return q


def with_beam(robot: Model, case: Case, hands: list[str]) -> Simulator:
    """The robot with a beam between its hands."""
    q = bent(robot, case)
    left, right = (frame_pose(robot, q, hand)[0] for hand in hands)
    middle = (left + right) / 2
    ends = "".join(
        END.format(name=side, x=r[0], y=r[1], z=r[2])
        for side, r in zip(SIDES, (left - middle, right - middle))
    )
    forest = load_urdf(
        [robot.source, BEAM.format(mass=MASS, moment=MOMENT, ends=ends)],
        [case.base, "floating"],
        gravity=case.gravity,
        prefixes=["", "beam_"],
    )
    joints = 7 if case.base == "floating" else 0
    return Simulator(
        forest,
        step=STEP,
        closures=[f"{hand} beam_{side}" for hand, side in zip(hands, SIDES)],
        initial_pose=[*q[:joints], *middle, 0.0, 0.0, 0.0, 1.0],
        initial_positions=q[joints:],
    )


def plan(time: float, start: np.ndarray) -> np.ndarray:
    """Position, velocity and acceleration (3, 3) of the beam at a time: along WAY with the least jerk."""
    t = min(time / MOVING, 1.0)
    s = t**3 * (10.0 - 15.0 * t + 6.0 * t**2)
    ds, dds = 30.0 * t**2 * (1.0 - t) ** 2, 60.0 * t * (1.0 - t) * (1.0 - 2.0 * t)
    return np.array([start + s * WAY, ds / MOVING * WAY, dds / MOVING**2 * WAY])


def main(name: str = "free_flyer") -> Outcome:
    """Move and squeeze the beam with the arms of a robot."""
    case = CASES[name]
    hands = [f"{side}_{case.hand}" for side in SIDES]
    robot = load_robot(name, base=case.base, gravity=case.gravity)
    sim = with_beam(robot, case, hands)
    position, quaternion = frame_pose(robot, sim.q[: robot.nq], hands[0])
    start = frame_pose(sim.model, sim.q, "beam_middle")[0]
    center = from_quaternion(quaternion).T @ (start - position)
    known = RigidObject(MISTAKE * MASS, center, MOMENT * np.eye(3))
    control = GraspController(Grasp(robot, hands, known), sim.q[: robot.nq])
    pressed = []
    for _ in range(round(SECONDS / STEP)):
        q, v, forces = sim.q[: robot.nq], sim.v[: robot.nv], sim.constraint_forces()
        on_beam = [-forces[hand, f"beam_{side}"] for hand, side in zip(hands, SIDES)]
        pressed.append(squeezing(control.grasp.update(q, v), on_beam))
        tau = control.torque(q, v, plan(sim.time, start), FORCE, pressed[-1], STEP)
        sim.step(tau[~robot.is_base_coordinate])
    moved = frame_pose(sim.model, sim.q, "beam_middle")[0] - start
    last = np.array(pressed[-round(1.0 / STEP) :])
    return Outcome(
        float(np.linalg.norm(moved)),
        float(np.linalg.norm(moved - WAY)),
        float(last.mean()),
        float(np.abs(last - FORCE).max()),
    )


if __name__ == "__main__":
    for name in CASES:
        found = main(name)
        print(
            f"{name}: the beam moved {1e3 * found.moved:.1f} mm and ends {1e3 * found.error:.2f} mm from "
            f"its goal; the arms squeeze it with {found.squeeze:.2f} N, {found.worst:.2f} N off at most"
        )
