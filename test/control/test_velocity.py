# SPDX-License-Identifier: Apache-2.0
"""Mode velocity: qdot = Jbar xdot + N qdot0 against dense algebra, its limits, its gates, and robots that follow it."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.closed_loop import ARM_START
from helpers.control_cases import TaskSpec, at, hold_another_pose, make_core, robot, state
from helpers.gate_cases import MS, Controlled
from helpers.urdf_text import joint, limit, link, mimic
from helpers.urdf_text import robot as urdf

from opspace_ctrl import (
    Contact,
    Controller,
    OperationalSpace,
    PoseTask,
    PositionTask,
    Posture,
    Simulator,
    frame_jacobian,
    frame_pose,
    load_robot,
    load_urdf,
    mass_matrix,
)
from opspace_ctrl.control.options import Limits
from opspace_ctrl.errors import ConfigurationError, OpspaceError, SettingsError
from opspace_ctrl.osim import methods

ARM = load_robot("arm7")
LEVELS = [("position", 1), ("orientation", 2)]
STIFFNESS, DAMPING = 100.0, 20.0  # of TaskSpec
RATE = Limits.velocity_rate  # [rad/s^2]
MIMIC = urdf(
    *(link(name) for name in "abcde"),
    joint("j1", "a", "b"),
    joint("j2", "b", "c", axis="0 1 0"),
    joint("j3", "c", "d", axis="0 1 0", extra=mimic("j2", 1.0, 0.0)),
    joint("j4", "d", "e", "prismatic", axis="1 0 0", extra=limit(-9.0, 9.0, 9.0, 9.0)),
)


def dense_velocity(model, q, levels, qdot0):
    """Level by level with full matrices: Jbar_k|< (xdot_k - J_k qdot_<) in the null space of those above."""
    H_inv, N = np.linalg.inv(mass_matrix(model, q)), np.eye(model.nv)
    qdot = np.zeros(model.nv)
    for J, xdot in levels:
        left = J @ N
        Jbar = H_inv @ left.T @ np.linalg.pinv(left @ H_inv @ left.T, rcond=1e-10, hermitian=True)
        qdot = qdot + Jbar @ (xdot - J @ qdot)
        N = N - Jbar @ left
    return qdot + N @ qdot0


def asked(core):
    """xdot of every task: the target's velocity, and Kp / Kd times the error."""
    return core.law.target_velocity + STIFFNESS / DAMPING * core.law.error


