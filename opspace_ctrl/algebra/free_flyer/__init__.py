"""Free-flying robots link by link ([Jain1995]): any link as base, links that integrate themselves. For study.

A package of its own beside `dynamics/`, in plain NumPy and in the paper's terms: links with hinges of one to six
degrees of freedom, where the compiled kernels go node by node. What a simulator needs is compiled there.
"""

from .base_change import base_change, composite_mass_matrix, reroot
from .link_tree import LinkState, LinkTree, link_state, link_tree
from .self_integration import drift, step_links
from .two_filters import TwoFilters, two_filters

__all__ = [
    "LinkState",
    "LinkTree",
    "TwoFilters",
    "base_change",
    "composite_mass_matrix",
    "drift",
    "link_state",
    "link_tree",
    "reroot",
    "step_links",
    "two_filters",
]
