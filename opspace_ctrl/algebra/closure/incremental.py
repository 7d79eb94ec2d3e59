# SPDX-License-Identifier: Apache-2.0
"""Adding an object to a solved mechanism: two estimates combined by their covariances ([Rodriguez1991] section 6).

A mechanism that gives alpha at its contacts, and Omega more for every contact force, meets an object that asks for
M a = w + A^T F. That alpha - Omega F = A a + c decides F; nothing of the mechanism is computed again.
"""

from dataclasses import dataclass

import numpy as np

from ...errors import IllPosedError

RANK_TOLERANCE = 1e-10  # of an eigenvalue in the largest, rows scaled to a unit diagonal


@dataclass(frozen=True)
class Contact:
    """The motion of a mechanism at its contacts.

    Attributes:
        omega: (k, k) acceleration for a unit of force there, J H^-1 J^T ("covariance").
        alpha: (k,) acceleration while no force acts there ("estimate").
    """

    omega: np.ndarray
    alpha: np.ndarray


def solve_well_posed(matrix: np.ndarray, right: np.ndarray, what: str) -> np.ndarray:
    """matrix^-1 right for a symmetric positive semi-definite matrix that must have full rank.

    Raises:
        IllPosedError: It has not; the message names `what` and the rank.
    """
    scale = 1.0 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(scale[:, None] * matrix * scale)
    rank = int(np.sum(values > RANK_TOLERANCE * values[-1]))
    if rank < len(matrix):
        raise IllPosedError(
            f"{what} has rank {rank} of {len(matrix)}: contact forces are not unique; hold fewer rows, "
            "or move away from the singular posture"
        )
    columns = right.reshape(len(matrix), -1)
    found = scale[:, None] * (
        vectors @ ((vectors.T @ (scale[:, None] * columns)) / values[:, None])
    )
    return found.reshape(right.shape)


def add_object(
    contact: Contact, A: np.ndarray, M: np.ndarray, wrench: np.ndarray, c: np.ndarray
) -> tuple[Contact, np.ndarray]:
    """The contacts with an object in them, and the forces F (k,) on the object.

        F = (Omega + A M^-1 A^T)^-1 (alpha - c - A M^-1 w)
        alpha' = alpha - Omega F,   Omega' = Omega - Omega (Omega + A M^-1 A^T)^-1 Omega
    For one rigid contact Omega'^-1 = Omega^-1 + M. Holds for singular arms as long as the sum has full rank.

    Args:
        A: (k, 6) acceleration of the contacts from the object's.
        M: (6, 6) inertia of the object, positive definite.
        wrench: (6,) what acts on the object beside the contacts, less its gyroscopic force.
        c: (k,) acceleration of the contacts while the object's is zero.

    Raises:
        IllPosedError: The inverse effective inertia Omega + A M^-1 A^T is not of full rank.
    """
    response = np.linalg.solve(M, np.column_stack([A.T, wrench]))
    total = contact.omega + A @ response[:, :-1]
    right = np.column_stack([contact.alpha - c - A @ response[:, -1], contact.omega])
    found = solve_well_posed(
        0.5 * (total + total.T), right, "the inverse effective inertia Omega + A M^-1 A^T"
    )
    F, gain = found[:, 0], found[:, 1:]
    return Contact(contact.omega - contact.omega @ gain, contact.alpha - contact.omega @ F), F


def add_mechanism(first: Contact, second: Contact) -> tuple[Contact, np.ndarray]:
    """Two mechanisms held together at k rows, and the forces F (k,) of the first on the second.

        F = (Omega_1 + Omega_2)^-1 (alpha_1 - alpha_2)
        alpha' = alpha_1 - Omega_1 F,   Omega'^-1 = Omega_1^-1 + Omega_2^-1
    Two estimates of one acceleration, combined by their covariances; neither mechanism is computed again.

    Raises:
        IllPosedError: Omega_1 + Omega_2 is not of full rank: forces are not unique.
    """
    total = first.omega + second.omega
    right = np.column_stack([first.alpha - second.alpha, first.omega])
    found = solve_well_posed(total, right, "the inverse effective inertia Omega_1 + Omega_2")
    F, gain = found[:, 0], found[:, 1:]
    return Contact(first.omega - first.omega @ gain, first.alpha - first.omega @ F), F
