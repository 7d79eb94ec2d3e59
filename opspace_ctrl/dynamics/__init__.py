"""Rigid-body dynamics on any tree: one algorithm a file, compiled, nothing allocated inside."""
from .api import *  # noqa: F403
from .api import __all__  # noqa: F401
