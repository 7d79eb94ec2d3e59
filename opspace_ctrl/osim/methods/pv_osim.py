# SPDX-License-Identifier: Apache-2.0
"""PV-OSIM: carry all task rows down the tree, Lambda^-1 += K Om K^T at every body, O(n + m^2 d) ([Sathya2024]).

Om = S D^-1 S^T has rank one for a node, so K Om K^T is the product of one column of Y_D and one of Y_d, and the sum
over the bodies that two tasks share is figure 10 of [Featherstone2010], on factors that no H was needed for.
"""

from ...compiled.jit import stage
from ...dynamics import aba
from ..blocks import products
from ..fields import Space
from ..method import ARTICULATED, BY_RECURSION, Method
from ..propagate import articulated_rows, project_innovations


class PvOsim(Method):
    """Lambda^-1 = Y_D Y_d^T, whose rows the tasks leave on the nodes as they are carried to the base."""

    name = "pv_osim"
    leaves = ARTICULATED
    carries = BY_RECURSION


@stage(Space, PvOsim, fills="inertia_inv")
def inertia_inv(space, own):
    """Lambda^-1 = Y_D Y_d^T; J H^-1 x = Y_D eps into Jx, eps the innovations of x."""
    aba.articulated_inertias(space.tree)
    articulated_rows(space)
    products(space)
    project_innovations(space)
