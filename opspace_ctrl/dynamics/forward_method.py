# SPDX-License-Identifier: Apache-2.0
"""What a method of forward dynamics is: a stage, and what it can carry."""

from __future__ import annotations

from typing import ClassVar

from ..compiled.jit import kernel, stage
from ..compiled.workspace import Workspace, call
from ..model import Model
from . import aba, crba, ltl, rnea
from .clusters import wide_clusters
from .dual import held_bases
from .fields import Tree


class ForwardMethod(Workspace):
    """A method of forward dynamics; one with memory of its own declares it as fields.

    Attributes:
        carries_mimic: Whether it can carry all mimic joints, also those that the recursions refuse (`clusters`).
        floating_only: Whether it is only for robots whose trees all float freely.
        leaves: Which factors of H it leaves in the tree: "ltdl" (H, D_inv), "articulated" (S_lanes, U, DA_inv) or "".
        leaves_motion: Whether it leaves the motion with dv/dt = 0 there (`rnea.motion`).
    """

    compute = call("(tree, method): writes qdd; needs kinematics, v, tau and external")

    carries_mimic: ClassVar[bool] = False
    floating_only: ClassVar[bool] = False
    leaves: ClassVar[str] = ""
    leaves_motion: ClassVar[bool] = False

    @classmethod
    def for_tree(cls, tree: Tree) -> ForwardMethod:
        """The method with memory for a robot."""
        return cls()

    @classmethod
    def missing(cls, model: Model) -> list[str]:
        """What of the model this method cannot carry, in words."""
        lacking = [] if cls.carries_mimic else wide_clusters(model)
        return lacking + (held_bases(model) if cls.floating_only else [])

    @staticmethod
    def find_link_accelerations(tree: Tree) -> None:
        """Leave the links' accelerations, less gravity, in `acceleration`; NotImplementedError if it finds none."""
        raise NotImplementedError


@kernel
def body_forces_at_rest(tree):
    """Body forces of the motion with dv/dt = 0, less the wrenches from outside. Needs kinematics, v. Writes force."""
    rnea.motion(tree)
    rnea.subtract_external(tree)


class Aba(ForwardMethod):
    """The articulated-body algorithm.

    It starts from the D'Alembert forces M phi* a + b of every body: it is algorithm 3 of [Rodriguez1992].
    """

    leaves = "articulated"
    leaves_motion = True

    @staticmethod
    def find_link_accelerations(tree: Tree) -> None:
        """Add lambda to zeta, of the motion with qdd = 0, in `acceleration`: alpha of [Rodriguez1992] (56).

        lambda is what the joints' accelerations add to it. Needs alpha.
        """
        tree.acceleration[:, : tree.n] += tree.alpha[: tree.n, :6].T


@stage(Tree, Aba, fills="compute")
def compute_aba(tree, own):
    """qdd by the articulated-body algorithm ([Featherstone2008] table 7.1)."""
    body_forces_at_rest(tree)
    aba.aba(tree, tree.tau, tree.qdd)


class CrbaLtdl(ForwardMethod):
    """H and its LTDL factors, which stay in the tree."""

    carries_mimic = True
    leaves = "ltdl"
    leaves_motion = True


@stage(Tree, CrbaLtdl, fills="compute")
def compute_crba_ltdl(tree, own):
    """qdd = H^-1 (tau + sum J^T f - h), H factored."""
    body_forces_at_rest(tree)
    rnea.joint_forces(tree, tree.h)
    for i in range(tree.nv):
        tree.x[i] = tree.tau[i] - tree.h[i]
    factored_solve(tree, tree.qdd)


@kernel
def factored_solve(tree, out):
    """out = H^-1 x for the armature at hand. Needs S, I and x. H is left factored, x as L^-T x."""
    crba.mass_matrix(tree)
    ltl.ltdl(tree)
    solve_factored(tree, tree.x, out)


@kernel
def solve_factored(tree, x, out):
    """out = L^-1 D^-1 x: what is left of H^-1 when L^-T is already in x. Needs H factored by `ltdl`."""
    for i in range(tree.nv):
        out[i] = x[i] * tree.D_inv[i]
    ltl.solve_unit(tree, out)
