# SPDX-License-Identifier: Apache-2.0
"""The inverse operational-space inertia by every published method, and `OperationalSpace` on top."""

# The function `methods` has the name of a subpackage. An import binds a submodule to its parent once, the first time:
# here, before the function takes the name for good. `from opspace_ctrl.osim.methods import rjk` finds the subpackage.
from . import methods as _methods  # noqa: F401
from .links import link_inertias
from .method import Method
from .operational_space import OperationalSpace
from .registry import methods
from .tasks import CenterOfMass, Task

__all__ = ["CenterOfMass", "Method", "OperationalSpace", "Task", "link_inertias", "methods"]
