# SPDX-License-Identifier: Apache-2.0
"""Arguments of every kind: the right result or a named error, and the next good call is right either way."""

import array

import numpy as np
import pytest
from oracles.random_trees import random_model, random_motion
from oracles.reference import Reference, assert_close

from opspace_ctrl import (
    OperationalSpace,
    bias_forces,
    dynamics,
    forward_dynamics,
    frame_jacobian,
    frame_pose,
    inverse_dynamics,
    load_robot,
    mass_matrix,
)
from opspace_ctrl.errors import (
    ConfigurationError,
    MethodError,
    SingularInertiaError,
    UnknownFrameError,
)
from opspace_ctrl.osim import methods

MODEL = random_model(20, 6, "floating", types=("revolute", "prismatic"))
Q, V, A = random_motion(MODEL, 20)
FRAME = MODEL.frame_names[-1]
WRENCH = np.array([1.0, -2.0, 3.0, 0.5, -0.5, 0.25])

# Each call as a function of q, v and a; all of them are tried with every bad argument they take.
Q_CALLS = {
    "mass_matrix": lambda q: dynamics.mass_matrix(MODEL, q),
    "gravity_forces": lambda q: dynamics.gravity_forces(MODEL, q),
    "potential_energy": lambda q: dynamics.potential_energy(MODEL, q),
    "frame_pose": lambda q: np.concatenate(dynamics.frame_pose(MODEL, q, FRAME)),
    "frame_jacobian": lambda q: dynamics.frame_jacobian(MODEL, q, FRAME),
    "center_of_mass": lambda q: dynamics.center_of_mass(MODEL, q),
    "center_of_mass_jacobian": lambda q: dynamics.center_of_mass_jacobian(MODEL, q),
}
QV_CALLS = {
    "bias_forces": lambda q, v: dynamics.bias_forces(MODEL, q, v),
    "coriolis_matrix": lambda q, v: dynamics.coriolis_matrix(MODEL, q, v),
    "kinetic_energy": lambda q, v: dynamics.kinetic_energy(MODEL, q, v),
    "frame_velocity": lambda q, v: dynamics.frame_velocity(MODEL, q, v, FRAME),
    "center_of_mass_bias": lambda q, v: dynamics.center_of_mass_bias(MODEL, q, v),
}
QVA_CALLS = {
    "inverse_dynamics": lambda q, v, a: dynamics.inverse_dynamics(MODEL, q, v, a),
    "pushed": lambda q, v, a: dynamics.inverse_dynamics(MODEL, q, v, a, {FRAME: WRENCH}),
    "frame_acceleration": lambda q, v, a: dynamics.frame_acceleration(MODEL, q, v, a, FRAME),
    **{
        f"{method}{' with losses' if losses else ''}": lambda q, v, a, method=method, losses=losses: (
            dynamics.forward_dynamics(
                MODEL, q, v, a, method=method, damping=losses, friction=losses
            )
        )
        for method in ("aba", "crba_ltdl")
        for losses in (False, True)
    },
}
CALLS = {**Q_CALLS, **QV_CALLS, **QVA_CALLS}
GOOD = (Q, V, A)


def arguments(name):
    return GOOD[:1] if name in Q_CALLS else GOOD[:2] if name in QV_CALLS else GOOD


EXPECTED = {name: call(*arguments(name)) for name, call in CALLS.items()}


def with_entry(x, value):
    """x with its last entry replaced."""
    return np.append(x[:-1], value)


# How a vector is spoiled, and what the error says.
BAD_VECTORS = {
    "short": (lambda x: x[:-1], "shape"),
    "long": (lambda x: np.append(x, 0.0), "shape"),
    "empty": (lambda x: [], "shape"),
    "a scalar": (lambda x: 1.0, "shape"),
    "a row": (lambda x: x[None], "shape"),
    "a column": (lambda x: x[:, None], "shape"),
    "ragged": (lambda x: [[1.0], [2.0, 3.0]], "numbers"),
    "NaN": (lambda x: with_entry(x, np.nan), "not finite"),
    "infinite": (lambda x: with_entry(x, np.inf), "not finite"),
    "minus infinite": (lambda x: with_entry(x, -np.inf), "not finite"),
    "a list with NaN": (lambda x: with_entry(x, np.nan).tolist(), "not finite"),
    "None": (lambda x: None, "numbers"),
    "text": (lambda x: "zero", "numbers"),
    "complex": (lambda x: x + 0j, "numbers"),
    "objects": (lambda x: x.astype(object), "numbers"),
    "a set": (lambda x: set(), "numbers"),
    "a dict": (lambda x: {0: 1.0}, "numbers"),
}
# The same numbers in other clothes.
CLOTHES = {
    "a list": lambda x: x.tolist(),
    "a tuple": lambda x: tuple(x.tolist()),
    "an array.array": lambda x: array.array("d", x),
    "not contiguous": lambda x: np.repeat(x, 2)[::2],
    "reversed": lambda x: x[::-1].copy()[::-1],
    "a column of a matrix": lambda x: np.stack([x, x], axis=1)[:, 1],
    "big endian": lambda x: x.astype(">f8"),
    "long double": lambda x: x.astype(np.longdouble),
    "read-only": lambda x: np.frombuffer(x.tobytes()),
    "unaligned": lambda x: np.frombuffer(b"-" + x.tobytes(), dtype=np.float64, offset=1),
}


