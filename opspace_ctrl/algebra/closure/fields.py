# SPDX-License-Identifier: Apache-2.0
"""The memory of a closed chain: rows of relative motion between pairs of frames of a tree."""

from ...compiled.workspace import Workspace, constant, count, part, result
from ...dynamics.fields import Tree


class Chain(Workspace):
    """A robot, or several, with frames held together; symbols of [Rodriguez1991] 5.1 and 5.3."""

    tree = part(Tree, "the robot")

    # ---- sizes ----
    m = count("rows of all closures")
    nv = count("coordinates of the velocity")

    # ---- the closures, row by row ----
    first_frame = constant("m", "the frame that moves", int)
    second_frame = constant("m", "the frame that it is held to", int)
    selection = constant("m, 6", "w: weights of the relative motion, linear first, world axes")
    no_force = constant("nv", "zeros")

    # ---- results ----
    Omega = result("m, m", "Omega_c = J_c H^-1 J_c^T, symmetric but for rounding")
    factor = result("m, m", "Omega_c = L D L^T: L below the diagonal, D on it")
    response = result("m, nv", "H^-1 J_c^T, row by row")
    rhs = result(
        "m", "what Omega_c f must be: alpha_2f - alpha_1f + wanted, or velocities likewise"
    )
    f = result("m", "loop forces on the first frames, or impulses [N, Nm; Ns, Nms]")
    failed_row = result("", "the row that depends on those before it, if `factorise` failed", int)
