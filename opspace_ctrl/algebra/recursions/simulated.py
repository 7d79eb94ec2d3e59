"""Forward dynamics of the papers on the workspace of a simulator; `sim.engine.forward` loads them by name.

Each is called through its address, from Q (placed), V, EXTERNAL and DRIVE to ACC.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...dynamics import rnea
from ...sim.engine.forward import move
from . import algorithm1 as one
from . import algorithm2 as two
from . import algorithm4 as four
from . import biases
from . import decoupled as free
from . import kalman as smoother
from . import two_sweep as merged


@kernel
def algorithm1(tree):
    """Algorithm 1 of [Rodriguez1992]."""
    move(tree)
    one.algorithm1(tree, tree.tree.tau, tree.qdd)
    return 0


@kernel
def algorithm2(tree):
    """Algorithm 2 of [Rodriguez1992]."""
    move(tree)
    two.algorithm2(tree, tree.tree.tau, tree.qdd)
    return 0


@kernel
def algorithm4(tree):
    """Algorithm 4 of [Rodriguez1992]."""
    four.algorithm4(tree, tree.tree.tau, tree.qdd)
    return 0


@kernel
def two_sweep(tree):
    """The two sweeps of [Rodriguez1992] VII.D, after one that gives them velocities without delay."""
    rnea.joint_rates(tree)
    biases.velocities(tree)
    merged.two_sweep(tree, tree.tree.tau, tree.qdd)
    return 0


@kernel
def kalman(tree):
    """The filter and smoother of [Rodriguez1986]."""
    smoother.kalman(tree, tree.tree.tau, tree.qdd)
    return 0


@kernel
def decoupled(tree):
    """Algorithm 6 of [Jain1995]."""
    free.decoupled(tree, tree.tree.tau, tree.qdd)
    return 0
