# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics as Kalman smoothing (001, result 8.1 and section 9).

The joint forces are measurements; the filter runs from the tips to the base, the smoother back. What all measurements
together leave of a link's covariance is less than what the outboard ones leave.
"""

import numpy as np

from opspace_ctrl import forward_dynamics, load_robot
from opspace_ctrl.algebra.recursions.smoother import FilterSmoother

robot = load_robot("arm7")
rng = np.random.default_rng(1)
q, (v, tau) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))

s = FilterSmoother(robot, q, v, tau)
print("innovations:", s.innovations.round(3))
print("residuals:  ", s.residuals.round(3))
print("qdd:        ", s.qdd.round(3))
filtered = [np.trace(P) for P in s.P]
smoothed = [np.trace(S) for S in s.smoothed_covariance]
for name, before, after in zip(robot.body_names, filtered, smoothed):
    print(f"{name}: covariance {before:8.3f} filtered, {after:8.3f} smoothed")
assert np.allclose(s.qdd, forward_dynamics(robot, q, v, tau))
assert all(after <= before + 1e-12 for before, after in zip(filtered, smoothed))
