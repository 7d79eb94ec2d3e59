# SPDX-License-Identifier: Apache-2.0
"""Configurations: integrate and difference against Pinocchio, random ones within limits, bad ones refused."""

import numpy as np
import pinocchio as pin
import pytest
from helpers.support import PinTwin, load_pair, pin_model
from helpers.urdf_text import joint, limit, link, mimic, robot
from hypothesis import given
from hypothesis import strategies as st

from opspace_ctrl import load_urdf
from opspace_ctrl.errors import ConfigurationError
from opspace_ctrl.model import JointType
from opspace_ctrl.model.joints import URDF_TYPES

# A floating base, a planar joint, a floating joint inside the tree, a slider, a hinge and its follower.
ZOO = robot(
    *(link(name) for name in "abcdef"),
    link("g"),
    joint("plane", "a", "b", "planar"),
    joint("float", "b", "c", "floating", axis=None),
    joint("slide", "c", "d", "prismatic", extra=limit(0.1, 0.4)),
    joint("hinge", "a", "e", "revolute", axis="1 2 -2", extra=limit(-0.5, 0.7)),
    joint("follow", "e", "f", "revolute", extra=limit(-2.0, 0.8) + mimic("hinge", -2.0, 0.1)),
    joint("spin", "f", "g"),
)


@pytest.fixture(scope="module")
def zoo():
    return load_urdf(ZOO, "floating")


@pytest.fixture(scope="module")
def twin(zoo):
    return PinTwin(zoo, pin_model(ZOO, "floating"))


def random_velocity(model, rng, size=1.0):
    return size * rng.normal(size=model.nv)


def test_the_zoo_has_every_joint_type_of_urdf(zoo):
    assert set(zoo.joint_type) == set(URDF_TYPES.values()) - {JointType.FIXED}
    assert (zoo.nq, zoo.nv) == (7 + 3 + 7 + 1 + 1 + 1, 6 + 3 + 6 + 1 + 1 + 1)
    assert zoo.joint_names == ("plane", "float", "slide", "hinge", "spin")
    assert zoo.position_limits.shape == (12, 2)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 3.0])
def test_integrate_agrees_with_pinocchio(zoo, twin, size):
    rng = np.random.default_rng(1)
    for _ in range(10):
        q, v = zoo.random_configuration(rng), random_velocity(zoo, rng, size)
        # The follower's own coordinate in Pinocchio moves as G v, so that all of q_pin must agree.
        expected = pin.integrate(twin.model, twin.q(q), 0.7 * twin.v(v))
        reached = same_signs(zoo, twin, twin.q(zoo.integrate(q, v, 0.7)), expected)
        np.testing.assert_allclose(reached, expected, rtol=0.0, atol=1e-13 * max(1.0, size))


def same_signs(model, twin, q_pin, like):
    """q_pin with its quaternions on the side of the sphere where those of `like` are."""
    for body, name in enumerate(model.body_joint_names):
        if model.joint_type[body] == JointType.FLOATING:
            at = twin.model.joints[twin.model.getJointId(name)].idx_q
            quaternion = q_pin[at + 3 : at + 7]
            quaternion *= np.sign(quaternion @ like[at + 3 : at + 7])
    return q_pin


def test_difference_agrees_with_pinocchio(zoo, twin):
    rng = np.random.default_rng(2)
    for _ in range(20):
        q0, q1 = zoo.random_configuration(rng), zoo.random_configuration(rng)
        q0[-1] = q1[-1] = 0.0  # "spin" is last: Pinocchio wraps continuous joints, we do not
        v = zoo.difference(q0, q1)
        np.testing.assert_allclose(
            twin.v(v), pin.difference(twin.model, twin.q(q0), twin.q(q1)), atol=1e-11
        )


@pytest.mark.parametrize("size", [1e-12, 1e-8, 1e-4, 1e-2, 0.5, 1.2])
def test_difference_undoes_integrate(zoo, size):
    rng = np.random.default_rng(3)
    for _ in range(10):
        q = zoo.random_configuration(rng)
        v = size * rng.uniform(-1.0, 1.0, zoo.nv)
        np.testing.assert_allclose(
            zoo.difference(q, zoo.integrate(q, v, 1.0)), v, rtol=1e-10, atol=1e-15
        )


@pytest.mark.parametrize("angle", [np.pi - 1e-9, np.pi, np.pi + 1e-9])
def test_difference_of_half_turns_leads_back_to_the_target(angle):
    model = load_urdf(robot(link("a")), "floating")
    q0 = np.array([0.1, -0.2, 0.3, 0.0, 0.0, 0.0, 1.0])
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    q1 = np.array([1.0, 2.0, 3.0, *(np.sin(angle / 2) * axis), np.cos(angle / 2)])
    reached = model.integrate(q0, model.difference(q0, q1), 1.0)
    np.testing.assert_allclose(reached[:3], q1[:3], atol=1e-12)
    assert abs(reached[3:] @ q1[3:]) == pytest.approx(1.0, abs=1e-14)


def test_a_full_turn_is_no_difference_for_quaternions_of_either_sign():
    model = load_urdf(robot(link("a")), "floating")
    q = model.random_configuration(np.random.default_rng(4))
    flipped = np.concatenate([q[:3], -q[3:]])
    np.testing.assert_allclose(model.difference(q, flipped), 0.0, atol=1e-15)


