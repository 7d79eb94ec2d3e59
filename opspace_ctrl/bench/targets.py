"""What is aimed at, and whether a measurement reaches it."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .robots import HUMANOIDS
from .timing import Timing

__all__ = ["RATIOS", "Ratio", "Verdict", "ratio_verdicts", "spread_verdicts", "verdict"]

MEASURED = ("panda", *HUMANOIDS)
RECURSIVE = ("rjk", "efpa", "pv_osim", "pv_osimr", "base_invariant")
SPREAD = 3.0  # each recursive method within this factor of the best of them


@dataclass(frozen=True)
class Verdict:
    """A measured figure beside its target.

    Attributes:
        robot: Which robot, "" if none in particular.
        claim: What was measured.
        value: The figure.
        sense: ">=" or "<=".
        target: None if there is none for this robot.
    """

    robot: str
    claim: str
    value: float
    sense: str
    target: float | None

    @property
    def met(self) -> bool | None:
        """Is the target reached? None if there is none."""
        if self.target is None:
            return None
        return self.value >= self.target if self.sense == ">=" else self.value <= self.target


@dataclass(frozen=True)
class Ratio:
    """How many times faster than a peer we want to be.

    Attributes:
        quantity: The group of contestants.
        ours: Our contestant, "" for the fastest of ours.
        peer: Theirs.
        targets: At least so many times faster, by robot.
    """

    quantity: str
    ours: str
    peer: str
    targets: Mapping[str, float]


RATIOS = (
    Ratio("tick", "sparse_ltdl", "Pinocchio smart", {"panda": 8.0, **dict.fromkeys(HUMANOIDS, 9.0)}),
    Ratio("tick", "sparse_ltdl", "Pinocchio best", dict.fromkeys(MEASURED, 7.0)),
    Ratio("tick", "sparse_ltdl", "MuJoCo", dict.fromkeys(MEASURED, 6.0)),
    Ratio("explicit", "", "Pinocchio", dict.fromkeys(MEASURED, 6.0)),
    Ratio("inertia_inv", "", "Pinocchio", dict.fromkeys(MEASURED, 3.5)),
    Ratio("forward", "", "Pinocchio", dict.fromkeys(HUMANOIDS, 3.0)),
    Ratio("forward", "aba", "Pinocchio", dict.fromkeys(HUMANOIDS, 1.3)),
    Ratio("inverse", "", "Pinocchio", dict.fromkeys(MEASURED, 2.5)),
)


def verdict(robot: str, claim: str, value: float, sense: str, target: float | None) -> Verdict:
    """A verdict on a plain number."""
    return Verdict(robot, claim, float(value), sense, target)


def ratio_verdicts(robot: str, times: Mapping[str, Mapping[str, Timing]], peers: set[str]) -> list[Verdict]:
    """Least time of the peer over ours, for every ratio whose two sides were timed."""
    found = []
    for ratio in RATIOS:
        field = times.get(ratio.quantity, {})
        own = {name: timing for name, timing in field.items() if name not in peers}
        ours = ratio.ours or min(own, key=lambda name: own[name].least, default="")
        if ratio.peer not in field or ours not in own:
            continue
        claim = f"{ratio.quantity}: {ours} faster than {ratio.peer}"
        found.append(verdict(robot, claim, field[ratio.peer].least / own[ours].least, ">=",
                             ratio.targets.get(robot)))
    return found


def spread_verdicts(robot: str, times: Mapping[str, Mapping[str, Timing]]) -> list[Verdict]:
    """Each recursive method's least time for Lambda^-1 over that of the best of them."""
    field = {name: timing.least for name, timing in times.get("inertia_inv", {}).items() if name in RECURSIVE}
    target = SPREAD if robot in HUMANOIDS else None
    return [verdict(robot, f"inertia_inv: {name} over the best recursive method", time / min(field.values()), "<=",
                    target) for name, time in field.items()]
