# SPDX-License-Identifier: Apache-2.0
"""From moving bodies to a Model: the arrays everything else reads."""

import numpy as np

from ..errors import InertiaError, quoted
from .connectivity import depths
from .coordinates import expanded_parent, limits, number_coordinates, passive_forces
from .model import Model
from .specs import MimicSpec
from .tree import Body, Frame


def assemble(
    bodies: list[Body],
    frames: list[Frame],
    followers: dict[str, MimicSpec],
    armature: dict[str, float],
    *,
    name: str,
    gravity: np.ndarray,
    total_mass: float,
    source: str | tuple[str, ...],
) -> Model:
    """Give the joints their coordinates and stack everything into a Model.

    Args:
        bodies: in their order.
        frames: one for every link.
        followers: the mimic joints among the bodies' joints, resolved to their ultimate leaders.
        armature: rotor inertia by joint name [kg m^2 or kg].

    Raises:
        LimitError: a follower's limits and its leader's exclude each other.
        InertiaError: numbers so large that lumping them overflowed.
        TreeError: more coordinates than are carried.
    """
    coordinates = number_coordinates(bodies, followers)
    parent_expanded = expanded_parent(bodies, coordinates)
    is_base = np.zeros(coordinates.nv, dtype=bool)
    for body, at in zip(bodies, coordinates.v_index):
        if body.is_base:
            is_base[at : at + 6] = True
    own = [
        body.joint.name
        for body, follows in zip(bodies, coordinates.is_mimic)
        if not follows and not body.is_base
    ]
    model = Model(
        name=name,
        gravity=gravity,
        joint_names=tuple(own),
        body_names=tuple(body.joint.child for body in bodies),
        body_joint_names=tuple(body.joint.name for body in bodies),
        parent=_integers([body.place.body for body in bodies]),
        parent_expanded=parent_expanded,
        depth=int(max(depths(parent_expanded), default=0)),
        joint_type=_integers([body.joint.joint_type for body in bodies]),
        axis=_stack([body.joint.axis for body in bodies], 3),
        placement_rotation=_stack([body.place.rotation for body in bodies], 3, 3),
        placement_translation=_stack([body.place.translation for body in bodies], 3),
        mass=_stack([body.mass for body in bodies]),
        com=_stack([body.com for body in bodies], 3),
        inertia=_stack([body.inertia for body in bodies], 3, 3),
        total_mass=total_mass,
        is_base_coordinate=is_base,
        **vars(coordinates),
        **passive_forces(bodies, coordinates, armature),
        **limits(bodies, followers),
        frame_names=tuple(frame.name for frame in frames),
        frame_body=_integers([frame.body for frame in frames]),
        frame_rotation=_stack([frame.rotation for frame in frames], 3, 3),
        frame_translation=_stack([frame.translation for frame in frames], 3),
        source=source,
    )
    _refuse_overflow(model)
    return model


def _stack(rows: list, *shape: int) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(len(rows), *shape)


def _integers(values: list) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _refuse_overflow(model: Model) -> None:
    """Name the body or frame where finite numbers made something that is not."""
    for names, keys in (
        (model.body_names, ("mass", "com", "inertia", "placement_translation")),
        (model.frame_names, ("frame_translation",)),
        (range(model.nv), ("armature", "damping", "friction")),
        ((model.name,), ("total_mass",)),
    ):
        for key in keys:
            for name, row in zip(names, np.atleast_1d(getattr(model, key))):
                if not np.isfinite(row).all():
                    raise InertiaError(
                        f"{key} of {quoted(name)} overflows: its numbers are too large"
                    )
