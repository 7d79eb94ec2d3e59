# SPDX-License-Identifier: Apache-2.0
"""Lambda of every link of a free flyer at once (004, lemma 4.1 and algorithm 8).

Two recursions of opposite directions, P and S; their sum at a link is the inertia that a force there feels, whichever
link is called the base.
"""

import numpy as np

from opspace_ctrl import OperationalSpace, load_robot
from opspace_ctrl.algebra.free_flyer import link_state, link_tree, reroot, two_filters
from opspace_ctrl.osim import link_inertias

robot = load_robot("free_flyer")
q = robot.random_configuration(np.random.default_rng(2))
inertias = link_inertias(robot, q)
for name, Lambda in zip(robot.body_names, inertias):
    mass = 1.0 / np.linalg.eigvalsh(np.linalg.inv(Lambda)[:3, :3])
    print(f"{name:>14}: a force moves {mass.min():7.3f} to {mass.max():7.3f} kg")
    expected = np.linalg.inv(OperationalSpace(robot, name).update(q).inertia_inv)
    assert np.allclose(Lambda, expected, rtol=1e-6, atol=1e-6 * abs(expected).max())

rest = np.zeros(robot.nv)
tree = link_tree(robot, link_state(robot, q, rest), rest)
tool = len(robot.body_names) - 1
one, other = two_filters(tree), two_filters(reroot(tree, tool))
assert np.allclose(one.P + one.S, other.P + other.S, rtol=1e-6, atol=1e-6)
print("the same with", robot.body_names[tool], "as base")
