# SPDX-License-Identifier: Apache-2.0
"""Algorithm 4: three sweeps without D'Alembert forces; lambda is the links' acceleration ([Rodriguez1992] (66)-(73)).

    z(k) = psi [z(k-1) + P(k-1) a(k-1)] + phi G(k-1) T(k-1) + b(k),  nu = D^-1 (T - H z)                      (70), (71)
    lambda(k) = psi* lambda(k+1) + H* nu + (1 - G H)* a,  qdd = nu - G* phi* lambda(k+1) - G* a               (72), (73)
The sweeps are those of the filter and smoother of [Rodriguez1986]; gravity enters as an upward acceleration of the
base, lambda(N+1) = -g, and not as a force on every body.
"""

from ...compiled.jit import kernel, stage
from ...dynamics import aba, rnea
from ...dynamics.fields import Tree
from ...dynamics.forward_method import ForwardMethod
from . import biases, kalman


@kernel
def set_base_acceleration(tree, sign):
    """Let the world accelerate with `sign` times gravity: row n of alpha, which all other sweeps expect to be zero."""
    for k in range(3):
        tree.alpha[tree.n, 3 + k] = sign * tree.gravity[k]


@kernel
def algorithm4(tree):
    """Needs kinematics, v, tau and external. Writes qdd, and lambda (less gravity) into alpha."""
    rnea.joint_rates(tree)
    biases.velocities(tree)
    biases.gyroscopic_forces(tree)
    rnea.subtract_external(tree)
    aba.articulated_inertias(tree)
    kalman.filter_forces(tree)
    set_base_acceleration(tree, -1.0)
    kalman.smooth_accelerations(tree)
    set_base_acceleration(tree, 0.0)


class Algorithm4(ForwardMethod):
    """Algorithm 4."""

    leaves = "articulated"

    @staticmethod
    def find_link_accelerations(tree: Tree) -> None:
        """They are lambda, less gravity as it is."""
        tree.acceleration[:, : tree.n] = tree.alpha[: tree.n, :6].T


@stage(Tree, Algorithm4, fills="compute")
def compute_algorithm4(tree, own):
    """qdd by algorithm 4."""
    algorithm4(tree)
