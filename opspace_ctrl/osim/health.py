# SPDX-License-Identifier: Apache-2.0
"""Are the intermediate results plausible? Positive, symmetric, well scaled ([Rodriguez1992] X.C)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compiled.jit import address, entry
from ..dynamics import aba
from ..dynamics.build import RobotTree
from ..dynamics.clusters import wide_clusters
from ..dynamics.entries import at_configuration, tree_at
from ..dynamics.functions import call, mass_matrix, run
from ..model import Model

# Of a share in the largest of its kind: below, what should be positive has lost its digits to rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Health:
    """What was looked at, and what is wrong with it.

    Attributes:
        findings: A sentence for each implausible result, none if all is well.
        least_D: Least articulated inertia about a joint [kg m^2 or kg], and the joint; NaN where the recursion cannot
            carry the robot.
        least_P: Least eigenvalue of an articulated inertia in its body's largest, and the body.
        least_H: Least eigenvalue of the joint-space inertia in its largest.
        asymmetry: Of Lambda^-1, in its largest element.
        least_response: Least eigenvalue of Lambda^-1 in its largest: zero where the tasks are singular.
    """

    findings: tuple[str, ...]
    least_D: tuple[float, str]
    least_P: tuple[float, str]
    least_H: float
    asymmetry: float
    least_response: float

    @property
    def sound(self) -> bool:
        """Is nothing wrong?"""
        return not self.findings


@entry(address)
def _articulate(address):
    """Articulated inertias, after the kinematics."""
    aba.articulated_inertias(tree_at(address))


def health_of(model: Model, q: np.ndarray, inertia_inv: np.ndarray) -> Health:
    """The report for a configuration and the Lambda^-1 (m, m) that was found there."""
    with np.errstate(all="ignore"):
        least_D, least_P = _articulated(model, q)
    H = np.linalg.eigvalsh(mass_matrix(model, q)) if model.nv else np.ones(1)
    response = np.linalg.eigvalsh(inertia_inv)
    size = max(np.abs(inertia_inv).max(), np.finfo(float).tiny)
    asymmetry = float(np.abs(inertia_inv - inertia_inv.T).max() / size)
    least_H, least_response = float(H[0] / H[-1]), float(response[0] / size)
    findings = []
    if not (np.isnan(least_D[0]) or least_D[0] > 0.0):
        findings.append(f"D of joint {least_D[1]} is {least_D[0]:.3g}: it must be positive")
    if least_P[0] < -_ROUNDING:
        findings.append(
            f"P of body {least_P[1]} has a negative eigenvalue ({least_P[0]:.3g} of its largest): "
            "the inertia of a link beyond it is impossible"
        )
    if not least_H > 0.0:
        findings.append(f"H is not positive definite ({least_H:.3g} of its largest eigenvalue)")
    if asymmetry > _ROUNDING:
        findings.append(f"Lambda^-1 is not symmetric, by {asymmetry:.3g} of its largest element")
    if least_response < -1e3 * _ROUNDING:
        findings.append(f"Lambda^-1 has a negative eigenvalue, {least_response:.3g} of its largest")
    return Health(tuple(findings), least_D, least_P, least_H, asymmetry, least_response)


def _articulated(model: Model, q: np.ndarray) -> tuple[tuple[float, str], tuple[float, str]]:
    """The least D with its joint, and the least eigenvalue of P with its body."""
    if wide_clusters(model) or model.nv == 0:
        return (float("nan"), "none"), (float("nan"), "none")
    tree = run(model, at_configuration, (q,), "", tree=RobotTree(model))
    call(_articulate, tree.address)
    n, body = tree.n, tree.nodes.body
    D = 1.0 / np.array(tree.DA_inv[:n])
    D[~np.isfinite(D)] = 0.0
    P = np.asarray(tree.IA).reshape(-1, 6, 8)[tree.nodes.last, :, :6]
    values = np.linalg.eigvalsh(np.where(np.isfinite(P), P, 0.0))
    share = values[:, 0] / np.maximum(values[:, -1], np.finfo(float).tiny)
    joint, link = int(np.argmin(D)), int(np.argmin(share))
    return (
        (float(D[joint]), model.body_joint_names[int(body[joint])]),
        (float(share[link]), model.body_names[link]),
    )
