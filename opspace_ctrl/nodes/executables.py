# SPDX-License-Identifier: Apache-2.0
"""The executables of the nodes: each starts its node or, where there is no ROS 2, says what to install."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NoReturn

from ..errors import without_ros
from .runtime import DONE, INVALID


def controller() -> NoReturn:
    """Run opspace_controller."""
    _run("controller")


def simulator() -> NoReturn:
    """Run opspace_simulator."""
    _run("simulator")


def gazebo_bridge() -> NoReturn:
    """Run opspace_gazebo_bridge."""
    _run("gazebo_bridge")


def _run(module: str) -> NoReturn:
    try:
        main = import_module(f"{__package__}.{module}").main
    except ImportError as error:
        print(without_ros(f"opspace_{module}", error), file=sys.stderr)
        sys.exit(INVALID)
    except KeyboardInterrupt:
        sys.exit(DONE)
    sys.exit(main())
