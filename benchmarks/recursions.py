# SPDX-License-Identifier: Apache-2.0
"""Time against size: every forward dynamics, closed chains and duals on chains of up to 1000 links.

    python benchmarks/recursions.py [--most 1000]
Least of several calls [us] on one core, the exponent p of time ~ N^p over the larger sizes, and whether the two
opposite recursions of algorithm 6 are worth two cores.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable
from time import perf_counter

import numpy as np
from numba import njit

from opspace_ctrl import dynamics
from opspace_ctrl.algebra.closure import ClosedChain, Closure
from opspace_ctrl.algebra.recursions.dual_residuals import hinge_residual
from opspace_ctrl.algebra.recursions.kalman import filter_forces
from opspace_ctrl.bench.growth import shaped_case
from opspace_ctrl.dynamics import aba
from opspace_ctrl.dynamics.dual import through_hinge
from opspace_ctrl.dynamics.rows import add_rows, load_rows
from opspace_ctrl.model import Model

SIZES = (8, 16, 32, 64, 125, 250, 500, 1000)
FITTED_FROM = 64
ROUNDS = 30


def least(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The least time of a call [us]."""
    times = []
    for _ in range(rounds):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return 1e6 * min(times)


def contestants(model: Model) -> dict[str, Callable[[], object]]:
    """What is timed on a model: forward dynamics by every method, and a closed chain."""
    rng = np.random.default_rng(0)
    q = model.integrate(model.neutral(), rng.uniform(-0.3, 0.3, model.nv), 1.0)
    v, tau = rng.uniform(-1.0, 1.0, (2, model.nv))
    calls = {
        name: lambda name=name: dynamics.forward_dynamics(model, q, v, tau, method=name)
        for name in dynamics.forward_methods(model)
    }
    chain, out = (
        ClosedChain(model, [Closure("base", model.body_names[-1], "position")]),
        np.empty(model.nv),
    )
    calls["closed chain, 3 rows"] = lambda: chain.forward(q, v, tau, out)
    return calls


def growth(most: int) -> None:
    """Print a table of times by size, and the exponents."""
    table: dict[str, dict[int, float]] = {}
    for joints in (n for n in SIZES if n <= most):
        for name, call in contestants(shaped_case("chain", joints).model).items():
            call()
            table.setdefault(name, {})[joints] = least(call)
    sizes = list(next(iter(table.values())))
    print(f"{'us by joints (floating chain)':30}" + "".join(f"{n:>9}" for n in sizes) + f"{'p':>7}")
    for name, times in table.items():
        fitted = [n for n in sizes if n >= FITTED_FROM]
        p = (
            np.polyfit(np.log(fitted), np.log([times[n] for n in fitted]), 1)[0]
            if len(fitted) > 1
            else np.nan
        )
        print(f"{name:30}" + "".join(f"{times[n]:9.1f}" for n in sizes) + f"{p:7.2f}")


# ---- two opposite recursions on two cores: on a chain neither needs the other ----


@njit(nogil=True)
def inward(tree):
    """P and z, tips to base."""
    aba.articulated_inertias(tree)
    filter_forces(tree)


@njit(nogil=True)
def outward(tree, dual):
    """S and z_s, base to tip, of a chain: no brothers to wait for."""
    parent, I, force = tree.parent, tree.I, tree.force
    S, z, D_inv = dual.S, dual.z_s, dual.D_s_inv
    for i in range(6, tree.n):
        p = parent[i]
        aba.inertia_to_lanes(I, p, S, i)
        add_rows(S, i, load_rows(S, p))
        D_inv[i] = through_hinge(tree, S, i, dual.U_s, i)
        for k in range(6):
            z[i, k] = force[k, p] + z[p, k]
        hinge_residual(tree, dual, i)


def parallel(joints: int) -> tuple[float, float, float, float]:
    """Time [us] of the inward and the outward recursion alone, one after the other, and on two threads."""
    model = shaped_case("chain", joints).model
    rng = np.random.default_rng(0)
    q, v, tau = model.neutral(), *rng.uniform(-1.0, 1.0, (2, model.nv))
    dynamics.forward_dynamics(model, q, v, tau, method="decoupled")
    tree = dynamics.tree_of(model)
    dual = tree.forward_methods["decoupled"].dual
    go, done, stop = threading.Semaphore(0), threading.Semaphore(0), []

    def worker():
        while True:
            go.acquire()
            if stop:
                return
            outward(tree, dual)
            done.release()

    def both():
        go.release()
        inward(tree)
        done.acquire()

    inward(tree), outward(tree, dual)
    thread = threading.Thread(target=worker)
    thread.start()
    alone = least(lambda: inward(tree), 200), least(lambda: outward(tree, dual), 200)
    serial = least(lambda: (inward(tree), outward(tree, dual)), 200)
    found = (*alone, serial, least(both, 200))
    stop.append(True)
    go.release()
    thread.join()
    return found


def main() -> None:
    """Everything, as text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=max(SIZES), help="largest number of joints")
    most = parser.parse_args().most
    growth(most)
    print(f"\n{'two recursions, us':30}{'inward':>9}{'outward':>9}{'serial':>9}{'2 threads':>11}")
    for joints in (n for n in (8, 64, 250, 1000) if n <= most):
        print(f"{joints:<30}" + "{:9.1f}{:9.1f}{:9.1f}{:11.1f}".format(*parallel(joints)))


if __name__ == "__main__":
    main()
