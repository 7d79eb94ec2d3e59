# SPDX-License-Identifier: Apache-2.0
"""Several arms holding one object (003 5.3 and 6) against dense equations and against lumped models."""

import numpy as np
import pytest
from helpers.recursion_cases import assert_near
from helpers.urdf_text import joint, link, robot
from oracles.random_trees import random_model
from oracles.reference import derived_tolerance

from opspace_ctrl import OperationalSpace, dynamics, load_robot, load_urdf, osim
from opspace_ctrl.algebra.closure import (
    ClosedChain,
    Closure,
    Contact,
    Grasp,
    RigidObject,
    add_object,
)
from opspace_ctrl.errors import ConfigurationError, IllPosedError, InertiaError
from opspace_ctrl.model.rotations import from_quaternion

INERTIA = np.array([[0.4, 0.05, 0.0], [0.05, 0.5, -0.02], [0.0, -0.02, 0.3]])
ARM = ("revolute", "continuous", "prismatic")


def arms():
    """Three random arms on bases of their own."""
    return random_model(21, 8, types=ARM, shape="chain", forest=3), ["r0_l8", "r1_l8", "r2_l8"]


def branches():
    """Two branches of one floating tree that part early enough for twelve independent rows."""
    model = random_model(14, 24, types=ARM, base="floating")
    ends = sorted(
        (b for b in range(len(model.parent)) if not model.children(b)),
        key=lambda b: -len(model.support(b)),
    )[:2]
    return model, [model.body_names[b] for b in ends]


def free_flyer():
    return load_robot("free_flyer", gravity=(0.5, 1.0, -9.81)), ["left_tool", "right_tool"]


SYSTEMS = {"arms": arms, "branches": branches, "free flyer": free_flyer}


class Held:
    """An object held in a random state of the robot; what moves rigidly is taken at face value."""

    def __init__(self, name, seed=0):
        self.model, self.frames = SYSTEMS[name]()
        self.object = RigidObject(2.5, np.array([0.1, -0.2, 0.05]), INERTIA)
        rng = np.random.default_rng(seed)
        self.q = self.model.integrate(
            self.model.neutral(), rng.uniform(-1.0, 1.0, self.model.nv), 1.0
        )
        self.v, self.tau = rng.normal(size=(2, self.model.nv))
        self.wrench = rng.normal(size=6)
        self.grasp = Grasp(self.model, self.frames, self.object).update(self.q, self.v)
        self.H = dynamics.mass_matrix(self.model, self.q)
        self.J = np.vstack([dynamics.frame_jacobian(self.model, self.q, f) for f in self.frames])
        self.omega = self.J @ np.linalg.solve(self.H, self.J.T)
        self.tolerance = derived_tolerance(self.H) * max(1.0, 1e-2 * np.linalg.cond(self.omega))

    def dense(self):
        """qdd, object's acceleration and wrenches from one saddle-point system in all unknowns."""
        g, model, nv, m = self.grasp, self.model, self.model.nv, len(self.J)
        position, quaternion = dynamics.frame_pose(model, self.q, self.frames[0])
        R = from_quaternion(quaternion)
        center = position + R @ self.object.com
        turn = dynamics.frame_velocity(model, self.q, self.v, self.frames[0])[3:]
        arms = [dynamics.frame_pose(model, self.q, f)[0] - center for f in self.frames]
        rest = np.zeros(nv)
        bias = np.concatenate(
            [dynamics.frame_acceleration(model, self.q, self.v, rest, f) for f in self.frames]
        )
        bias -= np.concatenate(
            [np.append(np.cross(turn, np.cross(turn, r)), np.zeros(3)) for r in arms]
        )
        inertia = R @ INERTIA @ R.T
        forces = self.wrench + np.append(2.5 * model.gravity, -np.cross(turn, inertia @ turn))
        M = np.block([[2.5 * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), inertia]])
        assert_near(g.object_inertia, M, 1e-12)
        matrix = np.block(
            [
                [self.H, np.zeros((nv, 6)), self.J.T],
                [np.zeros((6, nv)), M, -g.A.T],
                [self.J, -g.A, np.zeros((m, m))],
            ]
        )
        h = dynamics.bias_forces(model, self.q, self.v)
        found = np.linalg.solve(matrix, np.concatenate([self.tau - h, forces, -bias]))
        return found[:nv], found[nv : nv + 6], found[nv + 6 :].reshape(-1, 6)


@pytest.mark.parametrize("name", SYSTEMS)
def test_003_section_6_arms_and_object_move_as_the_saddle_point_equations_say(name):
    """003 section 6: joint accelerations and contact forces from applied moments, l arms and one object."""
    held = Held(name)
    motion, (qdd, acceleration, wrenches) = held.grasp.forward(held.tau, held.wrench), held.dense()
    assert_near(motion.qdd, qdd, held.tolerance)
    assert_near(motion.object, acceleration, held.tolerance)
    assert_near(motion.wrenches, wrenches, held.tolerance)


