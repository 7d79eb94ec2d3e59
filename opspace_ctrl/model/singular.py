# SPDX-License-Identifier: Apache-2.0
"""Is the joint-space inertia matrix regular? Asked once, when a model is loaded.

H(q) is analytic in q, so it is singular at one generic configuration only if it is singular at all of them: a
massless finger, a point mass turning about itself, two joints in line with nothing between them. The question
is put to the pivots of H = L^T D L at one configuration drawn without regard to limits, tips first, so that
the pivot that vanishes names the joint nearest the tip. Massless links between joints, as in a wrist, can
still make H singular at special configurations; those are not looked for.
"""

import bisect

import numpy as np

from ..errors import SingularInertiaError, quoted
from .configuration import check_configuration
from .joints import NV, motion_subspace
from .model import Model
from .placements import body_placements
from .rotations import skew

# A pivot below this fraction of the terms it is summed from is lost in rounding.
PIVOT_TOLERANCE = 1e-12


def check_regular(model: Model) -> None:
    """Refuse a model with a joint that moves no inertia.

    Raises:
        SingularInertiaError: naming the joint, and armature and locking as remedies.
    """
    if model.nv == 0:
        return
    with np.errstate(all="ignore"):
        H, scale = joint_space_inertia(model, _generic_configuration(model))
        k = _vanishing_pivot(H, scale)
    if k is None:
        return
    i = next(
        i
        for i in range(len(model.parent))
        if not model.is_mimic[i]
        and model.v_index[i] <= k < model.v_index[i] + NV[model.joint_type[i]]
    )
    raise SingularInertiaError(
        f"joint {quoted(model.body_joint_names[i])} moves no inertia of its own: what it carries, from link "
        f"{quoted(model.body_names[i])} on, has no mass, none off its axis, or joints that move it alike; "
        "give the links inertia, give the joint armature, or lock it"
    )


def _generic_configuration(model: Model) -> np.ndarray:
    q = np.random.default_rng(2010).uniform(-1.0, 1.0, model.nq)
    return check_configuration(model, q)


def joint_space_inertia(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """H = G^T H_free G + armature, from composite inertias, slowly; dynamics/ has the fast ones.

    H_free has a row for each freedom of each joint, followers included: S_i^T I^c_i S_j for j above i.

    Args:
        q: configuration (nq,), quaternions of unit length.

    Returns:
        H (nv, nv), and the size (nv,) of the terms that its diagonal is summed from.
    """
    R, p = body_placements(model, q)
    dof = np.array(NV)[model.joint_type]
    carrier = np.repeat(np.arange(len(dof)), dof)
    first = np.cumsum(dof) - dof
    root = np.arange(len(dof))
    above = np.zeros((len(dof), len(dof)), dtype=bool)
    composite = np.zeros((len(dof), 6, 6))
    S = np.zeros((6, len(carrier)))
    for i, j in enumerate(model.parent):
        if j >= 0:
            root[i] = root[j]
            above[i] = above[j]
            above[i, j] = True
        # each tree about its own origin, so that a far base costs no digits
        arm = p[i] - p[root[i]]
        composite[i] = _world_inertia(model, i, R[i], arm)
        S_i = motion_subspace(model.joint_type[i], model.axis[i])
        S[:, first[i] : first[i] + dof[i]] = _move(R[i], arm) @ S_i
    size = np.abs(composite)
    for i in range(len(dof) - 1, -1, -1):
        if model.parent[i] >= 0:
            composite[model.parent[i]] += composite[i]
            size[model.parent[i]] += size[i]
    products = np.einsum("aij,ja->ai", composite[carrier], S) @ S
    below = np.where(above[np.ix_(carrier, carrier)], products, 0.0)
    H_free = np.where(carrier[:, None] == carrier, products, 0.0) + below + below.T
    at = model.v_index[carrier] + np.arange(len(carrier)) - first[carrier]
    m = model.multiplier[carrier]
    H, scale = np.diag(model.armature), model.armature.copy()
    np.add.at(H, (at[:, None], at), m[:, None] * m * H_free)
    np.add.at(scale, at, m**2 * np.einsum("ia,aij,ja->a", abs(S), size[carrier], abs(S)))
    return H, scale


def _move(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """X (6, 6): a velocity [angular, linear] in body axes, seen in world axes at the origin."""
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


def _world_inertia(model: Model, i: int, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Spatial inertia (6, 6), angular first, of body i in world axes about the origin."""
    c, m = skew(p + R @ model.com[i]), model.mass[i]
    return np.block([[R @ model.inertia[i] @ R.T - m * c @ c, m * c], [-m * c, m * np.eye(3)]])


def _vanishing_pivot(H: np.ndarray, scale: np.ndarray) -> int | None:
    """The first coordinate, tips first, whose pivot in H = L^T D L vanishes."""
    # L^T D L from the tips is Cholesky of the reversed matrix
    H, scale = (H[::-1, ::-1], scale[::-1])

    def is_lost(n: int) -> bool:
        """Does any of the first n pivots vanish?"""
        try:
            pivots = np.diag(np.linalg.cholesky(H[:n, :n])) ** 2
        except np.linalg.LinAlgError:
            return True
        return not (pivots > PIVOT_TOLERANCE * scale[:n]).all()

    if not is_lost(len(H)):
        return None
    return len(H) - 1 - bisect.bisect_left(range(1, len(H) + 1), True, key=is_lost)
