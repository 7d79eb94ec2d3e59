# SPDX-License-Identifier: Apache-2.0
"""Time to apply each spatial operator against the number of links.

python benchmarks/operators.py
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from opspace_ctrl.algebra.operators import SpatialOperators, evaluate
from opspace_ctrl.algebra.operators.symbols import SYMBOLS
from opspace_ctrl.bench.growth import exponents, shaped_case
from opspace_ctrl.bench.timing import Contestant, pinned, time_in_turns

SIZES = (125, 250, 500, 1000)
EXPRESSIONS = ("H phi M phi* H* + A", "(I - H Psi G)* D^-1 (I - H Psi G)")
CALLS = 40


def operator_growth(shape: str, sizes: Iterable[int] = SIZES) -> dict[str, dict[int, float]]:
    """Least time [us] to apply each operator, its adjoint and `EXPRESSIONS`, by name and number of joints.

    "SpatialOperators" is the time to make them all at a configuration, the Riccati recursion included.
    """
    found: dict[str, dict[int, float]] = {}
    for joints in sizes:
        case, rng = shaped_case(shape, joints), np.random.default_rng(0)
        q = case.model.random_configuration(rng)
        operators = SpatialOperators(case.model, q, [task.frame for task in case.tasks])
        texts = (*SYMBOLS, *(f"{name}*" for name in SYMBOLS), *EXPRESSIONS)
        named = {text: evaluate(text, operators) for text in texts}
        field = {
            text: Contestant(
                operator.matvec,
                [(rng.normal(size=operator.shape[1]),)],
                lambda result, _: (result,),
            )
            for text, operator in named.items()
        }
        field["SpatialOperators"] = Contestant(
            lambda q, model=case.model: SpatialOperators(model, q).Upsilon,
            [(q,)],
            lambda result, _: (result,),
        )
        for text, timing in time_in_turns(field, CALLS).items():
            found.setdefault(text, {})[joints] = timing.least
    return found


def main() -> None:
    """Print both shapes; p is the exponent of time ~ joints^p."""
    for shape in ("chain", "tree"):
        with pinned():
            times = operator_growth(shape)
        slopes = exponents(times)
        print(f"{shape}: least time to apply [us]")
        print(f"{'':36}{''.join(f'{n:>9}' for n in SIZES)}{'p':>7}")
        for name, by_size in times.items():
            print(f"{name:36}{''.join(f'{by_size[n]:9.1f}' for n in SIZES)}{slopes[name]:7.2f}")


if __name__ == "__main__":
    main()
