"""Files shipped with the package: the folders `urdf/`, `config/` and `rviz/` at the top of the source tree."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

__all__ = ["read_shipped", "shipped_path"]


def shipped_path(folder: str, name: str) -> Path:
    """The path of a file of `urdf`, `config` or `rviz`, wherever the package is installed.

    setup.py maps the folders to opspace_ctrl.urdf and so on; in a checkout that is not installed, or installed
    by links (colcon build --symlink-install), they lie beside the package.
    """
    try:
        return Path(str(resources.files(f"opspace_ctrl.{folder}") / name))
    except ModuleNotFoundError:
        return Path(__file__).parents[1] / folder / name


def read_shipped(folder: str, name: str) -> bytes:
    """The bytes of a file of `urdf`, `config` or `rviz`."""
    return shipped_path(folder, name).read_bytes()
