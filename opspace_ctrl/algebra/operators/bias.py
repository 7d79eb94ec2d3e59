"""The velocity terms of the operator equations of motion ([Rodriguez1992] (8), (11); [Jain1995] (2.1), (2.2))."""

from __future__ import annotations

import numpy as np

from . import sweeps
from .quantities import Quantities

__all__ = ["bias_terms"]


def bias_terms(
    quantities: Quantities, joint_velocities: np.ndarray, gravity: bool
) -> tuple[np.ndarray, np.ndarray]:
    """a(k) and b(k) of alpha = phi* (H* vdot + a), f = phi (M alpha + b), in world axes at O_k.

        a(k) = [w(k) x w_J; w(p) x (v(k) - v(p)) + w(k) x v_J],  b(k) = [w x J w; m w x (w x p)]

    with w_J, v_J the motion H*(k) v(k) in the joint; H* turns with the body, hence w(k) x, which for prismatic
    joints is the extra term of the errata of the papers.

    Args:
        joint_velocities: H* v (6N,).
        gravity: add the upward acceleration -g to a of the root bodies.

    Returns:
        a, b: (6N,).
    """
    parent, M = quantities.parent, quantities.M
    own = np.reshape(joint_velocities, (-1, 6))
    V = own[:, :, None].copy()
    sweeps.outward(parent, quantities.phi, V)
    w, v = V[:, :3, 0], V[:, 3:, 0]
    carried = (parent >= 0)[:, None]
    w_p, v_p = np.where(carried, w[parent], 0.0), np.where(carried, v[parent], 0.0)
    a = np.hstack([np.cross(w, own[:, :3]), np.cross(w_p, v - v_p) + np.cross(w, own[:, 3:])])
    if gravity:
        a[:, 3:] -= np.where(carried, 0.0, quantities.model.gravity)
    spin = np.einsum("kij,kj->ki", M[:, :3, :3], w)
    # M's lower left block is -m p x, so that times w it is m w x p
    mass_times_w_cross_p = np.einsum("kij,kj->ki", M[:, 3:, :3], w)
    b = np.hstack([np.cross(w, spin), np.cross(w, mass_times_w_cross_p)])
    return a.ravel(), b.ravel()
