# SPDX-License-Identifier: Apache-2.0
"""A closed chain (003 5.3): the free flyer's hands held together, f(0) = Lambda_c [alpha_2f - alpha_1f]."""

import numpy as np

from opspace_ctrl import load_robot
from opspace_ctrl.algebra.closure import ClosedChain, Closure

robot = load_robot("free_flyer")
rng = np.random.default_rng(3)
q = robot.integrate(robot.neutral(), rng.uniform(-0.5, 0.5, robot.nv), 1.0)
chain = ClosedChain(robot, [Closure("left_tool", "right_tool", rows="position")])
q = chain.assemble(q)
v = chain.close_velocity(q, rng.normal(size=robot.nv))
tau = np.zeros(robot.nv)

dt, worst = 1e-4, 0.0
for _ in range(500):
    a = chain.forward(q, v, tau)
    q, v = robot.integrate(q, v + 0.5 * dt * a, dt), v + dt * a
    worst = max(worst, abs(chain.error(q)).max())
print("force in the closure [N]:", chain.force.round(2))
print(f"it has opened by {worst:.1e} m in 0.05 s, without any correction")
assert worst < 1e-5
