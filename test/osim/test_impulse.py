# SPDX-License-Identifier: Apache-2.0
"""What Lambda^-1, J and Jdot v mean: impulses through forward dynamics, finite differences of poses and velocities."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.osim_cases import Dense, end_frames, norm, random_state, random_tasks
from helpers.support import load_pair
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.random_trees import random_motion, seeds, trees
from oracles.reference import Reference, assert_close
from scipy.spatial.transform import Rotation

from opspace_ctrl import (
    CenterOfMass,
    OperationalSpace,
    Task,
    forward_dynamics,
    frame_pose,
    load_robot,
    mass_matrix,
)
from opspace_ctrl.dynamics import center_of_mass, forward_methods

some = settings(max_examples=25)


def wrenches(model, q, task, force):
    """{frame: wrench} that push a task with the force of its rows."""
    reference = Reference(model, q)
    if isinstance(task, CenterOfMass):  # each body takes its share, at its own centre
        push = task.selection()[:, :3].T @ force
        found = {}
        for body, name in enumerate(model.body_names):
            share = push * model.mass[body] / model.mass.sum()
            found[name] = np.concatenate(
                [share, np.cross(reference.R[body] @ model.com[body], share)]
            )
        return found
    wrench = task.selection().T @ force
    if task.relative_to is None:
        return {task.frame: wrench}
    _, x, *_ = reference.frame(task.frame)
    R, x_a, *_ = reference.frame(task.relative_to)
    push, turn = R @ wrench[:3], R @ wrench[3:]
    reaction = -np.concatenate([push, turn + np.cross(x - x_a, push)])
    return {task.frame: np.concatenate([push, turn]), task.relative_to: reaction}


@some
@given(trees(max_bodies=25), seeds())
def test_a_force_on_one_task_accelerates_every_task_by_the_inverse_inertia(model, seed):
    """J_b (dv/dt with f - dv/dt without) = Lambda^-1_ba f, for every pair of tasks."""
    q, v, tau = random_motion(model, seed)
    tasks = random_tasks(model, seed)
    ospace, rng, row = (
        OperationalSpace(model, tasks, "sparse_ltdl").update(q, v),
        np.random.default_rng(seed),
        0,
    )
    dense, method = Dense(mass_matrix(model, q), ospace.jacobian), forward_methods(model)[0]
    free = forward_dynamics(model, q, v, tau, method=method)
    for task in tasks:
        force = rng.normal(size=len(task.selection()))
        pushed = forward_dynamics(model, q, v, tau, wrenches(model, q, task, force), method=method)
        response = ospace.inertia_inv[:, row : row + len(force)] @ force
        size = dense.size("inertia_inv") * norm(force) + norm(ospace.jacobian) * norm(free)
        assert_close(ospace.jacobian @ (pushed - free), response, size, dense.tolerance)
        row += len(force)


def test_an_impulse_on_the_left_hand_moves_every_hand_and_foot_as_predicted():
    """A simulated push of 100 us: velocities of the frames before and after, from their poses."""
    model, frames, dt = (
        load_robot("asimo"),
        ["left_hand", "right_hand", "left_foot", "right_foot"],
        1e-4,
    )
    q, _ = random_state(model, 4)
    v, force = np.zeros(model.nv), np.array([30.0, -20.0, 50.0, 1.0, 2.0, -3.0])
    ospace = OperationalSpace(model, frames).update(q)
    predicted = ospace.inertia_inv[:, :6] @ force * dt

    def after(external):
        q_t, v_t = q, v
        for _ in range(10):
            v_t = v_t + 0.1 * dt * forward_dynamics(model, q_t, v_t, np.zeros(model.nv), external)
            q_t = model.integrate(q_t, v_t, 0.1 * dt)
        return OperationalSpace(model, frames, "dense").update(q_t).jacobian @ v_t

    measured = after({"left_hand": force}) - after(None)
    assert_close(measured, predicted, norm(predicted), 1e-4)
    # every hand and foot is moved and turned
    assert (np.abs(predicted.reshape(8, 3)) > 1e-9).any(axis=1).all()


@pytest.mark.parametrize("name", ["xarm7", "talos_reduced", "anymal-kinova", "tiago_dual", "panda"])
def test_a_free_flight_has_the_bias_acceleration_of_pinocchios_frames(name):
    """All ends at once, at ten random motions."""
    model, twin = load_pair(name, "floating")
    ends = end_frames(model, 10)
    ospace = OperationalSpace(model, ends, "sparse_ltl")
    for seed in range(10):
        q, v = random_state(model, seed)
        pin.forwardKinematics(twin.model, twin.data, twin.q(q), twin.v(v), np.zeros(twin.model.nv))
        pin.updateFramePlacements(twin.model, twin.data)
        frames = [twin.model.getFrameId(end, pin.FrameType.BODY) for end in ends]
        accelerations = [
            pin.getFrameClassicalAcceleration(twin.model, twin.data, f, pin.LOCAL_WORLD_ALIGNED)
            for f in frames
        ]
        expected = np.hstack([a.vector for a in accelerations])
        assert_close(ospace.update(q, v).bias_acceleration, expected, norm(expected))


@some
@given(trees(max_bodies=20), seeds())
def test_bias_acceleration_is_the_rate_of_j_v_while_v_stays(model, seed):
    q, v, _ = random_motion(model, seed)
    ospace, h = OperationalSpace(model, random_tasks(model, seed), "sparse_ltdl"), 1e-5
    velocity = [ospace.update(model.integrate(q, v, t)).jacobian @ v for t in (-h, h)]
    bias = ospace.update(q, v).bias_acceleration
    scale = (1.0 + norm(ospace.jacobian)) * (1.0 + norm(v)) ** 3
    assert_close(bias, (velocity[1] - velocity[0]) / (2.0 * h), scale, 1e-8)


def place(model, q, task):
    """Position (3,) and orientation of what a task moves, as it sees them."""
    if isinstance(task, CenterOfMass):
        return center_of_mass(model, q), Rotation.identity()
    position, quaternion = frame_pose(model, q, task.frame)
    turn = Rotation.from_quat(quaternion)
    if task.relative_to is not None:
        origin, quaternion = frame_pose(model, q, task.relative_to)
        back = Rotation.from_quat(quaternion).inv()
        position, turn = back.apply(position - origin), back * turn
    return position, turn


@some
@given(trees(max_bodies=20), seeds(), st.data())
def test_jacobian_is_the_rate_of_position_and_orientation(model, seed, data):
    """Along a random direction and along one coordinate, for relative tasks and the centre of mass too."""
    q, v, _ = random_motion(model, seed)
    tasks, h = random_tasks(model, seed), 1e-5
    J, row = OperationalSpace(model, tasks, "sparse_ltdl").update(q).jacobian, 0
    unit = np.eye(model.nv)[data.draw(st.integers(0, model.nv - 1))]
    for task in tasks:
        for direction in (v, unit):
            (x0, R0), (x1, R1) = (
                place(model, model.integrate(q, direction, t), task) for t in (-h, h)
            )
            rate = np.concatenate([x1 - x0, (R1 * R0.inv()).as_rotvec()]) / (2.0 * h)
            rows = J[row : row + len(task.selection())] @ direction
            assert_close(
                rows, task.selection() @ rate, (1.0 + norm(J)) * (1.0 + norm(direction)) ** 3, 1e-8
            )
        row += len(task.selection())


def test_a_relative_task_does_not_feel_what_moves_both_frames():
    """The base, and a waist that turns, take both hands along: neither J nor Jdot v knows of them."""
    model = load_robot("asimo")
    q, v = random_state(model, 6)
    task = Task("left_hand", relative_to="right_hand")
    ospace = OperationalSpace(model, task, "dense").update(q, v)
    J, bias = ospace.jacobian.copy(), ospace.bias_acceleration.copy()
    shared = np.flatnonzero(~J.any(axis=0))
    assert set(range(6)) <= set(shared)
    q_moved = model.integrate(
        q, np.isin(np.arange(model.nv), shared) * random_state(model, 7)[1], 1.0
    )
    v_moved = np.where(np.isin(np.arange(model.nv), shared), -3.0 * v, v)
    ospace.update(q_moved, v_moved)
    assert_close(ospace.jacobian, J, norm(J))
    assert_close(ospace.bias_acceleration, bias, norm(v_moved) ** 2)
