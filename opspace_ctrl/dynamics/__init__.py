# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics on any tree: one algorithm a file, compiled, nothing allocated inside."""

from .forward import *  # noqa: F403
from .forward import __all__ as _forward
from .functions import *  # noqa: F403
from .functions import __all__ as _functions

__all__ = _functions + _forward  # noqa: PLE0605
