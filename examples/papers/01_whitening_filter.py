# SPDX-License-Identifier: Apache-2.0
"""The innovations factorization as a whitening filter (000 (43)-(46), 003 lemmas 1 and 2).

Joint forces with the covariance of the mass matrix go in; what comes out of I - H psi K is white: independent numbers
with the variances D, one a joint.
"""

import numpy as np

from opspace_ctrl import load_robot, mass_matrix
from opspace_ctrl.algebra.operators import SpatialOperators

robot = load_robot("arm7")
rng = np.random.default_rng(0)
q = robot.random_configuration(rng)
o = SpatialOperators(robot, q)

colour = np.linalg.cholesky(mass_matrix(robot, q))
forces = colour @ rng.normal(size=(robot.nv, 200_000))  # covariance H
whitening = o.identity("joint") - o.H @ o.psi @ o.K
innovations = whitening @ forces  # one inward sweep for all of them
covariance = np.cov(innovations)
D = np.diag(o.D.dense())
print("variance of the innovations / D:", (np.diag(covariance) / D).round(3))
correlation = covariance / np.sqrt(np.outer(D, D))
print("largest correlation left:", abs(correlation - np.diag(np.diag(correlation))).max().round(4))
assert np.allclose(np.diag(covariance), D, rtol=0.03)
assert abs(correlation - np.diag(np.diag(correlation))).max() < 0.02
