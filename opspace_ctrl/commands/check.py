# SPDX-License-Identifier: Apache-2.0
"""Check a controller's parameter file against a robot, up to the torques it would send first, before hardware moves."""

import argparse
import warnings
from math import isinf
from pathlib import Path

from ..command_kind import CommandKind, plural
from ..control.live import check_fit
from ..control.settings import ControllerSettings, controller_settings
from ..data import shipped_path
from ..errors import InertiaWarning, Mistakes, OpspaceError, ParameterFileError
from ..model import Model
from ..model.source import ROBOTS
from ..parameter_file import node_parameters
from . import CommandError, _first_tick, _robot
from ._console import console
from ._findings import Findings

FAILED = 1
CONTROLLER = "opspace_controller"
POSE_ROWS = 6
# controllers' files in config/
SHIPPED = (
    "arm7",
    "asimo",
    "free_flyer",
    "panda",
    "g1",
    "fr3",
    "ur5e",
    "iiwa14",
    "gen3",
    "openarm",
    "two_arms",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ROBOT, CONFIG and what to compare them with."""
    _robot.add_robot_arguments(parser)
    parser.add_argument(
        "config",
        metavar="CONFIG",
        help="a ROS 2 parameter file with a section for the controller, or "
        f"the name of a shipped one ({', '.join(SHIPPED)})",
    )
    parser.add_argument(
        "--controllers", metavar="YAML", help="the ros2_control controllers file of the robot"
    )
    parser.add_argument(
        "--effort-controller",
        metavar="NAME",
        default="",
        help="name of the effort (or velocity) controller in it (default: effort_controller, in mode "
        "velocity velocity_controller)",
    )
    parser.add_argument(
        "--node",
        metavar="NAME",
        default=CONTROLLER,
        help=f"name of the controller's node in CONFIG (default: {CONTROLLER})",
    )
    parser.add_argument(
        "--rate",
        metavar="HZ",
        type=float,
        default=1000.0,
        help="rate of the joint states (default: 1000)",
    )


def run(args: argparse.Namespace) -> int:
    """Print one line a finding and the first torques; 0 if nothing failed, 1 otherwise."""
    out, findings = console(), Findings()
    if not args.rate > 0.0:
        raise CommandError(f"--rate {args.rate:g}: a positive number is valid")
    path = config_path(args.config)
    try:
        look(args, path, findings)
    except OpspaceError as error:
        for each in error.parts or (error,):
            findings.fail(findings.subject, str(each))
    out.print(findings.table())
    if findings.torques:
        out.print(findings.torque_table())
    failed, doubtful = findings.count("FAIL"), findings.count("warning")
    warnings_found = f"{doubtful} warning{'' if doubtful == 1 else 's'}"
    out.print(
        f"{path}: {f'{failed} failed' if failed else 'good'}, {warnings_found}", soft_wrap=True
    )
    return FAILED if failed else 0


def config_path(config: str) -> Path:
    """The file itself, or a shipped one of that name.

    Raises:
        CommandError: there is neither.
    """
    if not Path(config).exists() and config in SHIPPED:
        return Path(shipped_path("config", f"{config}.yaml"))
    if not Path(config).is_file():
        raise CommandError(
            f"{config!r} is neither a file nor the name of a shipped one ({', '.join(SHIPPED)})"
        )
    return Path(config)


def look(args: argparse.Namespace, path: Path, findings: Findings) -> None:
    """Everything in order; what cannot go on raises an OpspaceError."""
    findings.subject = "parameters"
    given = node_parameters(path, args.node)
    mistakes = Mistakes()
    settings = controller_settings(given, mistakes)
    start = {}
    with mistakes:
        start = _first_tick.simulator_values(path)
    taken = start.get("commands", "effort")
    if start and taken != settings.commands:
        findings.fail(
            "parameters",
            f"mode {settings.mode} sends {plural(settings.commands)}, and CONFIG's simulator takes "
            f"{taken}: give it commands: {settings.commands}",
        )
    if not findings.fail_all("parameters", mistakes):
        findings.good(
            "parameters",
            f"{len(given)} given, {len(settings.values)} in all; mode {settings.mode}, "
            f"method {settings.method}",
        )
    findings.subject = "robot"
    args.base = args.base or settings.robot.base or None
    model = _loaded(args, settings, findings)
    misfits = Mistakes()
    with misfits:
        check_fit(model, settings)
    _compare_robot(args, settings, model, findings)
    findings.fail_all("robot", misfits)
    _compare_joints(args, settings, model, findings)
    _look_at_limits(model, findings)
    if mistakes.found or misfits.found:
        return
    _look_at_rows(settings, model, findings)
    _look_at_gains(settings, args.rate, findings)
    findings.subject = "controller"
    _first_tick.look(start, model, settings, findings)


def _loaded(args: argparse.Namespace, settings: ControllerSettings, findings: Findings) -> Model:
    """The robot; what is doubtful in its file is a finding."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            return _robot.load(args, locked=settings.robot.locked)
        finally:
            for warning in caught:
                subject = "inertias" if issubclass(warning.category, InertiaWarning) else "robot"
                findings.warn(subject, str(warning.message))


def _compare_robot(
    args: argparse.Namespace, settings: ControllerSettings, model: Model, findings: Findings
) -> None:
    """The robot that the controller's node would load is the one that is checked."""
    named = settings.robot.robot
    base = "floating" if model.is_base_coordinate.any() else "fixed"
    findings.good(
        "robot",
        f"{model.name}: {len(model.joint_names)} joints, {base} base, {model.total_mass:.4g} kg",
    )
    if not named or named in ROBOTS:
        is_other = bool(named) and named != args.robot
    elif not Path(named).is_file():
        findings.fail(
            "robot",
            f"CONFIG's robot {named!r} is neither a file (seen from this folder) nor a shipped "
            f"robot ({', '.join(ROBOTS)}): the controller would not start",
        )
        return
    else:
        is_other = args.robot in ROBOTS or not Path(named).samefile(args.robot)
        if not Path(named).is_absolute():
            findings.warn(
                "robot",
                f"CONFIG's robot {named!r} is a relative path: it is found only if the controller "
                "is started in this folder",
            )
    if is_other:
        findings.warn("robot", f"CONFIG names {named!r}, checked was {args.robot!r}")


def _compare_joints(
    args: argparse.Namespace, settings: ControllerSettings, model: Model, findings: Findings
) -> None:
    """The order of the command is that of the controller that takes it."""
    findings.subject = "joints"
    commands = settings.commands
    name = args.effort_controller or f"{commands}_controller"
    joints = list(settings.joints or model.joint_names)
    if not args.controllers:
        findings.warn(
            "joints",
            f"their order was not compared with the {commands} controller's: give --controllers",
        )
        return
    controller = node_parameters(args.controllers, name)
    others, interface = controller.get("joints"), controller.get("interface_name", commands)
    if interface != commands:
        findings.fail("joints", f"{name} commands the interface {interface!r}, not {commands}")
    kind, valid = _type_of(args.controllers, name), _types_for(commands)
    if kind and kind not in valid:
        findings.fail(
            "joints",
            f"{name} is a {kind}, which does not take {plural(commands)}; valid are "
            f"{', '.join(valid)}",
        )
    if others == joints:
        findings.good("joints", f"the {len(joints)} joints are in the order of {name}")
    elif isinstance(others, list) and sorted(map(str, others)) == sorted(joints):
        k = next(i for i, (a, b) in enumerate(zip(joints, others)) if a != b)
        findings.fail(
            "joints",
            f"another order than {name}: place {k} is {joints[k]} here and "
            f"{others[k]} there; give `joints` in its order",
        )
    else:
        findings.fail("joints", f"not those of {name}, which has {others}; here: {joints}")


def _types_for(commands: CommandKind) -> tuple[str, ...]:
    """The controllers of ros2_control that hand commands of a kind on to the hardware."""
    group = f"{commands}_controllers/JointGroup{commands.capitalize()}Controller"
    return ("forward_command_controller/ForwardCommandController", group)


def _type_of(path: str, controller: str) -> str:
    """What the controller manager loads as this controller; empty if the file does not say."""
    try:
        return str(node_parameters(path, "controller_manager").get(f"{controller}.type", ""))
    except ParameterFileError:
        return ""  # another file has the manager's part


def _look_at_limits(model: Model, findings: Findings) -> None:
    for what, limits in (("effort", model.effort_limits), ("velocity", model.velocity_limits)):
        free = [name for name, limit in zip(model.joint_names, limits) if isinf(limit)]
        zero = [name for name, limit in zip(model.joint_names, limits) if limit == 0.0]
        if zero:
            findings.fail("limits", f"the {what} limit of {', '.join(zero)} is 0")
        if free:
            findings.warn("limits", f"no {what} limit: {', '.join(free)}")
        if not free and not zero:
            findings.good("limits", f"all joints have {what} limits")


def _look_at_rows(settings: ControllerSettings, model: Model, findings: Findings) -> None:
    """A pose on fewer than six joints is singular everywhere; the first tick cannot tell that from a bad start."""
    for task in settings.tasks:
        if task.rows == "pose" and model.nv < POSE_ROWS:
            findings.warn(
                "tasks",
                f"{task.name}: a pose has {POSE_ROWS} rows, the robot {model.nv} coordinates: "
                "it cannot reach every one; `rows: position` or `rows: orientation` asks for less",
            )


def _look_at_gains(settings: ControllerSettings, rate: float, findings: Findings) -> None:
    """Damping ratios, and whether the rate is high enough for the gains (a delay of one period is a phase lag)."""
    for task in settings.tasks:
        if task.law != "inertia":
            findings.good(
                "gains",
                f"{task.name}: impedance, "
                + (
                    "whose damping depends on the inertia it meets"
                    if task.gains("damping")
                    else f"damping ratio {task.damping_ratio:g} at the inertia it meets"
                ),
            )
            continue
        ratios = [d / (2.0 * k**0.5) for k, d in zip(task.kp, task.kd) if k > 0.0]
        fastest = max(task.kd)
        text = (
            f"{task.name}: {max(task.kp) ** 0.5 / 6.2832:.2g} Hz, damping ratio "
            f"{min(ratios, default=0.0):.2g} to {max(ratios, default=0.0):.2g}"
        )
        if fastest > 0.3 * rate:
            findings.fail("gains", f"{text}; damping {fastest:g} 1/s is too fast for {rate:g} Hz")
        elif min(ratios, default=1.0) < 0.3 or fastest > 0.15 * rate:
            findings.warn("gains", f"{text}; it will ring")
        else:
            findings.good("gains", text)
