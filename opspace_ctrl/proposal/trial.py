# SPDX-License-Identifier: Apache-2.0
"""A proposal at work in the simulator: three targets, with a delay between state and effort."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control.controller import Controller
from ..control.settings import controller_settings
from ..dynamics import frame_pose
from ..errors import SimulationError
from ..model import Model
from ..parameter_file import parameters_of
from ..sim.settings import simulator_settings
from ..sim.simulator import Simulator
from .limbs import find_limbs
from .propose import propose
from .result import Proposal
from .standing import center_of_mass

__all__ = ["Trial", "propose_tried", "try_out"]

DELAY = 0.002  # [s]
TARGETS = 3
STEP_SIZE = 0.3  # [rad or m] by which joints of a limb are moved for a target, at most
LEAN = 0.03  # of the height of the centre of mass, by which a standing robot moves it
CLOSE, CLOSE_ANGLE = 2e-3, 1e-2  # [m, rad] a target counts as reached
STILL = 0.02  # [rad/s or m/s] peak to peak of any joint's speed, once it is there
SETTLING, LONGEST = 1.5, 25.0  # [s] the ramp, and a motion at most
RESTING, WATCHED = 1.5, 1.0  # [s] in which the null space comes to rest, and rest that is watched
TURNS = 2  # reversals in the time that is watched; fewer are a joint that comes to rest
MOST_SATURATED = 0.05  # of the ticks
SOFTER = (1.0, 0.5, 0.25)  # tried in turn


@dataclass(frozen=True)
class Trial:
    """What happened.

    Attributes:
        reached: Targets that were reached, of `targets`.
        error, angle: Largest errors at rest [m, rad].
        saturated: Share of the ticks in which an effort was at its limit.
        swing: Largest peak-to-peak speed of a joint that turns to and fro at rest [rad/s or m/s].
        fell: What the simulation ended with, "" if it went on.
    """

    targets: int
    reached: int
    error: float
    angle: float
    saturated: float
    swing: float
    fell: str = ""

    @property
    def is_good(self) -> bool:
        """Did it reach all targets, hardly ever saturate, and not oscillate?"""
        return (
            self.reached == self.targets
            and self.saturated < MOST_SATURATED
            and self.swing < STILL
            and not self.fell
        )

    @property
    def merit(self) -> tuple[bool, bool, int, float]:
        """What makes one better than another, the most important first."""
        return self.is_good, not self.fell, self.reached, -self.error - self.angle

    def __str__(self) -> str:
        return (
            f"{self.reached} of {self.targets} targets reached, error {1e3 * self.error:.2f} mm and "
            f"{np.degrees(self.angle):.2f} degrees, efforts at their limits in {self.saturated:.1%} of "
            f"the ticks, speeds at rest within {self.swing:.3f} rad/s{self.fell and f'; {self.fell}'}"
        )


def propose_tried(
    robot: Path, base: str, rate: float, xacro_args: Mapping[str, object] | None = None
) -> tuple[Proposal, Trial]:
    """The first proposal that is good, of ever softer ones; if none is, the best of them.

    Raises:
        OpspaceError: What `propose` raises.
    """
    tried = []
    for softer in SOFTER:
        proposal = propose(robot, base, rate, xacro_args, softer)
        tried.append((proposal, try_out(proposal)))
        if tried[-1][1].is_good:
            break
    return max(tried, key=lambda each: each[1].merit)


def try_out(proposal: Proposal, delay: float = DELAY, seed: int = 0) -> Trial:
    """Run the proposal: every moved task gets three targets that its robot can reach, one after the other."""
    loop = _Loop(proposal, delay)
    rng = np.random.default_rng(seed)
    reached, errors, swings = 0, [(0.0, 0.0)], [0.0]
    try:
        loop.run(SETTLING)
        home = loop.robot.q.copy()
        places = {name: loop.controller.pose(name) for name in proposal.moved}
        for k in range(TARGETS):
            loop.send(_targets(proposal, home, places, rng, k))
            is_there = loop.run_until_there()
            loop.run(RESTING)
            errors.append(loop.error())
            reached += is_there and _is_close(errors[-1])
            swings.append(loop.swing(WATCHED))
        fell = ""
    except SimulationError as error:
        fell = str(error)
    worst = np.max(errors, axis=0)
    return Trial(
        TARGETS, reached, worst[0], worst[1], loop.saturated / max(loop.ticks, 1), max(swings), fell
    )


class _Loop:
    """Controller and simulator, some steps apart."""

    def __init__(self, proposal: Proposal, delay: float):
        own = ("robot", "base", "locked_joints", "locked_positions")
        controller, simulator = (
            {name: value for name, value in _flat(each).items() if name not in own}
            for each in (proposal.controller, proposal.simulator)
        )
        self.robot = Simulator.from_settings(proposal.model, simulator_settings(simulator))
        self.controller = Controller.from_settings(proposal.model, controller_settings(controller))
        tasks = {name: proposal.controller[name] for name in proposal.moved}
        self._frames = {name: task.get("frame", "") for name, task in tasks.items()}
        self._rows = {name: task["rows"] for name, task in tasks.items()}
        self._targets: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        self.ticks = self.saturated = 0
        robot = self.robot
        self.controller.activate(robot.q, robot.v, robot.time)
        late = round(delay / robot.settings.step)
        first = self.controller.tick(robot.q, robot.v, robot.time).copy()
        self._waiting = deque([first] * late)

    def step(self) -> None:
        """One tick, whose efforts act when the delay is over."""
        robot, controller = self.robot, self.controller
        self._waiting.append(controller.tick(robot.q, robot.v, robot.time).copy())
        robot.step(self._waiting.popleft())
        self.ticks += 1
        self.saturated += bool(controller.report.saturated.any())

    def run(self, seconds: float) -> None:
        """Let time pass."""
        for _ in range(round(seconds / self.robot.settings.step)):
            self.step()

    def send(self, targets: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]) -> None:
        """New targets."""
        self._targets = targets
        for name, (position, quaternion) in targets.items():
            self.controller.target_pose(name, position, quaternion, self.robot.time)

    def run_until_there(self) -> bool:
        """Let time pass until all targets are reached and stay so; are they?"""
        since = end = self.robot.time
        end += LONGEST
        while self.robot.time < end:
            self.run(0.02)
            if not _is_close(self.error()):
                since = self.robot.time
            elif self.robot.time - since > 0.3:
                return True
        return False

    def error(self) -> tuple[float, float]:
        """Largest distances of the moved tasks from their targets [m, rad], by the robot's own state."""
        found = [(0.0, 0.0)]
        for name, (position, quaternion) in self._targets.items():
            frame = self._frames[name]
            if not frame:
                here = center_of_mass(self.robot.model, self.robot.q)
                found.append((float(np.linalg.norm(here - position)), 0.0))
                continue
            here, turned = frame_pose(self.robot.model, self.robot.q, frame)
            cosine = min(abs(float(turned @ quaternion)), 1.0)
            distance, angle = float(np.linalg.norm(here - position)), 2.0 * float(np.arccos(cosine))
            rows = self._rows[name]
            found.append((distance * (rows != "orientation"), angle * (rows != "position")))
        worst = np.max(found, axis=0)
        return float(worst[0]), float(worst[1])

    def swing(self, seconds: float) -> float:
        """Let time pass; the largest peak-to-peak speed of a joint that turns to and fro meanwhile."""
        base = self.robot.model.nv - len(self.robot.model.effort_limits)
        speeds = []
        for _ in range(round(seconds / self.robot.settings.step)):
            self.step()
            speeds.append(self.robot.v[base:].copy())
        v = np.array(speeds)
        turns = np.count_nonzero(np.diff(np.sign(v), axis=0), axis=0)
        return float(np.max(np.where(turns >= TURNS, np.ptp(v, axis=0), 0.0)))


