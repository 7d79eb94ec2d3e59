"""Contact wrenches, and how far they are from lifting, sliding, tipping and turning."""

from __future__ import annotations

import math

from ...dynamics.layout import count, floats, ints
from ...dynamics.spatial import row_times
from ...jit import kernel
from ...osim import layout as osim
from .. import layout as at
from .base import contact_axes

LIFTED = -1.0  # margin of a contact that is pulled


@kernel
def contact_wrenches(w):
    """CONTACT_WRENCH from the levels as they were scaled, and MARGIN; the least relative margin into the report.

    In the contact's axes, force (x, y, n) and moment (a, b, c) about the frame's origin:
        UNILATERAL  n - least normal force
        CONE        1 - |(x, y)| / (mu n)
        CENTRE      1 - the larger of |centre of pressure - centre of the sole| / half length;  centre = (-b, a) / n
        TORSION     1 - |moment about the normal through the centre of pressure| / (mu n (hx + hy) / 2)
    """
    contact, block, force = ints(w, at.CONTACT), ints(w, osim.BLOCK), floats(w, at.LEVEL_CONTACT)
    wrench, scale, least = floats(w, at.CONTACT_WRENCH), floats(w, at.SCALE), 1.0
    for c in range(count(w, at.CONTACTS)):
        for r in range(contact[c, at.C_ROWS]):
            found = 0.0
            for level in range(count(w, at.LEVELS) + 3):
                found += scale[level] * force[level, block[contact[c, at.C_BLOCK], osim.B_ROW] + r]
            wrench[c, r] = found
        least = min(least, _margins(w, c))
    floats(w, at.REPORT_SLOT)[at.WORST_MARGIN] = least


@kernel
def _margins(w, c):
    wrench, margin, mu = floats(w, at.CONTACT_WRENCH), floats(w, at.MARGIN), floats(w, at.MU)[c]
    for k in range(4):
        margin[c, k] = 1.0
    if not floats(w, at.CONTACT_WEIGHT)[c] > 0.0:
        return 1.0
    a0, a1, a2 = contact_axes(w, c)
    x, y, n = row_times((wrench[c, 0], wrench[c, 1], wrench[c, 2]), a0, a1, a2)
    margin[c, at.UNILATERAL] = n - floats(w, at.MINIMUM_FORCE)[c]
    if not n > 0.0:
        for k in range(1, 4):
            margin[c, k] = LIFTED
        return LIFTED
    margin[c, at.CONE] = 1.0 - math.sqrt(x * x + y * y) / (mu * n)
    if ints(w, at.CONTACT)[c, at.C_ROWS] == 6:
        half, centre = floats(w, at.HALF_LENGTHS), floats(w, at.SOLE_CENTRE)
        a, b, turn = row_times((wrench[c, 3], wrench[c, 4], wrench[c, 5]), a0, a1, a2)
        px, py = -b / n, a / n
        beyond = max(abs(px - centre[c, 0]) / half[c, 0], abs(py - centre[c, 1]) / half[c, 1])
        margin[c, at.CENTRE] = 1.0 - beyond
        turn -= px * y - py * x
        margin[c, at.TORSION] = 1.0 - abs(turn) / (mu * n * 0.5 * (half[c, 0] + half[c, 1]))
    return min(margin[c, at.CONE], margin[c, at.CENTRE], margin[c, at.TORSION])