@pytest.mark.parametrize("method", methods(ARM))
@pytest.mark.parametrize("name", ["arm7", "panda"])
def test_002_section_4_two_levels_and_a_posture_are_those_of_dense_algebra(name, method):
    model, tip = robot(name), {"arm7": "tool", "panda": "panda_hand"}[name]
    tasks = [TaskSpec(rows, tip, rows, level=level) for rows, level in LEVELS]
    core = make_core(model, tasks, method=method, mode=at.VELOCITY_MODE)
    core.law.position_lower, core.law.position_upper = -np.inf, np.inf
    q, v = state(name, 4)
    hold_another_pose(core, q, v, np.random.default_rng(1))
    core.law.posture_stiffness, core.law.posture_damping = 30.0, 6.0
    found = core.tick(q, v, 0.1).copy()
    J, xdot = frame_jacobian(model, q, tip), asked(core)
    qdot0 = core.law.posture_target_velocity + 5.0 * (core.law.posture_target - q)
    expected = dense_velocity(model, q, [(J[:3], xdot[0, :3]), (J[3:], xdot[1, 3:])], qdot0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    # strict: the first level has what it asks for, whatever the second does
    np.testing.assert_allclose(J[:3] @ found, xdot[0, :3], rtol=0, atol=1e-9)


def test_one_task_is_the_velocity_law_of_the_operational_space():
    core = make_core(ARM, [TaskSpec("hand", "tool")], mode=at.VELOCITY_MODE)
    core.law.position_lower, core.law.position_upper = -np.inf, np.inf
    q, v = state("arm7", 5)
    hold_another_pose(core, q, v, np.random.default_rng(2))
    core.law.posture_stiffness, core.law.posture_damping = 30.0, 6.0
    found = core.tick(q, v, 0.1).copy()
    qdot0 = core.law.posture_target_velocity + 5.0 * (core.law.posture_target - q)
    law = OperationalSpace(ARM, ["tool"]).update(q).velocity(asked(core)[0], qdot0)
    np.testing.assert_allclose(found, law, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["sparse_ltdl", "rjk"])
def test_mimic_joints_move_with_their_leader(method):
    model = load_urdf(MIMIC)
    tasks = [TaskSpec("tip", "e", "position")]
    core = make_core(model, tasks, method=method, mode=at.VELOCITY_MODE)
    q, rng = np.array([0.3, 0.5, 0.2]), np.random.default_rng(3)
    hold_another_pose(core, q, np.zeros(3), rng)
    found = core.tick(q, np.zeros(3), 0.1)
    J = frame_jacobian(model, q, "e")[:3]
    expected = dense_velocity(model, q, [(J, asked(core)[0, :3])], np.zeros(3))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def velocity_controller(**options):
    """arm7's tool in mode velocity."""
    options = {"method": "sparse_ltdl", **options}
    return Controller(ARM, [PoseTask("hand", frame="tool")], mode="velocity", **options)


def drive(controller, q, seconds, dt=1e-3):
    """A robot that follows every velocity; q at the end, and all commands."""
    v, commands = np.zeros(ARM.nv), []
    for k in range(1, round(seconds / dt) + 1):
        v = controller.tick(q, v, k * dt).copy()
        q = ARM.integrate(q, v, dt)
        commands.append(v)
    return q, np.array(commands)


def test_the_tool_reaches_its_target_within_limits_and_rate():
    controller, q = velocity_controller(limits=Limits(velocity_scale=0.4)), ARM_START
    controller.activate(q, np.zeros(7), 0.0)
    goal = frame_pose(ARM, q, "tool")[0] + [0.15, 0.25, -0.2]
    controller.target_pose("hand", goal, None, 0.0)
    q, commands = drive(controller, q, 3.0)
    np.testing.assert_allclose(frame_pose(ARM, q, "tool")[0], goal, rtol=0, atol=1e-4)
    assert not commands[0].any()  # it begins at rest
    assert (np.abs(commands) <= 0.4 * ARM.velocity_limits).all()
    changes = np.diff(commands, axis=0, prepend=0.0)
    assert (np.abs(changes) <= RATE * 1e-3 * (1 + 1e-9)).all()


def test_targets_that_no_joint_could_follow_leave_limits_and_rate_kept():
    """Out of reach and at once: the error is not clipped, the reference jumps."""
    wild = PoseTask("hand", frame="tool", error_clip=10.0, speed=100.0, acceleration=1e4, time=0.0)
    controller = Controller(ARM, [wild], mode="velocity", method="rjk", limits=Limits(ramp=0.0))
    controller.activate(ARM_START, np.zeros(7), 0.0)
    controller.target_pose("hand", [3.0, -2.0, 1.0], [0.0, 1.0, 0.0, 0.0], 0.0)
    q, commands = drive(controller, ARM_START, 2.0)
    assert np.isfinite(commands).all() and np.abs(commands).max() > 1.0
    assert (np.abs(commands) <= ARM.velocity_limits).all()
    assert (np.abs(np.diff(commands, axis=0)) <= RATE * 1e-3 * (1 + 1e-9)).all()
    lower, upper = ARM.position_limits.T
    assert (lower < q).all() and (q < upper).all()


def test_a_posture_beyond_the_limits_is_kept_as_far_as_their_margins():
    far = ARM.position_limits[:, 1] + 1.0
    controller = Controller(
        ARM,
        mode="velocity",
        limits=Limits(margin=0.05),
        posture=Posture(stiffness=100.0, positions=far.tolist(), speed=3.0, error_clip=10.0),
    )
    controller.activate(ARM_START, np.zeros(7), 0.0)
    q, commands = drive(controller, ARM_START, 6.0)
    np.testing.assert_allclose(ARM.position_limits[:, 1] - q, 0.05, rtol=0, atol=1e-3)
    assert np.abs(commands).max() > 0.5 and np.abs(commands[-1]).max() < 1e-3


@pytest.mark.parametrize(("scale", "rate", "seed"), [(0.3, 2.0, 0), (1.0, 2.0, 0), (1.0, 10.0, 3)])
def test_targets_that_change_before_they_are_reached_take_no_joint_into_its_margin(
    scale, rate, seed
):
    """Joints that have to brake do so, however slowly the others have to change for the rate limit."""
    wild = PoseTask("hand", frame="tool", error_clip=10.0, speed=10.0, acceleration=1e3)
    bounds = Limits(velocity_scale=scale, velocity_rate=rate, margin=0.05)
    controller = Controller(ARM, [wild], Posture(stiffness=50.0), mode="velocity", limits=bounds)
    controller.activate(ARM_START, np.zeros(7), 0.0)
    q, v, rng = ARM_START, np.zeros(7), np.random.default_rng(seed)
    lower, upper = ARM.position_limits.T
    for k in range(20000):
        if k % 150 == 0:
            turn, place = rng.normal(size=4), rng.uniform(-1.5, 1.5, 3)
            controller.target_pose("hand", place, turn / np.linalg.norm(turn), k * 1e-3)
        before, v = v, controller.tick(q, v, (k + 1) * 1e-3).copy()
        assert (np.abs(v) <= scale * ARM.velocity_limits).all()
        assert (np.abs(v - before) <= rate * 1e-3 * (1 + 1e-9)).all()
        q = ARM.integrate(q, v, 1e-3)
        assert np.minimum(q - lower, upper - q).min() > 0.049


def test_a_robot_that_is_beyond_its_limits_comes_back_and_rests():
    """All seven joints at once, against the task that holds the tool: no two of them take turns."""
    controller, upper = velocity_controller(), ARM.position_limits[:, 1]
    controller.activate(upper + 0.05, np.zeros(7), 0.0)
    q, commands = drive(controller, upper + 0.05, 6.0)
    assert (upper - q > 0.049).all()
    assert np.abs(commands[-100:]).max() < 1e-3
    assert (np.abs(np.diff(commands, axis=0, prepend=0.0)) <= RATE * 1e-3 * (1 + 1e-9)).all()


@pytest.mark.parametrize("rate", [1.0, 30.0])
def test_a_joint_that_a_task_drives_at_its_limit_comes_to_rest_before_it(rate):
    """The tool is turned about its own axis, further than joint 7 can turn it; the joint brakes in time."""
    upper = ARM.position_limits[6, 1]
    start = ARM_START + [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, upper - 1.5]
    free = PoseTask("hand", frame="tool", angular_speed=3.0, angular_acceleration=30.0)
    controller = Controller(ARM, [free], mode="velocity", limits=Limits(velocity_rate=rate))
    controller.activate(start, np.zeros(7), 0.0)
    goal = frame_pose(ARM, start + [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0], "tool")[1]
    controller.target_pose("hand", None, goal, 0.0)
    room, q, v = [], start, np.zeros(7)
    for k in range(1, 5000):
        v = controller.tick(q, v, k * 1e-3).copy()
        q = ARM.integrate(q, v, 1e-3)
        room.append(upper - q[6])
    assert 0.0 < min(room) < 0.06  # limits.margin is 0.05
    assert controller.report.limited[6] > 0.0


def test_every_safe_command_is_zero_velocity_approached_at_the_rate():
    for kind in ("zero", "gravity", "damping"):
        controller = velocity_controller()
        controller.activate(ARM_START, np.zeros(7), 0.0)
        controller.target_pose("hand", frame_pose(ARM, ARM_START, "tool")[0] - 0.2, None, 0.0)
        _, commands = drive(controller, ARM_START, 0.5)
        last, steps = commands[-1], 0
        assert np.abs(last).max() > 0.1
        while last.any():
            found = controller.safe_command(kind, ARM_START, last, 0.5 + 1e-3 * (steps + 1)).copy()
            assert (np.abs(found - last) <= RATE * 1e-3 * (1 + 1e-9)).all()
            last, steps = found, steps + 1
            assert steps < 1000


def test_when_states_end_the_velocity_goes_to_zero_and_stays():
    robot = Controlled(ARM, tasks=["hand"], mode="velocity", **{"hand.frame": "tool", "ramp": 0.0})
    robot.q[:] = ARM_START
    robot.activate()
    for _ in range(20):
        robot.message()
    goal = frame_pose(ARM, ARM_START, "tool")[0] + [0.0, 0.2, -0.1]
    robot.controller.target_pose("hand", goal, None, robot.gate.time)
    for _ in range(300):
        tau = robot.message()
        robot.v[:] = tau
        robot.q += 1e-3 * tau
    assert np.abs(tau).max() > 0.1 and robot.gate.closed == 0
    assert not robot.silence(1.0).any()
    times = np.array([when for when, _ in robot.commands])
    commands = np.array([each for _, each in robot.commands])
    assert np.isfinite(commands).all()
    # between two commands no velocity changes faster than the rate permits
    passed = np.maximum(np.diff(times), MS) * 1e-9
    assert (np.abs(np.diff(commands, axis=0)) <= RATE * passed[:, None] * (1 + 1e-9)).all()
    assert not robot.guarded.deactivate().any()


def test_switching_the_method_changes_nothing():
    controller = velocity_controller()
    controller.activate(ARM_START, np.zeros(7), 0.0)
    controller.target_pose("hand", frame_pose(ARM, ARM_START, "tool")[0] + 0.1, None, 0.0)
    q, commands = drive(controller, ARM_START, 0.4)
    for k, name in enumerate(methods(ARM)):
        controller.method = name
        controller.tick(q, commands[-1], 0.4 + 1e-3 * (k + 1))
        assert controller.method_residual < 1e-9
    assert controller.switches == len(methods(ARM))


def test_other_tasks_take_over_within_the_rate():
    controller, q = velocity_controller(), ARM_START
    controller.activate(q, np.zeros(7), 0.0)
    controller.target_pose("hand", frame_pose(ARM, q, "tool")[0] + 0.1, None, 0.0)
    q, before = drive(controller, q, 0.4)
    controller.tasks = [PositionTask("tip", frame="tool")]
    v, commands = before[-1], [before[-1]]
    for k in range(1, 4000):
        v = controller.tick(q, v, 0.4 + k * 1e-3).copy()
        q = ARM.integrate(q, v, 1e-3)
        commands.append(v)
    assert (np.abs(np.diff(commands, axis=0)) <= RATE * 1e-3 * (1 + 1e-9)).all()
    assert np.abs(v).max() < 1e-3


@pytest.mark.parametrize("engine", ["native", "dart", "mujoco"])
def test_a_robot_whose_drives_follow_velocities_is_led_to_its_target(engine):
    arm = Simulator(
        "arm7", engine=engine, initial_positions=ARM_START.tolist(), joint_friction=False
    )
    controller = velocity_controller()
    controller.activate(arm.q, arm.v, arm.time)
    goal = frame_pose(ARM, arm.q, "tool")[0] + [0.05, 0.15, -0.1]
    controller.target_pose("hand", goal, None, arm.time)
    for _ in range(2500):
        arm.step(arm.servo(controller.tick(arm.q, arm.v, arm.time)))
    np.testing.assert_allclose(frame_pose(ARM, arm.q, "tool")[0], goal, rtol=0, atol=2e-4)
    assert np.abs(arm.tau[1]) > 1.0  # the drives carry gravity


@pytest.mark.parametrize("engine", ["native", "dart", "mujoco"])
def test_a_servo_reaches_its_velocity_in_a_step_unless_the_efforts_do_not_suffice(engine):
    arm = Simulator(
        "arm7", engine=engine, initial_positions=ARM_START.tolist(), joint_friction=False
    )
    wanted = 0.01 * np.arange(1.0, 8.0)
    arm.step(arm.servo(wanted))
    np.testing.assert_allclose(arm.v, wanted, rtol=0, atol=1e-6)
    arm.step(arm.servo(np.full(7, 50.0)))
    assert (np.abs(arm.tau) <= ARM.effort_limits).all() and (arm.v < 50.0).any()
    with pytest.raises(ConfigurationError, match="velocity"):
        arm.servo(np.zeros(6))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"contacts": [Contact("foot", frame="tool")]},
            "mode velocity carries no contacts.*'foot'",
        ),
        ({"tasks": [PoseTask("tool", law="impedance")]}, "tool.law = impedance asks for forces"),
        ({"tasks": [PoseTask("tool", force_axes=["z"])]}, "tool.force_axes ask for forces"),
        ({"tasks": [PoseTask("tool", damping=0.0)]}, "tool.damping is 0.*above 0 is valid"),
        ({"posture": Posture(damping=0.0)}, "posture.damping and limits.damping above 0"),
        ({"limits": Limits(damping=0.0)}, "posture.damping and limits.damping above 0"),
    ],
)
def test_what_needs_forces_or_makes_no_speed_is_refused_by_name(options, words):
    with pytest.raises(SettingsError, match=words):
        Controller(ARM, mode="velocity", **options)


def test_a_floating_robot_and_joints_that_may_not_move_are_refused_by_name():
    with pytest.raises(OpspaceError, match="free_flyer: mode velocity .* its base floats"):
        Controller(load_robot("free_flyer"), mode="velocity")
    still = MIMIC.replace('velocity="9.0"', 'velocity="0"')
    with pytest.raises(OpspaceError, match="j4 moves at 0 at most"):
        Controller(load_urdf(still), mode="velocity")
