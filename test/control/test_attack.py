# SPDX-License-Identifier: Apache-2.0
"""A controller whose every input changes every tick, to anything: the torque keeps its promises all the same."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import shipped_robots
from helpers.closed_loop import ARM_START

from opspace_ctrl import frame_jacobian, load_robot, mass_matrix
from opspace_ctrl.control.controller import Controller
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.errors import ConfigurationError, OpspaceError

ARM = {
    "tasks": ["tool", "elbow"],
    "tool.rows": "position",
    "elbow.frame": "link4",
    "elbow.rows": "orientation",
    "elbow.level": 2,
}
ASIMO = {
    "tasks": ["com", "left_hand", "right_hand"],
    "com.rows": "com",
    "left_hand.level": 2,
    "right_hand.level": 3,
    "contacts": ["left_foot", "right_foot"],
}
FREE = {
    "tasks": ["left_hand", "right_hand", "torso"],
    "right_hand.level": 2,
    "torso.rows": "orientation",
    "torso.level": 3,
}
ODD = [
    0.0,
    -0.0,
    5e-324,
    -2.2e-308,
    1e-12,
    1.0,
    -3.0,
    1e6,
    1e12,
    1e300,
    -1.7e308,
    np.inf,
    -np.inf,
    np.nan,
]
STEPS = [0.0, 5e-324, 1e-9, 1e-3, 1e-3, 1e-3, 0.02, 3.0, 1e6, -1.0]


def numbers(rng, count):
    """Usual numbers, with something odd among them half of the time."""
    found = rng.uniform(-1.5, 1.5, count)
    if rng.random() < 0.5:
        found[rng.integers(count)] = ODD[rng.integers(len(ODD))]
    return found


def attack(controller, rng, time):
    """One call of everything that takes targets."""
    task = controller.task_names[rng.integers(len(controller.tasks))]
    quaternion = numbers(rng, 4)
    if rng.random() < 0.7:
        quaternion = quaternion / np.linalg.norm(np.clip(np.nan_to_num(quaternion), -2.0, 2.0))
    joints = list(rng.choice(controller.joints, 3, replace=False))
    calls = (
        lambda: controller.target_pose(task, numbers(rng, 3), quaternion, time),
        lambda: controller.target_pose(task, numbers(rng, 3), None, time),
        lambda: controller.target_twist(task, numbers(rng, 6), time),
        lambda: controller.measured_wrench(task, numbers(rng, 6), time),
        lambda: controller.target_wrench(task, numbers(rng, 6), time),
        lambda: controller.posture(joints, numbers(rng, 3), numbers(rng, 3), time),
        lambda: controller.trajectory(
            task, np.abs(numbers(rng, 2)).cumsum(), numbers(rng, 6).reshape(2, 3), None, time
        ),
    )
    return calls[rng.integers(len(calls))]


def settings_of(values, rng):
    """Gains, limits, payload, and what is on: anywhere in what the table allows."""
    tasks, contacts = values["tasks"], values.get("contacts", ())
    changed = {
        f"{task}.stiffness": [float(rng.choice([0.0, 5e-324, 400.0, 1e5]))] for task in tasks
    }
    changed |= {f"{task}.damping": [float(rng.choice([0.0, 40.0, 1e4]))] for task in tasks}
    changed |= {f"{name}.enabled": bool(rng.integers(2)) for name in (*tasks, *contacts)}
    return controller_settings(
        {
            **values,
            **changed,
            "payload.mass": float(rng.choice([0.0, 1e-9, 5.0, 1000.0])),
            "payload.centre": list(rng.uniform(-1.0, 1.0, 3)),
            "fade": float(rng.choice([1e-3, 0.3])),
            "torque_rate_limit": float(rng.choice([1.0, 1000.0])),
            "singularity.damping": float(rng.choice([0.01, 0.5, 1.0])),
        }
    )


def wander(model, q, v, rng):
    """The next state of a robot that does not care about the controller."""
    if rng.random() < 0.02:
        return model.random_configuration(rng), rng.normal(size=model.nv) * rng.choice(
            [0.0, 1.0, 1e3]
        )
    return model.integrate(q, 1e-3 * v, 1.0), 0.9 * v + 0.3 * rng.normal(size=model.nv)


@pytest.mark.parametrize(
    "name, values, start, ticks",
    [("arm7", ARM, ARM_START, 400), ("asimo", ASIMO, shipped_robots.home("asimo"), 120)],
)
def test_whatever_changes_every_tick_the_torque_is_finite_and_within_its_limits_and_rate(
    name, values, start, ticks
):
    model, rng = load_robot(name), np.random.default_rng(1)
    values = {
        "method": "sparse_ltdl",
        "ramp": 0.0,
        f"{values['tasks'][0]}.force_axes": ["z"],
        f"{values['tasks'][0]}.force_integral": 50.0,
        **values,
    }
    controller = Controller.from_settings(model, controller_settings(values))
    methods, q, v, time, refused = controller.methods(), start.copy(), np.zeros(model.nv), 0.0, 0
    controller.activate(q, v, time)
    before = controller.tick(q, v, time).copy()
    for _ in range(ticks):
        try:
            attack(controller, rng, time)()
        except OpspaceError:
            refused += 1
        controller.apply(settings_of(values, rng))
        controller.method = methods[rng.integers(len(methods))]
        q, v = wander(model, q, v, rng)
        last, step = time, STEPS[rng.integers(len(STEPS))]
        if step < 0.0:
            with pytest.raises(ConfigurationError, match="time runs back"):
                controller.tick(q, v, time + step)
            step = 0.0
        time += step
        rate = controller.settings.limits.torque_rate
        tau = controller.tick(q, v, time).copy()
        assert np.isfinite(tau).all()
        assert (np.abs(tau) <= model.effort_limits).all()
        assert (
            np.abs(tau - before)
            <= rate * max(time - last, 0.0) * (1 + 1e-9) + 1e-9 * (1.0 + np.abs(tau))
        ).all()
        before = tau
    # NOT_FINITE of the last tick
    assert refused > ticks // 20 and controller.report.law.not_finite == 0


@pytest.mark.parametrize("name, values, spread", [("arm7", ARM, 0.4), ("asimo", FREE, 0.1)])
def test_whatever_is_asked_a_lower_level_accelerates_no_higher_one(name, values, spread):
    """J H^-1 of what a lower level exerts, at states all over the workspace; joint limits take part."""
    model, rng = load_robot(name), np.random.default_rng(2)
    start = ARM_START if name == "arm7" else shipped_robots.home(name)
    values = {**values, "method": "sparse_ltdl", "ramp": 0.0}
    controller, checked = Controller.from_settings(model, controller_settings(values)), 0
    core = controller._core
    controller.activate(start, np.zeros(model.nv), 0.0)
    for k in range(150):
        q = model.integrate(start, spread * rng.normal(size=model.nv), 1.0)
        v = 3.0 * spread * rng.normal(size=model.nv)
        for task in controller.task_names:
            controller.target_pose(task, rng.uniform(-1.0, 1.0, 3), None, float(k))
        controller.tick(q, v, float(k))
        H = mass_matrix(model, q)
        exerted = np.zeros((len(core.law.level_torque), model.nv))
        exerted[:, ~model.is_base_coordinate] = core.law.level_torque
        moved, allowed = np.linalg.solve(H, exerted.T).T, 1e-9 * np.linalg.cond(H) ** 0.5
        for upper, task in enumerate(controller.settings.tasks, start=2):
            if (
                core.law.level_damped[2 : upper + 1].any()
                or core.law.activation[core.law.activation > 0.0].min(initial=1.0) < 1.0
            ):
                break
            rows = task.task().selection() @ frame_jacobian(model, q, task.moved_frame)
            for lower in moved[upper + 1 :]:
                assert np.abs(rows @ lower).max() <= allowed * (
                    1.0 + np.abs(rows).max() * np.abs(moved).max()
                )
                checked += 1
        for joint in np.flatnonzero(core.law.activation == 1.0):
            leaked = moved[2:, ~model.is_base_coordinate][:, joint]
            assert np.abs(leaked).max() <= allowed * (1.0 + np.abs(moved).max())
    assert checked > 50
