# SPDX-License-Identifier: Apache-2.0
"""Robots whose hinges have two to five freedoms, written as URDF chains of links without mass."""

from __future__ import annotations

X, Y, Z = "1 0 0", "0 1 0", "0 0 1"
# name: the joints of the hinge in their order, type and axis; what is between them has no mass
HINGES = {
    "universal": [("continuous", X), ("continuous", Y)],
    "cylindrical": [("prismatic", Z), ("continuous", Z)],
    "spherical": [("continuous", X), ("continuous", Y), ("continuous", Z)],
    "planar": [("prismatic", X), ("prismatic", Y), ("continuous", Z)],
    "ball_on_a_rod": [("prismatic", X), ("continuous", Z), ("continuous", Y), ("continuous", X)],
    "five": [
        ("prismatic", X),
        ("prismatic", Y),
        ("continuous", Z),
        ("continuous", X),
        ("continuous", Y),
    ],
}


def chain(hinges: list[str], branches: int = 1) -> str:
    """URDF of heavy links one after the other, joined by hinges; the second hinge starts from `branches` links at once.

    Branches leave the last massless link of the first hinge as well as the heavy link, so that a massless link carries
    two heavy ones.
    """
    links, joints = [_heavy("base", 0)], []
    end = "base"
    for number, hinge in enumerate(hinges):
        last = end
        for k, (kind, axis) in enumerate(HINGES[hinge]):
            is_last = k == len(HINGES[hinge]) - 1
            name = f"body{number}" if is_last else f"between{number}_{k}"
            links.append(_heavy(name, number + 1) if is_last else f'<link name="{name}"/>')
            joints.append(_joint(f"joint{number}_{k}", kind, axis, last, name, number, k == 0))
            middle, last = last, name
        if number == 0 and branches > 1:
            links.append(_heavy("other", 7))
            joints.append(_joint("to_other", "continuous", "0.6 0 0.8", middle, "other", 3, True))
        end = last
    return f'<robot name="chain">{"".join(links)}{"".join(joints)}</robot>'


def _heavy(name: str, number: int) -> str:
    return (
        f'<link name="{name}"><inertial><origin xyz="0.1 {0.02 * number} -0.2" rpy="0.3 0.1 0.2"/>'
        f'<mass value="{1.0 + 0.5 * number}"/><inertia ixx="0.03" iyy="0.04" izz="0.02" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>"
    )


def _joint(name, kind, axis, parent, child, number, is_first) -> str:
    origin = (
        f'<origin xyz="0.3 {0.1 * number} -0.2" rpy="0.2 -0.4 {0.3 * number}"/>' if is_first else ""
    )
    limit = '<limit lower="-1" upper="1" effort="9" velocity="9"/>' if kind == "prismatic" else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{origin}'
        f'<axis xyz="{axis}"/>{limit}</joint>'
    )