def _is_close(error: tuple[float, float]) -> bool:
    return error[0] < CLOSE and error[1] < CLOSE_ANGLE


def _targets(
    proposal: Proposal,
    home: NDArray[np.float64],
    places: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    rng: np.random.Generator,
    k: int,
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Poses that the robot can reach: those of joints moved at random; a standing one leans, lowers, comes back."""
    if proposal.moved == ["com"]:
        position, quaternion = places["com"]
        height = position[2]
        lean = [(LEAN, 0.0, 0.0), (0.0, 0.0, -LEAN), (0.0, 0.0, 0.0)][k % TARGETS]
        return {"com": (position + height * np.array(lean), quaternion)}
    q = _moved(proposal.model, home, rng)
    frames = {name: proposal.controller[name]["frame"] for name in proposal.moved}
    return {name: frame_pose(proposal.model, q, frame) for name, frame in frames.items()}


def _moved(
    model: Model, home: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """q with the joints of the hands moved at random, inside their limits."""
    q, base = home.copy(), model.nv - len(model.position_limits)
    for limb in find_limbs(model):
        if limb.kind == "hand":
            joints = np.array(limb.joints)
            lower, upper = model.position_limits[joints - base].T
            margin = 0.1 * np.where(np.isfinite(upper - lower), upper - lower, 0.0)
            places = joints + model.nq - model.nv
            step = np.minimum(STEP_SIZE, np.where(margin > 0.0, 2.0 * margin, np.inf))
            shifted = q[places] + step * rng.uniform(-1.0, 1.0, size=len(joints))
            q[places] = np.clip(shifted, lower + margin, upper - margin)
    return q


def _flat(parameters: dict[str, Any]) -> dict[str, Any]:
    """Nested parameters by dotted names."""
    return parameters_of({"node": {"ros__parameters": parameters}}, "node")
