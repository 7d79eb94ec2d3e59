# SPDX-License-Identifier: Apache-2.0
"""H^-1 as the chosen forward dynamics has it, for contacts, closures and joints: by its factors, no others beside.

With H = F^T D F, F = L_d of the LTDL factorisation ([Featherstone2010] (22)) or the articulated bodies' inverse of
(1 - H Psi G)^T ([Rodriguez1992] (40)), rows J give Y_d = J F^-1, and
    A = J H^-1 J^T = Y_d D^-1 Y_d^T                (the Delassus matrix: Lambda^-1 of `osim` for these rows)
    H^-1 J^T f = F^-1 D^-1 (Y_d^T f)
Y_d is that of the method `sparse_ltdl` or `pv_osim` of `osim`, by the same kernels. The factors are those of H with the
slopes of the joints' laws in it (tree.armature), which `forward.compute` has just made: nothing is factored twice.
"""

from ...compiled.jit import stage
from ...dynamics import aba, crba, ltl
from ...dynamics.forward_method import factored_solve, solve_factored
from ...osim.blocks import products
from ...osim.methods.sparse_ltdl import y_ltdl
from ...osim.propagate import articulated_rows
from .fields import Engine, Inverse


class LtdlInverse(Inverse):
    """H and its LTDL factors, rows as `sparse_ltdl` has them."""


@stage(Engine, LtdlInverse, fills="solve")
def solve_ltdl(engine, own):
    """response = H^-1 x."""
    factored_solve(engine.tree, engine.response)


@stage(Engine, LtdlInverse, fills="delassus")
def delassus_ltdl(engine, own):
    """A = J H^-1 J^T, upper triangle."""
    tree, x = engine.tree, engine.tree.x
    if engine.has_factors == 0:
        for i in range(tree.nv):
            x[i] = 0.0  # goes through the factorisation
        crba.mass_matrix(tree)
        ltl.ltdl(tree)
    y_ltdl(engine.space)
    products(engine.space)


@stage(Engine, LtdlInverse, fills="respond")
def respond_ltdl(engine, own):
    """response = L_d^-1 D^-1 response."""
    solve_factored(engine.tree, engine.response, engine.response)


class ArticulatedInverse(Inverse):
    """Articulated-body inertias, rows carried from body to body as `pv_osim` has them; no H."""


@stage(Engine, ArticulatedInverse, fills="solve")
def solve_articulated(engine, own):
    """response = H^-1 x."""
    tree = engine.tree
    aba.articulated_inertias(tree)
    aba.no_bias(tree)
    aba.innovations(tree, tree.x)
    aba.accelerations(tree, engine.response)


@stage(Engine, ArticulatedInverse, fills="delassus")
def delassus_articulated(engine, own):
    """A = J H^-1 J^T, upper triangle."""
    if engine.has_factors == 0:
        aba.articulated_inertias(engine.tree)
    articulated_rows(engine.space)
    products(engine.space)


@stage(Engine, ArticulatedInverse, fills="respond")
def respond_articulated(engine, own):
    """response = the accelerations of the innovations in response."""
    tree = engine.tree
    for b in range(tree.n):
        tree.eps[b] = engine.response[tree.coordinate[b]]
    aba.accelerations(tree, engine.response)


# by `ForwardMethod.leaves`; one that leaves nothing goes through LTDL, which carries every robot
INVERSES: dict[str, type[LtdlInverse] | type[ArticulatedInverse]] = {
    "": LtdlInverse,
    "ltdl": LtdlInverse,
    "articulated": ArticulatedInverse,
}
