"""Forward dynamics on the workspace of a simulator: from Q (placed), V, EXTERNAL and DRIVE to ACC.

Each is called through its address, so that the step is compiled once whatever the method.
"""

from __future__ import annotations

from ..dynamics import aba as articulated
from ..dynamics import algorithm1 as one
from ..dynamics import algorithm2 as two
from ..dynamics import algorithm4 as four
from ..dynamics import biases, crba, dual, ltl, rnea
from ..dynamics import decoupled as free
from ..dynamics import kalman as smoother
from ..dynamics import layout as dyn
from ..dynamics import two_sweep as merged
from ..dynamics.forward import forward_methods
from ..dynamics.layout import Workspace, count, floats
from ..errors import MethodError, quoted
from ..jit import address_of, kernel
from ..model import Model
from . import layout as at

__all__ = ["choose_forward", "factored_solve", "solve_factored"]


@kernel
def _move(w):
    """Body forces of the motion with dv/dt = 0, less the wrenches from outside."""
    rnea.motion(w)
    rnea.subtract_external(w)


@kernel
def aba(w):
    """The articulated-body algorithm."""
    _move(w)
    articulated.aba(w, floats(w, at.DRIVE), floats(w, dyn.ACC))
    return 0


@kernel
def crba_ltdl(w):
    """H and its factors, which stay in the workspace for what contacts need."""
    _move(w)
    h, drive, x = floats(w, dyn.BIAS), floats(w, at.DRIVE), floats(w, dyn.W)
    rnea.joint_forces(w, h)
    for i in range(count(w, dyn.NV)):
        x[i] = drive[i] - h[i]
    factored_solve(w, floats(w, dyn.ACC))
    return 0


@kernel
def factored_solve(w, out):
    """out = H^-1 W for the ARMATURE at hand; H is left factored, W spent."""
    crba.mass_matrix(w)
    ltl.ltdl(w)
    solve_factored(w, floats(w, dyn.W), out)


@kernel
def solve_factored(w, x, out):
    """out = L^-1 D^-1 x: what is left of H^-1 when L^-T is already in x."""
    dinv = floats(w, dyn.DINV)
    for i in range(count(w, dyn.NV)):
        out[i] = x[i] * dinv[i]
    ltl.solve_unit(w, out)


@kernel
def algorithm1(w):
    """Algorithm 1 of [Rodriguez1992]."""
    _move(w)
    one.algorithm1(w, floats(w, at.DRIVE), floats(w, dyn.ACC))
    return 0


@kernel
def algorithm2(w):
    """Algorithm 2 of [Rodriguez1992]."""
    _move(w)
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


_KERNELS = {
    "aba": aba,
    "crba_ltdl": crba_ltdl,
    "algorithm1": algorithm1,
    "algorithm2": algorithm2,
    "algorithm3": aba,
    "algorithm4": algorithm4,
    "two_sweep": two_sweep,
    "kalman": kalman,
    "decoupled": decoupled,
}


def choose_forward(work: Workspace, model: Model, name: str) -> None:
    """Let the simulator on `work` use the forward dynamics `name`; MethodError if the model cannot be carried."""
    able = forward_methods(model)
    if name not in able:
        why = "cannot carry" if name in _KERNELS else "is not a forward-dynamics method for"
        raise MethodError(
            f"forward_method {quoted(name)} {why} {model.name}; valid are {', '.join(able)}"
        )
    if name == "decoupled" and dyn.DUAL not in work:
        dual.lay_out(work)
    work.set_count(at.FORWARD, address_of(_KERNELS[name]))
    work.set_count(at.LEAVES_FACTORS, int(name == "crba_ltdl"))
