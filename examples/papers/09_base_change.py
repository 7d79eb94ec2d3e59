# SPDX-License-Identifier: Apache-2.0
"""Any link as base (004 appendix A): other coordinates, M_k = T* M T, the same Omega."""

import numpy as np

from opspace_ctrl import frame_jacobian, load_robot, mass_matrix
from opspace_ctrl.algebra.free_flyer import base_change, base_point_change

robot = load_robot("free_flyer")
q = robot.random_configuration(np.random.default_rng(7))
H, J = mass_matrix(robot, q), frame_jacobian(robot, q, "left_tool")
Omega = J @ np.linalg.solve(H, J.T)
for link in robot.body_names[:: len(robot.body_names) // 3]:
    T = base_change(robot, q, link)
    other = J @ T @ np.linalg.solve(T.T @ H @ T, (J @ T).T)
    print(f"base {link:>14}: Omega differs by {abs(other - Omega).max() / abs(Omega).max():.1e}")
    assert np.allclose(other, Omega, rtol=1e-6, atol=1e-6 * abs(Omega).max())

T = base_point_change(robot, [0.3, 0.0, 0.2])  # the same link, another point of it (000 VIII)
moved = T.T @ H @ T
print("rotational inertia about the other point:", np.diag(moved[3:6, 3:6]).round(2))
assert np.allclose(np.linalg.eigvalsh(moved[:3, :3]), np.linalg.eigvalsh(H[:3, :3]))
