# SPDX-License-Identifier: Apache-2.0
"""OperationalSpace against Pinocchio on every robot of the example-robot-data wheel, fixed and floating."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.osim_cases import Dense, end_frames, norm, random_state, regular_tasks
from helpers.support import BASES, load_pair, robots

from opspace_ctrl import CenterOfMass, OperationalSpace, osim

NOTHING_MOVES = {("quadrotor_base", "fixed"), ("iris_simple", "fixed")}  # one link each
CASES = [(name, base) for name in robots() for base in BASES if (name, base) not in NOTHING_MOVES]
every_robot = pytest.mark.parametrize("name, base", CASES)


class PinTasks:
    """Task quantities from Pinocchio at one state, in our coordinates."""

    def __init__(self, twin, q, v):
        self.twin, self.q, self.v = twin, twin.q(q), twin.v(v)
        pin.forwardKinematics(twin.model, twin.data, self.q, self.v, np.zeros(twin.model.nv))
        pin.computeJointJacobians(twin.model, twin.data, self.q)
        pin.updateFramePlacements(twin.model, twin.data)
        upper = np.triu(pin.crba(twin.model, twin.data, self.q))
        self.H = twin.G.T @ (upper + np.triu(upper, 1).T) @ twin.G

    def frame(self, name):
        return self.twin.model.getFrameId(name, pin.FrameType.BODY)

    def jacobian(self, name):
        model, data = self.twin.model, self.twin.data
        return (
            pin.getFrameJacobian(model, data, self.frame(name), pin.LOCAL_WORLD_ALIGNED)
            @ self.twin.G
        )

    def bias_acceleration(self, name):
        model, data = self.twin.model, self.twin.data
        return pin.getFrameClassicalAcceleration(
            model, data, self.frame(name), pin.LOCAL_WORLD_ALIGNED
        ).vector

    def delassus(self, names):
        """J H^-1 J^T of whole poses by Pinocchio's own algorithm, turned from frame axes to world axes."""
        model, models, turn = self.twin.model, [], []
        for name in names:
            frame = model.frames[self.frame(name)]
            models.append(
                pin.RigidConstraintModel(
                    pin.ContactType.CONTACT_6D, model, frame.parentJoint, frame.placement, pin.LOCAL
                )
            )
            turn += 2 * [self.twin.data.oMf[self.frame(name)].rotation.copy()]
        data = self.twin.model.createData()
        found = pin.computeDelassusMatrix(
            model, data, self.q, models, [c.createData() for c in models]
        )
        R = np.zeros(found.shape)
        for k, rotation in enumerate(turn):
            R[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = rotation
        return R @ found @ R.T


@cache
def case(name, base):
    """A robot at a random state, whole poses of its ends as tasks."""
    model, twin = load_pair(name, base, armature=0.02)
    (q, v), ends = random_state(model, len(name)), end_frames(model)
    poses = OperationalSpace(model, ends, "sparse_ltdl")
    return SimpleNamespace(model=model, twin=twin, q=q, v=v, ends=ends, poses=poses)


@every_robot
def test_jacobian_equals_pinocchio(name, base):
    c = case(name, base)
    expected = np.vstack([PinTasks(c.twin, c.q, c.v).jacobian(end) for end in c.ends])
    np.testing.assert_allclose(
        c.poses.update(c.q, c.v).jacobian, expected, rtol=0.0, atol=1e-12 * norm(expected)
    )


@every_robot
def test_bias_acceleration_is_pinocchios_classical_acceleration(name, base):
    c = case(name, base)
    pinocchio = PinTasks(c.twin, c.q, c.v)
    expected = np.hstack([pinocchio.bias_acceleration(end) for end in c.ends])
    scale = max(1.0, norm(expected))
    np.testing.assert_allclose(
        c.poses.update(c.q, c.v).bias_acceleration, expected, rtol=0.0, atol=1e-12 * scale
    )


@every_robot
def test_inverse_inertia_by_every_able_method_is_j_hinv_jt_of_pinocchio(name, base):
    c = case(name, base)
    pinocchio = PinTasks(c.twin, c.q, c.v)
    dense = Dense(pinocchio.H, np.vstack([pinocchio.jacobian(end) for end in c.ends]))
    for method in osim.methods(c.model):
        c.poses.method = method
        dense.check("inertia_inv", c.poses.update(c.q).inertia_inv)


@every_robot
def test_inertia_jbar_null_space_and_torque_equal_dense_algebra_on_pinocchios_matrices(name, base):
    """As many rows on the ends as are independent here; every method."""
    c = case(name, base)
    pinocchio = PinTasks(c.twin, c.q, c.v)
    tasks = regular_tasks(c.ends, pinocchio.jacobian, pinocchio.H)
    dense = Dense(
        pinocchio.H, np.vstack([t.selection() @ pinocchio.jacobian(t.frame) for t in tasks])
    )
    ospace = OperationalSpace(c.model, tasks, "sparse_ltdl")
    rng = np.random.default_rng(0)
    force, tau0 = rng.normal(size=ospace.m), rng.normal(size=c.model.nv)
    h = c.twin.G.T @ pin.nonLinearEffects(c.twin.model, c.twin.data, pinocchio.q, pinocchio.v)
    for method in osim.methods(c.model):
        ospace.method = method
        dense.check_all(ospace.update(c.q, c.v))
        assert (ospace.rank, ospace.damped) == (ospace.m, False)
        dense.check_torque(ospace.torque(force, tau0), force, tau0)
        np.testing.assert_allclose(ospace.bias_forces, h, rtol=0.0, atol=1e-12 * max(1.0, norm(h)))
        compensated = ospace.control(c.q, c.v, force, tau0, True)
        dense.check_torque(compensated - h, force, tau0)
        dense.check_torque(ospace.control(c.q, c.v, force, tau0, False), force, tau0)


@every_robot
def test_centre_of_mass_task_equals_pinocchio(name, base):
    c = case(name, base)
    pinocchio = PinTasks(c.twin, c.q, c.v)
    ospace = OperationalSpace(c.model, CenterOfMass(), "sparse_ltl").update(c.q, c.v)
    # Pinocchio also counts links fixed to the world, which move no centre.
    share = pin.computeTotalMass(c.twin.model) / c.model.mass.sum()
    J = share * pin.jacobianCenterOfMass(c.twin.model, c.twin.data, pinocchio.q) @ c.twin.G
    np.testing.assert_allclose(ospace.jacobian, J, rtol=0.0, atol=1e-12 * norm(J))
    pin.centerOfMass(c.twin.model, c.twin.data, pinocchio.q, pinocchio.v, np.zeros(c.twin.model.nv))
    acceleration = share * c.twin.data.acom[0]
    scale = max(1.0, norm(acceleration), norm(c.v) ** 2 * norm(J))
    np.testing.assert_allclose(ospace.bias_acceleration, acceleration, rtol=0.0, atol=1e-12 * scale)
    for method in (
        "dense",
        "sparse_ltl",
        "sparse_ltdl",
        *(["pv_osim"] if "pv_osim" in osim.methods(c.model) else []),
    ):
        ospace.method = method
        Dense(pinocchio.H, J).check("inertia_inv", ospace.inertia_inv)


@pytest.mark.parametrize(
    "name, base",
    [
        key
        for key in CASES
        if key[0]
        in (
            "xarm7",
            "kinova",
            "go2",
            "solo12",
            "talos_reduced",
            "g1_29dof_rev_1_0",
            "icub_reduced",
            "tiago_dual",
        )
    ],
)
def test_inverse_inertia_is_pinocchios_delassus_matrix(name, base):
    c = case(name, base)
    pinocchio = PinTasks(c.twin, c.q, c.v)
    dense = Dense(pinocchio.H, np.vstack([pinocchio.jacobian(end) for end in c.ends]))
    dense.inertia_inv = pinocchio.delassus(c.ends)
    for method in osim.methods(c.model):
        c.poses.method = method
        dense.check("inertia_inv", c.poses.update(c.q).inertia_inv)
