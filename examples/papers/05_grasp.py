# SPDX-License-Identifier: Apache-2.0
"""Two arms hold a beam, move it and squeeze it with 20 N (003 sections 5.3 and 6), on a base that floats freely."""

import numpy as np

from opspace_ctrl import load_robot
from opspace_ctrl.algebra.closure import Grasp, RigidObject, grasp_torque, squeeze

robot = load_robot("free_flyer")
rng = np.random.default_rng(4)
q = robot.integrate(robot.neutral(), rng.uniform(-0.5, 0.5, robot.nv), 1.0)
v = 0.1 * rng.normal(size=robot.nv)

beam = RigidObject(12.0, com=np.array([0.0, -0.3, 0.0]), inertia=np.diag([0.4, 0.02, 0.4]))
grasp = Grasp(robot, ["left_tool", "right_tool"], beam).update(q, v)
print("effective inertia of beam and arms:", np.diag(grasp.effective_inertia).round(2))

wanted = np.array([0.2, 0.0, -0.1, 0.0, 0.3, 0.0])
pressed = squeeze(grasp, 0, 1, 20.0)
tau = grasp_torque(grasp, wanted, pressed)
motion = grasp.forward(tau)
inside = grasp.internal_wrenches(motion.wrenches)
print("the beam accelerates by", motion.object.round(6))
print(f"and is squeezed with {np.linalg.norm(inside[0, :3]):.6f} N; the base is pushed by nothing")
assert np.allclose(motion.object, wanted, atol=1e-6)
assert np.allclose(inside, pressed, atol=1e-4)
assert not tau[:6].any()
