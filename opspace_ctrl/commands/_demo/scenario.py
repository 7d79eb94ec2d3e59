"""The demo's program for each robot: a figure of eight, a push on the way, and methods that change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["SCENARIOS", "SECONDS", "Scenario", "waypoints"]

SECONDS = 12.0  # of the figure, simulated
RISE = 1.5  # [s] in which the figure grows, and shrinks again at the end
SPACING = 0.02  # [s] between way points


@dataclass(frozen=True)
class Scenario:
    """A robot's part in the demo.

    Attributes:
        robot: Shipped robot; its settings are config/<robot>.yaml.
        task: Name of the task that follows the figure; it moves the frame of the same name.
        size: Amplitudes along x, y, z of the world [m].
        waves: Waves along each axis in one round.
        period: Time of a round [s].
        push: Force on the task's frame, world axes [N].
        methods: Taken in turn, each for the same time.
        story: What is to be seen, for the terminal.
    """

    robot: str
    task: str
    size: tuple[float, float, float]
    push: tuple[float, float, float]
    story: str
    waves: tuple[float, float, float] = (0.0, 1.0, 2.0)
    period: float = 4.0
    methods: tuple[str, ...] = ("sparse_ltdl", "rjk", "pv_osim", "sparse_ltl")
    push_start: float = 5.0  # [s]
    push_end: float = 5.25

    def method_at(self, time: float) -> str:
        """The method in use at a time of the figure [s]."""
        turn = int(time / SECONDS * len(self.methods))
        return self.methods[min(max(turn, 0), len(self.methods) - 1)]

    def is_pushed(self, time: float) -> bool:
        """Does the push act?"""
        return self.push_start <= time < self.push_end

    def figure(self, time: np.ndarray) -> np.ndarray:
        """Displacement (n, 3) of the target at times (n,) of the figure [m]; at rest before and after it."""
        t = np.clip(np.atleast_1d(np.asarray(time, dtype=float)), 0.0, SECONDS)[:, None]
        grown = _min_jerk(t / RISE) * _min_jerk((SECONDS - t) / RISE)
        return (
            grown
            * np.array(self.size)
            * np.sin(2.0 * np.pi / self.period * np.array(self.waves) * t)
        )


def _min_jerk(s: np.ndarray) -> np.ndarray:
    """0 to 1 with no velocity or acceleration at the ends."""
    s = np.clip(s, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def waypoints(scenario: Scenario, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (n,), positions (n, 3) and velocities (n, 3) of a trajectory round `centre` that is the figure."""
    times, half = np.arange(SPACING, SECONDS + 0.5 * SPACING, SPACING), 1e-4
    velocities = (scenario.figure(times + half) - scenario.figure(times - half)) / (2.0 * half)
    return times, centre + scenario.figure(times), velocities


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
        ),
    )
}
