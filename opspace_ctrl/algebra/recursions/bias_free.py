# SPDX-License-Identifier: Apache-2.0
"""Algorithm 1 laid open: innovations, residuals and co-states by themselves ([Rodriguez1992] (47)-(54))."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics import inverse_dynamics
from ...dynamics.functions import Wrenches
from ...model import Model
from ..operators import SpatialOperators


@dataclass(frozen=True)
class BiasFree:
    """What the four sweeps find.

    Attributes:
        T: (nv,) T' of (47): joint forces less those that the biases take.
        z: (N, 6) the filter's state, inward ((49)-(51)); angular first, world axes, at O_k of each body.
        eps: (nv,) innovations T' - H z; nu: (nv,) = D^-1 eps, weighted residuals.
        lambda_: (N, 6) the smoother's co-state, outward ((52)-(54)): accelerations that the joints' own add.
        qdd: (nv,) joint accelerations.
    """

    T: np.ndarray
    z: np.ndarray
    eps: np.ndarray
    nu: np.ndarray
    lambda_: np.ndarray
    qdd: np.ndarray


def bias_free_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external: Wrenches | None = None,
) -> BiasFree:
    """Forward dynamics by algorithm 1, with all that it finds on the way.

        T' = T - H phi [M phi* a + b + B f(0)],  z = Psi G T',  eps = T' - H z,  nu = D^-1 eps
        qdd = nu - G* Psi* H* nu,  lambda = phi* H* qdd

    Args:
        external: Wrenches on the robot, as for `forward_dynamics`.

    Raises:
        ConfigurationError: q, v or tau is unusable.
        MethodError: Mimic joints have other joints between them.
    """
    o = SpatialOperators(model, q)
    T = model.check_velocity(tau, "tau") - inverse_dynamics(
        model, q, v, np.zeros(model.nv), external
    )
    z = o.Psi @ (o.G @ T)
    eps = T - o.H @ z
    nu = o.D.inverse() @ eps
    qdd = nu - o.G.T @ (o.Psi.T @ (o.H.T @ nu))
    return BiasFree(T, z.reshape(-1, 6), eps, nu, (o.phi.T @ (o.H.T @ qdd)).reshape(-1, 6), qdd)