def test_continuous_angles_add_and_are_not_wrapped(zoo):
    q0, q1 = zoo.neutral(), zoo.neutral()
    q1[-1] = 7.0  # "spin"
    assert zoo.difference(q0, q1)[-1] == 7.0
    assert zoo.integrate(q0, zoo.difference(q0, q1), 1.0)[-1] == 7.0


def test_planar_moves_in_its_own_plane_for_any_normal():
    xml = robot(link("a"), link("b"), joint("p", "a", "b", "planar", axis="1 1 1"))
    model = load_urdf(xml)
    q = model.integrate([0.3, -0.1, 0.8], [0.5, 0.2, 1.1], 0.9)
    # The same motion as an exponential of SE(2), which knows no normal.
    flat = pin.Model()
    flat.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "p")
    start = np.array([0.3, -0.1, np.cos(0.8), np.sin(0.8)])
    x, y, c, s = pin.integrate(flat, start, 0.9 * np.array([0.5, 0.2, 1.1]))
    np.testing.assert_allclose([q[0], q[1], np.cos(q[2]), np.sin(q[2])], [x, y, c, s], atol=1e-14)


def test_neutral_is_pinocchios(zoo, twin):
    np.testing.assert_array_equal(zoo.neutral()[:7], [0, 0, 0, 0, 0, 0, 1])
    follower = twin.model.joints[twin.model.getJointId("follow")].idx_q
    expected = pin.neutral(twin.model)
    expected[follower] = 0.1  # its offset
    np.testing.assert_array_equal(twin.q(zoo.neutral()), expected)


def test_random_configurations_are_valid_and_within_limits(zoo):
    rng = np.random.default_rng(5)
    samples = np.array([zoo.random_configuration(rng) for _ in range(300)])
    for sample in samples:
        np.testing.assert_allclose(zoo.check_configuration(sample), sample, atol=1e-15)
    slide = samples[:, zoo.q_index[zoo.body_joint_names.index("slide")]]
    assert 0.1 <= slide.min() < 0.11 and 0.39 < slide.max() <= 0.4
    # The follower, -2 q + 0.1 in [-2, 0.8], tightens the hinge's [-0.5, 0.7] below.
    hinge = samples[:, zoo.q_index[zoo.body_joint_names.index("hinge")]]
    assert -0.35 <= hinge.min() < -0.33 and 0.67 < hinge.max() <= 0.7


@pytest.mark.parametrize("lower, upper", [("-1.7e308", "1.7e308"), ("3", "3"), ("1e300", "1e301")])
def test_random_configurations_of_odd_limits_stay_within_them(lower, upper):
    extra = f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>'
    model = load_urdf(robot(link("a"), link("b"), joint("j", "a", "b", "revolute", extra=extra)))
    q = model.random_configuration(np.random.default_rng(6))
    assert float(lower) <= q[0] <= float(upper)


def test_same_seed_same_configuration(zoo):
    first = zoo.random_configuration(np.random.default_rng(9))
    np.testing.assert_array_equal(first, zoo.random_configuration(np.random.default_rng(9)))


@given(scale=st.floats(1e-6, 1e300))
def test_quaternions_of_any_length_are_normalised(scale):
    model, _ = load_pair("panda", "floating")
    q = model.neutral()
    q[3:7] = scale * np.array([0.1, -0.2, 0.3, 0.4])
    checked = model.check_configuration(q)
    np.testing.assert_allclose(
        checked[3:7], np.array([0.1, -0.2, 0.3, 0.4]) / np.sqrt(0.3), rtol=1e-14
    )
    assert q[6] == scale * 0.4  # the argument is left alone


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda q: q[:-1], "shape"),
        (lambda q: np.append(q, 0.0), "shape"),
        (lambda q: q[None], "shape"),
        (lambda q: 0.0, "shape"),
        (lambda q: np.where(np.arange(len(q)) == 2, np.nan, q), r"q\[2\] is not finite"),
        (lambda q: np.where(np.arange(len(q)) == 1, np.inf, q), r"q\[1\] is not finite"),
        (lambda q: np.concatenate([q[:3], np.zeros(4), q[7:]]), "root_joint.*zero quaternion"),
        (lambda q: None, "q"),
        (lambda q: "configuration", "not a vector"),
        (lambda q: [[1.0], [2.0, 3.0]], "not a vector"),
        (lambda q: q + 1j, "not a vector"),
    ],
)
def test_bad_configurations_are_refused(zoo, spoil, message):
    with pytest.raises(ConfigurationError, match=message):
        zoo.check_configuration(spoil(zoo.neutral()))
    with pytest.raises(ConfigurationError, match=message):
        zoo.integrate(spoil(zoo.neutral()), np.zeros(zoo.nv), 0.1)
    with pytest.raises(ConfigurationError, match=message):
        zoo.difference(zoo.neutral(), spoil(zoo.neutral()))


def test_bad_velocities_are_refused_by_name(zoo):
    with pytest.raises(ConfigurationError, match=r"tau has the shape \(3,\), not \(18,\)"):
        zoo.check_velocity([1.0, 2.0, 3.0], "tau")
    with pytest.raises(ConfigurationError, match=r"v\[0\] is not finite"):
        zoo.integrate(zoo.neutral(), np.full(zoo.nv, np.nan), 0.1)
    with pytest.raises(ConfigurationError, match="dt"):
        zoo.integrate(zoo.neutral(), np.zeros(zoo.nv), np.inf)
