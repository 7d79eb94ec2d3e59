# SPDX-License-Identifier: Apache-2.0
"""All layers on small robots, on whatever Python, Numba and NumPy this runs: needs the core dependencies alone.

    python smoke.py              every case, started three times; one line at the end
    python smoke.py osim ...     some cases

Every case is checked against dense algebra or mechanics where there is any, and gives its results to be compared: a
first start compiles, a second one finds the kernels in the cache and must give the same bits, and an uncompiled one
(NUMBA_DISABLE_JIT=1) must agree to rounding. `make matrix` runs this on every interpreter.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np

TESTS = Path(__file__).resolve().parents[1]


def dynamics() -> dict[str, np.ndarray]:
    """Every function and every forward method; the methods agree, and forward is the inverse of inverse dynamics."""
    from helpers import dynamics_results

    from opspace_ctrl import dynamics

    found = {}
    for name, model in dynamics_results.models().items():
        results = dynamics_results.results_of(model)
        H = results["mass_matrix"]
        close(results["inverse_dynamics"] - results["bias_forces"], H @ motion(model)[2], H)
        for method in dynamics.forward_methods(model):
            inertial = H @ results[method] + results["bias_forces"]
            close(inertial, motion(model)[2], np.linalg.cond(H))
        found.update({f"{name}: {key}": value for key, value in results.items()})
    return found


def motion(model) -> tuple[np.ndarray, ...]:
    """The state and the forces, or accelerations, of `dynamics_results`."""
    from helpers import dynamics_results

    return dynamics_results._motion(model)


def osim() -> dict[str, np.ndarray]:
    """Every method against dense algebra, in a singular pose too; auto, the switch, and all links at once."""
    from helpers import dynamics_results
    from helpers.osim_cases import Dense, regular_tasks

    from opspace_ctrl import (
        CenterOfMass,
        OperationalSpace,
        Task,
        frame_jacobian,
        load_robot,
        mass_matrix,
    )
    from opspace_ctrl.osim import link_inertias, methods

    robots = dynamics_results.models()
    found: dict[str, np.ndarray] = {}
    for name, model in robots.items():
        q, v, tau0 = motion(model)
        H = mass_matrix(model, q)
        ends = [model.frame_names[-1], model.frame_names[0]]
        tasks = regular_tasks(ends, partial(frame_jacobian, model, q), H)
        space = OperationalSpace(model, tasks, "sparse_ltdl").update(q, v)
        dense, force = Dense(H, space.jacobian.copy()), np.ones(space.m)
        space.prepare()
        for method in methods(model):
            space.method = method  # the switch
            dense.check_all(space.update(q, v))
            dense.check_torque(space.torque(force, tau0), force, tau0)
            tau = space.control(q, v, force, tau0)
            close(tau, space.torque(force, tau0, compensate=True), tau)
            found[f"{name}, {method}"] = np.concatenate([space.inertia.ravel(), tau])
    arm, stretched = load_robot("arm7"), np.zeros(7)
    for method in methods(arm):
        space = OperationalSpace(arm, "tool", method).update(stretched)
        J, N = space.jacobian, space.null_space
        assert space.damped and space.rank < 6 and np.isinf(space.inertia).sum() == 0
        close(N @ N, N, 1e3)
        close(J @ N, 0.0, 1e6)
        found[f"stretched, {method}"] = space.inertia_inv.copy()
    flyer = robots["flyer"]
    q = motion(flyer)[0]
    found["links"] = link_inertias(flyer, q)
    auto = OperationalSpace(flyer, [CenterOfMass(), Task("l2", "position", relative_to="l3")])
    auto.update(q)  # by the fastest method of this start: the bits are not those of the next
    dense = Dense(mass_matrix(flyer, q), auto.jacobian.copy())
    dense.check("inertia_inv", auto.inertia_inv)
    return found


def simulator() -> dict[str, np.ndarray]:
    """Steps of an arm by every integrator, and of a body that slides on the ground."""
    from helpers.urdf_text import link, robot

    from opspace_ctrl import forward_dynamics, load_urdf
    from opspace_ctrl.sim.engine.integrators import STAGES as INTEGRATORS
    from opspace_ctrl.sim.simulator import Simulator

    found = {}
    ideal = {"joint_damping": False, "joint_friction": False, "joint_limits": False}
    for integrator in INTEGRATORS:
        sim = Simulator("arm7", integrator=integrator, **ideal)
        before, tau = sim.v.copy(), np.linspace(-1.0, 1.0, 7)
        expected = forward_dynamics(sim.model, sim.q, before, tau)
        sim.step(tau)
        np.testing.assert_allclose(sim.v, sim.settings.step * expected, rtol=0.05, atol=1e-3)
        for _ in range(4):
            sim.step(tau)
        found[f"arm, {integrator}"] = np.concatenate([sim.q, sim.v, sim.frame_wrench("tool")])
    body = load_urdf(robot(link("body", 2.0)), base="floating")
    sim = Simulator(body, contacts=("body 0.1 0.05",))
    sim.reset(sim.q, [0.5, 0.2, 0.0, 0.0, 0.0, 2.0])
    for _ in range(5):
        sim.step(np.zeros(0))
    assert sim.v[0] < 0.5  # friction
    found["sliding"] = np.concatenate([sim.q, sim.v])
    return found


def controller() -> dict[str, np.ndarray]:
    """Ticks of arm7 with its shipped parameters; the method changes on the way."""
    from opspace_ctrl import load_robot
    from opspace_ctrl.control.controller import Controller
    from opspace_ctrl.control.settings import controller_settings
    from opspace_ctrl.data import shipped_path
    from opspace_ctrl.parameter_file import node_parameters

    values = node_parameters(shipped_path("config", "arm7.yaml"), "opspace_controller")
    settings = controller_settings({**values, "method": "sparse_ltdl"})
    controller = Controller.from_settings(load_robot("arm7"), settings)
    q, v = np.array([0.0, 0.35, 0.0, 1.55, 0.0, 1.2, 0.0]), np.zeros(7)
    controller.activate(q, v, 0.0)
    position, quaternion = controller.pose(controller.task_names[0])
    controller.target_pose(controller.task_names[0], position + [0.1, 0.05, -0.1], quaternion, 0.0)
    torques = [controller.tick(q, v, 0.2).copy()]
    controller.method = "pv_osim"
    torques.append(controller.tick(q, v, 0.2).copy())
    close(torques[1], torques[0], 1e3)
    torques += [controller.safe_command(kind, q, v).copy() for kind in ("gravity", "damping")]
    return {"torques": np.array(torques)}


CASES = {
    "dynamics": dynamics,
    "osim": osim,
    "simulator": simulator,
    "controller": controller,
}


def close(found, expected, size) -> None:
    """Equal but for the rounding of numbers of a size."""
    scale = 1.0 + float(np.abs(size).max())
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-11 * scale)


def save(path: str, names: list[str]) -> None:
    """Run cases in this process, and keep what they give."""
    found = {f"{n}: {key}": value for n in names for key, value in CASES[n]().items()}
    np.savez(path, **found)


def start(names: list[str], path: Path, **environment: str) -> tuple[dict, str, float]:
    """Run cases in a new process: what they give, what was said on stderr, and how long it took [s]."""
    begin = perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--save", str(path), *names],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    with np.load(path) as found:
        return dict(found), done.stderr, perf_counter() - begin


def main(names: list[str]) -> None:
    """Start three times, compare, say so in one line."""
    with tempfile.TemporaryDirectory() as folder:
        path, cache = Path(folder) / "found.npz", str(Path(folder) / "cache")
        kept = {"NUMBA_CACHE_DIR": cache, "NUMBA_DISABLE_JIT": "0"}
        first, _, compiling = start(names, path, **kept)
        again, said, loading = start(names, path, **kept)
        plain, _, uncompiled = start(names, path, NUMBA_DISABLE_JIT="1")
    assert "compiling" not in said, f"a second start compiles again:\n{said}"
    assert first.keys() == again.keys() == plain.keys()
    for key, value in first.items():
        np.testing.assert_array_equal(again[key], value, err_msg=f"{key}, from the cache")
        scale = np.abs(value).max(initial=1e-12)
        np.testing.assert_allclose(
            plain[key], value, rtol=0.0, atol=1e-9 * scale, err_msg=f"{key}, uncompiled"
        )
    versions = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy", "scipy"))
    print(
        f"ok: Python {platform.python_version()}, {versions}: {len(first)} results of {' '.join(names)}; "
        f"first start {compiling:.0f} s, cached {loading:.0f} s, uncompiled {uncompiled:.0f} s"
    )


if __name__ == "__main__":
    sys.path[0] = str(TESTS)  # `helpers`
    sys.path.insert(1, str(TESTS.parent))
    if sys.argv[1:2] == ["--save"]:
        save(sys.argv[2], sys.argv[3:])
    else:
        main(sys.argv[1:] or list(CASES))
