# SPDX-License-Identifier: Apache-2.0
"""Rotations in kernels against those of `model.rotations` and SciPy, through all sizes of angles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from opspace_ctrl.dynamics import so3
from opspace_ctrl.model import rotations

ANGLES = [0.0, 1e-12, 1e-6, 1e-3, 0.04999, 0.05001, 0.3, 1.0, 2.0, 3.0, np.pi - 1e-6, np.pi]


def vectors():
    """Rotation vectors of every angle, in random directions."""
    rng = np.random.default_rng(3)
    for angle in ANGLES:
        for axis in rng.normal(size=(5, 3)):
            yield angle * axis / np.linalg.norm(axis)


def rows(matrix):
    return tuple(tuple(row) for row in matrix.tolist())


def test_the_exponential_is_that_of_the_model():
    for phi in vectors():
        found = so3.quaternion_exp(tuple(phi))
        np.testing.assert_allclose(found, rotations.quaternion_exp(phi), rtol=0, atol=3e-16)


def test_the_logarithm_undoes_the_exponential():
    for phi in vectors():
        q = so3.quaternion_exp(tuple(phi))
        np.testing.assert_allclose(so3.quaternion_log(q), phi, rtol=1e-15, atol=1e-15)


def test_quaternions_and_matrices_are_the_same_rotations():
    for phi in vectors():
        R = Rotation.from_rotvec(phi).as_matrix()
        q = so3.quaternion_of(*rows(R))
        assert q[3] >= 0.0
        np.testing.assert_allclose(so3.rotation_of(*q), R, atol=1e-15)


def test_products_are_those_of_the_model():
    rng = np.random.default_rng(4)
    for p, q in rng.normal(size=(20, 2, 4)):
        found = so3.quaternion_product(tuple(p), tuple(q))
        np.testing.assert_allclose(found, rotations.quaternion_product(p, q), atol=1e-14)
        length = np.linalg.norm(p)
        np.testing.assert_allclose(so3.normalised(tuple(p)), p / length, atol=1e-15)


def test_translations_of_the_exponential_are_those_of_the_model():
    rng = np.random.default_rng(5)
    for phi in vectors():
        rho = rng.normal(size=3)
        found = so3.left_jacobian_times(tuple(phi), tuple(rho))
        np.testing.assert_allclose(found, rotations.left_jacobian(phi) @ rho, atol=1e-14)


@pytest.mark.parametrize("name", ["coefficients", "quaternion_exp"])
def test_series_and_quotients_meet(name):
    """Nothing jumps at the angle where series end."""
    at = so3.SMALL
    if name == "coefficients":
        below, above = so3.coefficients(np.nextafter(at, 0.0)), so3.coefficients(at)
        np.testing.assert_allclose(below, above, rtol=2e-13)  # x - sin x has lost three digits
    else:
        below, above = (so3.quaternion_exp((x, 0.0, 0.0)) for x in (np.nextafter(at, 0.0), at))
        np.testing.assert_allclose(below, above, rtol=1e-15)
