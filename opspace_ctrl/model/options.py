# SPDX-License-Identifier: Apache-2.0
"""How a robot is loaded, beside its source: what `load_urdf` and `load_robot` can be told by name."""

from collections.abc import Mapping, Sequence
from typing import TypedDict


class LoadOptions(TypedDict, total=False):
    """The options of `load_urdf`, which describes them."""

    base: str | Sequence[str]
    gravity: Sequence[float]
    armature: float | Mapping[str, float] | None
    locked: Mapping[str, float] | None
    strict: bool
    xacro_args: Mapping[str, object] | None
    prefixes: Sequence[str] | None
