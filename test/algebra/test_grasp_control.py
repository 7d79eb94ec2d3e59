# SPDX-License-Identifier: Apache-2.0
"""Paper 003 section 6: arms by themselves, mechanisms added up, motion and internal forces of an object."""

import numpy as np
import pytest
from helpers.recursion_cases import assert_near
from helpers.support import urdf_path
from oracles.random_trees import random_model

from opspace_ctrl import OperationalSpace, dynamics, load_robot, load_urdf
from opspace_ctrl.algebra.closure import (
    ClosedChain,
    Closure,
    Contact,
    Grasp,
    GraspController,
    RigidObject,
    add_mechanism,
    forward_by_arms,
    grasp_torque,
    squeeze,
    squeezing,
)
from opspace_ctrl.algebra.closure.by_arms import frame_responses
from opspace_ctrl.errors import ConfigurationError, IllPosedError, MethodError

INERTIA = np.array([[0.4, 0.05, 0.0], [0.05, 0.5, -0.02], [0.0, -0.02, 0.3]])
ARM = ("revolute", "continuous", "prismatic")


def state_of(model, seed=0):
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv), 1.0)
    return q, *rng.normal(size=(2, model.nv))


def three_arms():
    model = random_model(21, 8, types=ARM, shape="chain", forest=3)
    return model, ["r0_l8", "r1_l8", "r2_l8"]


def test_003_section_6_arms_on_their_own_bases_need_one_6_x_6_system():
    """O(n) + O(l): accelerations and wrenches are those of the system in all contacts together."""
    model, frames = three_arms()
    q, v, tau = state_of(model)
    grasp = Grasp(model, frames, RigidObject(2.5, np.array([0.1, -0.2, 0.05]), INERTIA)).update(
        q, v
    )
    wrench = np.array([1.0, -2.0, 0.5, 0.1, 0.2, -0.3])
    whole, by_arms = grasp.forward(tau, wrench), forward_by_arms(grasp, tau, wrench)
    for name in ("qdd", "object", "wrenches"):
        expected = getattr(whole, name)
        assert_near(getattr(by_arms, name), expected, 1e-8, max(1.0, np.abs(expected).max()))
    Omega = OperationalSpace(model, frames, "dense").update(q).inertia_inv
    for i, found in enumerate(frame_responses(model, q, tuple(frames))):
        assert_near(found, Omega[6 * i : 6 * i + 6, 6 * i : 6 * i + 6], 1e-9)


def test_003_section_6_arms_that_share_a_base_are_refused_by_name():
    model = load_robot("free_flyer")
    q, v, tau = state_of(model)
    grasp = Grasp(model, ["left_tool", "right_tool"], RigidObject(2.5, np.zeros(3), INERTIA))
    with pytest.raises(MethodError, match="left_tool"):
        forward_by_arms(grasp.update(q, v), tau)


def test_003_section_6_a_mechanism_is_added_by_combining_two_estimates():
    """Two arms joined at their tips: the forces are those of the closed chain, and Omega'^-1 is the sum of both."""
    model, frames = three_arms()
    q, v, tau = state_of(model, 3)
    chain = ClosedChain(model, [Closure(frames[0], frames[1])])
    chain.forward(q, v, tau)
    free = dynamics.link_accelerations(model, q, v, tau, frames=frames)
    omega = frame_responses(model, q, tuple(frames))
    first, second = (Contact(omega[i], free[i]) for i in (0, 1))
    joined, F = add_mechanism(first, second)
    # F acts on the second arm; the chain's force on the first
    assert_near(-F, chain.force, 1e-8, max(1.0, np.abs(F).max()))
    total = np.linalg.inv(omega[0]) + np.linalg.inv(omega[1])
    assert_near(np.linalg.inv(joined.omega), total, 1e-8, np.abs(total).max())
    assert_near(
        joined.alpha, second.alpha + omega[1] @ F, 1e-8, max(1.0, np.abs(joined.alpha).max())
    )
    # a third arm is added to the two without solving them again
    three, _ = add_mechanism(joined, Contact(omega[2], free[2]))
    total = total + np.linalg.inv(omega[2])
    assert_near(np.linalg.inv(three.omega), total, 1e-7, np.abs(total).max())
    with pytest.raises(IllPosedError, match="rank"):
        add_mechanism(Contact(np.zeros((6, 6)), np.ones(6)), Contact(np.zeros((6, 6)), np.ones(6)))


def free_flyer():
    return load_robot("free_flyer"), ["left_tool", "right_tool"]


def dual_arm():
    """Two UR5 side by side, in one forest."""
    model = load_urdf([urdf_path("ur5_robot")] * 2, prefixes=["left_", "right_"])
    return model, ["left_tool0", "right_tool0"]


