# SPDX-License-Identifier: Apache-2.0
"""`Motion`: pose, twist and acceleration of a reference, as Python sees it."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Motion"]


@dataclass(frozen=True)
class Motion:
    """Pose, twist and acceleration of a reference at an instant.

    Attributes:
        position, velocity, acceleration: (3,) [m], [m/s], [m/s^2].
        quaternion: (4,) xyzw; rate, rate_change: (3,) angular velocity [rad/s] and acceleration [rad/s^2].
    """

    position: np.ndarray
    quaternion: np.ndarray
    velocity: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray
    rate_change: np.ndarray

    @classmethod
    def of(cls, numbers: NDArray[np.float64]) -> Motion:
        """From the numbers that kernels have for it, see `references`."""
        return cls(*np.split(numbers, (3, 7, 10, 13, 16)))

    def numbers(self) -> NDArray[np.float64]:
        """What kernels have for it."""
        return np.concatenate(astuple(self))
