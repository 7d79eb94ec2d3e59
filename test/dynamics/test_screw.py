# SPDX-License-Identifier: Apache-2.0
"""A screw, as docs/extending.md writes one: a prismatic joint that mimics a turn, against Pinocchio's helical joint."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.urdf_text import joint, link, mimic, robot

from opspace_ctrl import (
    OperationalSpace,
    forward_dynamics,
    frame_pose,
    inverse_dynamics,
    load_urdf,
    mass_matrix,
    osim,
)
from opspace_ctrl.dynamics import forward_methods

PITCH, AXIS = 0.3, np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
PLACE, TURN = [0.1, 0.0, 0.3], [0.2, 0.3, 0.4]


def screw():
    """A turn, a screw along AXIS, and a turn behind it; the link within the screw has no mass."""
    return load_urdf(
        robot(
            *(link(name) for name in ("base", "arm", "nut", "tip")),
            link("thread", mass=None),
            joint("first", "base", "arm", axis="0 1 0"),
            joint("turn", "arm", "thread", xyz="0.1 0 0.3", rpy="0.2 0.3 0.4", axis="1 2 3"),
            joint(
                "rise",
                "thread",
                "nut",
                "prismatic",
                xyz="0 0 0",
                axis="1 2 3",
                extra=mimic("turn", PITCH),
            ),
            joint("last", "nut", "tip", axis="1 0 0"),
        )
    )


def helical(model):
    """The same robot with a joint of Pinocchio's own, of one coordinate and the pitch PITCH."""
    twin, last = pin.Model(), 0
    twin.gravity.linear = model.gravity
    for name, kind, place, turn in (
        ("arm", pin.JointModelRY(), [0.0, 0.0, 0.3], [0.0, 0.0, 0.0]),
        ("nut", pin.JointModelHelicalUnaligned(AXIS, PITCH), PLACE, TURN),
        ("tip", pin.JointModelRX(), [0.0, 0.0, 0.3], [0.0, 0.0, 0.0]),
    ):
        at = pin.SE3(pin.rpy.rpyToMatrix(*turn), np.array(place))
        last = twin.addJoint(last, kind, at, name)
        b = model.body_names.index(name)
        body = pin.Inertia(model.mass[b], model.com[b], model.inertia[b])
        twin.appendBodyToJoint(last, body, pin.SE3.Identity())
    return twin


@pytest.mark.parametrize("seed", range(3))
def test_a_slide_that_mimics_a_turn_moves_as_pinocchios_screw(seed):
    model, rng = screw(), np.random.default_rng(seed)
    twin = helical(model)
    data, (q, v, a) = twin.createData(), rng.normal(size=(3, 3))
    H = pin.crba(twin, data, q)
    H = np.triu(H) + np.triu(H, 1).T
    pin.forwardKinematics(twin, data, q)
    tau = pin.rnea(twin, data, q, v, a)
    np.testing.assert_allclose(frame_pose(model, q, "tip")[0], data.oMi[3].translation, atol=1e-14)
    np.testing.assert_allclose(mass_matrix(model, q), H, atol=1e-13)
    np.testing.assert_allclose(inverse_dynamics(model, q, v, a), tau, atol=1e-12)
    for method in forward_methods(model):
        found = forward_dynamics(model, q, v, tau, method=method)
        np.testing.assert_allclose(found, a, rtol=1e-9, atol=1e-9, err_msg=method)
    local, R = pin.computeJointJacobian(twin, data, q, 3), data.oMi[3].rotation
    rows = np.vstack([R @ local[:3], R @ local[3:]])
    able = osim.methods(model)
    assert set(able) >= {"dense", "sparse_ltdl", "rjk", "efpa", "pv_osim", "pv_osimr"}
    for method in able:
        found = OperationalSpace(model, "tip", method).update(q).inertia_inv
        expected = rows @ np.linalg.solve(H, rows.T)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10, err_msg=method)
