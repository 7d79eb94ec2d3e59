# SPDX-License-Identifier: Apache-2.0
"""A free flyer moves a beam with both arms: a closed chain on a base that nothing holds.

Robot and beam are a forest of two trees; two closures weld the tools to the ends of the beam. The beam is asked for a
smooth displacement, the joint torques follow from what a unit of each does to the closed chain, and the bus drifts
as momentum wants. Run it: python examples/two_arms_one_beam.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from opspace_ctrl import Model, dynamics, load_robot, load_urdf
from opspace_ctrl.algebra.closure import ClosedChain, Closure, Grasp, RigidObject
from opspace_ctrl.model.rotations import from_quaternion

LENGTH, MASS = 0.66, 12.0  # of the beam [m], [kg]: as long as the shoulders are apart
ACROSS, ALONG = MASS * LENGTH**2 / 12.0, 0.02  # its moments of inertia [kg m^2]
DURATION, STEP = 1.0, 2e-3  # [s]
DISPLACEMENT = np.array([-0.10, 0.05, 0.08])  # [m], world axes
STIFFNESS, DAMPING = 100.0, 20.0  # of the beam's error [1/s^2], [1/s]: critically damped
CALM = 5.0  # [N m s]: damping of what the arms may do without moving the beam
LOOP_RATE = 50.0  # [1/s]: how fast the closures take back what the integration loses

BEAM = f"""<robot name="beam">
  <link name="middle"><inertial><mass value="{MASS}"/>
    <inertia ixx="{ACROSS}" ixy="0" ixz="0" iyy="{ALONG}" iyz="0" izz="{ACROSS}"/></inertial></link>
  <link name="left"/><link name="right"/>
  <joint name="to_left" type="fixed"><parent link="middle"/><child link="left"/>
    <origin xyz="0 {LENGTH / 2} 0"/></joint>
  <joint name="to_right" type="fixed"><parent link="middle"/><child link="right"/>
    <origin xyz="0 {-LENGTH / 2} 0"/></joint>
</robot>"""
# [rad]: away from the straight, singular arm
BENT = {"shoulder_yaw": 0.6, "elbow_yaw": -1.2, "wrist_yaw": 0.6}


@dataclass(frozen=True)
class Outcome:
    """How it went.

    Attributes:
        error: How far from its goal the beam ends [m].
        opening: Of the loops at the end [m, rad].
        momentum: Velocity of the common centre of mass at the end [m/s]; nothing pushes it.
        bus: How far the bus has moved [m].
        squeeze: The largest force that squeezes the beam [N].
    """

    error: float
    opening: float
    momentum: float
    bus: float
    squeeze: float


def build() -> tuple[ClosedChain, np.ndarray]:
    """The closed chain, and a configuration in which the arms hold the beam in front of the bus."""
    model = load_urdf(
        [load_robot("free_flyer").source, BEAM],
        ["floating", "floating"],
        gravity=(0.0, 0.0, 0.0),
        prefixes=["", "beam_"],
    )
    q = model.neutral()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for joint, angle in BENT.items():
            body = model.body_joint_names.index(f"{side}_{joint}")
            q[model.q_index[body]] = sign * angle
    tools = [dynamics.frame_pose(model, q, f"{side}_tool")[0] for side in ("left", "right")]
    q[-7:-4] = np.mean(tools, axis=0)
    # The tools keep the orientation they have to the beam, which lies across, as the arms are bent.
    turned = [
        from_quaternion(dynamics.frame_pose(model, q, f"{side}_tool")[1])
        for side in ("left", "right")
    ]
    chain = ClosedChain(
        model,
        [
            Closure(f"{side}_tool", f"beam_{side}", rotation=turn)
            for side, turn in zip(("left", "right"), turned)
        ],
    )
    return chain, chain.assemble(q)


def _pose(model: Model, q) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,) and orientation (3, 3) of the beam's middle."""
    position, quaternion = dynamics.frame_pose(model, q, "beam_middle")
    return position, from_quaternion(quaternion)


def minimum_jerk(t: float) -> tuple[float, float, float]:
    """Displacement from 0 to 1 in one unit of time, with its first and second derivative."""
    t = min(max(t, 0.0), 1.0)
    return (
        10 * t**3 - 15 * t**4 + 6 * t**5,
        30 * t**2 - 60 * t**3 + 30 * t**4,
        60 * t - 180 * t**2 + 120 * t**3,
    )


