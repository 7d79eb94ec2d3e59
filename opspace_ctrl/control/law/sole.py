# SPDX-License-Identifier: Apache-2.0
"""Contact wrenches, and how far they are from lifting, sliding, tipping and turning."""

import math

from ...compiled.jit import kernel
from ...dynamics.spatial import row_times
from ..fields import CENTRE, CONE, TORSION, UNILATERAL
from .base import axes_of_contact, half_lengths
from .limits import between

LIFTED = -1.0  # margin of a contact that is pulled


@kernel
def contact_wrenches(law):
    """Write `contact_wrench` from the levels as they were scaled, `contact_margin`, and `worst_margin` of the report.

    While torques pass over from another law, so do the wrenches.

    In the contact's axes, force (x, y, n) and moment (a, b, c) about the frame's origin:
        UNILATERAL  n - least normal force
        CONE        1 - |(x, y)| / (mu n)
        CENTRE      1 - the larger of |centre of pressure - centre of the sole| / half length;  centre = (-b, a) / n
        TORSION     1 - |moment about the normal through the centre of pressure| / (mu n (hx + hy) / 2)
    Needs `level_contact_force`, `level_scale`, `contact_weight`, `passed`.
    """
    force, wrench, scale = law.level_contact_force, law.contact_wrench, law.level_scale
    block, size, block_row = law.contact_block, law.contact_size, law.space.block_row
    levels, least = law.L + 3, 1.0
    own, before = law.passed, law.followed_wrench
    for c in range(law.c):
        first = block_row[block[c]]
        for r in range(size[c]):
            found = 0.0
            for level in range(levels):
                found += scale[level] * force[level, first + r]
            wrench[c, r] = between(before[c, r], found, own)
        least = min(least, _margins(law, c))
    law.worst_margin = least


@kernel
def _margins(law, c):
    """Write the margins of one contact by its wrench; returns the least of CONE, CENTRE and TORSION.

    All are 1 for a contact that does not carry.
    """
    wrench, margin, mu = law.contact_wrench, law.contact_margin, law.contact_friction[c]
    for k in range(4):
        margin[c, k] = 1.0
    if not law.contact_weight[c] > 0.0:
        return 1.0
    a0, a1, a2 = axes_of_contact(law, c)
    x, y, n = row_times((wrench[c, 0], wrench[c, 1], wrench[c, 2]), a0, a1, a2)
    margin[c, UNILATERAL] = n - law.contact_minimum_force[c]
    if not n > 0.0:
        for k in range(1, 4):
            margin[c, k] = LIFTED
        return LIFTED
    margin[c, CONE] = 1.0 - math.sqrt(x * x + y * y) / (mu * n)
    if law.contact_size[c] == 6:
        half_x, half_y = half_lengths(law, c)
        # of the sole, from the frame's origin
        x0 = 0.5 * (law.contact_front[c] - law.contact_back[c])
        y0 = 0.5 * (law.contact_left[c] - law.contact_right[c])
        a, b, turn = row_times((wrench[c, 3], wrench[c, 4], wrench[c, 5]), a0, a1, a2)
        px, py = -b / n, a / n
        beyond = max(abs(px - x0) / half_x, abs(py - y0) / half_y)
        margin[c, CENTRE] = 1.0 - beyond
        turn -= px * y - py * x
        margin[c, TORSION] = 1.0 - abs(turn) / (mu * n * 0.5 * (half_x + half_y))
    return min(margin[c, CONE], margin[c, CENTRE], margin[c, TORSION])
