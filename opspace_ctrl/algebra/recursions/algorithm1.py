# SPDX-License-Identifier: Apache-2.0
"""Algorithm 1: four sweeps, bias forces first ([Rodriguez1992] (47)-(54)).

    T' = T - H phi [M phi* a + b + B f(0)]                      outward and inward: inverse dynamics with qdd = 0
    qdd = (1 - H Psi G)* D^-1 (1 - H Psi G) T'                  inward filter, outward smoother
Algorithm FD of [Rodriguez1991] (14), (15) is the same two lines, written with K = phi G.
"""

from ...compiled.jit import kernel, stage
from ...dynamics import aba, rnea
from ...dynamics.fields import Tree
from ...dynamics.forward_method import ForwardMethod, body_forces_at_rest


@kernel
def bias_free_forces(tree):
    """T' of (47). Needs tau, S and the body forces in `force`, which become the subtrees'. Writes x."""
    free = tree.x
    rnea.joint_forces(tree, free)
    for i in range(tree.nv):
        free[i] = tree.tau[i] - free[i]


@kernel
def algorithm1(tree):
    """Needs kinematics, v, tau and external. Writes qdd, and lambda = phi* H* qdd into alpha."""
    body_forces_at_rest(tree)
    bias_free_forces(tree)
    aba.articulated_inertias(tree)
    aba.no_bias(tree)
    aba.innovations(tree, tree.x)
    aba.accelerations(tree, tree.qdd)


class Algorithm1(ForwardMethod):
    """Algorithm 1; of the links' accelerations it finds only what the joints' add."""

    leaves = "articulated"
    leaves_motion = True


@stage(Tree, Algorithm1, fills="compute")
def compute_algorithm1(tree, own):
    """qdd by algorithm 1."""
    algorithm1(tree)
