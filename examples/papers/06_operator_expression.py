# SPDX-License-Identifier: Apache-2.0
"""From the first line of a derivation to a torque and back (000 section IX, 003 (2)-(15)): text in, vectors out."""

import numpy as np

from opspace_ctrl import forward_dynamics, inverse_dynamics, load_robot
from opspace_ctrl.algebra.operators import SpatialOperators, evaluate, evaluate_vector

robot = load_robot("arm7")
rng = np.random.default_rng(5)
q, (v, x) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
o = SpatialOperators(robot, q, ["link7"])
a, b = o.bias(v)
f = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -10.0])  # [moment, force]: the tip presses down

torque = evaluate_vector(
    "(H phi M phi* H* + A) x + H phi (M phi* a + b + B f)", o, x=x, a=a, b=b, f=f
)
print("torque:", torque.round(3))
pressed = {"link7": -np.roll(f, 3)}  # the package's wrenches act on the robot
assert np.allclose(torque, inverse_dynamics(robot, q, v, x, pressed))

print("inverse:", evaluate("(H phi M phi* H* + A)^-1", o))
text = "(I - H psi K)* D^-1 (I - H psi K) (T - H phi (M phi* a + b + B f))"
back = evaluate_vector(text, o, T=torque, a=a, b=b, f=f)
assert np.allclose(back, x)
assert np.allclose(back, forward_dynamics(robot, q, v, torque, pressed))
root = evaluate("H phi M^1/2", o)  # a square root of the mass matrix, 000 X.A
print("H phi M^1/2 is", root.shape)
