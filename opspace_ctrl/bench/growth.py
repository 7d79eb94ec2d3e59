# SPDX-License-Identifier: Apache-2.0
"""Cost against size: serial chains and binary trees with a fixed number of task rows."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..model import load_urdf
from ..osim import Task
from .agreement import check_agreement, conditions
from .ours import our_contestants, spaces
from .robots import Case
from .states import random_state
from .timing import Timing, time_in_turns

SIZES = (8, 16, 32, 64, 128, 256, 512)
SPARSE = ("sparse_ltl", "sparse_ltdl")
RECURSIVE = ("rjk", "efpa", "pv_osim", "pv_osimr", "base_invariant")
FITTED_FROM = 64  # joints: below, what does not grow is a large part of the cost
STATES = 4
BUDGET = 2000.0  # joints times calls: the more joints, the fewer calls

# Parent of joint i, and how many tips are tasks (six rows each).
SHAPES: dict[str, tuple[Callable[[int], int], int]] = {
    "chain": (lambda i: i - 1, 1),
    "tree": (lambda i: (i - 1) // 2, 4),
}


def shaped_case(shape: str, joints: int) -> Case:
    """A floating base with this many revolute joints, and tasks at tips spread over all of them."""
    parent_of, tips = SHAPES[shape]
    parents = [parent_of(i) for i in range(joints)]
    leaves = sorted(set(range(joints)) - set(parents))
    chosen = [leaves[k] for k in np.linspace(0, len(leaves) - 1, tips).round().astype(int)]
    model = load_urdf(_urdf(f"{shape}{joints}", parents), base="floating")
    return Case(model.name, model, tuple(Task(f"link{i}") for i in chosen))


def _urdf(name: str, parents: list[int]) -> str:
    """Equal slender links 0.1 m long, joint axes x, y and z in turn."""
    parts = [f'<robot name="{name}">', _link("base")]
    for i, parent in enumerate(parents):
        axis = ("1 0 0", "0 1 0", "0 0 1")[i % 3]
        above = f"link{parent}" if parent >= 0 else "base"
        parts += [
            _link(f"link{i}"),
            f'<joint name="joint{i}" type="continuous"><origin xyz="0.02 0 0.1"/>'
            f'<parent link="{above}"/><child link="link{i}"/><axis xyz="{axis}"/></joint>',
        ]
    return "".join([*parts, "</robot>"])


def _link(name: str) -> str:
    return (
        f'<link name="{name}"><inertial><origin xyz="0 0 0.05"/><mass value="1"/>'
        '<inertia ixx="1e-3" iyy="1e-3" izz="4e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def growth(
    sizes: Iterable[int] = SIZES, tell: Callable[[str], None] = lambda text: None
) -> dict[str, dict[str, dict[int, float]]]:
    """Least time [us] by shape, contestant and number of joints; `tell` hears what comes next.

    Contestants are Lambda^-1 from a configuration, under the method's name, and forward and inverse dynamics.
    """
    found: dict[str, dict[str, dict[int, float]]] = {shape: {} for shape in SHAPES}
    for shape in SHAPES:
        for joints in sizes:
            tell(f"{shape} of {joints} joints")
            for name, timing in _time(shaped_case(shape, joints)).items():
                found[shape].setdefault(name, {})[joints] = timing.least
    return found


def _time(case: Case) -> dict[str, Timing]:
    built, rng = spaces(case), np.random.default_rng(0)
    reference = built["sparse_ltdl"]
    states = [random_state(reference, rng) for _ in range(STATES)]
    field = our_contestants(built, states)
    condition = conditions(reference, states)
    calls = max(3 * STATES, int(BUDGET / case.model.nv) * STATES)
    times: dict[str, Timing] = {}
    for quantity in ("inertia_inv", "forward", "inverse"):
        check_agreement(f"{case.name}, {quantity}", field[quantity], condition)
        times.update(time_in_turns(field[quantity], calls))
    return times


def exponents(times: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
    """p of cost ~ joints^p for each contestant: a line through the larger sizes, both axes logarithmic."""
    slopes = {}
    for name, by_size in times.items():
        sizes = [n for n in by_size if n >= FITTED_FROM] or list(by_size)
        if len(sizes) > 1:
            slopes[name] = float(
                np.polyfit(np.log(sizes), np.log([by_size[n] for n in sizes]), 1)[0]
            )
    return slopes


def misfits(times: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
    """By how much the times of each contestant leave the line that `exponents` fits, at most: 0.1 for 10 %."""
    found = {}
    for name, by_size in times.items():
        sizes = [n for n in by_size if n >= FITTED_FROM] or list(by_size)
        if len(sizes) > 1:
            x, y = np.log(sizes), np.log([by_size[n] for n in sizes])
            found[name] = float(np.expm1(np.abs(y - np.polyval(np.polyfit(x, y, 1), x)).max()))
    return found


@dataclass(frozen=True)
class Crossover:
    """The size at which the fastest recursive method overtakes the fastest sparse one: joints, and cost there [us]."""

    joints: float
    cost: float


def crossover(times: Mapping[str, Mapping[int, float]]) -> Crossover | None:
    """The last crossing, between sizes by straight lines on logarithmic axes; None where there is none."""
    sizes = np.array(sorted(next(iter(times.values()))))
    sparse, recursive = (
        np.log([min(times[name][n] for name in names if name in times) for n in sizes])
        for names in (SPARSE, RECURSIVE)
    )
    gap = sparse - recursive
    for k in range(len(sizes) - 1, 0, -1):
        if gap[k - 1] < 0.0 <= gap[k]:
            t = gap[k - 1] / (gap[k - 1] - gap[k])
            log_size = (1 - t) * np.log(sizes[k - 1]) + t * np.log(sizes[k])
            return Crossover(
                float(np.exp(log_size)), float(np.exp((1 - t) * sparse[k - 1] + t * sparse[k]))
            )
    return None
