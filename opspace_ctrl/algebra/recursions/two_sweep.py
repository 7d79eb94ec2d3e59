"""Forward dynamics in two sweeps: velocities join the smoother and are one call old ([Rodriguez1992] VII.D).

Algorithm 4 has three sweeps because its filter needs a(k) and b(k), hence V, of the same state. The paper's second
two-sweep algorithm computes (66) and (68) in one sweep from base to tips, and the filter of the next call tolerates
this "slightly delayed" V. (The first, exact one, "at the expense of greater algorithmic complexity", is named there
but not described.)
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...dynamics import aba, rnea
from . import biases, kalman
from .algorithm4 import set_base_acceleration


@kernel
def delayed_biases(tree):
    """a(k) into HINGE, b(k) less external wrenches into FORCE, for the V at hand; link by link, no recursion."""
    for b in range(tree.n):
        biases.hinge_acceleration(tree, b)
    biases.gyroscopic_forces(tree)
    rnea.subtract_external(tree)


@kernel
def smooth_and_move(tree, qdd):
    """(66) and (68) in one sweep, base to tips: lambda and qdd, and the V that the next filter will use."""
    rnea.joint_rates(tree)
    set_base_acceleration(tree, -1.0)
    for b in range(tree.n):
        kalman.smooth(tree, b, qdd)
        biases.velocity(tree, b)
    set_base_acceleration(tree, 0.0)


@kernel
def two_sweep(tree, tau, qdd):
    """Accelerations for tau at the configuration in the workspace, with the V that the call before has left."""
    delayed_biases(tree)
    aba.articulated_inertias(tree)
    kalman.filter_forces(tree, tau)
    smooth_and_move(tree, qdd)
