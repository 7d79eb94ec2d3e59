"""Paper 001 section 12: the filter in square-root form."""

import numpy as np
import pytest
from helpers.recursion_cases import NAMES, Case, assert_near

from opspace_ctrl import OperationalSpace
from opspace_ctrl.algebra.operators import SpatialOperators
from opspace_ctrl.algebra.recursions.square_root import SquareRootFilter

everywhere = pytest.mark.parametrize("name", NAMES)


@everywhere
def test_001_section_12_square_root_filter_is_the_filter(name):
    """P, H^-1 tau and Lambda^-1 are those of the Riccati recursion and of dense algebra."""
    case = Case(name)
    root = SquareRootFilter(case.model, case.q)
    P = SpatialOperators(case.model, case.q).quantities.P
    assert_near(root.P, P, 1e-11, np.abs(P).max())
    assert (root.D > 0.0).all()
    expected = np.linalg.solve(case.H, case.tau)
    assert_near(root.solve(case.tau), expected, case.tolerance)
    ends = [case.model.body_names[0], case.model.body_names[-1]]
    Lambda_inv = OperationalSpace(case.model, ends, "dense").update(case.q).inertia_inv
    size = np.abs(Lambda_inv).max()
    assert_near(root.inertia_inv(*ends), Lambda_inv, case.tolerance, size)