@pytest.mark.parametrize("make", [free_flyer, dual_arm, three_arms])
def test_003_section_6_object_moves_as_told_and_is_squeezed_by_20_newtons(make):
    """The object accelerates as wanted, and the internal wrenches are the 20 N asked for, in any motion."""
    model, frames = make()
    q, v, _ = state_of(model, 5)
    held = RigidObject(3.0, np.array([0.1, -0.2, 0.05]), INERTIA)
    grasp = Grasp(model, frames, held).update(q, 0.3 * v)
    wanted = np.array([0.4, -0.3, 0.2, 0.5, 0.1, -0.6])
    pressed = squeeze(grasp, 0, 1, 20.0)
    assert np.linalg.norm(pressed[0, :3]) == pytest.approx(20.0)
    tau = grasp_torque(grasp, wanted, pressed)
    assert not tau[model.is_base_coordinate].any()
    motion = grasp.forward(tau)
    assert_near(motion.object, wanted, 1e-6)
    inside = grasp.internal_wrenches(motion.wrenches)
    assert_near(inside, pressed, 1e-5, 20.0)
    relaxed = grasp.forward(grasp_torque(grasp, wanted))
    assert_near(relaxed.object, wanted, 1e-6)
    assert_near(grasp.internal_wrenches(relaxed.wrenches), 0.0 * pressed, 1e-5, 20.0)


def test_squeezing_pulls_together_and_moves_nothing():
    model, frames = free_flyer()
    grasp = Grasp(model, frames, RigidObject(3.0, np.zeros(3), INERTIA)).update(model.neutral())
    pressed = squeeze(grasp, 0, 1, 20.0)
    positions = [dynamics.frame_pose(model, model.neutral(), frame)[0] for frame in frames]
    assert pressed[0, :3] @ (positions[1] - positions[0]) > 0.0
    assert_near(grasp.A.T @ pressed.ravel(), np.zeros(6), 1e-12, 20.0)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"motion": np.zeros((2, 3))}, "motion = .*position of the object, velocity"),
        ({"motion": None}, "motion = None"),
        ({"motion": [[0.0] * 3, [0.0] * 3, [0.0] * 2]}, "acceleration of the object has the shape"),
        ({"motion": np.full((3, 3), np.nan)}, "position of the object.0. is not finite"),
        ({"force": np.nan}, "force = nan"),
        ({"force": "20"}, "force = '20'"),
        ({"measured": np.inf}, "measured = inf"),
        ({"dt": -1e-3}, "dt = -0.001: 0 and above"),
        ({"v": np.full(20, np.nan)}, "v.0. is not finite"),
    ],
)
def test_a_call_that_is_refused_leaves_the_squeeze_as_it_was(wrong, words):
    model, frames = free_flyer()
    q = state_of(model)[0]
    grasp = Grasp(model, frames, RigidObject(3.0, np.zeros(3), INERTIA))
    controllers = [GraspController(grasp, q) for _ in range(2)]
    rest = np.zeros((3, 3))
    rest[0] = controllers[0].center(q)
    given = {"q": q, "v": np.zeros(model.nv), "motion": rest, "force": 20.0, "measured": 18.0}
    with pytest.raises(ConfigurationError, match=words):
        controllers[0].torque(**{**given, **wrong})
    found, expected = (each.torque(**given) for each in controllers)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("gain", ["stiffness", "damping", "calm", "force_integral", "most"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "1"])
def test_gains_of_a_grasp_that_are_none_are_refused_by_name(gain, value):
    model, frames = free_flyer()
    grasp = Grasp(model, frames, RigidObject(3.0, np.zeros(3), INERTIA))
    with pytest.raises(ConfigurationError, match=f"{gain} = .*valid"):
        GraspController(grasp, model.neutral(), **{gain: value})


def test_what_does_not_squeeze_is_refused():
    model, frames = free_flyer()
    q, held = model.neutral(), RigidObject(3.0, np.zeros(3), INERTIA)
    with pytest.raises(ConfigurationError, match="two frames or more"):
        GraspController(Grasp(model, frames[:1], held), q)
    with pytest.raises(ConfigurationError, match="valid is a RigidObject"):
        Grasp(model, frames, None)
    grasp = Grasp(model, frames, held).update(q)
    with pytest.raises(ConfigurationError, match="arms 0 and 5 of 2 do not squeeze"):
        squeezing(grasp, np.zeros((2, 6)), 0, 5)
    with pytest.raises(ConfigurationError, match="wrenches of all arms has the shape"):
        squeezing(grasp, np.zeros((3, 6)))
