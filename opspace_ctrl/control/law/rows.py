# SPDX-License-Identifier: Apache-2.0
"""From vectors to the rows that a task has."""

from ...compiled.jit import kernel
from ...compiled.lanes import W


@kernel
def rows_of(law, b, c, x):
    """The rows of block b for a vector whose three components from c on are x and whose others are zero."""
    weight = law.space.selection
    return (
        x[0] * weight[6 * b + c, 0:W]
        + x[1] * weight[6 * b + c + 1, 0:W]
        + x[2] * weight[6 * b + c + 2, 0:W]
    )
