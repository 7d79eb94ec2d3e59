# SPDX-License-Identifier: Apache-2.0
"""A robot's file, whatever its format, as a model whose root is held."""

import warnings
from collections.abc import Mapping
from pathlib import Path

from ..errors import InertiaWarning, MjcfWarning, SourceError, quoted
from ..model import Model, load_mjcf, load_robot, load_urdf
from ..model.source import ROBOTS, naming, read_source
from ..model.xml_safety import parse_xml
from .sdf import load_sdf

__all__ = ["BAGS", "load_description"]

BAGS = (".mcap",)


def load_description(source: str, xacro_args: Mapping[str, object] | None = None) -> Model:
    """A shipped robot, or the URDF, xacro, SDF or MJCF file of a path; told apart by what is in it.

    Raises:
        SourceError: There is no such file, or it is none of these.
        OpspaceError: What is wrong in it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InertiaWarning)  # inertias are compared, not judged
        warnings.simplefilter("ignore", MjcfWarning)
        if source in ROBOTS:
            return load_robot(source, base="fixed", gravity=(0.0, 0.0, -9.81))
        path = Path(source)
        with naming(path):
            text = read_source(path, xacro_args, "a URDF, xacro, SDF or MJCF file")
            tag = parse_xml(text).tag
            if tag == "robot":
                return load_urdf(text)
            if tag == "sdf":
                return load_sdf(text)
        if tag == "mujoco":
            return load_mjcf(path, base="fixed")
    raise SourceError(
        f"{quoted(path)} is a <{tag[:40]}>; valid are URDF (<robot>), xacro, SDF (<sdf>) and MJCF "
        "(<mujoco>)"
    )
