# SPDX-License-Identifier: Apache-2.0
"""The control law's kernels as plain Python on NumPy (NUMBA_DISABLE_JIT=1) give the torques that they give compiled."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from helpers.closed_loop import ARM_START
from helpers.control_cases import ContactSpec, TaskSpec, set_sole
from helpers.urdf_text import joint, limit, link, robot

from opspace_ctrl import load_robot, load_urdf
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.core import Core
from opspace_ctrl.control.fields import BRAKING, GRAVITY_MODE, RAW_MODE, ZERO
from opspace_ctrl.control.safety.state_gate import StateGate
from opspace_ctrl.control.settings import ControllerSettings, controller_settings
from opspace_ctrl.data import shipped_path
from opspace_ctrl.parameter_file import node_parameters

TICKS = 3
METHOD = "sparse_ltdl"


def seen(law):
    """What a tick has found, in one vector."""
    numbers = law.ramped, law.faded, law.clipped, law.rate_limited, law.joints_limited
    more = law.error_clipped, law.not_finite, law.is_damped, law.worst_margin, law.base_residual
    arrays = law.door.sent, law.level_torque, law.level_rank, law.pose, law.error, law.activation
    contacts = law.contact_wrench, law.contact_margin
    return np.concatenate([numbers, more, *(np.ravel(x) for x in (*arrays, *contacts))])


def arm_config():
    """arm7 as shipped, on its way to a target; then a stretched arm; then what is sent through a closed gate."""
    values = node_parameters(shipped_path("config", "arm7.yaml"), "opspace_controller")
    controller = Controller.from_settings(
        load_robot("arm7"), controller_settings({**values, "method": METHOD})
    )
    q, v, found = ARM_START.copy(), np.linspace(-0.1, 0.2, 7), []
    controller.activate(q, v, 0.0)
    task = controller.task_names[0]
    position, quaternion = controller.pose(task)
    controller.target_pose(task, position + [0.1, 0.05, -0.1], quaternion[::-1], 0.0)
    for k in range(TICKS):
        controller.tick(q, v, 0.2 * k)
        found.append(seen(controller._core.law))
    controller.tick(np.zeros(7), v, 1.0)
    found.append(seen(controller._core.law))
    for step, kind in enumerate(("gravity", "damping", "zero")):
        found.append(controller.safe_command(kind, q, v, 1.0 + 1e-3 * step, 1e-3 * step).copy())
    return np.concatenate(found)


def biped():
    """A box on two legs of two joints, with an arm of one."""
    parts = [link("trunk", 5.0), link("arm", 0.5)]
    parts += [joint("shoulder", "trunk", "arm", "revolute", "0 0 0.2", axis="0 1 0", extra=limit())]
    for side, y in (("left", 0.1), ("right", -0.1)):
        parts += [link(f"{side}_thigh"), link(f"{side}_foot", 0.5, "0 0 -0.1")]
        hip = f"{side}_hip", "trunk", f"{side}_thigh", "revolute", f"0 {y} -0.1"
        knee = f"{side}_knee", f"{side}_thigh", f"{side}_foot", "revolute", "0 0 -0.3"
        parts += [joint(*hip, axis="0 1 0", extra=limit(effort=100.0))]
        parts += [joint(*knee, axis="0 1 0", extra=limit(effort=100.0))]
    return load_urdf(robot(*parts), base="floating")


def standing(mode=None, **settings):
    """The biped on a sole and a point, one of which is lifted; a joint is near its limit."""
    tasks = (
        TaskSpec("com", None, "position"),
        TaskSpec("hand", "arm", "position", "left_foot", "arm", 2, "impedance"),
        TaskSpec("trunk", "trunk", "orientation", level=3),
    )
    contacts = ContactSpec("left", "left_foot"), ContactSpec("right", "right_foot", 3, "world")
    core = Core(biped(), ControllerSettings(tasks=tasks, contacts=contacts, method=METHOD))
    law, rng, found = core.law, np.random.default_rng(4), []
    law.position_margin, law.velocity_margin = 0.3, 0.5
    law.posture_stiffness, law.measured_on, law.task_force_integral = 50.0, 1.0, 2.0
    law.task_force_limit, law.posture_damping, law.ramp = 5.0, 2.0, 0.01
    set_sole(law, 0.1, 0.1)
    law.task_force_axes[1, 2], law.wrench[1, 2] = 1.0, 3.0
    q = core.model.integrate(core.model.neutral(), 0.2 * rng.normal(size=core.model.nv), 1.0)
    v = 0.3 * rng.normal(size=core.model.nv)
    core.activate(q, v, 0.0)
    q = core.model.integrate(q, 0.05 * rng.normal(size=core.model.nv), 1.0)
    q[7] = 0.95  # the shoulder, whose limit is at 1
    for name, value in settings.items():
        setattr(law, name, value)
    law.mode = law.mode if mode is None else mode
    law.raw_force, law.raw_tau0 = 1.0, np.arange(law.k)
    for k in range(TICKS):
        core.tick(q, v, 0.005 * k)
        found.append(seen(law))
        law.contact_enabled[1] = 0.0
    core.safe(BRAKING, q, v, 1.0)
    return np.concatenate([*found, core.tau, law.integral.ravel(), core.osim.ravel()])


def messages():
    """A biped's joint states and odometry, good and bad: the verdicts, and what is believed in the end."""
    model, rng, found = biped(), np.random.default_rng(2), []
    gate = StateGate(model, controller_settings({}).safety)
    names, k = list(model.joint_names), len(model.joint_names)
    for step in range(1, 60):
        time = 10**9 + step * 10**6
        position, velocity = 1e-4 * step * np.ones(k), 0.1 * np.ones(k)
        pose, twist = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.0] * 6
        for array in (position, velocity, pose, twist):
            if rng.random() < 0.2:
                array[rng.integers(len(array))] = rng.choice([np.nan, np.inf, 3.0, 50.0, 1e13])
        some = slice(0, k if rng.random() < 0.7 else 2)
        found.append(gate.odometry(pose, twist, time, "", time, time))
        stamp = time - 3 * 10**6 * int(rng.integers(2))
        given = position[some], velocity[some] if rng.random() < 0.8 else velocity[:0]
        found.append(gate.joint_states(names[some], *given, stamp, time, time))
        found += [gate.check(time, time), gate.closed, gate.faults]
        found.append(["zero", "gravity", "damping"].index(gate.permitted(time)))
    return np.concatenate([found, gate.q, gate.v, gate.closings, gate.fault_counts])


CASES = {
    "arm7 as shipped": arm_config,
    "standing": standing,
    "standing, bias in the law": lambda: standing(
        bias_in_law=1, internal_forces=ZERO, compensation_friction=1.0, truncate_null_space=1
    ),
    "standing, raw": lambda: standing(RAW_MODE),
    "standing, gravity": lambda: standing(GRAVITY_MODE, coriolis_share=0.0),
    "messages": messages,
}


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
def test_uncompiled_kernels_give_the_torques_of_compiled_ones(case, uncompiled):
    found = CASES[case]()
    assert found.any()
    np.testing.assert_allclose(
        uncompiled[case], found, rtol=1e-8, atol=1e-9 * np.abs(found[np.isfinite(found)]).max()
    )


def test_the_standing_robot_is_held_at_a_limit():
    """Else the comparison leaves out the rows of joint limits."""
    joints_limited = standing()[4]
    assert joints_limited >= 1.0


if __name__ == "__main__":
    from numba import config

    assert config.DISABLE_JIT
    np.savez(sys.argv[1], **{name: case() for name, case in CASES.items()})
