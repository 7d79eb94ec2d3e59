# SPDX-License-Identifier: Apache-2.0
"""The part of `opspace check` that builds the controller and lets it tick once where the robot starts."""

from pathlib import Path
from typing import Any

import numpy as np

from ..command_kind import CommandKind, command_limits, plural
from ..control.controller import Controller
from ..control.fields import CENTRE, CONE, TORSION, UNILATERAL
from ..control.safety.state_gate import outside_limits
from ..control.settings import ControllerSettings
from ..errors import ParameterFileError
from ..model import JointType, Model
from ..parameter_file import node_parameters
from ..parameters import checked
from ..sim.initial import start_configuration
from ..sim.settings import SIMULATOR_TABLE, simulator_settings
from ._findings import Findings

__all__ = ["look", "simulator_values", "start_of"]

SIMULATOR = "opspace_simulator"
STIFF = 1e6  # condition number above which a task is nearly singular


def look(
    start: dict[str, Any], model: Model, settings: ControllerSettings, findings: Findings
) -> None:
    """Build, tick once where `simulator_values` start, and judge what comes out."""
    controller = Controller.from_settings(model, settings)
    findings.good(
        "controller",
        f"{len(settings.tasks)} tasks, {len(settings.contacts)} contacts; method "
        f"{controller.method} of {', '.join(controller.methods())}",
    )
    findings.subject = "start"
    q = start_of(start, model, settings, findings)
    findings.subject = "first tick"
    v = np.zeros(model.nv)
    controller.activate(q, v, 0.0)
    tau = controller.tick(q, v, 0.0)
    _judge_torques(controller, model, tau, findings)
    _judge_levels(controller, findings)
    _judge_contacts(controller, findings)


def simulator_values(path: Path) -> dict[str, Any]:
    """What CONFIG gives the simulator, checked; empty where it has no section for it.

    Raises:
        ParameterError: It is not valid.
    """
    try:
        given = node_parameters(path, SIMULATOR)
    except ParameterFileError:
        return {}
    checked(SIMULATOR_TABLE, given)
    return given


def start_of(
    given: dict[str, Any], model: Model, settings: ControllerSettings, findings: Findings
) -> np.ndarray:
    """q where CONFIG's simulator starts; without one, its posture; without that, the middle of the limits."""
    values = checked(SIMULATOR_TABLE, given)
    locked = settings.robot.locked
    if len(values["initial_positions"]) == len(model.position_limits) + len(locked):
        values["initial_positions"] = values["initial_positions"][: len(model.position_limits)]
    if (
        not values["initial_positions"]
        and np.size(settings.posture.positions)
        and not settings.posture.joints
    ):
        values["initial_positions"] = np.ravel(settings.posture.positions).tolist()
    q = start_configuration(model, simulator_settings(values))
    if values["initial_positions"]:
        findings.good(
            "start", "joints as in initial_positions" if given else "joints as in posture.positions"
        )
    else:
        findings.warn(
            "start", "CONFIG gives no initial_positions: checked at zero, or the nearest limit"
        )
    outside = outside_limits(model, q, settings.safety.position_margin)
    if outside:
        findings.fail("start", f"outside their limits: {', '.join(outside)}")
    return q


def _judge_torques(
    controller: Controller, model: Model, tau: np.ndarray, findings: Findings
) -> None:
    commands, limits = controller.settings.commands, controller.settings.limits
    scale = limits.velocity_scale if commands == "velocity" else limits.effort_scale
    limit = dict(zip(model.joint_names, scale * command_limits(model, commands)))
    saturated = dict(zip(model.joint_names, controller.report.saturated))
    findings.torques = [
        (name, float(torque), limit[name], bool(saturated[name]), _unit(model, name, commands))
        for name, torque in zip(controller.joints, tau)
    ]
    if not np.isfinite(tau).all():
        findings.fail("first tick", f"a number of the {plural(commands)} is not finite")
    over = [name for name, _, _, is_saturated, _ in findings.torques if is_saturated]
    if over:
        findings.fail(
            "first tick",
            f"to hold the start would take more than the {commands} limit of {', '.join(over)}",
        )
    else:
        share, name = max(
            (abs(torque) / limit, name) for name, torque, limit, _, _ in findings.torques
        )
        findings.good(
            "first tick", f"largest share of the {commands} limits: {100.0 * share:.0f} %, {name}"
        )


def _unit(model: Model, joint: str, commands: CommandKind) -> str:
    kind = model.joint_type[list(model.body_joint_names).index(joint)]
    if commands == "velocity":
        return "m/s" if kind == JointType.PRISMATIC else "rad/s"
    return "N" if kind == JointType.PRISMATIC else "Nm"


def _judge_levels(controller: Controller, findings: Findings) -> None:
    report = controller.report
    for i, level in enumerate(report.levels):
        if report.damped[i]:
            findings.warn(
                "conditioning",
                f"level {level} is singular here, or conflicts with those before it: rank "
                f"{report.rank[i]:.0f}",
            )
    if controller.tasks:
        values = np.linalg.eigvalsh(controller.osim)
        condition = values[-1] / values[0] if values[0] > 0.0 else np.inf
        text = f"J H^-1 J^T of all tasks: condition number {condition:.2g}"
        (findings.warn if condition > STIFF else findings.good)("conditioning", text)
    if report.law.joints_limited:
        near = [name for name, activation in zip(report.joints, report.limited) if activation]
        findings.warn("limits", f"inside limits.margin at the start: {', '.join(near)}")


def _judge_contacts(controller: Controller, findings: Findings) -> None:
    report = controller.report
    for i, name in enumerate(report.contacts):
        force = float(np.linalg.norm(report.contact_wrench[i, :3]))
        worst = float(min(report.margins[i, [CONE, CENTRE, TORSION]]))
        text = f"{name}: {force:.4g} N, margin {worst:.2f} (1 = unloaded, 0 = on the limit)"
        if report.margins[i, UNILATERAL] < 0.0 or worst < 0.0:
            findings.fail("contacts", f"{text}: it would slip, tip or lift")
        else:
            findings.good("contacts", text)
    missing = report.law.base_residual
    # without contacts nothing carries the base, and nothing should
    if report.contacts and missing > 1.0:
        findings.fail("contacts", f"they cannot carry the base: {missing:.3g} N or Nm are missing")