@pytest.mark.parametrize("name", SYSTEMS)
def test_003_section_5_3_effective_inertia_is_what_a_wrench_on_the_object_feels(name):
    """003 5.3: (M_obj + A^T Omega^-1 A) times the change of the object's acceleration is the wrench."""
    held = Held(name)
    pushed, left = held.grasp.forward(held.tau, held.wrench), held.grasp.forward(held.tau)
    change = pushed.object - left.object
    assert_near(
        held.grasp.effective_inertia @ change,
        held.wrench,
        held.tolerance,
        np.abs(held.grasp.effective_inertia).max() * np.abs(pushed.object).max(),
    )


def test_003_section_5_3_arms_on_bases_of_their_own_add_their_inertias_to_the_object():
    """003 5.3: M_obj + sum Lambda_i, each moved to the object."""
    held = Held("arms")
    total = held.grasp.object_inertia.copy()
    for k, frame in enumerate(held.frames):
        A = held.grasp.A[6 * k : 6 * k + 6]
        total += A.T @ np.linalg.solve(
            OperationalSpace(held.model, [frame]).update(held.q).inertia_inv, A
        )
    assert_near(held.grasp.effective_inertia, total, held.tolerance)


@pytest.mark.parametrize("name", ["branches", "free flyer"])
def test_arms_of_one_robot_need_omega_of_both_hands_together(name):
    """control-law.md: M_obj + A^T Omega^-1 A; the sum over the arms is wrong where they share a base."""
    held = Held(name)
    A, omega = held.grasp.A, held.omega
    found = held.grasp.effective_inertia
    assert_near(found, held.grasp.object_inertia + A.T @ np.linalg.solve(omega, A), held.tolerance)
    alone = held.grasp.object_inertia + sum(
        A[k : k + 6].T @ np.linalg.solve(omega[k : k + 6, k : k + 6], A[k : k + 6]) for k in (0, 6)
    )
    assert np.abs(found - alone).max() > 1e-6 * np.abs(found).max()


@pytest.mark.parametrize("method", osim.methods())
def test_a_grasp_is_the_same_by_every_method_for_omega(method):
    held = Held("free flyer")
    grasp = Grasp(held.model, held.frames, held.object, method).update(held.q, held.v)
    assert_near(grasp.effective_inertia, held.grasp.effective_inertia, held.tolerance)


@pytest.mark.parametrize("name", SYSTEMS)
def test_internal_wrenches_squeeze_and_do_not_move_the_object(name):
    """003 section 6: F_int has no resultant, and the rest of F has no internal part."""
    held = Held(name)
    F = held.grasp.forward(held.tau, held.wrench).wrenches
    inner = held.grasp.internal_wrenches(F)
    size = np.abs(F).max() * np.abs(held.grasp.A).max()
    assert_near(held.grasp.A.T @ inner.ravel(), np.zeros(6), held.tolerance, size)
    assert_near(held.grasp.internal_wrenches(F - inner), np.zeros_like(F), held.tolerance, size)
    squeeze = np.linalg.svd(held.grasp.A.T)[2][-1].reshape(-1, 6)  # in the null space of A^T
    assert_near(held.grasp.internal_wrenches(squeeze), squeeze, held.tolerance)


def test_003_section_6_adding_an_object_to_one_arm_adds_its_inertia():
    """003 section 6, incremental: Omega'^-1 = Omega^-1 + M, and the arm moves as if the object were a part of it."""
    payload = link("load", 2.0, "0.1 0 0.05")
    arm = [link("base")] + [link(f"l{i}") for i in range(1, 8)]
    joints = [
        joint(
            f"j{i}",
            "base" if i == 1 else f"l{i - 1}",
            f"l{i}",
            axis=("0 0 1", "0 1 0", "1 0 0")[i % 3],
            xyz="0.1 0.05 0.3",
        )
        for i in range(1, 8)
    ]
    bare = load_urdf(robot(*arm, *joints))
    loaded = load_urdf(robot(*arm, payload, *joints, joint("hold", "l7", "load", "fixed", "0 0 0")))
    rng = np.random.default_rng(5)
    q, v, tau = rng.normal(size=(3, 7))
    box = np.array([[0.02, 0.001, 0.0], [0.001, 0.03, 0.002], [0.0, 0.002, 0.04]])
    grasp = Grasp(bare, ["l7"], RigidObject(2.0, np.array([0.1, 0.0, 0.05]), box)).update(q, v)
    expected = dynamics.forward_dynamics(loaded, q, v, tau)
    tolerance = derived_tolerance(dynamics.mass_matrix(bare, q)) * np.linalg.cond(grasp.omega)
    assert_near(grasp.forward(tau).qdd, expected, tolerance)
    free = dynamics.link_accelerations(bare, q, v, tau, frames=["l7"])[0]
    at_center = Contact(grasp.omega, free)
    M = np.linalg.inv(grasp.A).T @ grasp.object_inertia @ np.linalg.inv(grasp.A)
    heavier, _ = add_object(at_center, np.eye(6), M, np.zeros(6), np.zeros(6))
    assert_near(np.linalg.inv(heavier.omega), np.linalg.inv(grasp.omega) + M, tolerance)
    assert_near(heavier.omega, OperationalSpace(loaded, ["l7"]).update(q).inertia_inv, tolerance)


