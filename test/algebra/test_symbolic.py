# SPDX-License-Identifier: Apache-2.0
"""Paper 001 section 11: scalar formulas for the elements of the inverse inertia matrix."""

import numpy as np
import pytest
import sympy

from opspace_ctrl import load_robot, load_urdf, mass_matrix
from opspace_ctrl.algebra.recursions.symbolic import symbolic_inverse
from opspace_ctrl.errors import MethodError

LINK = (
    '<link name="{name}"><inertial><origin xyz="{c} 0 0.1"/><mass value="{m}"/>'
    '<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0.01" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="{x} 0 0" rpy="0.3 0 0"/><axis xyz="{axis}"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
)


def robot(kinds=("revolute", "revolute"), parents=("base", "a")):
    names = "ab"[: len(kinds)] if len(kinds) < 3 else "abc"
    links = "".join(
        LINK.format(name=name, c=0.2 + 0.1 * i, m=1 + i) for i, name in enumerate(names)
    )
    axes = ("0 0 1", "0 1 0", "1 0 0")
    joints = "".join(
        JOINT.format(
            name=f"q{i}", kind=kind, parent=parents[i], child=names[i], x=0.5, axis=axes[i]
        )
        for i, kind in enumerate(kinds)
    )
    return load_urdf(f'<robot name="r"><link name="base"/>{links}{joints}</robot>', armature=0.05)


@pytest.mark.parametrize(
    ("kinds", "parents"),
    [
        (("revolute", "revolute"), ("base", "a")),
        (("revolute", "prismatic"), ("base", "a")),
        (("revolute", "revolute", "prismatic"), ("base", "a", "a")),
    ],
)
def test_001_section_11_elements_of_the_inverse_as_formulas(kinds, parents):
    """The formulas, evaluated at configurations, are the inverse of the mass matrix there; chains and branches."""
    model = robot(kinds, parents)
    formula = symbolic_inverse(model, simplify=len(kinds) == 2)
    symbols = [sympy.Symbol(name, real=True) for name in model.joint_names]
    assert formula.free_symbols and formula.free_symbols <= set(symbols)
    rng = np.random.default_rng(0)
    for _ in range(3):
        q = rng.uniform(-1.0, 1.0, model.nv)
        found = np.array(formula.subs(dict(zip(symbols, q))), dtype=float)
        np.testing.assert_allclose(found, np.linalg.inv(mass_matrix(model, q)), rtol=1e-9)


def test_001_section_11_large_robots_are_refused_by_name():
    with pytest.raises(MethodError, match="locked"):
        symbolic_inverse(load_robot("arm7"))
