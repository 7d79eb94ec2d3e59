# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics in two sweeps: velocities join the smoother and are one call old ([Rodriguez1992] VII.D).

Algorithm 4 has three sweeps because its filter needs a(k) and b(k), hence V, of the same state. The paper's second
two-sweep algorithm computes (66) and (68) in one sweep from base to tips, and the filter of the next call tolerates
this "slightly delayed" V. (The first, exact one, "at the expense of greater algorithmic complexity", is named there
but not described.)
"""

from ...compiled.jit import kernel, stage
from ...dynamics import aba, rnea
from ...dynamics.fields import Tree
from ...dynamics.forward_method import ForwardMethod
from . import biases, kalman
from .algorithm4 import Algorithm4, set_base_acceleration


@kernel
def delayed_biases(tree):
    """a(k) and b(k), the latter less external wrenches, link by link. Needs velocity, I. Writes hinge and force."""
    for b in range(tree.n):
        biases.hinge_acceleration(tree, b)
    biases.gyroscopic_forces(tree)
    rnea.subtract_external(tree)


@kernel
def smooth_and_move(tree):
    """(66) and (68) in one sweep, base to tips. Needs v and the filter's results. Writes qdd, alpha and velocity."""
    rnea.joint_rates(tree)
    set_base_acceleration(tree, -1.0)
    for b in range(tree.n):
        kalman.smooth(tree, b)
        biases.velocity(tree, b)
    set_base_acceleration(tree, 0.0)


@kernel
def two_sweep(tree):
    """Needs kinematics, v, tau, external, and velocity as the call before has left it. Writes qdd, alpha, velocity."""
    delayed_biases(tree)
    aba.articulated_inertias(tree)
    kalman.filter_forces(tree)
    smooth_and_move(tree)


class UndelayedTwoSweep(ForwardMethod):
    """The two sweeps after one more that gives them the velocities of the same state: without memory, and exact."""

    leaves = "articulated"
    find_link_accelerations = staticmethod(Algorithm4.find_link_accelerations)


@stage(Tree, UndelayedTwoSweep, fills="compute")
def compute_undelayed(tree, own):
    """qdd by the two sweeps, their delay taken out by a sweep before."""
    rnea.joint_rates(tree)
    biases.velocities(tree)
    two_sweep(tree)


class DelayedTwoSweep(ForwardMethod):
    """The two sweeps as they are: their velocities are those that the call before has left in the tree."""

    find_link_accelerations = staticmethod(Algorithm4.find_link_accelerations)


@stage(Tree, DelayedTwoSweep, fills="compute")
def compute_delayed(tree, own):
    """qdd by the two sweeps with the velocities of the call before."""
    two_sweep(tree)
