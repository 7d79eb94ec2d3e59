# SPDX-License-Identifier: Apache-2.0
"""RJK and its need table (002 appendix B): few of all blocks of Omega are computed; figure 15 as printed lacks some."""

import numpy as np

from opspace_ctrl.algebra.counts.asimo import asimo_variant
from opspace_ctrl.algebra.counts.rjk_counted import articulated, omega
from opspace_ctrl.algebra.counts.screws import Link, Screw
from opspace_ctrl.osim.need import need_table

asimo = asimo_variant()
need = need_table(asimo.parent, asimo.task_bodies)
N = len(asimo.parent)
print(f"hands and feet of ASIMO: {need.sum()} of {N * (N + 1) // 2} blocks")
assert need.sum() == 67

uneven = np.array([-1, 0, 1, 2, 0, 4])  # two limbs, the lower-numbered one deeper
printed, complete = (need_table(uneven, [3, 5], corrected) for corrected in (False, True))
print("as printed:", np.argwhere(printed).tolist())
print("complete:  ", np.argwhere(complete).tolist())
rng = np.random.default_rng(0)
links = [Link(tuple(Screw(axis, *rng.uniform(-1, 1, 2)) for axis in (2, 0, 2))) for _ in uneven]
d_inv, tau, P = articulated(uneven, links, np.tile(np.diag(rng.uniform(1, 2, 6)), (6, 1, 1)))
roots = np.linalg.inv(P)
try:
    omega(uneven, links, printed, roots, d_inv, tau)
    raise AssertionError("figure 14 did not miss the block")
except KeyError as missing:
    print("figure 14 with the printed table needs block", missing, "which was never computed")
assert len(omega(uneven, links, complete, roots, d_inv, tau)) >= complete.sum()
