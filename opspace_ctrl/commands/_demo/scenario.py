# SPDX-License-Identifier: Apache-2.0
"""The demo's program for each robot: the same figure of eight with one method after the other, then with a push."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from opspace_ctrl import frame_pose

from ...data import shipped_path
from ...model import Model
from ...proposal.standing import center_of_mass
from ...robot_settings import load_any

__all__ = ["SCENARIOS", "Scenario", "waypoints"]

RISE = 0.25  # of a lap: in it the figure grows, and shrinks again at the end
SPACING = 0.04  # [s] between way points
PUSH = (1.5, 1.75)  # [s] from when to when it is pushed in its lap


@dataclass(frozen=True)
class Scenario:
    """A robot's part in the demo.

    Attributes:
        robot: Shipped robot, or the path of another.
        task: Name of the task that follows the figure.
        frame: That it moves; empty: the one of the same name.
        config: The parameter file of both nodes; None: the shipped one.
        base, locked: How another robot is loaded, see `load_any`.
        rows: "com": the centre of mass follows the figure, and `frame` is only pushed.
        size: Amplitudes along x, y, z of the world [m].
        waves: Waves along each axis in one lap.
        lap: Time in which the figure is followed once, from rest to rest [s].
        push: Force on the task's frame, world axes [N].
        methods: Taken in turn, each for a lap; the last one for a second, in which the push comes.
        story: What is to be seen, for the terminal.
    """

    robot: str
    task: str
    size: tuple[float, float, float]
    push: tuple[float, float, float]
    story: str
    waves: tuple[float, float, float] = (0.0, 1.0, 2.0)
    lap: float = 4.0
    methods: tuple[str, ...] = ("sparse_ltdl", "rjk", "pv_osim", "sparse_ltl")
    frame: str = ""
    config: Path | None = None
    base: str = ""
    locked: Mapping[str, float] = field(default_factory=dict)
    rows: str = "pose"

    @property
    def moved_frame(self) -> str:
        """The frame that follows the figure."""
        return self.frame or self.task

    def place(self, model: Model, q: np.ndarray) -> np.ndarray:
        """(3,) where what follows the figure is [m]."""
        if self.rows == "com":
            return center_of_mass(model, q)
        return frame_pose(model, q, self.moved_frame)[0]

    @property
    def parameters(self) -> Path:
        """The parameter file of controller and simulator."""
        return self.config or shipped_path("config", f"{self.robot}.yaml")

    def load(self) -> Model:
        """The robot."""
        return load_any(self.robot, self.base, self.locked)

    @property
    def seconds(self) -> float:
        """Time of all laps [s]."""
        return self.lap * (len(self.methods) + 1)

    @property
    def push_start(self) -> float:
        """When it is pushed [s], in the last lap."""
        return self.lap * len(self.methods) + PUSH[0]

    @property
    def push_end(self) -> float:
        """When the push ends [s]."""
        return self.lap * len(self.methods) + PUSH[1]

    def method_at(self, time: float) -> str:
        """The method in use at a time of the figure [s]."""
        return self.methods[min(max(int(time / self.lap), 0), len(self.methods) - 1)]

    def is_pushed(self, time: float) -> bool:
        """Does the push act?"""
        return self.push_start <= time < self.push_end

    def figure(self, time: np.ndarray) -> np.ndarray:
        """Displacement (n, 3) of the target at times (n,) of the figure [m]; at rest before and after it.

        It begins with a lap before time 0 that counts for nothing: where dry friction has left the joints, the next
        ones begin alike.
        """
        t = np.clip(np.atleast_1d(np.asarray(time, dtype=float)), -self.lap, self.seconds)
        t = t[:, None] % self.lap
        grown = _min_jerk(t / (RISE * self.lap)) * _min_jerk((self.lap - t) / (RISE * self.lap))
        return grown * self.size * np.sin(2.0 * np.pi / self.lap * np.array(self.waves) * t)


def _min_jerk(s: np.ndarray) -> np.ndarray:
    """0 to 1 with no velocity or acceleration at the ends."""
    s = np.clip(s, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def waypoints(scenario: Scenario, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (n,) from the first lap on, positions (n, 3) and velocities (n, 3) that are the figure round `centre`."""
    count, half = round((scenario.lap + scenario.seconds) / SPACING), 1e-4
    times = SPACING * np.arange(1, count + 1)
    t = times - scenario.lap
    velocities = (scenario.figure(t + half) - scenario.figure(t - half)) / (2.0 * half)
    return times, centre + scenario.figure(t), velocities


SCENARIOS = {
    scenario.robot: scenario
    for scenario in (
        Scenario(
            "arm7",
            "tool",
            (0.0, 0.12, 0.06),
            (0.0, 15.0, 0.0),
            "the tool of a 7-joint arm follows a figure of eight, the null space keeps a posture",
        ),
        Scenario(
            "asimo",
            "right_hand",
            (0.0, 0.05, 0.05),
            (0.0, 5.0, 0.0),
            "a humanoid stands on both feet, its right hand follows a figure of eight",
            methods=("sparse_ltdl", "rjk", "pv_osimr", "base_invariant"),
        ),
        Scenario(
            "free_flyer",
            "right_tool",
            (0.0, 0.10, 0.05),
            (0.0, 2.0, 0.0),
            "nothing holds the base of a free flyer: it reacts while a tool follows a figure of eight",
            lap=5.0,  # its tools may accelerate less than the others: a faster figure would be slowed down
        ),
    )
}