def test_003_section_6_objects_can_be_added_one_after_the_other():
    """Two objects at the same hand, in either order, are their sum."""
    rng = np.random.default_rng(2)
    root = rng.normal(size=(6, 6))
    contact = Contact(root @ root.T + np.eye(6), rng.normal(size=6))
    one, two = np.diag([1.0, 1.0, 1.0, 0.1, 0.2, 0.3]), np.diag([3.0, 3.0, 3.0, 0.5, 0.4, 0.6])
    w, rest = rng.normal(size=6), np.zeros(6)
    first, _ = add_object(contact, np.eye(6), one, w, rest)
    both, _ = add_object(first, np.eye(6), two, rest, rest)
    at_once, _ = add_object(contact, np.eye(6), one + two, w, rest)
    assert_near(both.omega, at_once.omega, 1e-12)
    assert_near(both.alpha, at_once.alpha, 1e-12)


def test_a_grasp_is_a_closed_chain_with_the_object_as_one_more_robot():
    """The form for simulators: a forest of robot and object, closed at both hands, in one compiled call."""
    robot_text, beam = (
        load_robot("free_flyer").source,
        robot(
            link("beam", 8.0, "0 0 0"),
            link("end", None),
            joint("e", "beam", "end", "fixed", "0.5 0 0", "0 0 0.3"),
        ),
    )
    forest = load_urdf([robot_text, beam], ["floating", "floating"], prefixes=["r_", "b_"])
    chain = ClosedChain(forest, [("r_left_tool", "b_beam"), Closure("r_right_tool", "b_end")])
    rng = np.random.default_rng(0)
    q = chain.assemble(forest.integrate(forest.neutral(), 0.3 * rng.normal(size=forest.nv), 1.0))
    v = chain.close_velocity(q, rng.normal(size=forest.nv))
    tau = np.append(rng.normal(size=forest.nv - 6), np.zeros(6))
    qdd = chain.forward(q, v, tau)
    alone = load_robot("free_flyer", gravity=forest.gravity)
    box = np.array([[0.02, 0.001, 0.0], [0.001, 0.03, 0.002], [0.0, 0.002, 0.04]])
    grasp = Grasp(alone, ["left_tool", "right_tool"], RigidObject(8.0, np.zeros(3), box))
    motion = grasp.update(q[: alone.nq], v[: alone.nv]).forward(tau[: alone.nv])
    assert_near(motion.qdd, qdd[: alone.nv], 1e-9)
    assert_near(motion.wrenches, -chain.wrenches, 1e-9)


def test_003_section_6_ill_posed_grasps_are_refused_by_name():
    """003 section 6: two arms of two joints cannot hold an object rigidly with unique forces."""
    model = random_model(21, 2, types=("revolute",), shape="chain", forest=2)
    grasp = Grasp(model, ["r0_l2", "r1_l2"], RigidObject(1.0, np.zeros(3), INERTIA)).update(
        model.neutral()
    )
    with pytest.raises(IllPosedError, match=r"Omega \+ A M\^-1 A\^T has rank 10 of 12"):
        grasp.forward(np.zeros(model.nv))
    with pytest.raises(IllPosedError, match="r0_l2, r1_l2"):
        _ = grasp.effective_inertia


def test_one_singular_arm_is_carried_as_long_as_forces_are_unique():
    """003 section 6: O(l^3) form; an arm of two joints beside one of eight, where Omega itself is singular."""
    model = random_model(22, 8, types=("revolute",), shape="chain")
    arm = Grasp(model, ["l2"], RigidObject(1.0, np.zeros(3), INERTIA)).update(model.neutral())
    with pytest.raises(IllPosedError):
        _ = arm.effective_inertia
    tau = np.ones(model.nv)
    motion = arm.forward(tau)
    expected = dynamics.link_accelerations(
        model, model.neutral(), np.zeros(model.nv), tau, {"l2": -motion.wrenches[0]}, frames=["l2"]
    )
    assert_near(motion.object, expected[0], 1e-9)


def test_impossible_objects_and_hands_are_refused_by_name():
    with pytest.raises(InertiaError, match="positive mass"):
        RigidObject(0.0, np.zeros(3), INERTIA)
    with pytest.raises(ConfigurationError, match="com of the object"):
        RigidObject(1.0, np.zeros(2), INERTIA)
    model, frames = arms()
    with pytest.raises(ConfigurationError, match="different frames"):
        Grasp(model, [frames[0], frames[0]], RigidObject(1.0, np.zeros(3), INERTIA))
