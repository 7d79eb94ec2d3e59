# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics of free flyers: the joints' motion is wanted, the base follows ([Jain1995], introduction)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import inverse_dynamics, mass_matrix
from ...dynamics.dual import held_bases
from ...dynamics.functions import Wrenches
from ...errors import MethodError
from ...model import JointType, Model
from ...model.configuration import check_vector


@dataclass(frozen=True)
class FreeFlyerMotion:
    """What a free flyer does when its joints are told how to move.

    Attributes:
        a: (nv,) dv/dt, the bases' among them.
        tau: (nv,) joint forces; zero at the bases.
    """

    a: np.ndarray
    tau: np.ndarray


def free_flyer_inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    joint_accelerations: ArrayLike,
    external: Wrenches | None = None,
) -> FreeFlyerMotion:
    """The accelerations of the bases and the joint forces for wanted accelerations of the joints.

        H_bb a_b = -(H_bj a_j + h_b),   tau_j = H_jb a_b + H_jj a_j + h_j,   tau_b = 0
    H_bb is the composite inertia r of each whole robot: 6 x 6 a base. The rest is two inverse dynamics, O(N).

    Args:
        joint_accelerations: (k,) of the joint coordinates, in the order of v without the bases.
        external: Wrenches on the robot, as for `inverse_dynamics`.

    Raises:
        MethodError: A base does not float freely.
        ConfigurationError: An argument is unusable.
    """
    lacking = held_bases(model)
    if lacking:
        raise MethodError(f"a free flyer has no {' or '.join(lacking)} ({model.name})")
    starts = [
        model.v_index[k]
        for k, kind in enumerate(model.joint_type)
        if model.parent[k] < 0 and kind == JointType.FLOATING
    ]
    is_base = np.zeros(model.nv, bool)
    for start in starts:
        is_base[start : start + 6] = True
    a = np.zeros(model.nv)
    a[~is_base] = check_vector(joint_accelerations, int((~is_base).sum()), "joint_accelerations")
    push = inverse_dynamics(model, q, v, a, external)
    H = mass_matrix(model, q)
    for start in starts:
        base = slice(start, start + 6)
        a[base] = -np.linalg.solve(H[base, base], push[base])
    tau = inverse_dynamics(model, q, v, a, external)
    tau[is_base] = 0.0
    return FreeFlyerMotion(a, tau)
