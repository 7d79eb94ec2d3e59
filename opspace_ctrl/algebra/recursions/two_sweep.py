"""Forward dynamics in two sweeps: velocities join the smoother and are one call old ([Rodriguez1992] VII.D).

Algorithm 4 has three sweeps because its filter needs a(k) and b(k), hence V, of the same state. The paper's second
two-sweep algorithm computes (66) and (68) in one sweep from base to tips, and the filter of the next call tolerates
this "slightly delayed" V. (The first, exact one, "at the expense of greater algorithmic complexity", is named there
but not described.)
"""

from __future__ import annotations

from ...dynamics import aba, rnea
from ...dynamics import layout as at
from ...dynamics.layout import count
from ...jit import kernel
from . import biases, kalman
from .algorithm4 import set_base_acceleration


@kernel
def delayed_biases(w):
    """a(k) into HINGE, b(k) less external wrenches into FORCE, for the V at hand; link by link, no recursion."""
    for b in range(count(w, at.NODES)):
        biases.hinge_acceleration(w, b)
    biases.gyroscopic_forces(w)
    rnea.subtract_external(w)


@kernel
def smooth_and_move(w, qdd):
    """(66) and (68) in one sweep, base to tips: lambda and qdd, and the V that the next filter will use."""
    rnea.joint_rates(w)
    set_base_acceleration(w, -1.0)
    for b in range(count(w, at.NODES)):
        kalman.smooth(w, b, qdd)
        biases.velocity(w, b)
    set_base_acceleration(w, 0.0)


@kernel
def two_sweep(w, tau, qdd):
    """Accelerations for tau at the configuration in the workspace, with the V that the call before has left."""
    delayed_biases(w)
    aba.articulated_inertias(w)
    kalman.filter_forces(w, tau)
    smooth_and_move(w, qdd)
