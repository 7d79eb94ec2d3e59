# SPDX-License-Identifier: Apache-2.0
"""Small URDF documents for tests."""

from __future__ import annotations

BOX = 'ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0.002" izz="0.04"'


def link(name, mass=1.0, xyz="0.1 0.02 0.03", rpy="0 0 0", inertia=BOX):
    """A <link>; mass None leaves the <inertial> out, inertia None the <inertia>."""
    if mass is None:
        return f'<link name="{name}"/>'
    moments = "" if inertia is None else f"<inertia {inertia}/>"
    return (
        f'<link name="{name}"><inertial><origin xyz="{xyz}" rpy="{rpy}"/>'
        f'<mass value="{mass}"/>{moments}</inertial></link>'
    )


def joint(
    name, parent, child, kind="continuous", xyz="0 0 0.3", rpy="0 0 0", axis="0 0 1", extra=""
):
    """A <joint>; axis None leaves the <axis> out."""
    direction = "" if axis is None else f'<axis xyz="{axis}"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/>{direction}{extra}</joint>'
    )


def limit(lower=-1.0, upper=1.0, effort=10.0, velocity=5.0):
    """A <limit>."""
    return f'<limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"/>'


def mimic(leader, multiplier=None, offset=None):
    """A <mimic>."""
    more = "" if multiplier is None else f' multiplier="{multiplier}"'
    more += "" if offset is None else f' offset="{offset}"'
    return f'<mimic joint="{leader}"{more}/>'


def robot(*elements, name="robot"):
    """A <robot>."""
    return f'<robot name="{name}">{"".join(elements)}</robot>'


def arm(n=3, **changes):
    """A chain of links l0 .. ln and joints j1 .. jn about changing axes; changes: joint name -> keywords."""
    axes = ("0 0 1", "0 1 0", "1 0 0")
    parts = [link(f"l{i}") for i in range(n + 1)]
    for i in range(1, n + 1):
        keywords = {"axis": axes[i % 3], **changes.get(f"j{i}", {})}
        parts.append(joint(f"j{i}", f"l{i - 1}", f"l{i}", **keywords))
    return robot(*parts)
