# SPDX-License-Identifier: Apache-2.0
"""The targets, and the verdict whether a measurement reaches them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from .growth import RECURSIVE
from .robots import HUMANOIDS
from .timing import Timing

Times = Mapping[str, Mapping[str, Timing]]  # by quantity and contestant

TIMED = ("panda", *HUMANOIDS)
SPREAD = 3.0  # each recursive method within this factor of the best of them
TAIL, SINGULAR, TEST_SHARE = 3.0, 10.0, 0.03
FIRST_START, LATER_START, IMPORT = 25.0, 1.5, 0.5  # [s]
AUTO_EXCESS = 0.15
# with fewer timed calls, or ticks for the tail, nothing is judged
LEAST_CALLS, LEAST_TICKS = (2000, 100_000)
LINEAR, LINEAR_METHODS = 1.1, (*RECURSIVE, "aba")  # exponents no larger than this


@dataclass(frozen=True)
class Verdict:
    """A measured figure beside its target.

    Attributes:
        robot: Which robot, "" if none in particular.
        claim: What was measured.
        value: The figure.
        unit: "x" for a ratio, "%" for a share (the value is a fraction), "s", "B" or "".
        sense: ">=" or "<=".
        target: None if there is none for this robot.
    """

    robot: str
    claim: str
    value: float
    unit: str
    sense: str
    target: float | None

    @property
    def met(self) -> bool | None:
        """Is the target reached? None if there is none."""
        if self.target is None:
            return None
        return self.value >= self.target if self.sense == ">=" else self.value <= self.target

    def as_dict(self) -> dict:
        """For a JSON file."""
        return {**asdict(self), "met": self.met}


@dataclass(frozen=True)
class Ratio:
    """A wanted ratio: so many times faster than a peer.

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


# All called from Python. On an arm a call into compiled code takes as long as the inverse dynamics themselves: there
# inertia_inv and inverse are short of what is wanted.
RATIOS = (
    Ratio("tick", "sparse_ltdl", "Pinocchio smart", dict.fromkeys(TIMED, 10.0)),
    Ratio("tick", "sparse_ltdl", "Pinocchio best", dict.fromkeys(TIMED, 5.5)),
    Ratio("tick", "sparse_ltdl", "MuJoCo", dict.fromkeys(TIMED, 5.0)),
    Ratio("explicit", "", "Pinocchio", dict.fromkeys(TIMED, 6.0)),
    Ratio("inertia_inv", "", "Pinocchio", dict.fromkeys(TIMED, 3.0)),
    Ratio("forward", "", "Pinocchio", dict.fromkeys(HUMANOIDS, 2.5)),
    Ratio("forward", "aba", "Pinocchio", dict.fromkeys(HUMANOIDS, 1.3)),
    Ratio("inverse", "", "Pinocchio", dict.fromkeys(TIMED, 2.0)),
)


def ratio_verdicts(robot: str, ours: Times, peers: Times) -> list[Verdict]:
    """Least time of the peer over ours, for every ratio whose two sides were timed."""
    found = []
    for ratio in RATIOS:
        own, their = ours.get(ratio.quantity, {}), peers.get(ratio.quantity, {}).get(ratio.peer)
        if their is None or ratio.ours not in ("", *own):
            continue
        mine = own[ratio.ours] if ratio.ours else min(own.values(), key=lambda timing: timing.least)
        claim = f"{ratio.quantity}: {ratio.peer} / {ratio.ours or 'our fastest'}"
        target = ratio.targets.get(robot) if min(mine.calls, their.calls) >= LEAST_CALLS else None
        found.append(Verdict(robot, claim, their.least / mine.least, "x", ">=", target))
    return found


def body_verdicts(robot: str, ours: Times) -> list[Verdict]:
    """The share of the tick that is its body; the rest is the call from Python."""
    return [
        Verdict(
            robot,
            f"tick: share of its body, {name}",
            timing.least / ours["tick"][name].least,
            "%",
            ">=",
            None,
        )
        for name, timing in ours["body"].items()
    ]


def spread_verdicts(robot: str, ours: Times) -> list[Verdict]:
    """Each recursive method's least time for Lambda^-1 over that of the best of them."""
    timings = {name: timing for name, timing in ours["inertia_inv"].items() if name in RECURSIVE}
    best = min((timing.least for timing in timings.values()), default=0.0)
    return [
        Verdict(
            robot,
            f"inertia_inv: {name} / best recursive",
            timing.least / best,
            "x",
            "<=",
            SPREAD if robot in HUMANOIDS and timing.calls >= LEAST_CALLS else None,
        )
        for name, timing in timings.items()
    ]


def tick_verdicts(robot: str, memory: Mapping, late: Mapping, singular: Mapping) -> list[Verdict]:
    """On what `tail.allocations`, `tail.tail` and `singularity.singularity_costs` found."""
    held = memory["kept_bytes"] + memory["transient_bytes"] + memory["compiled"]
    rare = TAIL if late["calls"] >= LEAST_TICKS else None
    share, ratio = (TEST_SHARE, SINGULAR) if singular["calls"] >= LEAST_CALLS else (None, None)
    figures = (
        ("tick: allocated", held, "B", 0.0),
        (
            "tick: p99.9 / median, not preempted",
            late["not_preempted_p999"] / late["median"],
            "x",
            rare,
        ),
        ("tick: p99.9 / median, all calls", late["p999"] / late["median"], "x", None),
        (
            "tick: the same of a loop in registers",
            late["loop_p999"] / late["loop_median"],
            "x",
            None,
        ),
        ("tick: calls later than 3 medians", late["late"], "%", None),
        ("tick: the same of that loop", late["loop_late"], "%", None),
        ("tick: share of the singularity test", singular["test_share"], "%", share),
        ("tick: singular / regular", singular["singular_ratio"], "x", ratio),
    )
    return [
        Verdict(robot, claim, float(value), unit, "<=", target)
        for claim, value, unit, target in figures
    ]


def start_up_verdicts(seconds: Mapping[str, Mapping[str, float]]) -> list[Verdict]:
    """The verdicts on what `start_up.start_up` found."""
    figures = (
        ("start: import", seconds["later"]["import"], IMPORT),
        ("start: everything, empty cache", seconds["first"]["total"], FIRST_START),
        ("start: processor time of that", seconds["first"]["processor"], None),
        ("start: everything, from the cache", seconds["later"]["total"], LATER_START),
    )
    return [Verdict("", claim, value, "s", "<=", target) for claim, value, target in figures]


def growth_verdicts(exponents: Mapping[str, Mapping[str, float]]) -> list[Verdict]:
    """Do the recursive methods grow linearly? By shape and method."""
    return [
        Verdict("", f"growth: exponent of {name}, {shape}", slopes[name], "", "<=", LINEAR)
        for shape, slopes in exponents.items()
        for name in LINEAR_METHODS
        if name in slopes
    ]


def auto_verdicts(robots: list[dict]) -> list[Verdict]:
    """Is auto's worst choice close enough to the fastest method?"""
    excess = [robot["excess"] for robot in robots if "excess" in robot]
    return (
        [
            Verdict(
                "",
                f"auto: worst excess over the fastest, {len(excess)} robots",
                max(excess),
                "%",
                "<=",
                AUTO_EXCESS,
            )
        ]
        if excess
        else []
    )
