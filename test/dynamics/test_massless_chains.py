# SPDX-License-Identifier: Apache-2.0
"""Hinges of two to five freedoms as chains of links without mass: exact by every method; what a gimbal lock does."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.massless_chains import HINGES, chain
from helpers.osim_cases import Dense
from oracles.reference import Reference, assert_close, derived_tolerance
from scipy.spatial.transform import Rotation

from opspace_ctrl import (
    OperationalSpace,
    bias_forces,
    forward_dynamics,
    frame_pose,
    inverse_dynamics,
    load_urdf,
    mass_matrix,
)
from opspace_ctrl.dynamics import forward_methods
from opspace_ctrl.errors import SimulationError, SingularInertiaError
from opspace_ctrl.osim import methods
from opspace_ctrl.sim.simulator import Simulator

ROBOTS = [[name] for name in HINGES] + [["spherical", "universal"], ["five", "spherical", "planar"]]
CASES = [(hinges, base, n) for hinges in ROBOTS for base in ("fixed", "floating") for n in (1, 2)]
cases = pytest.mark.parametrize(
    ("hinges", "base", "branches"),
    CASES,
    ids=lambda x: "+".join(x) if isinstance(x, list) else str(x),
)


def state(model):
    rng = np.random.default_rng(model.nv)
    return model.integrate(model.neutral(), rng.uniform(-1, 1, model.nv)), *rng.normal(
        size=(2, model.nv)
    )


@cases
def test_inertia_and_bias_are_those_of_pinocchio_and_dense_algebra(hinges, base, branches):
    text = chain(hinges, branches)
    model = load_urdf(text, base)
    q, v, _ = state(model)
    reference = Reference(model, q, v)
    assert_close(mass_matrix(model, q), reference.mass_matrix(), reference.mass_matrix_scale())
    h, scale = reference.inverse_dynamics()
    assert_close(bias_forces(model, q, v), h, scale)
    peer = pin.buildModelFromXML(text, *([pin.JointModelFreeFlyer()] if base == "floating" else []))
    position, rate, place = _in_their_order(model, peer, q, v)
    data = peer.createData()
    pin.crba(peer, data, position)
    H = np.triu(data.M) + np.triu(data.M, 1).T
    assert_close(H[np.ix_(place, place)], mass_matrix(model, q), reference.mass_matrix_scale())
    assert_close(pin.nonLinearEffects(peer, data, position, rate)[place], h, scale)


def _in_their_order(model, peer, q, v):
    """Pinocchio's q and v, and for every coordinate of ours the place of theirs; a continuous joint is (cos, sin)."""
    position, rate, place = pin.neutral(peer), np.zeros(peer.nv), np.zeros(model.nv, int)
    for i, name in enumerate(model.body_joint_names):
        joint = peer.joints[peer.getJointId(name)]
        at, w = model.q_index[i], model.v_index[i]
        mine = (
            q[at : at + 7]
            if joint.nv == 6
            else [np.cos(q[at]), np.sin(q[at])]
            if joint.nq == 2
            else [q[at]]
        )
        position[joint.idx_q : joint.idx_q + joint.nq] = mine
        rate[joint.idx_v : joint.idx_v + joint.nv] = v[w : w + joint.nv]
        place[w : w + joint.nv] = range(joint.idx_v, joint.idx_v + joint.nv)
    return position, rate, place


@cases
def test_every_method_solves_them_exactly(hinges, base, branches):
    model = load_urdf(chain(hinges, branches), base)
    q, v, tau = state(model)
    H, h = mass_matrix(model, q), bias_forces(model, q, v)
    expected = np.linalg.solve(H, tau - h)
    for method in forward_methods(model):
        found = forward_dynamics(model, q, v, tau, method=method)
        assert_close(found, expected, np.abs(expected).max(), derived_tolerance(H))
    between = [name for name in model.body_names if name.startswith("between")]
    ospace = OperationalSpace(model, [model.body_names[-1], (between[-1], "position")], "dense")
    dense = Dense(H, ospace.update(q).jacobian.copy())
    for method in methods(model):
        ospace.method = method
        found = ospace.update(q).inertia_inv
        assert_close(found, dense.inertia_inv, np.abs(dense.inertia_inv).max(), dense.tolerance)


def test_a_chain_that_ends_without_mass_is_refused_by_name_unless_it_has_armature():
    text = chain(["spherical"]).replace("</robot>", "") + (
        '<link name="tip"/><joint name="last" type="continuous"><parent link="body0"/><child link="tip"/></joint>'
        "</robot>"
    )
    with pytest.raises(SingularInertiaError, match="'last'"):
        load_urdf(text)
    assert load_urdf(text, armature={"last": 0.1}).nv == 4


def near_the_lock(distance):
    """A spherical hinge as three joints, an angle away from where the first and third axis are one."""
    model = load_urdf(chain(["spherical"]))
    return model, np.array([0.3, 0.5 * np.pi - distance, 0.7])


@pytest.mark.parametrize("distance", [1e-1, 1e-2, 1e-3, 1e-4])
def test_near_a_gimbal_lock_digits_go_with_the_square_of_the_distance(distance):
    """Lambda^-1 of the body's rotation is its inverse inertia about the hinge, however the hinge is written."""
    model, q = near_the_lock(distance)
    R = Rotation.from_quat(frame_pose(model, q, "body0")[1]).as_matrix()
    c = model.com[-1]
    inertia = model.inertia[-1] + model.mass[-1] * (c @ c * np.eye(3) - np.outer(c, c))
    expected = np.linalg.inv(R @ inertia @ R.T)
    ospace = OperationalSpace(model, ("body0", "orientation"), "dense")
    tau, v = np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.2, -0.4])
    tolerance = 50 * np.finfo(float).eps * np.linalg.cond(mass_matrix(model, q))
    assert 1.0 < np.linalg.cond(mass_matrix(model, q)) * distance**2 < 10.0
    for method in methods(model):
        ospace.method = method
        assert_close(ospace.update(q).inertia_inv, expected, np.abs(expected).max(), tolerance)
    for method in forward_methods(model):
        a = forward_dynamics(model, q, v, tau, method=method)
        assert_close(inverse_dynamics(model, q, v, a), tau, 1.0, tolerance)


@pytest.mark.parametrize("method", ["aba", "crba_ltdl"])
def test_a_simulation_that_starts_in_a_gimbal_lock_stops_by_name_and_keeps_its_state(method):
    model, q = near_the_lock(1e-9)
    sim = Simulator(model, forward_method=method)
    sim.reset(q, [0.5, 0.0, 0.2])
    with pytest.raises(SimulationError, match="range of numbers"):
        for _ in range(1000):
            before = sim.save()
            sim.step(np.zeros(3))
    for name, value in sim.save().items():
        np.testing.assert_array_equal(value, before[name])
    assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all()
