# SPDX-License-Identifier: Apache-2.0
"""Time of J and Lambda^-1 by the recursive methods on chains of 250 to 2000 links, and how it grows with their number.

python benchmarks/recursive_methods.py
"""

from __future__ import annotations

from time import perf_counter_ns

import numpy as np

from opspace_ctrl import OperationalSpace
from opspace_ctrl.bench.growth import RECURSIVE, exponents, shaped_case
from opspace_ctrl.bench.timing import pinned

SIZES = (250, 500, 1000, 2000)
CALLS = 60


def growth() -> dict[str, dict[int, float]]:
    """Least time [us] by method and number of joints."""
    found: dict[str, dict[int, float]] = {name: {} for name in RECURSIVE}
    for joints in SIZES:
        case = shaped_case("chain", joints)
        ospace = OperationalSpace(case.model, list(case.tasks), "pv_osim")
        q = case.model.random_configuration(np.random.default_rng(0))
        for name in RECURSIVE:
            ospace.method = name
            _ = ospace.update(q).inertia_inv  # from now on `update` computes it
            least = np.inf
            for _ in range(CALLS):
                start = perf_counter_ns()
                _ = ospace.update(q).inertia_inv
                least = min(least, (perf_counter_ns() - start) / 1e3)
            found[name][joints] = least
    return found


def main() -> None:
    """Print the times; p is the exponent of time ~ joints^p."""
    with pinned():
        times = growth()
    slopes = exponents(times)
    print(f"{'us':16}{''.join(f'{n:>9}' for n in SIZES)}{'p':>7}")
    for name, by_size in times.items():
        print(f"{name:16}{''.join(f'{by_size[n]:9.1f}' for n in SIZES)}{slopes[name]:7.2f}")


if __name__ == "__main__":
    main()
