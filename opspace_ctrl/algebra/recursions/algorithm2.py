# SPDX-License-Identifier: Apache-2.0
"""Algorithm 2: four sweeps that also give every link's acceleration ([Rodriguez1992] (55)-(59)).

    alpha(k) = lambda(k) + zeta(k),  zeta(k) = phi* zeta(k+1) + a(k)
with lambda of algorithm 1; zeta is the motion with qdd = 0, which the bias forces needed anyway.
"""

from ...compiled.jit import kernel, stage
from ...dynamics.fields import Tree
from ...dynamics.forward_method import ForwardMethod
from .algorithm1 import algorithm1


@kernel
def add_bias_accelerations(tree):
    """alpha = lambda + zeta. Needs lambda in `alpha` and zeta, less gravity, in `acceleration`, which it changes."""
    zeta, costate = tree.acceleration, tree.alpha
    for b in range(tree.n):
        for k in range(6):
            zeta[k, b] += costate[b, k]


class Algorithm2(ForwardMethod):
    """Algorithm 2."""

    leaves = "articulated"

    @staticmethod
    def find_link_accelerations(tree: Tree) -> None:
        """Do nothing: the algorithm has left them in `acceleration`."""


@stage(Tree, Algorithm2, fills="compute")
def compute_algorithm2(tree, own):
    """qdd by algorithm 1, and the links' accelerations, less gravity, into `acceleration`."""
    algorithm1(tree)
    add_bias_accelerations(tree)
