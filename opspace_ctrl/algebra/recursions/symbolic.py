# SPDX-License-Identifier: Apache-2.0
"""Elements of H and H^-1 as formulas in the joint coordinates, for small robots ([Rodriguez1986] section 11).

The recursions of the filter, run on SymPy's expressions: nothing is multiplied out that the innovations factorization
keeps apart. Needs the extra `study` (sympy).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import MethodError
from ...model import JointType, Model

if TYPE_CHECKING:
    import sympy

LARGEST = 4  # joints; the formulas of five fill pages


def symbolic_inverse(model: Model, simplify: bool = True) -> sympy.Matrix:
    """H^-1 (nv, nv) as a SymPy matrix in the coordinates of the joints (symbols named after them).

        H^-1 = (1 - H psi K)* D^-1 (1 - H psi K)
    in link axes, where H(k) and M(k) are constant and phi(parent, k) is the transform of joint k alone. Masses and
    lengths are taken as the fractions that they are written as.

    Args:
        simplify: Whether trigonometric terms are collected, which takes seconds.

    Raises:
        MethodError: More than four joints, or others than revolute and prismatic ones without mimic tags.
    """
    sympy = _sympy()
    _check(model)
    links = [_Link(model, k, sympy) for k in range(len(model.parent))]
    n = model.nv
    whitening, D = sympy.eye(n), [sympy.Integer(0)] * n
    P = [link.M for link in links]
    passed: list[dict[int, Any]] = [{} for _ in links]  # what of every tau arrives at a link
    for k in range(n - 1, -1, -1):
        link, p = links[k], int(model.parent[k])
        D[k] = sympy.simplify((link.h.T * P[k] * link.h)[0]) + link.armature
        G = (P[k] * link.h) / D[k]
        for i, z in passed[k].items():
            whitening[k, i] = -(link.h.T * z)[0]
        if p >= 0:
            left = sympy.eye(6) - G * link.h.T
            P[p] = P[p] + link.phi * left * P[k] * link.phi.T
            passed[p][k] = link.phi * G
            for i, z in passed[k].items():
                passed[p][i] = link.phi * left * z
    inverse = whitening.T * sympy.diag(*(1 / d for d in D)) * whitening
    return inverse.applyfunc(sympy.simplify) if simplify else inverse


class _Link:
    """The constant and the variable matrices of a link, in its own axes, angular first."""

    def __init__(self, model: Model, k: int, sympy: Any):
        def exact(x: Any) -> Any:
            return sympy.Matrix(x).applyfunc(lambda e: sympy.nsimplify(float(e), rational=True))

        q, axis = sympy.Symbol(model.body_joint_names[k], real=True), exact(model.axis[k])
        turns = model.joint_type[k] == JointType.REVOLUTE
        zero, one = sympy.zeros(3, 3), sympy.eye(3)
        x = _skew(axis, sympy)
        turn = one + sympy.sin(q) * x + (1 - sympy.cos(q)) * x * x if turns else one
        placed = exact(model.placement_rotation[k])
        R = placed * turn
        r = exact(model.placement_translation[k]) + (zero if turns else q * placed) * axis
        self.phi = sympy.Matrix(sympy.BlockMatrix([[R, _skew(r, sympy) * R], [zero, R]]))
        self.h = axis.col_join(sympy.zeros(3, 1)) if turns else sympy.zeros(3, 1).col_join(axis)
        m, c = sympy.nsimplify(float(model.mass[k]), rational=True), exact(model.com[k])
        arm = m * _skew(c, sympy)
        J = exact(model.inertia[k]) - arm * _skew(c, sympy)
        self.M = sympy.Matrix(sympy.BlockMatrix([[J, arm], [-arm, m * one]]))
        self.armature = sympy.nsimplify(float(model.armature[k]), rational=True)


def _skew(a: Any, sympy: Any) -> Any:
    return sympy.Matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _check(model: Model) -> None:
    simple = {JointType.REVOLUTE, JointType.PRISMATIC}
    if model.is_mimic.any() or not simple.issuperset(model.joint_type) or model.nv > LARGEST:
        raise MethodError(
            f"formulas are written for up to {LARGEST} revolute or prismatic joints without mimic "
            f"tags; {model.name} has {model.nv} coordinates (lock joints: load_urdf(..., locked=...))"
        )


def _sympy() -> Any:
    try:
        import sympy
    except ImportError:
        raise MethodError(
            "formulas need SymPy: pip install 'opspace_ctrl[study]', or pip install sympy"
        ) from None
    return sympy
