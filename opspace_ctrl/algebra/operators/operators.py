# SPDX-License-Identifier: Apache-2.0
"""The spatial operators of a robot at one configuration."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...model import Model
from .algebra import Atom, Identity, Space, SpatialOperator
from .inverses import KnownInverses, inverse_of
from .numbering import TipToBase
from .quantities import Quantities, bias_terms, transition
from .recursions import Pair, Recursions
from .symbols import ARTICULATED, SYMBOLS


class SpatialOperators:
    """H, phi, Phi, psi, Psi, M, r, P, P_plus, D, G, K, B, E_phi, E_psi, taubar, Omega, Upsilon, A and J at q.

    Each is a `SpatialOperator` (a scipy LinearOperator): applying it is an O(N) recursion over the bodies.
    Body space: six rows a body, in the order of `model.body_names` (base to tips), angular rows first, world axes,
    reference point O_k = the origin of body k's frame, on its joint. Joint space: ordered like v. Task space: six rows
    a frame, angular first, world axes, at the frame's origin. Phi = phi - I, Psi = psi E_phi, D = H P H* + A, and the
    joint-space inertia is H phi M phi* H* + A with A the armature. The papers number bodies from the tip:
    `tip_to_base` shows any operator in their order. docs/operators.md has the whole story.

    Args:
        q: configuration (nq,).
        frames: names of the frames (links) that define B and J.

    Raises:
        ConfigurationError: q is no configuration of the model.
        UnknownFrameError: the model has no such frame.
        MethodError: an articulated operator is asked for and mimic joints have other joints between them.
    """

    def __init__(self, model: Model, q: ArrayLike, frames: Sequence[str] = ()):
        self.model, self.frames = model, tuple([frames] if isinstance(frames, str) else frames)
        self.quantities = Quantities(model, q)
        frame_numbers = np.array([model.frame_index(name) for name in self.frames], dtype=int)
        self._recursions = Recursions(self.quantities, frame_numbers)
        self._atoms: dict[str, Atom] = {}
        sizes = {"joint": model.nv, "body": 6 * len(model.parent), "task": 6 * len(self.frames)}
        self.spaces = {name: Space(name, size, self) for name, size in sizes.items()}

    def __getattr__(self, name: str) -> SpatialOperator:
        if name not in SYMBOLS:
            raise AttributeError(
                f"SpatialOperators has no {name!r}; the operators are {', '.join(SYMBOLS)}"
            )
        self.require([name])
        return self.atom(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *SYMBOLS})

    def require(self, names: Iterable[str]) -> None:
        """Refuse operators that this model does not have now, not when they are first applied.

        Raises:
            MethodError: an articulated operator and mimic joints with other joints between them.
        """
        if ARTICULATED.intersection(names):
            _ = self.quantities.P

    def atom(self, name: str) -> Atom:
        """The operator of that name, or a root such as M^1/2; its numbers are computed when it is first applied."""
        if name not in self._atoms:
            symbol = SYMBOLS[name.removesuffix("^1/2")]
            spaces = self.spaces[symbol.rows], self.spaces[symbol.columns]
            self._atoms[name] = Atom(name, *spaces, *self._recursions.of(name))
        return self._atoms[name]

    def recursions_of(self, name: str) -> Pair:
        """The recursions that apply a named operator, or phi^-1, psi^-1, D^-1 or A^-1, and its adjoint."""
        return self._recursions.of(name)

    def identity(self, space: str) -> SpatialOperator:
        """I of the "joint", "body" or "task" space."""
        return Identity(self.spaces[space])

    def inverse_of(self, operator: SpatialOperator) -> SpatialOperator:
        """operator^-1; see `SpatialOperator.inverse`."""
        return inverse_of(operator, self)

    @cached_property
    def known_inverses(self) -> KnownInverses:
        """The sums and products whose inverse is a recursion."""
        return KnownInverses(self)

    def transition(self, i: int, j: int) -> np.ndarray:
        """phi(i, j) (6, 6) between any two bodies: takes a force at O_j to O_i; its transpose takes a velocity back."""
        return transition(self.quantities.p[j] - self.quantities.p[i])

    def bias(self, v: ArrayLike, gravity: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Bias accelerations a and gyroscopic forces b (6N,): C = H phi (M phi* a + b) are the bias torques.

        Args:
            v: velocity (nv,).
            gravity: whether a holds the upward acceleration -g of the base.
        """
        return bias_terms(self.quantities, self.H.T @ self.model.check_velocity(v), gravity)

    @cached_property
    def tip_to_base(self) -> TipToBase:
        """The papers' numbering: `tip_to_base(operator)` is the same operator with body 1 a tip and body N a root."""
        return TipToBase(self)
