# SPDX-License-Identifier: Apache-2.0
"""Time of a simulated step beside mj_step in the same run, and how much faster than real time a closed loop goes.

    python benchmarks/simulator.py [--rounds 30]
Step times [us] are the least and the median over blocks of steps that both engines take in turns on one core, each from
Python, at 1 ms; both robots have joint damping and friction. asimo stands on the eight corners of its soles. The closed
loop is the shipped controller and the simulator in one process.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter
from xml.etree import ElementTree

import mujoco
import numpy as np

from opspace_ctrl import Model, frame_pose, load_robot
from opspace_ctrl.bench.timing import pinned, quiet
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.parameter_file import node_parameters
from opspace_ctrl.sim.settings import simulator_settings
from opspace_ctrl.sim.simulator import Simulator

BLOCK = 200  # steps in one measurement
SECONDS = 5.0  # of closed loop
TARGETS = {"arm7": 50.0, "asimo": 8.0}  # times real time, with the controller
TIP = 0.005  # [m] radius of the spheres that MuJoCo touches the ground with


def simulator(robot: str, **changes) -> Simulator:
    """The shipped robot as its configuration starts it."""
    values = node_parameters(shipped_path("config", f"{robot}.yaml"), "opspace_simulator")
    return Simulator.from_settings(load_robot(robot), simulator_settings({**values, **changes}))


def mujoco_of(model: Model, contacts: tuple[str, ...]) -> mujoco.MjModel:
    """The same URDF in MuJoCo: no collision but of a small sphere at each contact point with the ground."""
    root = ElementTree.fromstring(model.source)
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    ElementTree.SubElement(
        ElementTree.SubElement(root, "mujoco"),
        "compiler",
        fusestatic="false",
        balanceinertia="true",
        discardvisual="true",
    )
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"))
    if model.is_base_coordinate.any():
        spec.body(model.body_names[0]).add_freejoint()
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1], contype=1, conaffinity=2
    )
    for frame in contacts:
        spec.body(frame).add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[TIP, 0, 0],
            pos=[0, 0, TIP],
            mass=0.0,
            contype=2,
            conaffinity=1,
        )
    spec.option.timestep = 1e-3
    return spec.compile()


def mujoco_steps(sim: Simulator) -> Callable[[], None]:
    """mj_step from the same state, held there by the efforts that hold ours."""
    twin = mujoco_of(sim.model, sim.settings.contacts)
    data, joints = mujoco.MjData(twin), len(sim.tau)
    if sim.model.is_base_coordinate.any():
        x, y, z, w = sim.q[3:7]
        data.qpos[:7] = *sim.q[:3], w, x, y, z
    for name, position in zip(sim.model.joint_names, sim.q[-joints:]):
        data.joint(name).qpos[0] = position
    effort = np.zeros(twin.nv)
    for name, value in zip(sim.model.joint_names, sim.hold()):
        effort[twin.joint(name).dofadr[0]] = value
    start, step = (data.qpos.copy(), data.qvel.copy()), mujoco.mj_step

    def block():
        data.qpos[:], data.qvel[:] = start
        data.qfrc_applied[:] = effort
        for _ in range(BLOCK):
            step(twin, data)

    return block


def our_steps(sim: Simulator) -> Callable[[], None]:
    """Our own step from where the simulator is, with the efforts that hold it there."""
    state, tau = sim.save(), sim.hold().copy()

    def block():
        sim.restore(state)
        step = sim.step
        for _ in range(BLOCK):
            step(tau)

    return block


def in_turns(blocks: dict[str, Callable[[], None]], rounds: int) -> dict[str, np.ndarray]:
    """Time of a step [us] in every block."""
    times: dict[str, list[float]] = {name: [] for name in blocks}
    with pinned(), quiet():
        for _ in range(rounds):
            for name, block in blocks.items():
                start = perf_counter()
                block()
                times[name].append((perf_counter() - start) / BLOCK * 1e6)
    return {name: np.array(taken) for name, taken in times.items()}


def closed_loop(robot: str) -> tuple[float, float]:
    """Times real time that the shipped controller and simulator reach in one process: best second, all seconds."""
    sim = simulator(robot)
    values = node_parameters(shipped_path("config", f"{robot}.yaml"), "opspace_controller")
    controller = Controller.from_settings(sim.model, controller_settings(values))
    controller.activate(sim.q, sim.v, 0.0)
    steps, taken = round(1.0 / sim.settings.step), []
    with pinned(), quiet():
        for _ in range(round(SECONDS)):
            start = perf_counter()
            for _ in range(steps):
                sim.step(controller.tick(sim.q, sim.v, sim.time))
            taken.append(perf_counter() - start)
    if (
        not np.isfinite(sim.q).all()
        or robot == "asimo"
        and frame_pose(sim.model, sim.q, "torso")[0][2] < 0.5
    ):
        raise SystemExit(f"{robot} did not stay where it was told to")
    return 1.0 / min(taken), len(taken) / sum(taken)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    print(f"{'step [us]':<28}{'least':>9}{'median':>9}   mj_step over ours")
    for robot in TARGETS:
        sim = simulator(robot)
        blocks = {
            "ours": our_steps(sim),
            "ours, rkmk4": our_steps(simulator(robot, integrator="rkmk4")),
            "mj_step": mujoco_steps(sim),
        }
        times = in_turns(blocks, rounds)
        for name, taken in times.items():
            ratio = times["mj_step"] / taken
            print(
                f"{robot + ': ' + name:<28}{taken.min():9.2f}{np.median(taken):9.2f}   "
                f"{times['mj_step'].min() / taken.min():.2f} (median {np.median(ratio):.2f})"
            )
    print("\nwith the shipped controller, times real time at 1 ms (target)")
    for robot, target in TARGETS.items():
        best, mean = closed_loop(robot)
        print(f"{robot:<28}{best:9.1f}{mean:9.1f}   ({target:g})")


if __name__ == "__main__":
    main()
