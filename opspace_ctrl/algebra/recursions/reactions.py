# SPDX-License-Identifier: Apache-2.0
"""The force that every joint transmits ([Rodriguez1992] (10)-(12), [Rodriguez1986] (4.1)-(4.4))."""

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics.functions import Wrenches
from ...model import Model
from ..operators import SpatialOperators


def joint_reactions(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external: Wrenches | None = None,
) -> np.ndarray:
    """f(k) (N, 6): what each body's joint exerts on it, force and then torque [N, Nm], world axes, at its origin.

        alpha = phi* (H* a + bias),  f = phi (M alpha + b - wrenches on the robot)
    All of it, bearings and motor together: its projection H f on the joint axis is the motor's force, without what the
    armature takes. Multiply by -1 for what the body exerts on its parent.

    Args:
        a: dv/dt (nv,), given or from `forward_dynamics`.
        external: Wrenches on the robot, as for `inverse_dynamics`.

    Raises:
        ConfigurationError: q, v or a is unusable; UnknownFrameError: a wrench at no frame of the model.
    """
    wrenches = {} if external is None else external
    o = SpatialOperators(model, q, list(wrenches))
    bias, b = o.bias(v)
    alpha = o.phi.T @ (o.H.T @ model.check_velocity(a, "a") + bias)
    f = o.M @ alpha + b
    if wrenches:
        f -= o.B @ np.concatenate([np.roll(np.asarray(w, float), 3) for w in wrenches.values()])
    return np.roll((o.phi @ f).reshape(-1, 6), 3, axis=1)