class BeamController:
    """Joint torques that give the beam a wanted acceleration; the bus has no thrusters."""

    def __init__(self, chain: ClosedChain, q: np.ndarray):
        self.chain, self.model = chain, chain.model
        self.start, self.turn = _pose(self.model, q)
        self.actuated = np.arange(6, self.model.nv - 6)

    def wanted(self, t: float, q, v) -> np.ndarray:
        """Acceleration (6,) of the beam's middle: the plan, and a spring and damper to it."""
        s, ds, dds = minimum_jerk(t / DURATION)
        position, turn = _pose(self.model, q)
        velocity = dynamics.frame_velocity(self.model, q, v, "beam_middle")
        back = Rotation.from_matrix(self.turn @ turn.T).as_rotvec()
        error = np.append(self.start + s * DISPLACEMENT - position, back)
        rate = np.append(ds / DURATION * DISPLACEMENT, np.zeros(3)) - velocity
        return (
            np.append(dds / DURATION**2 * DISPLACEMENT, np.zeros(3))
            + STIFFNESS * error
            + DAMPING * rate
        )

    def torque(self, t: float, q, v) -> np.ndarray:
        """Joint torques (nv,) that do it, next to those that calm the joints: accelerations are affine in them."""
        J = dynamics.frame_jacobian(self.model, q, "beam_middle")
        tau, none = np.zeros(self.model.nv), np.zeros(self.model.nv)
        drift = self.chain.forward(q, v, tau)
        free = J @ drift + dynamics.frame_acceleration(self.model, q, v, none, "beam_middle")
        response = np.empty((6, len(self.actuated)))
        for column, k in enumerate(self.actuated):
            tau[k] = 1.0
            response[:, column] = J @ (self.chain.forward(q, v, tau) - drift)
            tau[k] = 0.0
        calm = -CALM * v[self.actuated]
        tau[self.actuated] = calm + np.linalg.pinv(response) @ (
            self.wanted(t, q, v) - free - response @ calm
        )
        return tau


def run() -> Outcome:
    """Move the beam, step by step (midpoint rule)."""
    chain, q = build()
    model, v = chain.model, np.zeros(chain.model.nv)
    control, bus = BeamController(chain, q), q[:3].copy()
    robot = load_robot("free_flyer")
    held = RigidObject(MASS, *_seen_from_tool(chain, q))
    grasp, squeeze = Grasp(robot, ["left_tool", "right_tool"], held), 0.0
    for k in range(round(DURATION / STEP)):
        tau = control.torque(k * STEP, q, v)
        pull = -2.0 * LOOP_RATE * chain.relative_velocity(q, v) - LOOP_RATE**2 * chain.error(q)
        half = v + 0.5 * STEP * chain.forward(q, v, tau, wanted=pull)
        if k % 50 == 0:
            inner = grasp.update(q[: robot.nq], v[: robot.nv]).internal_wrenches(-chain.wrenches)
            squeeze = max(squeeze, float(np.abs(inner[:, :3]).max()))
        middle = model.integrate(q, v, 0.5 * STEP)
        q, v = (
            model.integrate(q, half, STEP),
            v + STEP * chain.forward(middle, half, tau, wanted=pull),
        )
    error = dynamics.frame_pose(model, q, "beam_middle")[0] - control.start - DISPLACEMENT
    momentum = dynamics.center_of_mass_jacobian(model, q) @ v
    return Outcome(
        *(float(np.abs(x).max()) for x in (error, chain.error(q), momentum, q[:3] - bus)), squeeze
    )


def _seen_from_tool(chain: ClosedChain, q) -> tuple[np.ndarray, np.ndarray]:
    """Centre (3,) and inertia (3, 3) of the beam in the axes of the left tool."""
    position, quaternion = dynamics.frame_pose(chain.model, q, "left_tool")
    R, (middle, turn) = from_quaternion(quaternion), _pose(chain.model, q)
    own = R.T @ turn
    return R.T @ (middle - position), own @ np.diag([ACROSS, ALONG, ACROSS]) @ own.T


if __name__ == "__main__":
    found = run()
    print(
        f"the beam ends {1e3 * found.error:.3f} mm from where it was asked to go; the loops are open by "
        f"{found.opening:.1e};\nthe bus moved {1e3 * found.bus:.1f} mm, the common centre of mass has "
        f"{found.momentum:.1e} m/s;\nthe arms squeeze the beam with at most {found.squeeze:.2f} N"
    )
