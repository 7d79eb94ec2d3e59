# SPDX-License-Identifier: Apache-2.0
"""Random kinematic trees, reproducible from a seed, for tests against dense algebra."""

from __future__ import annotations

import numpy as np
from helpers.urdf_text import joint, limit, link, robot
from helpers.urdf_text import mimic as mimic_tag
from hypothesis import strategies as st

from opspace_ctrl import Model, load_urdf

# How often each joint type is drawn.
WEIGHTS = {"revolute": 5, "continuous": 3, "prismatic": 3, "fixed": 1, "planar": 1, "floating": 1}
SCALAR = ("revolute", "continuous", "prismatic")
SHAPES = ("tree", "chain", "star")
# Of joints that follow none; followers have no limits, so that they never exclude each other's positions.
LIMITS = {"revolute": limit(-3.0, 3.0), "prismatic": limit(-1.0, 1.0)}


def random_model(
    seed: int,
    bodies: int = 10,
    base: str = "fixed",
    mimic: float = 0.0,
    types: tuple[str, ...] = tuple(WEIGHTS),
    forest: int = 1,
    shape: str = "tree",
    armature: bool = True,
    near: bool = False,
) -> Model:
    """A random robot, or forest of them, with inertias that bodies can have.

    Args:
        seed: the same arguments give the same model.
        bodies: joints of each robot, fixed ones counted.
        base: "fixed", "floating", or "any" (drawn for each robot).
        mimic: the fraction of scalar joints that follow another: before or after it, on any branch, in chains.
        types: the URDF joint types to draw from; one that moves is always the first joint's if there is one.
        forest: number of robots; with more than one, robot i has the prefix "r<i>_".
        shape: "tree", "chain", or "star" (every joint on the root).
        armature: whether about half of the joints have some.
        near: whether joints follow only where no other joint is between them and their leader: beside it, or on what it
            moves; then every method can carry them. Joints are written in any order, so followers may come first.
    """
    rng = np.random.default_rng([seed, bodies, forest])
    names = [f"r{i}_" for i in range(forest)] if forest > 1 else [""]
    kinds = [_joint_types(rng, bodies, types) for _ in names]
    texts = [_text(rng, kind, mimic, shape, near) for kind in kinds]
    bases = [rng.choice(["fixed", "floating"]).item() if base == "any" else base for _ in names]
    gravity = rng.normal(0.0, 5.0, 3)
    moving = [
        f"{name}j{i}"
        for name, kind in zip(names, kinds)
        for i, k in enumerate(kind, 1)
        if k != "fixed"
    ]
    extra = (
        {name: rng.uniform(0.01, 0.5) for name in moving if rng.random() < 0.5}
        if armature
        else None
    )
    return load_urdf(
        texts if forest > 1 else texts[0],
        bases if forest > 1 else bases[0],
        gravity,
        extra,
        prefixes=names if forest > 1 else None,
    )


