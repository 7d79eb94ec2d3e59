"""The control law at work on the shipped arm: a figure of eight, the method changed on the way."""
from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from time import perf_counter_ns

STEP, SECONDS = 0.001, 8.0
HOME = (0.0, 0.35, 0.0, 1.55, 0.0, 1.2415926535897932, 0.0)  # the tool points down, the elbow is up
METHODS = ("sparse_ltdl", "rjk", "pv_osim", "sparse_ltl")
STIFFNESS, POSTURE_STIFFNESS = 400.0, 60.0  # [1/s^2], critically damped both


@dataclass
class Record:
    """What happened in every step."""

    position: list = field(default_factory=list)
    target: list = field(default_factory=list)
    error: list = field(default_factory=list)
    torque: list = field(default_factory=list)
    tick: dict = field(default_factory=lambda: {name: [] for name in METHODS})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the picture goes."""
    parser.add_argument("--plot", metavar="FILE.png", help="draw the path, the errors and the torques")


def run(args: argparse.Namespace) -> int:
    """Follow the figure of eight, then say how well."""
    from opspace_ctrl.commands._console import console

    out = console()
    out.print("arm7 follows a figure of eight with its tool, keeps a posture in the null space, and changes its\n"
              f"operational-space method every {SECONDS / len(METHODS):g} s: {', '.join(METHODS)}")
    out.print("(the first run ever compiles the kernels, half a minute or more; later ones take seconds)")
    record, limits = follow()
    out.print(summary(record, limits))
    if args.plot:
        draw(record, limits, args.plot)
        out.print(f"drawn: {args.plot}")
    out.print("next: opspace info asimo --plot asimo.png | opspace tables | opspace bench")
    return 0


def figure_of_eight(t: float, center):
    """Position, velocity and acceleration of the target at time t, eased in from rest."""
    import numpy as np
    size, rate = np.array([0.0, 0.12, 0.06]), 2.0 * np.pi / 4.0
    phase = rate * np.array([0.0, 1.0, 2.0])
    ease = 1.0 - np.exp(-t / 0.5)
    wave = np.sin(phase * t)
    position = center + ease * size * wave
    velocity = size * (ease * phase * np.cos(phase * t) + (1.0 - ease) / 0.5 * wave)
    acceleration = size * (-ease * phase**2 * wave + 2.0 * (1.0 - ease) / 0.5 * phase * np.cos(phase * t)
                           - (1.0 - ease) / 0.25 * wave)
    return position, velocity, acceleration


def follow() -> tuple[Record, object]:
    """Control and simulate; the record, and the effort limits [Nm]."""
    import numpy as np
    from scipy.spatial.transform import Rotation

    from opspace_ctrl import OperationalSpace, forward_dynamics, frame_pose, load_robot

    model, record = load_robot("arm7"), Record()
    ospace = OperationalSpace(model, "tool", METHODS[0])
    ospace.prepare(*METHODS)
    q, v = np.array(HOME), np.zeros(model.nv)
    center, upright = frame_pose(model, q, "tool")
    upright = Rotation.from_quat(upright)
    steps = round(SECONDS / STEP)
    for k in range(steps):
        ospace.method = METHODS[k * len(METHODS) // steps]
        position, quaternion = frame_pose(model, q, "tool")
        x, xd, xdd = figure_of_eight(k * STEP, center)
        start = perf_counter_ns()
        twist = ospace.update(q, v).jacobian @ v
        turn = (upright * Rotation.from_quat(quaternion).inv()).as_rotvec()
        wanted = np.concatenate([xdd + 2.0 * STIFFNESS**0.5 * (xd - twist[:3]) + STIFFNESS * (x - position),
                                 STIFFNESS * turn - 2.0 * STIFFNESS**0.5 * twist[3:]])
        force = ospace.inertia @ (wanted - ospace.bias_acceleration)
        posture = POSTURE_STIFFNESS * (np.array(HOME) - q) - 2.0 * POSTURE_STIFFNESS**0.5 * v
        tau = np.clip(ospace.torque(force, posture) + ospace.bias_forces, -model.effort_limits, model.effort_limits)
        record.tick[ospace.method].append((perf_counter_ns() - start) / 1e3)
        v = v + STEP * forward_dynamics(model, q, v, tau, method="crba_ltdl")
        q = model.integrate(q, v, STEP)
        record.position.append(position)
        record.target.append(x)
        record.error.append((1e3 * np.linalg.norm(x - position), np.degrees(np.linalg.norm(turn))))
        record.torque.append(tau)
    return record, model.effort_limits


def summary(record: Record, limits):
    """A table: tracking, torque, and the time of a tick by each method."""
    import numpy as np
    from rich.table import Table

    error, torque = np.array(record.error), np.abs(np.array(record.torque))
    table = Table(title=f"{SECONDS:g} s at {1 / STEP:g} Hz")
    for column in ("quantity", "value"):
        table.add_column(column, justify="left" if column == "quantity" else "right")
    table.add_row("largest tracking error", f"{error[:, 0].max():.2f} mm, {error[:, 1].max():.2f} deg")
    table.add_row("mean tracking error", f"{error[:, 0].mean():.2f} mm, {error[:, 1].mean():.2f} deg")
    table.add_row("largest torque, share of its limit", f"{100 * (torque / limits).max():.0f} %")
    for name, ticks in record.tick.items():
        table.add_row(f"law written in Python, {name}, median", f"{np.median(ticks):.0f} us")
    return table


def draw(record: Record, limits, path: str) -> None:
    """The path in space, the errors and the torques over time."""
    import numpy as np

    from opspace_ctrl.commands._figure import new_figure, save

    figure = new_figure(13, 4.2)
    position, target = np.array(record.position), np.array(record.target)
    time = STEP * np.arange(len(position))
    space = figure.add_subplot(1, 3, 1, projection="3d")
    space.plot(*target.T, color="0.7", linewidth=4, label="target")
    space.plot(*position.T, color="tab:blue", linewidth=1.2, label="tool")
    space.set(xlabel="x [m]", ylabel="y [m]", title="tool path, z up [m]",
              xlim=position[0, 0] + np.array([-0.1, 0.1]))
    space.locator_params(nbins=4)
    space.legend(loc="upper left")
    errors = figure.add_subplot(1, 3, 2)
    errors.plot(time, np.array(record.error), label=["position [mm]", "orientation [deg]"])
    for k, name in enumerate(METHODS):
        errors.axvline(k * SECONDS / len(METHODS), color="0.8", linewidth=0.8)
        errors.text(k * SECONDS / len(METHODS), errors.get_ylim()[1], f" {name}", fontsize=8, va="bottom")
    errors.set(xlabel="time [s]", ylabel="tracking error")
    errors.legend()
    torques = figure.add_subplot(1, 3, 3)
    torques.plot(time, 100 * np.array(record.torque) / limits, linewidth=1.0,
                 label=[f"joint {i + 1}" for i in range(len(limits))])
    torques.set(xlabel="time [s]", ylabel="torque [% of the limit]")
    torques.legend(ncols=2, fontsize=8)
    save(figure, path)
