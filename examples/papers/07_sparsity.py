# SPDX-License-Identifier: Apache-2.0
"""Sparsity of a humanoid (002 sections 3 to 9): where H, L and Y are zero, and what that saves."""

import numpy as np

from opspace_ctrl import OperationalSpace, load_robot, mass_matrix
from opspace_ctrl.algebra.counts.tables import table_2
from opspace_ctrl.osim import sparse

robot = load_robot("asimo")
q = robot.random_configuration(np.random.default_rng(6))
limbs = ["left_hand", "right_hand", "left_foot", "right_foot"]
ospace = OperationalSpace(robot, limbs).update(q)
lambda_e = np.asarray(robot.parent_expanded)
bodies = [robot.frame_body[robot.frame_index(name)] for name in limbs]
b_e = np.repeat(robot.v_index[bodies], 6)

H, J = mass_matrix(robot, q), np.array(ospace.jacobian)
L = sparse.ltl(np.tril(H), lambda_e)
Y = sparse.y_ltl(J, L, lambda_e, b_e)
for name, matrix in (("H", H), ("L", L), ("J", J), ("Y", Y)):
    print(f"{name}: {np.count_nonzero(matrix)} of {matrix.size} elements are not zero")
assert np.count_nonzero(L) <= 374 and np.count_nonzero(Y) <= 312  # as the paper counts: no fill-in
assert np.allclose(Y @ Y.T, ospace.inertia_inv)
for row in table_2().rows:
    print("  ".join(f"{cell:>22}" for cell in row.cells))
