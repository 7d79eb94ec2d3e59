"""The inverse operational-space inertia by every published method, and `OperationalSpace` on top."""

from .links import link_inertias
from .method import Method
from .operational_space import OperationalSpace
from .registry import methods
from .tasks import CenterOfMass, Task

__all__ = ["CenterOfMass", "Method", "OperationalSpace", "Task", "link_inertias", "methods"]
