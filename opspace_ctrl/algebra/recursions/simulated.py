"""Forward dynamics of the papers on the workspace of a simulator; `sim.engine.forward` loads them by name.

Each is called through its address, from Q (placed), V, EXTERNAL and DRIVE to ACC.
"""

from __future__ import annotations

from ...dynamics import layout as dyn
from ...dynamics import rnea
from ...dynamics.layout import floats
from ...jit import kernel
from ...sim.engine import layout as at
from ...sim.engine.forward import move
from . import algorithm1 as one
from . import algorithm2 as two
from . import algorithm4 as four
from . import biases
from . import decoupled as free
from . import kalman as smoother
from . import two_sweep as merged


@kernel
def algorithm1(w):
    """Algorithm 1 of [Rodriguez1992]."""
    move(w)
    one.algorithm1(w, floats(w, at.DRIVE), floats(w, dyn.ACC))
    return 0


@kernel
def algorithm2(w):
    """Algorithm 2 of [Rodriguez1992]."""
    move(w)
    two.algorithm2(w, floats(w, at.DRIVE), floats(w, dyn.ACC))
    return 0


@kernel
def algorithm4(w):
    """Algorithm 4 of [Rodriguez1992]."""
    four.algorithm4(w, floats(w, at.DRIVE), floats(w, dyn.ACC))
    return 0


@kernel
def two_sweep(w):
    """The two sweeps of [Rodriguez1992] VII.D, after one that gives them velocities without delay."""
    rnea.joint_rates(w)
    biases.velocities(w)
    merged.two_sweep(w, floats(w, at.DRIVE), floats(w, dyn.ACC))
    return 0


@kernel
def kalman(w):
    """The filter and smoother of [Rodriguez1986]."""
    smoother.kalman(w, floats(w, at.DRIVE), floats(w, dyn.ACC))
    return 0


@kernel
def decoupled(w):
    """Algorithm 6 of [Jain1995]."""
    free.decoupled(w, floats(w, at.DRIVE), floats(w, dyn.ACC))
    return 0
