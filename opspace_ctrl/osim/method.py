# SPDX-License-Identifier: Apache-2.0
"""What a method is: a stage that computes the inverse operational-space inertia, its memory, and what it can carry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from ..compiled.workspace import Workspace, call, constant
from ..dynamics.clusters import wide_clusters
from ..dynamics.dual import held_bases
from ..errors import MethodError
from ..model import Model
from .tasks import FEATURES, Block

if TYPE_CHECKING:
    from .build import TaskSpace


# What a method leaves of H: nothing that may be used, its factors in tree.H, or S_A, U and DA_inv of its recursion.
PLAIN, LTDL, LTL, ARTICULATED = 0, 1, 2, 3
# of a method that needs no more than J and H
EVERYTHING = ("mimic", *(name for name, _ in FEATURES.values()))
# of a method that leaves rows on several bodies to `propagate`, and mimic joints to `dynamics.clusters`
BY_RECURSION = ("clusters", "relative", "center_of_mass")


class Method(Workspace):
    """A way to compute the inverse operational-space inertia; one with tables or scratch of its own declares fields.

    A subclass has a stage `@stage(Space, Subclass, fills="inertia_inv")`. It finds kinematics and task Jacobian done,
    writes Lambda_inv (upper triangle of blocks at least, in rising order of the blocks: a register may overrun into the
    next) and J H^-1 x to Jx, may spoil tree.x, allocates nothing and never raises.

    Attributes:
        name: What users call it.
        leaves: What it leaves of H: PLAIN, LTDL, LTL or ARTICULATED.
        carries: Which of "mimic" (or only "clusters", mimic joints with nothing between them) and the names in
            `tasks.FEATURES` it can carry.
        floating_only: Only for robots whose trees all have floating bases, free of armature.
    """

    leaves_H = constant("", "PLAIN, LTDL, LTL or ARTICULATED: what the method leaves of H", int)
    inertia_inv = call("(space, method): writes Lambda_inv, and J H^-1 x to Jx")

    name: ClassVar[str]
    leaves: ClassVar[int] = PLAIN
    carries: ClassVar[tuple[str, ...]] = ()
    floating_only: ClassVar[bool] = False

    def __init__(self, **given):
        super().__init__(leaves_H=self.leaves, **given)

    @classmethod
    def for_space(cls, space: TaskSpace) -> Method:
        """The method with its tables for a robot and tasks."""
        return cls()

    @classmethod
    def missing(cls, model: Model, blocks: Iterable[Block]) -> list[str]:
        """What the model and tasks ask for that this method does not carry."""
        kinds = {block.kind for block in blocks}
        wanted = [FEATURES[kind] for kind in FEATURES if kind in kinds]
        lacking = [words for name, words in wanted if name not in cls.carries]
        if model.is_mimic.any() and "mimic" not in cls.carries:
            by_clusters = "clusters" in cls.carries
            lacking += wide_clusters(model) if by_clusters else ["mimic joints"]
        return lacking + (held_bases(model) if cls.floating_only else [])

    @classmethod
    def check(cls, model: Model, blocks: Iterable[Block], able: Iterable[str]) -> None:
        """Raise MethodError, naming the methods that are able, if this one cannot carry the model and tasks."""
        lacking = cls.missing(model, blocks)
        if lacking:
            raise MethodError(
                f"method {cls.name!r} cannot carry {' or '.join(lacking)} ({model.name}); "
                f"able: {', '.join(able) or 'none'}"
            )
