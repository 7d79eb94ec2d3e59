"""Rigid-body dynamics on any tree: one algorithm a file, compiled, nothing allocated inside."""

from .api import *  # noqa: F403
from .api import __all__ as _api
from .forward import *  # noqa: F403
from .forward import __all__ as _forward

__all__ = _api + _forward  # noqa: PLE0605