@pytest.fixture(autouse=True)
def next_good_call_is_right():
    yield
    for name, call in CALLS.items():
        np.testing.assert_array_equal(call(*arguments(name)), EXPECTED[name], err_msg=name)


@pytest.mark.parametrize("spoil, message", BAD_VECTORS.values(), ids=BAD_VECTORS)
@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_vector_of_finite_numbers_is_refused_and_named(name, spoil, message):
    good = arguments(name)
    for k, letter in enumerate("qva"[: len(good)]):
        spoiled = [spoil(x) if i == k else x for i, x in enumerate(good)]
        letter = "tau" if letter == "a" and name.startswith(("aba", "crba")) else letter
        with pytest.raises(ConfigurationError, match=rf"^{letter}\b.*{message}"):
            CALLS[name](*spoiled)


@pytest.mark.parametrize("dress", CLOTHES.values(), ids=CLOTHES)
@pytest.mark.parametrize("name", CALLS)
def test_the_same_numbers_in_other_clothes_give_the_same_result(name, dress):
    found = CALLS[name](*(dress(x) for x in arguments(name)))
    np.testing.assert_allclose(found, EXPECTED[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint16, bool])
@pytest.mark.parametrize("name", CALLS)
def test_narrow_numbers_count_for_what_they_are(name, dtype):
    narrow = [np.abs(3.0 * x).astype(dtype) for x in arguments(name)]
    expected = CALLS[name](*(x.astype(np.float64) for x in narrow))
    np.testing.assert_allclose(CALLS[name](*narrow), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e-9, -0.0])
