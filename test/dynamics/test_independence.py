# SPDX-License-Identifier: Apache-2.0
"""A result depends on the arguments of its call alone: not on the world's origin, other threads, or earlier calls."""

import gc
import threading
import weakref

import numpy as np
import pytest
from helpers.urdf_text import joint, link
from oracles.random_trees import random_model, random_motion
from oracles.reference import assert_close

from opspace_ctrl import dynamics, load_robot, load_urdf
from opspace_ctrl.errors import MethodError


def everything(model, q, v, a):
    """Every result of dynamics/ that does not depend on where the world's origin is, by name."""
    frame = model.frame_names[-1]
    external = {frame: np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])}
    results = {
        "mass_matrix": dynamics.mass_matrix(model, q),
        "bias_forces": dynamics.bias_forces(model, q, v),
        "gravity_forces": dynamics.gravity_forces(model, q),
        "inverse_dynamics": dynamics.inverse_dynamics(model, q, v, a),
        "pushed": dynamics.inverse_dynamics(model, q, v, a, external),
        "coriolis_matrix": dynamics.coriolis_matrix(model, q, v),
        "frame_jacobian": dynamics.frame_jacobian(model, q, frame),
        "orientation": dynamics.frame_pose(model, q, frame)[1],
        "frame_velocity": dynamics.frame_velocity(model, q, v, frame),
        "frame_acceleration": dynamics.frame_acceleration(model, q, v, a, frame),
        "center_of_mass_jacobian": dynamics.center_of_mass_jacobian(model, q),
        "center_of_mass_bias": dynamics.center_of_mass_bias(model, q, v),
        "kinetic_energy": np.array(dynamics.kinetic_energy(model, q, v)),
    }
    for method in dynamics.forward_methods(model):
        results[method] = dynamics.forward_dynamics(model, q, v, a, method=method)
        results[f"{method} pushed"] = dynamics.forward_dynamics(model, q, v, a, external, method)
    return results


def assert_same(results, expected):
    assert results.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(results[name], value, err_msg=name)


# ---- the world's origin ----


@pytest.mark.parametrize("name", ["arm7", "asimo"])
def test_a_floating_base_1_km_away_loses_no_digit(name):
    model = load_robot(name, base="floating")
    q, v, a = random_motion(model, 6)
    far = q.copy()
    far[:3] += [1000.0, -1000.0, 500.0]
    assert_same(everything(model, far, v, a), everything(model, q, v, a))


@pytest.mark.parametrize("shape", ["chain", "star", "tree"])
def test_a_fixed_base_1_km_away_loses_no_digit(shape):
    """The base link hangs on a fixed joint 1.5 km long; with a star several joints stand on it."""
    near = random_model(8, 16, shape=shape, armature=False)
    mount = link("ground", None) + joint("mount", "ground", "l0", "fixed", xyz="1000 -1000 500")
    far = load_urdf(near.source.replace("<link", mount + "<link", 1), gravity=near.gravity)
    q, v, a = random_motion(near, 8)
    assert far.frame_names[-1] == near.frame_names[-1]
    assert_same(everything(far, q, v, a), everything(near, q, v, a))
    shift = dynamics.center_of_mass(far, q) - dynamics.center_of_mass(near, q)
    assert_close(shift, [1000.0, -1000.0, 500.0], 1000.0, 1e-15)


# ---- other calls ----


def test_two_threads_can_use_the_same_model_at_once():
    model = random_model(9, 30, "floating")
    motions = [random_motion(model, seed) for seed in range(2)]
    expected = [everything(model, *motion) for motion in motions]
    start, failures = threading.Barrier(2), []

    def work(motion, results):
        start.wait()
        try:
            for _ in range(150):
                assert_same(everything(model, *motion), results)
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(motions, expected)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_models_and_states_can_be_mixed_at_will():
    models = [random_model(10, 9, mimic=0.4), random_model(11, 20, "floating"), load_robot("arm7")]
    cases = [(model, *random_motion(model, seed)) for model in models for seed in range(2)]
    expected = [everything(*case) for case in cases]
    for k in np.random.default_rng(0).integers(len(cases), size=60):
        assert_same(everything(*cases[k]), expected[k])


def test_factorising_again_and_again_changes_nothing():
    model = random_model(12, 40, "floating", mimic=0.4)
    q, v, tau = random_motion(model, 12)
    first = dynamics.forward_dynamics(model, q, v, tau, method="crba_ltdl")
    for _ in range(500):
        again = dynamics.forward_dynamics(model, q, v, tau, method="crba_ltdl")
    np.testing.assert_array_equal(again, first)


def test_results_are_the_callers_own_and_arguments_stay_as_they_were():
    model = random_model(13, 12, "floating")
    motion = random_motion(model, 13)
    motion[0][3:7] *= 2.0  # a quaternion that has to be normalised, but not in place
    before = [x.copy() for x in motion]
    expected = everything(model, *motion)
    spoiled = everything(model, *motion)
    for value in spoiled.values():
        value[...] = np.nan
    assert_same(everything(model, *motion), expected)
    for x, kept in zip(motion, before):
        np.testing.assert_array_equal(x, kept)


def test_results_that_are_held_never_share_memory_and_never_change():
    model = load_robot("arm7")
    q, v, a = random_motion(model, 17)
    held = [dynamics.inverse_dynamics(model, q, v, k * a) for k in range(6)]
    parts = [memoryview(held[1]), held[2][2:], held[3].reshape(1, 7)]
    before = repr([bytes(parts[0]), *parts[1:]])
    step = dynamics.mass_matrix(model, q) @ a
    for k, found in enumerate(held):
        np.testing.assert_allclose(found, held[0] + k * step, rtol=1e-11, atol=1e-11)
    assert len({found.ctypes.data for found in held}) == len(held)
    for _ in range(10):
        dynamics.inverse_dynamics(model, q, v, -a)
    assert repr([bytes(parts[0]), *parts[1:]]) == before


def test_a_model_that_is_gone_takes_its_tree_along():
    model = random_model(14, 5)
    dynamics.mass_matrix(model, model.neutral())
    gone = weakref.ref(model)
    tree = weakref.ref(dynamics.tree_of(model))
    del model
    other = random_model(15, 5)
    dynamics.mass_matrix(other, other.neutral())
    gc.collect()
    assert gone() is None and tree() is None


# ---- methods ----


def test_aba_refuses_mimic_joints_by_name_and_the_methods_that_carry_them_are_listed():
    model = random_model(16, 10, types=("revolute",), mimic=0.5)
    q, v, tau = random_motion(model, 16)
    assert model.is_mimic.any()
    assert dynamics.forward_methods(model) == ("crba_ltdl",)
    with pytest.raises(MethodError, match="'aba' cannot carry mimic joints.*crba_ltdl"):
        dynamics.forward_dynamics(model, q, v, tau, method="aba")
    found = dynamics.forward_dynamics(model, q, v, tau)  # "auto": one that carries them
    np.testing.assert_array_equal(
        found, dynamics.forward_dynamics(model, q, v, tau, method="crba_ltdl")
    )


def test_every_method_listed_without_a_model_carries_a_plain_arm():
    model = load_robot("arm7")
    assert {"aba", "crba_ltdl"} <= set(dynamics.forward_methods())
    assert {"aba", "crba_ltdl"} <= set(dynamics.forward_methods(model))
