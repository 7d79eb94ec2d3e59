# SPDX-License-Identifier: Apache-2.0
"""Paper 001 section 10: the weighting kernels, each by itself."""

import numpy as np
import pytest
from helpers.recursion_cases import NAMES, Case, assert_near

from opspace_ctrl.algebra.recursions.inverse_elements import WeightingKernels

everywhere = pytest.mark.parametrize("name", NAMES)


@everywhere
def test_001_10_4_10_13_state_kernel_weighs_what_acts_outboard(name):
    """(10.4): z-(k) = xi(k) + sum over the outboard nodes i of psi(k-, i+) [(1 - G H) xi + G tau + P+ eta]."""
    case = Case(name)
    s = case.smoother
    kernels, sent = WeightingKernels(s), WeightingKernels(s).sent
    size = max(1.0, np.abs(s.z).max())
    for k in range(0, len(s.D), 3):
        summed = s.xi[k] + sum(kernels.state(k, i) @ sent[i] for i in range(k + 1, len(s.D)))
        assert_near(summed, s.z[k], case.tolerance, size)
        assert not kernels.state(k, k).any()


@everywhere
def test_001_10_14_10_22_costate_kernel_weighs_what_acts_inboard(name):
    """(10.14): lambda+(k) = sum over the inboard nodes i of psi^T(i-, k+) [(1 - G H)^T eta + H^T e+]; (10.22): qdd."""
    case = Case(name)
    s = case.smoother
    kernels, returned = WeightingKernels(s), WeightingKernels(s).returned
    size = max(1.0, np.abs(s.costate).max())
    for k in range(0, len(s.D), 3):
        summed = sum((kernels.costate(k, i) @ returned[i] for i in range(k)), np.zeros(6))
        assert_near(summed, s.costate_plus[k], case.tolerance, size)
        found = s.residuals[k] - s.G[k] @ (summed + s.eta[k])
        assert_near(found, s.qdd[s.coordinate[k]], case.tolerance, size)


def test_001_10_13_kernels_multiply_along_the_path_and_vanish_across_branches():
    s = Case("fixed tree").smoother
    kernels, L = WeightingKernels(s), s.transition
    inner = next(k for k in range(len(s.D)) if s.parent[k] >= 0 and s.parent[s.parent[k]] >= 0)
    between = s.parent[inner]
    assert_near(kernels.state(s.parent[between], inner), L[between], 1e-15)
    apart = next(
        (k, i) for i in range(len(s.D)) for k in range(i) if k not in kernels.carry(i, np.zeros(6))
    )
    assert not kernels.state(*apart).any() and not kernels.costate(apart[1], apart[0]).any()
