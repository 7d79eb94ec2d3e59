"""Forward dynamics on the workspace of a simulator: from Q (placed), V, EXTERNAL and DRIVE to ACC.

Each is called through its address, so that the step is compiled once whatever the method.
"""

from __future__ import annotations

from pkgutil import resolve_name

from ...dynamics import aba as articulated
from ...dynamics import crba, dual, ltl, rnea
from ...dynamics import layout as dyn
from ...dynamics.forward import forward_methods
from ...dynamics.layout import Workspace, count, floats
from ...errors import MethodError, quoted
from ...jit import address_of, kernel
from ...model import Model
from . import layout as at

__all__ = ["choose_forward", "factored_solve", "move", "solve_factored"]


@kernel
def move(w):
    """Body forces of the motion with dv/dt = 0, less the wrenches from outside."""
    rnea.motion(w)
    rnea.subtract_external(w)


@kernel
def aba(w):
    """The articulated-body algorithm."""
    move(w)
    articulated.aba(w, floats(w, at.DRIVE), floats(w, dyn.ACC))
    return 0


@kernel
def crba_ltdl(w):
    """H and its factors, which stay in the workspace for what contacts need."""
    move(w)
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


# Those of the papers are loaded when they are asked for.
_KERNELS = {
    "aba": aba,
    "crba_ltdl": crba_ltdl,
    "algorithm1": "opspace_ctrl.algebra.recursions.simulated:algorithm1",
    "algorithm2": "opspace_ctrl.algebra.recursions.simulated:algorithm2",
    "algorithm3": aba,
    "algorithm4": "opspace_ctrl.algebra.recursions.simulated:algorithm4",
    "two_sweep": "opspace_ctrl.algebra.recursions.simulated:two_sweep",
    "kalman": "opspace_ctrl.algebra.recursions.simulated:kalman",
    "decoupled": "opspace_ctrl.algebra.recursions.simulated:decoupled",
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
    kernel = _KERNELS[name]
    if isinstance(kernel, str):
        kernel = resolve_name(kernel)
    work.set_count(at.FORWARD, address_of(kernel))
    work.set_count(at.LEAVES_FACTORS, int(name == "crba_ltdl"))
