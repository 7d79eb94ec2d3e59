"""What a launch file starts, with which parameters: decisions in plain Python.

`arguments` says what can be asked for, `plan` which processes follow from it; neither imports launch. `launching` turns
a plan into launch actions and is what the files in launch/ call.
"""

from __future__ import annotations

__all__ = ["launch_arguments"]


def launch_arguments(launch: str) -> list[str]:
    """The names of the arguments of a launch file, such as "arm"."""
    from opspace_ctrl.bringup.arguments import arguments  # here, for it imports the nodes' tables

    return [argument.name for argument in arguments(launch)]