def random_motion(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random configuration q (nq,), velocity v and acceleration (or force) a (nv,)."""
    rng = np.random.default_rng([seed, model.nv])
    return model.random_configuration(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


def seeds() -> st.SearchStrategy[int]:
    """Seeds for `random_model` and `random_motion`."""
    return st.integers(0, 2**32 - 1)


def trees(max_bodies: int = 60, **fixed) -> st.SearchStrategy[Model]:
    """Random models of every kind; `fixed` arguments of `random_model` are not drawn."""
    drawn = {
        "seed": seeds(),
        "bodies": st.integers(1, max_bodies),
        "base": st.sampled_from(["fixed", "floating"]),
        "mimic": st.sampled_from([0.0, 0.3]),
        "forest": st.sampled_from([1, 1, 2]),
        "shape": st.sampled_from(SHAPES),
        "near": st.booleans(),
    }
    given = {name: st.just(value) for name, value in fixed.items()}
    return st.builds(random_model, **{**drawn, **given})


def _joint_types(rng, bodies: int, types: tuple[str, ...]) -> list[str]:
    weights = np.array([WEIGHTS[name] for name in types], dtype=float)
    drawn = rng.choice(types, bodies, p=weights / weights.sum()).tolist()
    moving = [name for name in types if name != "fixed"]
    if moving and drawn[0] == "fixed":
        drawn[0] = rng.choice(moving).item()
    return drawn


def _text(rng, kinds: list[str], fraction: float, shape: str, near: bool) -> str:
    """A URDF with links l0 .. ln and joints j1 .. jn of the given types."""
    leaders, moved = (
        _near_leaders(rng, kinds, fraction) if near else (_leaders(rng, kinds, fraction), {})
    )
    links, joints, parents = [_link(rng, "l0")], [], {}
    for i, kind in enumerate(kinds, 1):
        parent = {"chain": i - 1, "star": 0}.get(shape, max(rng.integers(0, i), rng.integers(0, i)))
        if i in moved:
            chief, onto = moved[i]
            parent = parents[chief] if onto is None else onto
        parents[i] = parent
        extra = f'<dynamics damping="{rng.uniform(0, 0.5)}" friction="{rng.uniform(0, 0.5)}"/>'
        if i in leaders:
            sign = rng.choice([-1.0, 1.0])
            extra += mimic_tag(
                f"j{leaders[i]}", sign * rng.uniform(0.5, 1.2), rng.uniform(-0.5, 0.5)
            )
        else:
            extra += LIMITS.get(kind, "")
        links.append(_link(rng, f"l{i}"))
        joints.append(
            joint(
                f"j{i}",
                f"l{parent}",
                f"l{i}",
                kind,
                _vector(rng.uniform(-0.4, 0.4, 3)),
                _vector(rng.uniform(-np.pi, np.pi, 3)),
                _vector(_axis(rng)),
                extra,
            )
        )
    order = rng.permutation(len(joints)) if near else range(len(joints))
    return robot(*links, *(joints[k] for k in order))


def _leaders(rng, kinds: list[str], fraction: float) -> dict[int, int]:
    """follower -> leader. In a random order of the joints each may follow an earlier one, so no loop arises."""
    order = rng.permutation([i for i, kind in enumerate(kinds, 1) if kind in SCALAR])
    return {
        int(follower): int(rng.choice(order[:k]))
        for k, follower in enumerate(order)
        if k > 0 and rng.random() < fraction
    }


def _near_leaders(rng, kinds: list[str], fraction: float) -> tuple[dict, dict]:
    """follower -> an earlier joint that it follows, and -> (first leader, joint whose link it is moved onto, or None).

    None is for the link that the first leader is on.
    """
    leaders: dict[int, int] = {}
    moved: dict[int, tuple[int, int | None]] = {}
    chief: dict[int, int] = {}
    for i, kind in enumerate(kinds, 1):
        if kind not in SCALAR:
            continue
        if chief and rng.random() < fraction:
            leaders[i] = int(rng.choice([*chief]))
            first = chief[leaders[i]]
            mates = [k for k, other in chief.items() if other == first]
            onto = int(rng.choice([0, *mates]))
            moved[i] = first, onto or None
        chief[i] = chief[leaders[i]] if i in leaders else i
    return leaders, moved


def _link(rng, name: str) -> str:
    """A link with the inertia of a solid box, placed and turned at random in the link's frame."""
    mass, sides = rng.uniform(0.3, 3.0), rng.uniform(0.1, 0.5, 3)
    xx, yy, zz = mass / 12.0 * (np.sum(sides**2) - sides**2)
    inertia = f'ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"'
    return link(
        name,
        mass,
        _vector(rng.uniform(-0.2, 0.2, 3)),
        _vector(rng.uniform(-np.pi, np.pi, 3)),
        inertia,
    )


def _axis(rng) -> np.ndarray:
    """Any direction, or one of the six along the frame's axes, where special cases hide."""
    if rng.random() < 0.3:
        return rng.choice([-1.0, 1.0]) * np.eye(3)[rng.integers(3)]
    return rng.normal(size=3)


def _vector(x: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in x)
