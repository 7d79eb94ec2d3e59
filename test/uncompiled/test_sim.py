# SPDX-License-Identifier: Apache-2.0
"""The simulator's kernels as plain Python on NumPy (NUMBA_DISABLE_JIT=1) give the motion that they give compiled."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from helpers.sim_cases import SOLES, box

from opspace_ctrl import load_robot, load_urdf
from opspace_ctrl.sim.engine.integrators import STAGES as INTEGRATORS
from opspace_ctrl.sim.settings import SimulatorSettings
from opspace_ctrl.sim.simulator import Simulator

STEPS = 5


def arm(integrator):
    """arm7 from rest with efforts, a push, and what its sensors say; at its end it is held."""
    sim = Simulator("arm7", integrator=integrator)
    rng = np.random.default_rng(1)
    sim.push("tool", [1.0, 2.0, 3.0, 0.1, 0.2, 0.3], 0.003)
    for _ in range(STEPS):
        sim.step(5.0 * rng.normal(size=7))
    wrenches = sim.frame_wrench("tool"), sim.frame_wrench("tool", compensated=False)
    # the brakes' slope makes 1e10 of a rounding of a velocity
    return np.concatenate([sim.q, sim.v, sim.tau, *wrenches, 1e-6 * sim.hold()])


def sliding_box(integrator):
    """A box on its four corners that slides and spins."""
    model = load_urdf(box(), base="floating")
    settings = SimulatorSettings(integrator=integrator, contacts=("sole 0.1 0.05",))
    sim = Simulator.from_settings(model, settings)
    sim.reset(sim.q, [0.5, 0.2, 0.0, 0.0, 0.0, 6.0])
    for _ in range(STEPS):
        sim.step(np.zeros(0))
    return np.concatenate([sim.q, sim.v, *sim.contact_forces().values(), sim._engine.mode])


def two_sweeps():
    """The box where the modes have no time to settle: two Gauss-Seidel sweeps a step."""
    model = load_urdf(box(), base="floating")
    sim = Simulator(model, contacts=("sole",), solver_sweeps=2)
    sim.reset(sim.q, [0.0, 0.0, -1.0, 3.0, 2.0, 1.0])
    for _ in range(STEPS):
        sim.step(np.zeros(0))
    return np.concatenate([sim.q, sim.v])


def closed_loop():
    """asimo on two corners of its soles, one hand turning with the other."""
    closure = "left_hand right_hand orientation"
    model = load_robot("asimo")
    sim = Simulator(model, closures=(closure,), contacts=SOLES[::4])
    start = model.integrate(sim.q, 0.1 * np.sin(np.arange(model.nv)), 1.0)
    start[:7] = sim.q[:7]
    sim.reset(start)
    for _ in range(2):
        sim.step(np.ones(len(sim.tau)))
    return np.concatenate([sim.q, sim.v, *sim.constraint_forces().values()])


def left_range():
    """A step that cannot be made: what it says, and the state after it, which is the one before."""
    sim = Simulator("arm7", effort_limits=False)
    sim.step(np.ones(7))
    sim.reset(sim.q, 1e60 * np.ones(7))
    with pytest.raises(Exception, match="range of numbers"):
        sim.step(np.zeros(7))
    return np.concatenate([sim.q, sim.v])


CASES = {f"arm, {name}": lambda name=name: arm(name) for name in INTEGRATORS}
CASES |= {f"box, {name}": lambda name=name: sliding_box(name) for name in INTEGRATORS}
CASES |= {"two sweeps": two_sweeps, "closed loop": closed_loop, "left range": left_range}


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory):
    """What all cases give in a process that compiles nothing."""
    path = tmp_path_factory.mktemp("uncompiled") / "found.npz"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    subprocess.run([sys.executable, __file__, str(path)], env=environment, check=True, timeout=3600)
    with np.load(path) as found:
        return dict(found)


@pytest.mark.parametrize("case", CASES)
def test_uncompiled_kernels_move_as_compiled_ones_do(case, uncompiled):
    found = CASES[case]()
    np.testing.assert_allclose(uncompiled[case], found, rtol=1e-9, atol=1e-9)


if __name__ == "__main__":
    from numba import config

    assert config.DISABLE_JIT
    np.savez(sys.argv[1], **{name: case() for name, case in CASES.items()})
