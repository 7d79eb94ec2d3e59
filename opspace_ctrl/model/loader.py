# SPDX-License-Identifier: Apache-2.0
"""load_urdf and load_robot: from a source to a Model, or to a named error."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigurationError, quoted
from .assemble import assemble
from .configuration import check_vector
from .coordinates import armature_by_joint
from .mimic import couple
from .model import Model
from .options import LoadOptions
from .singular import check_regular
from .source import ROBOTS, naming, read_source, robot_text
from .specs import JointSpec, RobotSpec
from .spelling import warn_of_unknown_parts
from .tree import Body, Frame, floating_base, grow, without_world
from .urdf import parse_urdf
from .validate import find_root, judge_inertias, unique_across

if TYPE_CHECKING:
    from typing_extensions import Unpack

Source: TypeAlias = str | bytes | os.PathLike[str]
BASES = ("fixed", "floating")
MAX_GRAVITY = 1e9  # [m/s^2]; what is more is a slip, and would overflow


def load_urdf(
    path_or_xml: Source | Sequence[Source],
    base: str | Sequence[str] = "fixed",
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    armature: float | Mapping[str, float] | None = None,
    locked: Mapping[str, float] | None = None,
    strict: bool = False,
    xacro_args: Mapping[str, object] | None = None,
    prefixes: Sequence[str] | None = None,
) -> Model:
    """Load a robot, or several as a forest.

    Args:
        path_or_xml: URDF text, the path of a URDF or .xacro file, or a list of these (a forest).
        base: "fixed" or "floating"; for a forest one for all or one each. Floating, an empty root link
            ("world") that carries the robot by a floating joint is left out: that joint is the base.
        gravity: (3,) in world axes [m/s^2].
        armature: rotor inertia of every joint (floating ones excepted), or {joint: value} [kg m^2 or kg].
        locked: {joint: position}: frozen there and lumped, with the joints that mimic it [rad or m].
        strict: make doubtful inertias an error instead of an InertiaWarning.
        xacro_args: arguments for .xacro files.
        prefixes: put before all names, one for each robot.

    Raises:
        SourceError, UrdfSyntaxError, UnsafeXmlError: the text cannot be had, or is no URDF.
        TreeError, JointError, LimitError, MimicError, InertiaError: an element of it is wrong.
        SingularInertiaError: a joint moves no inertia and has no armature.
        UnknownJointError, ConfigurationError: another argument is wrong.
    """
    is_forest = isinstance(path_or_xml, (list, tuple))
    # the flag narrows no type, and any other sequence is refused when it is read
    sources: list[Source] = list(path_or_xml) if is_forest else [path_or_xml]  # type: ignore[arg-type, list-item]
    bases, prefixes = (
        _bases(base, len(sources)),
        _one_each("" if prefixes is None else prefixes, len(sources), "prefixes"),
    )
    g = checked_gravity(gravity)
    texts, robots = [], []
    for source, prefix in zip(sources, prefixes):
        with naming(source):
            texts.append(read_source(source, xacro_args))
            robots.append(parse_urdf(texts[-1], prefix))
    for robot in robots:
        warn_of_unknown_parts(robot)  # first, for they may be why the rest fails
    roots = [find_root(robot) for robot in robots]
    unique_across(robots)
    for k, kind in enumerate(bases):
        if kind == "floating":
            robots[k], roots[k] = without_world(robots[k], roots[k])
    frees = [
        floating_base(f"{prefix}root_joint", root) if kind == "floating" else None
        for root, kind, prefix in zip(roots, bases, prefixes)
    ]
    return model_of(
        robots,
        roots,
        frees,
        lambda joints: armature_by_joint(armature, joints),
        gravity=g,
        locked=locked,
        strict=strict,
        source=tuple(texts) if is_forest else texts[0],
    )


def checked_gravity(gravity: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Gravity (3,) [m/s^2].

    Raises:
        ConfigurationError: not three finite numbers, or beyond MAX_GRAVITY.
    """
    g = check_vector(gravity, 3, "gravity")
    if np.abs(g).max() > MAX_GRAVITY:
        raise ConfigurationError(f"gravity = {g.tolist()} is beyond {MAX_GRAVITY:g} m/s^2")
    return g


def model_of(
    robots: Sequence[RobotSpec],
    roots: Sequence[str],
    bases: Sequence[JointSpec | None],
    armature: Callable[[dict[str, JointSpec]], dict[str, float]],
    *,
    gravity: NDArray[np.float64],
    locked: Mapping[str, float] | None,
    strict: bool,
    source: str | tuple[str, ...],
) -> Model:
    """A Model of robots whose links and joints are known, whatever file they came from.

    Args:
        robots: valid trees, names unique across them.
        roots: their root links.
        bases: the joint that frees each root, None for one that is held.
        armature: {joint: value} of the joints there are.
        source: the text, kept in the model.
    """
    for robot in robots:
        judge_inertias(robot, strict)
    joints = {joint.name: joint for robot in robots for joint in robot.joints}
    couplings = couple(joints, locked)
    bodies: list[Body] = []
    frames: list[Frame] = []
    with np.errstate(all="ignore"):  # overflow is looked for, and named, in assemble
        for robot, root, base in zip(robots, roots, bases):
            more_bodies, more_frames = grow(robot, root, base, couplings.frozen, len(bodies))
            bodies += more_bodies
            frames += more_frames
        model = assemble(
            bodies,
            frames,
            couplings.followers,
            armature(joints),
            name="+".join(robot.name for robot in robots),
            gravity=gravity,
            total_mass=float(sum(link.mass for robot in robots for link in robot.links)),
            source=source,
        )
    check_regular(model)
    return model


def load_robot(name: str, **options: Unpack[LoadOptions]) -> Model:
    """Load a robot shipped with the package: arm7, asimo or free_flyer.

    Args:
        name: which one.
        options: as for load_urdf. By default asimo and free_flyer float, and free_flyer has no gravity.

    Raises:
        UnknownRobotError: naming the robots there are; and what load_urdf raises.
    """
    text = robot_text(name)
    told: LoadOptions = {**ROBOTS[name], **options}
    return load_urdf(text, **told)


def _bases(base: str | Sequence[str], count: int) -> list[str]:
    bases = _one_each(base, count, "base")
    for value in bases:
        if value not in BASES:
            raise ConfigurationError(f"base {quoted(value)} is not one of {', '.join(BASES)}")
    return bases


def _one_each(value: str | Sequence[str], count: int, what: str) -> list[str]:
    """One string for all robots, or a list with one each."""
    values = [value] * count if isinstance(value, str) else value
    is_list = isinstance(values, (list, tuple)) and all(isinstance(item, str) for item in values)
    if not is_list or len(values) != count or count == 0:
        raise ConfigurationError(
            f"{what} = {quoted(value)} for {count} robots: one string, or a list with "
            "one for each, is valid"
        )
    return list(values)
