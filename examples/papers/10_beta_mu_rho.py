# SPDX-License-Identifier: Apache-2.0
"""beta, mu and rho along a motion (002 (3)-(8)): what velocity and gravity ask for in the operational space."""

import numpy as np

from opspace_ctrl import OperationalSpace, forward_dynamics, load_robot
from opspace_ctrl.dynamics import frame_velocity

robot = load_robot("arm7")
ospace = OperationalSpace(robot, ("link7", "position"))
q, v = robot.neutral() + 0.4, np.linspace(0.5, -0.5, robot.nv)
dt = 1e-4
print("   t      beta             mu               rho")
for step in range(501):
    ospace.update(q, v)
    if step % 100 == 0:
        print(f"{step * dt:.2f}", ospace.beta.round(2), ospace.mu.round(2), ospace.rho.round(2))
        assert np.allclose(ospace.mu + ospace.rho, -ospace.inertia @ ospace.beta)
    a = forward_dynamics(robot, q, v, np.zeros(robot.nv))  # it falls: xdd is beta
    before, beta = frame_velocity(robot, q, v, "link7")[:3], ospace.beta
    q, v = robot.integrate(q, v + 0.5 * dt * a, dt), v + dt * a
    after = frame_velocity(robot, q, v, "link7")[:3]
    assert np.allclose((after - before) / dt, beta, atol=5e-2)