@pytest.mark.parametrize("name", CALLS)
def test_a_zero_quaternion_is_refused_and_its_joint_named(name, scale):
    q = Q.copy()
    q[3:7] *= scale
    with pytest.raises(ConfigurationError, match="'root_joint' has a zero quaternion"):
        CALLS[name](q, *arguments(name)[1:])


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 7.0, 1e8, 1e99, 1e180, 1e300])
@pytest.mark.parametrize("name", CALLS)
def test_quaternions_of_any_other_length_are_normalised(name, scale):
    q = Q.copy()
    q[3:7] *= scale
    np.testing.assert_allclose(
        CALLS[name](q, *arguments(name)[1:]), EXPECTED[name], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("angle", [1e4, 1e5, -1e6, 1e10, 1e15, -1e16, 1e20, 1e60])
def test_angles_of_any_size_turn_as_their_sine_and_cosine_say(angle):
    model = random_model(21, 3, types=("continuous",))
    q, v, a = random_motion(model, 21)
    turned = np.arctan2(np.sin(angle), np.cos(angle))
    reference = Reference(model, np.append(q[:-1], turned), v)
    q[-1] = angle
    tau, size = reference.inverse_dynamics(a)
    assert_close(dynamics.inverse_dynamics(model, q, v, a), tau, size)
    assert_close(
        dynamics.mass_matrix(model, q), reference.mass_matrix(), reference.mass_matrix_scale()
    )


@pytest.mark.parametrize("value", [1e71, -1e300])
@pytest.mark.parametrize("name", CALLS)
def test_numbers_whose_squares_overflow_are_refused(name, value):
    good = arguments(name)
    for k in range(2 if name == "frame_acceleration" else len(good)):  # J a is no square
        spoiled = [with_entry(x, value) if i == k else x for i, x in enumerate(good)]
        with pytest.raises(ConfigurationError, match="is beyond 1e70"):
            CALLS[name](*spoiled)


@pytest.mark.parametrize("frame", ["no_such_link", "", None, 3, ["l1"], b"l1"])
def test_an_unknown_frame_is_refused_with_the_frames_there_are(frame):
    for call in (
        lambda: dynamics.frame_pose(MODEL, Q, frame),
        lambda: dynamics.frame_jacobian(MODEL, Q, frame),
        lambda: dynamics.frame_velocity(MODEL, Q, V, frame),
        lambda: dynamics.frame_acceleration(MODEL, Q, V, A, frame),
    ):
        with pytest.raises(UnknownFrameError, match="Frames: l0, l1"):
            call()


@pytest.mark.parametrize("method", ["ABA", "rnea", "", None, 1, ["aba"], {}])
def test_an_unknown_method_is_refused_with_the_methods_there_are(method):
    with pytest.raises(MethodError, match="can use aba, crba_ltdl"):
        dynamics.forward_dynamics(MODEL, Q, V, A, method=method)


@pytest.mark.parametrize(
    "external, error, message",
    [
        ({FRAME: np.ones(5)}, ConfigurationError, f"'{FRAME}' has the shape"),
        ({FRAME: np.ones((1, 6))}, ConfigurationError, f"'{FRAME}' has the shape"),
        ({FRAME: [1, 2, 3, 4, 5, np.nan]}, ConfigurationError, f"'{FRAME}'.* not finite"),
        ({"l0": WRENCH, FRAME: None}, ConfigurationError, f"'{FRAME}' is not"),
        ({FRAME: "push"}, ConfigurationError, f"'{FRAME}' is not"),
        ({FRAME: WRENCH * 1j}, ConfigurationError, f"'{FRAME}' is not"),
        ({"nowhere": WRENCH}, UnknownFrameError, "nowhere"),
        ([FRAME], ConfigurationError, "external"),
        (FRAME, ConfigurationError, "external"),
    ],
)
def test_bad_wrenches_are_refused_and_leave_none_behind(external, error, message):
    for call in (dynamics.inverse_dynamics, dynamics.forward_dynamics):
        with pytest.raises(error, match=message):
            call(MODEL, Q, V, A, external)


def test_wrenches_in_other_clothes_and_no_wrenches():
    pushed = dynamics.inverse_dynamics(MODEL, Q, V, A, {FRAME: WRENCH})
    np.testing.assert_array_equal(
        dynamics.inverse_dynamics(MODEL, Q, V, A, {FRAME: WRENCH.tolist()}), pushed
    )
    np.testing.assert_array_equal(
        dynamics.inverse_dynamics(MODEL, Q, V, A, {FRAME: np.repeat(WRENCH, 2)[::2]}), pushed
    )
    assert not np.allclose(pushed, EXPECTED["inverse_dynamics"])
    for none in ({}, None, {FRAME: np.zeros(6)}):
        np.testing.assert_allclose(
            dynamics.inverse_dynamics(MODEL, Q, V, A, none), EXPECTED["inverse_dynamics"]
        )


@pytest.mark.parametrize("empty", [[], (), np.zeros(0)])
def test_a_robot_that_cannot_move_has_empty_dynamics(empty):
    model = random_model(22, 2, types=("fixed",))
    assert dynamics.mass_matrix(model, empty).shape == (0, 0)
    assert dynamics.inverse_dynamics(model, empty, empty, empty, {"l2": WRENCH}).shape == (0,)
    assert dynamics.forward_dynamics(model, empty, empty, empty, {"l2": WRENCH}).shape == (0,)
    assert dynamics.frame_jacobian(model, empty, "l2").shape == (6, 0)
    np.testing.assert_array_equal(dynamics.frame_velocity(model, empty, empty, "l2"), np.zeros(6))
    for call in (dynamics.center_of_mass, dynamics.center_of_mass_jacobian):
        with pytest.raises(SingularInertiaError, match="no mass moves"):
            call(model, empty)
    with pytest.raises(SingularInertiaError, match="no mass moves"):
        dynamics.center_of_mass_bias(model, empty, empty)


@pytest.mark.parametrize("wrong", [None, "arm7", 3, [], np.zeros(7), object()])
def test_what_is_no_model_is_refused_by_name(wrong):
    q, v = np.zeros(7), np.zeros(7)
    for call in (
        lambda: mass_matrix(wrong, q),
        lambda: bias_forces(wrong, q, v),
        lambda: inverse_dynamics(wrong, q, v, v),
        lambda: forward_dynamics(wrong, q, v, v),
        lambda: frame_pose(wrong, q, "tool"),
        lambda: frame_jacobian(wrong, q, "tool"),
        lambda: methods(wrong) if wrong is not None else mass_matrix(wrong, q),
    ):
        with pytest.raises(ConfigurationError, match="is no Model"):
            call()


@pytest.mark.parametrize("wrong", [[], 0, "tool", np.zeros(6), np.zeros(0)])
def test_wrenches_that_are_no_mapping_are_refused_by_name(wrong):
    model, q, v = load_robot("arm7"), np.zeros(7), np.zeros(7)
    for call in (inverse_dynamics, forward_dynamics):
        with pytest.raises(ConfigurationError, match=r"external = .* is not \{frame: wrench\}"):
            call(model, q, v, v, wrong)


@pytest.mark.parametrize("wrong", [None, 3, np.zeros(2), ["aba"], {}])
def test_a_method_that_is_no_name_is_refused(wrong):
    model, q, v = load_robot("arm7"), np.zeros(7), np.zeros(7)
    with pytest.raises(MethodError):
        forward_dynamics(model, q, v, v, method=wrong)
    with pytest.raises(MethodError):
        OperationalSpace(model, "tool", wrong)


@pytest.mark.parametrize("wrong", [None, 3, "rng", [], np.random])
def test_what_is_no_random_generator_is_refused_by_name(wrong):
    with pytest.raises(ConfigurationError, match="is no random generator; valid is np.random"):
        load_robot("arm7").random_configuration(wrong)
