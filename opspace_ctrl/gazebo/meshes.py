# SPDX-License-Identifier: Apache-2.0
"""The file of a mesh that a URDF names by file://, package:// or a path relative to the URDF."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

# Folders whose subfolders are packages, as ROS and Gazebo are told about them.
PACKAGE_PATHS = ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH")


def find_mesh(name: str, folder: Path | None = None) -> Path | None:
    """The file of a mesh, None if there is none.

    A package is looked for in the ament index, in the folders of PACKAGE_PATHS, and upwards from the URDF's own folder.

    Args:
        name: the `filename` of the URDF's <mesh>.
        folder: where the URDF lies.
    """
    address = urlparse(name)
    if address.scheme in ("package", "model"):
        inside = unquote(address.path).lstrip("/")
        candidates = [package / inside for package in _packages(address.netloc, folder)]
    elif address.scheme == "file":
        candidates = [Path(unquote(address.path))]
    elif address.scheme:
        candidates = []
    else:
        candidates = [(folder or Path()) / name]
    return next((path.resolve() for path in candidates if path.is_file()), None)


def _packages(package: str, folder: Path | None) -> Iterator[Path]:
    """Folders that the package may be."""
    try:
        from ament_index_python import get_package_share_path

        yield get_package_share_path(package)
    except (ImportError, LookupError, OSError, ValueError):
        pass  # no ROS here, or no such package
    for variable in PACKAGE_PATHS:
        for path in os.environ.get(variable, "").split(os.pathsep):
            if path:
                yield from (Path(path, package), Path(path, "share", package))
    if folder is not None:
        yield from (parent / package for parent in (folder.resolve(), *folder.resolve().parents))
        yield from (
            parent
            for parent in (folder.resolve(), *folder.resolve().parents)
            if parent.name == package
        )
