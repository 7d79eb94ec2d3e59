# SPDX-License-Identifier: Apache-2.0
"""Inertias that Gazebo takes: it refuses a world with a massless link or with impossible moments of inertia."""

import numpy as np

MIN_MASS = 1e-6  # [kg]; what a massless link gets
MIN_RADIUS = 1e-3  # [m]; the least radius of gyration
MARGIN = (
    1e-9  # relative, by which every second moment stays above zero; above the parser's rounding
)


def physical(mass: float, inertia: np.ndarray) -> tuple[float, np.ndarray, bool]:
    """The nearest mass and inertia that sdformat accepts.

    With the second moments S = trace(I)/2 1 - I of the mass distribution, I = trace(S) 1 - S belongs to a real body
    if and only if S is positive semi-definite, which is the triangle inequality of the principal moments. Negative
    second moments are raised to almost zero, and a link without extension gets a small one.

    Args:
        mass: [kg].
        inertia: (3, 3) about the centre of mass [kg m^2].

    Returns:
        Mass, inertia (3, 3), and whether they differ from the given ones by more than rounding.
    """
    real_mass = max(mass, MIN_MASS)
    moments, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    least = max(MARGIN * np.abs(moments).max(), MARGIN * real_mass * MIN_RADIUS**2)
    if moments.max() < real_mass * MIN_RADIUS**2 and moments.min() < least:
        least = real_mass * MIN_RADIUS**2  # a point: DART divides by its inertia
    if real_mass == mass and moments.min() >= least:
        return mass, inertia, False
    raised = np.maximum(moments, least)
    real = np.sum(raised) * np.eye(3) - (axes * raised) @ axes.T
    scale = max(np.abs(inertia).max(), real_mass * MIN_RADIUS**2)
    changed = real_mass != mass or bool(np.abs(real - inertia).max() > 1e3 * MARGIN * scale)
    return real_mass, 0.5 * (real + real.T), changed
