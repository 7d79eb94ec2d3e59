# SPDX-License-Identifier: Apache-2.0
"""Sampling of programs, SO(3) errors and force axes, against plain NumPy and SciPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers import segments
from helpers.control_cases import Dense, TaskSpec, at, make_core, robot, state
from scipy.spatial.transform import Rotation

from opspace_ctrl import Controller, load_urdf
from opspace_ctrl.control.options import Limits, Payload


def program_of(rng, pieces=4):
    times = np.cumsum(rng.uniform(0.1, 0.6, pieces + 1))
    rows = []
    for k in range(pieces):
        turn = 0.5 * rng.normal(size=(3, 6))
        turn[:, 0] = 0.0
        start = Rotation.random(random_state=k).as_quat()
        rows.append(segments.row(times[k], times[k + 1], rng.normal(size=(3, 6)), start, turn))
    return np.array(rows), times


def test_programs_are_sampled_as_they_are_written():
    core = make_core(robot("arm7"), [TaskSpec("tip", "tool")])
    q, v = state("arm7", 1)
    core.activate(q, v, 0.0)
    program, times = program_of(np.random.default_rng(3))
    core.load_program(0, program)
    inside = np.linspace(times[0], times[-1] - 1e-9, 23)
    for time in [times[0] - 0.1, *inside, times[-1] + 0.2, times[1], times[0] - 1.0]:
        core.law.last_time = -np.inf  # the last two are before
        core.tick(q, v, float(time))
        motion = segments.state_at(program, float(time))
        np.testing.assert_allclose(core.law.target[0, 9:], motion.position, atol=1e-12)
        expected = Rotation.from_quat(motion.quaternion).as_matrix().ravel()
        np.testing.assert_allclose(core.law.target[0, :9], expected, atol=1e-12)
        np.testing.assert_allclose(
            core.law.target_velocity[0], [*motion.velocity, *motion.rate], atol=1e-11
        )
        np.testing.assert_allclose(
            core.law.target_acceleration[0], [*motion.acceleration, *motion.rate_change], atol=1e-10
        )


def test_posture_follows_its_program():
    core = make_core(robot("arm7"))
    q, v = state("arm7", 1)
    core.activate(q, v, 0.0)
    core.law.posture_stiffness[:], core.law.posture_damping[:] = 40.0, 6.0
    coefficients = np.random.default_rng(2).normal(size=(7, 6))
    core.load_posture(np.concatenate([[0.1, 0.9], coefficients.ravel()])[None])
    tau, s = core.tick(q, v, 0.5), 0.4
    p, dp, ddp = (
        np.array([np.polyval(np.polyder(c[::-1], n), s) for c in coefficients]) for n in range(3)
    )
    dense = Dense(robot("arm7"), q, v)
    np.testing.assert_allclose(
        tau, dense.h + dense.H @ (ddp + 40.0 * (p - q) + 6.0 * (dp - v)), rtol=0, atol=1e-10
    )


def target_at(core, rotation):
    here = np.zeros((3, 6))
    here[:, 0] = core.law.pose[0, 9:]
    core.load_program(0, segments.row(0.0, 0.0, here, rotation.as_quat(), np.zeros((3, 6)))[None])


@pytest.mark.parametrize(
    "angle", [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.04, 0.06, 1.0, 2.5, 3.0, np.pi - 1e-9]
)
def test_orientation_error_is_the_logarithm(angle):
    core = make_core(robot("arm7"), [TaskSpec("tip", "tool")])
    q, v = state("arm7", 1)
    core.activate(q, v, 0.0)
    present = Rotation.from_matrix(core.law.pose[0, :9].reshape(3, 3))
    rng = np.random.default_rng(0)
    for _ in range(4):
        axis = rng.normal(size=3)
        error = angle * axis / np.linalg.norm(axis)
        core.activate(q, v, 0.0)
        target_at(core, Rotation.from_rotvec(error) * present)
        core.tick(q, v, 0.0)
        if angle < 3.1:
            np.testing.assert_allclose(
                core.law.error[0, 3:], error, rtol=0, atol=1e-8 if angle > 3 else 1e-12
            )
        else:
            np.testing.assert_allclose(
                np.abs(core.law.error[0, 3:]), np.abs(error), rtol=0, atol=1e-6
            )


def test_error_that_passes_pi_keeps_its_side():
    core = make_core(robot("arm7"), [TaskSpec("tip", "tool")])
    q, v = state("arm7", 1)
    core.activate(q, v, 0.0)
    present = Rotation.from_matrix(core.law.pose[0, :9].reshape(3, 3))
    axis = np.array([0.6, 0.0, 0.8])
    for k, angle in enumerate([2.9, 3.1, 3.2, 3.3, 3.2, 3.1, 2.9]):
        target_at(core, Rotation.from_rotvec(angle * axis) * present)
        core.tick(q, v, 0.001 * k)
        np.testing.assert_allclose(core.law.error[0, 3:], angle * axis, atol=1e-9)
    # far beyond, the short way counts again
    target_at(core, Rotation.from_rotvec(4.0 * axis) * present)
    core.tick(q, v, 0.1)
    np.testing.assert_allclose(core.law.error[0, 3:], (4.0 - 2 * np.pi) * axis, atol=1e-9)


def test_gains_and_selection_are_along_the_axes_of_a_frame():
    model = robot("arm7")
    core = make_core(model, [TaskSpec("tip", "tool", axes="tool")])
    q, v = state("arm7", 4)
    core.activate(q, v, 0.0)
    R = core.law.pose[0, :9].reshape(3, 3)
    here = np.zeros((3, 6))
    here[:, 0] = core.law.pose[0, 9:] + (0.02, -0.03, 0.05)
    core.load_program(
        0, segments.row(0, 0, here, Rotation.from_matrix(R).as_quat(), np.zeros((3, 6)))[None]
    )
    core.law.task_stiffness[0], core.law.task_damping[0] = (
        (100, 200, 0, 50, 50, 50),
        (10, 20, 30, 5, 6, 7),
    )
    core.law.task_force_axes[0], core.law.wrench[0] = (
        (0, 0, 1, 0, 0, 0),
        (3.0, -4.0, 12.0, 1.0, 1.0, 1.0),
    )
    core.law.task_force_damping[0], core.law.posture_damping[:] = 15.0, 0.0
    core.tick(q, v, 0.0)
    A, o = np.kron(np.eye(2), R), 1.0 - core.law.task_force_axes[0]
    e, ev = A.T @ core.law.error[0], -A.T @ core.law.velocity[0]
    a = A @ (
        o * (core.law.task_stiffness[0] * e + core.law.task_damping[0] * ev) + (1 - o) * 15.0 * ev
    )
    F = A @ ((1 - o) * (A.T @ core.law.wrench[0]))
    dense = Dense(model, q, v)
    J = dense.rows("tool")
    expected = dense.h + J.T @ (np.linalg.solve(J @ dense.Hi @ J.T, a - dense.drift("tool")) + F)
    np.testing.assert_allclose(core.tau, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(core.law.applied[0], F, atol=1e-12)


def test_force_loop_closes_on_the_measured_wrench():
    core = make_core(robot("arm7"), [TaskSpec("tip", "tool", "position")])
    q, v = state("arm7", 4)
    core.activate(q, v, 0.0)
    core.law.task_force_axes[0, 2] = 1.0
    core.law.wrench[0, 2], core.law.measured[0, 2] = 10.0, 7.0
    core.law.task_force_gain[0], core.law.task_force_integral[0], core.law.task_force_limit[0] = (
        0.5,
        20.0,
        0.4,
    )
    core.tick(q, v, 0.0)
    assert core.law.applied[0, 2] == pytest.approx(10.0)  # open loop until there is a measurement
    core.law.measured_on[0] = 1.0
    core.tick(q, v, 0.001)
    assert core.law.applied[0, 2] == pytest.approx(10.0 + 0.5 * 3.0 + 20.0 * 3.0 * 0.001)
    for k in range(2, 60):
        core.tick(q, v, 0.001 * k)
    assert core.law.applied[0, 2] == pytest.approx(
        10.0 + 0.5 * 3.0 + 0.4
    )  # the integral is limited
    assert not core.law.applied[0, :2].any()


def test_payload_is_that_of_a_heavier_robot():
    model = robot("arm7")
    xml = model.source.replace(
        "</robot>",
        """<link name="load"><inertial>
        <origin xyz="0.1 -0.05 0.2"/><mass value="2.5"/>
        <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="loaded" type="fixed"><parent link="tool"/><child link="load"/></joint></robot>""",
    )
    heavy = load_urdf(xml)
    own, other = (
        Controller(each, [TaskSpec("tip", "tool")], method="sparse_ltdl", limits=Limits(ramp=0.0))
        for each in (model, heavy)
    )
    q, v = state("arm7", 9)
    for each in (own, other):
        each.activate(q, v, 0.0)
    light, settings = own.tick(q, v, 0.0).copy(), own.settings
    payload = Payload(mass=2.5, centre=(0.1, -0.05, 0.2), frame="tool")
    for frame, mass in (("tool", 2.5), ("link4", 1.0), ("tool", 2.5)):  # from body to body and back
        own.apply(replace(settings, payload=replace(payload, frame=frame, mass=mass)))
    own.begin()
    np.testing.assert_allclose(own.tick(q, v, 0.0), other.tick(q, v, 0.0), rtol=0, atol=1e-9)
    own.apply(settings)
    own.begin()
    np.testing.assert_array_equal(own.tick(q, v, 0.0), light)


def test_options_start_as_documented():
    core = make_core(robot("arm7"))
    assert core.law.mode == at.TASKS_MODE
    assert core.law.gravity_share == core.law.coriolis_share == 1.0
