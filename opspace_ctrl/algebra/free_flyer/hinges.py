# SPDX-License-Identifier: Apache-2.0
"""Hinges with two to five freedoms ([Jain1995] section 2), made of joints in a row without mass between them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import MethodError
from .link_tree import LinkTree


def fuse_hinges(tree: LinkTree) -> tuple[LinkTree, np.ndarray]:
    """The tree without its massless links, and the numbers (N',) of those that stay.

    A massless link that carries one other is no link but a part of a hinge: H = [H_inner, H_outer],
    a = a_inner + a_outer, T and armature side by side. A universal joint is two revolute ones, a cylindrical one a
    prismatic and a revolute one, up to five freedoms; all recursions of the paper are then those of fewer links.

    Raises:
        MethodError: A massless link carries several links or none: it is no hinge.
    """
    massless = [k for k in tree.order if not tree.M[k].any() and tree.parent[k] >= 0]
    parent, H, a, T = tree.parent.copy(), list(tree.H), tree.a.copy(), list(tree.T)
    armature, where = list(tree.armature), list(tree.coordinates)
    for k in massless:
        carried = np.flatnonzero(parent == k)
        if len(carried) != 1:
            raise MethodError(f"link {k} has no mass and carries {len(carried)} links, not one")
        (c,) = carried
        if where[k].stop != where[c].start:
            raise MethodError(f"links {k} and {c}: their coordinates are not beside each other")
        H[c], a[c] = np.hstack([H[k], H[c]]), a[k] + a[c]
        T[c] = np.concatenate([T[k], T[c]])
        armature[c] = np.diag(np.concatenate([np.diag(armature[k]), np.diag(armature[c])]))
        where[c], parent[c] = slice(where[k].start, where[c].stop), parent[k]
        parent[k] = -2  # it is gone
    kept = np.array([k for k in range(len(parent)) if parent[k] > -2])
    number = np.full(len(parent) + 1, -1)
    number[kept] = np.arange(len(kept))
    fused = replace(
        tree,
        order=[int(number[k]) for k in tree.order if number[k] >= 0],
        parent=number[parent[kept]],
        H=[H[k] for k in kept],
        M=tree.M[kept],
        V=tree.V[kept],
        a=a[kept],
        b=tree.b[kept],
        armature=[armature[k] for k in kept],
        T=[T[k] for k in kept],
        coordinates=[where[k] for k in kept],
        offset=tree.offset[kept],
    )
    return fused, kept
