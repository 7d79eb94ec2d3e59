"""Files shipped with the package: the folders `urdf/` and `config/` at the top of the source tree."""
from __future__ import annotations

from importlib import resources
from pathlib import Path

__all__ = ["read_shipped"]


def read_shipped(folder: str, name: str) -> bytes:
    """A file of `urdf` or `config`, wherever the package is installed.

    setup.py maps the folders to opspace_ctrl.urdf and opspace_ctrl.config; in a checkout that is not
    installed, or installed by links (colcon build --symlink-install), they lie beside the package.
    """
    try:
        return (resources.files(f"opspace_ctrl.{folder}") / name).read_bytes()
    except ModuleNotFoundError:
        return (Path(__file__).parents[1] / folder / name).read_bytes()
