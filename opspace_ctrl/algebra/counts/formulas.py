# SPDX-License-Identifier: Apache-2.0
"""Analytic operation counts of [Featherstone2010]: table 1, LTDL, RJK and the ratios of table 3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...model.connectivity import ancestor, depths
from ...osim.need import need_table
from ...osim.sparse import ancestor_table
from .asimo import Mechanism
from .operations import Cost

MA = Cost(m=1, a=1)


@dataclass(frozen=True)
class Sums:
    """The sums below table 1 that the sparse costs depend on.

    Attributes:
        n, m: coordinates and task rows.
        d_i: |kappa_e(b_e(i))| (m,).
        d_ij: |kappa_e(ancest(b_e(i), b_e(j)))| of the lower triangle, flattened.
        D_1, D_2: sums over the coordinates of |kappa_e(i)| - 1 and of |kappa_e(i)| (|kappa_e(i)| - 1) / 2.
    """

    n: int
    m: int
    d_i: np.ndarray
    d_ij: np.ndarray
    D_1: int
    D_2: int

    @classmethod
    def of(cls, lambda_e: np.ndarray, b_e: np.ndarray) -> Sums:
        """The sums for one tree and task."""
        kappa = np.append(depths(lambda_e), 0)  # the last entry serves the world, index -1
        d_ij = kappa[ancestor_table(lambda_e, b_e)][np.tril_indices(len(b_e))]
        kappa_e = kappa[:-1]
        return cls(
            len(lambda_e),
            len(b_e),
            kappa[b_e],
            d_ij,
            int(np.sum(kappa_e - 1)),
            int(np.sum(kappa_e * (kappa_e - 1)) // 2),
        )


def _jtx(s: Sums) -> Cost:
    return int(s.d_i.sum()) * MA


def _y(s: Sums) -> Cost:
    return Cost(d=int(s.d_i.sum())) + int((s.d_i * (s.d_i - 1)).sum() // 2) * MA


def _yyt(s: Sums) -> Cost:
    return Cost(m=int(s.d_ij.sum()), a=int(np.maximum(0, s.d_ij - 1).sum()))


def _jbar_ltdl(s: Sums) -> Cost:
    return s.m * (s.D_1 + int(s.d_i.sum())) * MA


def _y_dense(m: int, n: int) -> Cost:
    return Cost(d=m * n) + m * (n * (n - 1) // 2) * MA


def _yyt_dense(m: int, n: int) -> Cost:
    return (m * (m + 1) // 2) * Cost(m=n, a=n - 1)


def _jbar_ltdl_dense(m: int, n: int) -> Cost:
    return m * (n * m + n * (n - 1) // 2) * MA + Cost(a=-m * n)


@dataclass(frozen=True)
class Operation:
    """A row of table 1: its costs as functions and as the paper prints them."""

    name: str
    dense: Callable[[int, int], Cost]
    sparse: Callable[[Sums], Cost]
    dense_text: str
    sparse_text: str


_Y_TEXT = ("mn d + mn(n-1)/2 (m+a)", "sum d_i d + d_i(d_i-1)/2 (m+a)")
_YYT_TEXT = ("m(m+1)/2 (n m + (n-1) a)", "sum d_ij m + max(0, d_ij-1) a")

TABLE_1 = (
    Operation(
        "J x",
        lambda m, n: Cost(m=m * n, a=m * (n - 1)),
        lambda s: Cost(m=int(s.d_i.sum()), a=int((s.d_i - 1).sum())),
        "mn m + m(n-1) a",
        "sum d_i m + (d_i-1) a",
    ),
    Operation(
        "J^T x", lambda m, n: Cost(m=m * n, a=(m - 1) * n), _jtx, "mn m + (m-1)n a", "sum d_i (m+a)"
    ),
    Operation("J L^-1", _y_dense, _y, *_Y_TEXT),
    Operation("J L_d^-1, Y_d D^-1", _y_dense, _y, *_Y_TEXT),
    Operation("Y Y^T", _yyt_dense, _yyt, *_YYT_TEXT),
    Operation("Y_D Y_d^T", _yyt_dense, _yyt, *_YYT_TEXT),
    Operation(
        "L^-1 (Y^T Lambda)",
        lambda m, n: _jbar_ltdl_dense(m, n) + Cost(d=m * n),
        lambda s: _jbar_ltdl(s) + Cost(d=s.m * s.n),
        "mn((m + (n-1)/2)(m+a) - a + d)",
        "m(D_1 + sum d_i)(m+a) + mn d",
    ),
    Operation(
        "L_d^-1 (Y_D^T Lambda)",
        _jbar_ltdl_dense,
        _jbar_ltdl,
        "mn((m + (n-1)/2)(m+a) - a)",
        "m(D_1 + sum d_i)(m+a)",
    ),
    Operation(
        "1 - Jbar J",
        lambda m, n: Cost(m=m * n * n, a=(m - 1) * n * n + n),
        lambda s: Cost(a=s.n) + s.n * _jtx(s),
        "mn^2 m + ((m-1)n^2 + n) a",
        "n a + n sum d_i (m+a)",
    ),
)


def ltdl_sparse(s: Sums) -> Cost:
    """LTDL factorization: D_1 d + D_2 (m + a) ([Featherstone2005])."""
    return Cost(d=s.D_1) + s.D_2 * MA


def ltdl_dense(n: int) -> Cost:
    """LTDL factorization without sparsity: the same sums on an unbranched chain."""
    return Cost(d=n * (n - 1) // 2) + (n * (n * n - 1) // 6) * MA


def lambda_inverse_sparse(s: Sums) -> Cost:
    """Lambda^-1 from H and J: LTDL, figures 9 and 10."""
    return ltdl_sparse(s) + _y(s) + _yyt(s)


def lambda_inverse_dense(m: int, n: int) -> Cost:
    """Lambda^-1 from H and J by standard matrix methods."""
    return ltdl_dense(n) + _y_dense(m, n) + _yyt_dense(m, n)


# Table 4 as printed: (calculation, number of screws; 0 where no transform is made) -> cost.
COMPONENTS = {
    ("D_i^-1", 0): Cost(d=1),
    ("taubar_i", 0): Cost(m=5),
    ("taubar_i P_i", 0): Cost(m=15, a=15),
    ("phi_i (..) phi_i^T", 2): Cost(m=60, a=62),
    ("phi_i (..) phi_i^T", 3): Cost(m=98, a=102),
    ("P_lambda(i) + (..)", 0): Cost(a=21),
    ("phi_i^T Omega phi_i", 2): Cost(m=76, a=80),
    ("phi_i^T Omega phi_i", 3): Cost(m=114, a=120),
    ("taubar_i^T (..) taubar_i", 0): Cost(m=35, a=28),
    ("Omega_ii + (..)", 0): Cost(a=1),
    ("Omega phi_j", 2): Cost(m=120, a=72),
    ("Omega phi_j", 3): Cost(m=144, a=108),
    ("(..) taubar_j", 0): Cost(m=30, a=24),
}


@dataclass(frozen=True)
class Transforms:
    """Coordinate transforms of one loop of figure 14, by number of screws."""

    two: int
    three: int

    @classmethod
    def of(cls, two_screw: np.ndarray) -> Transforms:
        """Split by screws: one boolean a transform."""
        return cls(int(np.count_nonzero(two_screw)), int(np.count_nonzero(~two_screw)))

    @property
    def total(self) -> int:
        """All transforms."""
        return self.two + self.three


def transforms(
    parent: np.ndarray, need: np.ndarray, two_screw: np.ndarray
) -> tuple[Transforms, ...]:
    """Count the coordinate transforms by which RJK computes its blocks of Omega (appendix B).

    Those of the second (P), third (Omega_ii) and last loop (Omega_ij) of figure 14.

    Args:
        parent: lambda (N,).
        need: `need_table`.
        two_screw: booleans (N,), the links that reach their parent by two screws.
    """
    loops = [[i for i in range(len(parent)) if parent[i] >= 0], [], []]
    for i, j in zip(*np.nonzero(need)):
        if i == j:
            loops[1] += [i] if parent[i] >= 0 else []
        elif ancestor(parent, i, j) == i:
            loops[2] += [j]
        elif ancestor(parent, i, j) >= 0:
            loops[2] += [i, j]
    return tuple(Transforms.of(two_screw[np.array(bodies, int)]) for bodies in loops)


def rjk(mechanism: Mechanism, corrected: bool = True) -> tuple[Cost, Cost]:
    """Cost of D^-1 and taubar, as in (39), and of Omega, as in (40): figure 14 with the costs of table 4.

    As the paper does, the 6 x 6 D of a floating base counts as one division.

    Args:
        mechanism: the robot and its task bodies.
        corrected: use the need table with its erratum, not as printed.
    """
    parent = mechanism.parent
    need = need_table(parent, mechanism.task_bodies, corrected)
    moved_p, moved_ii, moved_ij = transforms(parent, need, mechanism.two_screw)

    def cost(name: str, times: int) -> Cost:
        return times * COMPONENTS[name, 0]

    def by_screws(name: str, moved: Transforms) -> Cost:
        return moved.two * COMPONENTS[name, 2] + moved.three * COMPONENTS[name, 3]

    first = (
        cost("D_i^-1", len(parent))
        + cost("taubar_i", moved_p.total)
        + cost("taubar_i P_i", moved_p.total)
        + by_screws("phi_i (..) phi_i^T", moved_p)
        + cost("P_lambda(i) + (..)", moved_p.total)
    )
    diagonal = (
        by_screws("phi_i^T Omega phi_i", moved_ii)
        + cost("taubar_i^T (..) taubar_i", moved_ii.total)
        + cost("Omega_ii + (..)", moved_ii.total)
    )
    return first, diagonal + by_screws("Omega phi_j", moved_ij) + cost(
        "(..) taubar_j", moved_ij.total
    )


def crba_fitted(mechanism: Mechanism) -> int:
    """Operations to compute H: 60 J2 + 94 J3 + 32 V2 + 48 V3 + 10, a fit to table 3 and not a derivation.

    J2, J3 count the joints by screws, V2, V3 the vector transforms (each joint once for every body it
    supports). The paper takes this cost from formulae in [Featherstone2005] that it does not repeat.
    """
    two = mechanism.two_screw
    three = ~two & (mechanism.parent >= 0)
    sizes = mechanism.subtree_sizes
    return int(
        60 * two.sum() + 94 * three.sum() + 32 * sizes[two].sum() + 48 * sizes[three].sum() + 10
    )


def ratio(mechanism: Mechanism, corrected: bool = True) -> float:
    """Table 3: operations of RJK for each operation of the sparse method (H, LTDL, figures 9 and 10)."""
    low_order = sum(cost.total for cost in rjk(mechanism, corrected))
    sums = Sums.of(mechanism.lambda_e, mechanism.b_e)
    return low_order / (crba_fitted(mechanism) + lambda_inverse_sparse(sums).total)
