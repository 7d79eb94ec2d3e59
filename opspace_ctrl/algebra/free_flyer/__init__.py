# SPDX-License-Identifier: Apache-2.0
"""Free-flying robots link by link ([Jain1995]): any link as base, links that integrate themselves. For study.

A package of its own beside `dynamics/`, in plain NumPy and in the paper's terms: links with hinges of one to six
degrees of freedom, where the compiled kernels go node by node. What a simulator needs is compiled there.
"""

from .base_change import base_change, base_point_change, composite_mass_matrix, reroot
from .hinges import fuse_hinges
from .link_tree import LinkState, LinkTree, link_state, link_tree
from .message_passing import Traffic, run_on_nodes
from .self_integration import LinkIntegrator, drift, hinge_coordinates, step_links
from .two_filters import TwoFilters, dual_upsilon, two_filters, upsilon

__all__ = [
    "LinkIntegrator",
    "LinkState",
    "LinkTree",
    "Traffic",
    "TwoFilters",
    "base_change",
    "base_point_change",
    "composite_mass_matrix",
    "drift",
    "dual_upsilon",
    "fuse_hinges",
    "hinge_coordinates",
    "link_state",
    "link_tree",
    "reroot",
    "run_on_nodes",
    "step_links",
    "two_filters",
    "upsilon",
]
