"""Forward dynamics on the workspace of a simulator: from Q (placed), V, EXTERNAL and DRIVE to ACC.

Each is called through its address, so that the step is compiled once whatever the method.
"""

from __future__ import annotations

from pkgutil import resolve_name

from ...compiled.jit import address_of, kernel
from ...dynamics import aba as articulated
from ...dynamics import crba, dual, ltl, rnea
from ...dynamics.forward import forward_methods
from ...errors import MethodError, quoted
from ...model import Model

__all__ = ["choose_forward", "factored_solve", "move", "solve_factored"]


@kernel
def move(engine):
    """Body forces of the motion with dv/dt = 0, less the wrenches from outside."""
    rnea.motion(engine.tree)
    rnea.subtract_external(engine.tree)


@kernel
def aba(engine):
    """The articulated-body algorithm."""
    move(engine)
    articulated.aba(engine.tree, engine.tree.tau, engine.tree.qdd)
    return 0


@kernel
def crba_ltdl(engine):
    """H and its factors, which stay in the workspace for what contacts need."""
    move(engine)
    h, drive, x = engine.tree.h, engine.tree.tau, engine.tree.x
    rnea.joint_forces(engine.tree, h)
    for i in range(engine.tree.nv):
        x[i] = drive[i] - h[i]
    factored_solve(engine, engine.tree.qdd)
    return 0


@kernel
def factored_solve(engine, out):
    """out = H^-1 W for the ARMATURE at hand; H is left factored, W spent."""
    crba.mass_matrix(engine.tree)
    ltl.ltdl(engine.tree)
    solve_factored(engine, engine.tree.x, out)


@kernel
def solve_factored(engine, x, out):
    """out = L^-1 D^-1 x: what is left of H^-1 when L^-T is already in x."""
    dinv = engine.tree.D_inv
    for i in range(engine.tree.nv):
        out[i] = x[i] * dinv[i]
    ltl.solve_unit(engine.tree, out)


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
    if name == "decoupled" and "DUAL" not in work:
        dual.lay_out(work)
    kernel = _KERNELS[name]
    if isinstance(kernel, str):
        kernel = resolve_name(kernel)
    work.set_count("forward", address_of(kernel))
    work.set_count("leaves_factors", int(name == "crba_ltdl"))
