# SPDX-License-Identifier: Apache-2.0
"""Files shipped with the package: the folders `urdf/`, `config/` and `rviz/` at the top of the source tree."""

import os
from importlib import resources
from pathlib import Path


def shipped_path(folder: str, name: str) -> Path:
    """The path of a file of `urdf`, `config` or `rviz`, wherever the package is installed.

    setup.py maps the folders to opspace_ctrl.urdf and so on; in a checkout that is not installed, or installed
    by links (colcon build --symlink-install), they lie beside the package.
    """
    try:
        return Path(str(resources.files(f"opspace_ctrl.{folder}") / name))
    except ModuleNotFoundError:
        return Path(__file__).parents[1] / folder / name


def shipped_or_own(folder: str, name: str | os.PathLike[str]) -> Path:
    """The path that is given; where there is no such file, the shipped one of that name, if there is one."""
    own, shipped = Path(name), shipped_path(folder, Path(name).name)
    return shipped if not own.exists() and str(own) == own.name and shipped.is_file() else own


def read_shipped(folder: str, name: str) -> bytes:
    """The bytes of a file of `urdf`, `config` or `rviz`."""
    return shipped_path(folder, name).read_bytes()
