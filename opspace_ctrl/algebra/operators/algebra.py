# SPDX-License-Identifier: Apache-2.0
"""Operators that compose: adjoints, products, sums and inverses of recursions are recursions again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ...errors import DimensionError

# Takes a matrix (n, c) of c stacked vectors to a new one (m, c).
Recursion = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Space:
    """A space that operators map between: "joint" (nv), "body" (6 N) or "task" (6 a frame), of one robot at one q."""

    name: str
    size: int
    owner: Any = field(repr=False, default=None)

    def __str__(self) -> str:
        return f"{self.name} space ({self.size})"


class SpatialOperator(LinearOperator):
    """A linear operator whose application is a recursion over the bodies.

    `A @ x` applies it to a vector or to the columns of a matrix; `A.T` (the adjoint, for all are real), `A @ B`,
    `A + B`, `A - B`, `2 * A` and `A.inverse()` are such operators too; `A.dense()` is the matrix.

    Attributes:
        rows, columns: the spaces it maps to and from.
        apply: the recursion A x of the columns of x (n, c), without checks.
        parts: the operators that it is composed of, none for a named one and for I.
    """

    def __init__(
        self,
        rows: Space,
        columns: Space,
        apply: Recursion,
        parts: tuple[SpatialOperator, ...] = (),
    ):
        super().__init__(dtype=np.dtype(float), shape=(rows.size, columns.size))
        self.rows, self.columns, self.apply, self.parts = rows, columns, apply, parts

    def inverse(self) -> SpatialOperator:
        """A^-1, as a recursion.

        Raises:
            NotInvertibleError: A is singular or not square, or no recursion for its inverse is known.
        """
        return self.rows.owner.inverse_of(self)

    def dense(self) -> np.ndarray:
        """The matrix (m, n): the recursion applied to the identity."""
        return self @ np.eye(self.shape[1])

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        # same_kind: a complex vector is refused, not stripped of its imaginary part
        return self.apply(np.array(X).astype(float, order="C", casting="same_kind"))

    def _adjoint(self) -> SpatialOperator:
        raise NotImplementedError

    def _transpose(self) -> SpatialOperator:
        return self._adjoint()  # all operators are real

    def dot(self, x: Any) -> Any:
        """A B for an operator, A x for a vector or matrix, c A for a number."""
        if isinstance(x, SpatialOperator):
            return multiply(self, x)
        if isinstance(x, Real):
            return scale(float(x), self)
        return super().dot(x)

    def __rmul__(self, x: Any) -> LinearOperator:
        return scale(float(x), self) if isinstance(x, Real) else super().__rmul__(x)

    def __add__(self, other: LinearOperator) -> LinearOperator:
        return add(self, other) if isinstance(other, SpatialOperator) else super().__add__(other)

    def __sub__(self, other: LinearOperator) -> LinearOperator:
        return add(self, -other) if isinstance(other, SpatialOperator) else super().__sub__(other)

    def __neg__(self) -> SpatialOperator:
        return scale(-1.0, self)

    def __repr__(self) -> str:
        m, n = self.shape
        return f"<{m}x{n} SpatialOperator {self}>"


class Atom(SpatialOperator):
    """A named operator with a recursion of its own, and another for its adjoint.

    Attributes:
        name: as in an expression.
        backward: the recursion A* x.
        is_symmetric: whether A* = A: one recursion is given for both.
        undoes: the operator this is the inverse of, if it is one.
    """

    def __init__(
        self,
        name: str,
        rows: Space,
        columns: Space,
        forward: Recursion,
        backward: Recursion,
        undoes: SpatialOperator | None = None,
    ):
        super().__init__(rows, columns, forward)
        self.name, self.backward, self.undoes = name, backward, undoes
        self.is_symmetric = backward is forward

    def _adjoint(self) -> SpatialOperator:
        return self if self.is_symmetric else Adjoint(self)

    def __str__(self) -> str:
        return self.name


class Adjoint(SpatialOperator):
    """A* of an atom."""

    def __init__(self, atom: Atom):
        super().__init__(atom.columns, atom.rows, atom.backward)
        self.atom = atom

    def _adjoint(self) -> SpatialOperator:
        return self.atom

    def __str__(self) -> str:
        return f"{self.atom}*"


class Identity(SpatialOperator):
    """I of a space."""

    def __init__(self, space: Space):
        super().__init__(space, space, np.copy)

    def _adjoint(self) -> SpatialOperator:
        return self

    def __str__(self) -> str:
        return "I"


class Scaled(SpatialOperator):
    """c A for a number c."""

    def __init__(self, factor: float, operator: SpatialOperator):
        super().__init__(operator.rows, operator.columns, self._scaled, (operator,))
        self.factor, self.operator = factor, operator

    def _scaled(self, x: np.ndarray) -> np.ndarray:
        return self.factor * self.operator.apply(x)

    def _adjoint(self) -> SpatialOperator:
        return Scaled(self.factor, self.operator.T)

    def __str__(self) -> str:
        number = {1.0: "", -1.0: "-"}.get(self.factor, f"{self.factor:.15g} ")
        return f"{number}{_in_product(self.operator)}"


class Product(SpatialOperator):
    """A B ..., applied right to left, one recursion after the other: never a matrix product."""

    def __init__(self, factors: tuple[SpatialOperator, ...]):
        super().__init__(factors[0].rows, factors[-1].columns, self._one_by_one, factors)

    def _one_by_one(self, x: np.ndarray) -> np.ndarray:
        for factor in reversed(self.parts):
            x = factor.apply(x)
        return x

    def _adjoint(self) -> SpatialOperator:
        return Product(tuple(factor.T for factor in reversed(self.parts)))

    def __str__(self) -> str:
        return " ".join(_in_product(factor) for factor in self.parts)


class Sum(SpatialOperator):
    """A + B + ..."""

    def __init__(self, terms: tuple[SpatialOperator, ...]):
        super().__init__(terms[0].rows, terms[0].columns, self._summed, terms)

    def _summed(self, x: np.ndarray) -> np.ndarray:
        total = self.parts[0].apply(x)
        for term in self.parts[1:]:
            total += term.apply(x)
        return total

    def _adjoint(self) -> SpatialOperator:
        return Sum(tuple(term.T for term in self.parts))

    def __str__(self) -> str:
        text = str(self.parts[0])
        for term in map(str, self.parts[1:]):
            text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
        return text


def multiply(left: SpatialOperator, right: SpatialOperator) -> SpatialOperator:
    """A B with neighbouring products joined, numbers in front and identities dropped.

    Raises:
        DimensionError: A does not take what B gives.
    """
    if left.columns != right.rows:
        raise DimensionError(
            f"{left} takes vectors of the {left.columns}, but {right} gives vectors of the "
            f"{_told_apart(right.rows, left.columns)}"
        )
    if isinstance(left, Scaled):
        return scale(left.factor, multiply(left.operator, right))
    if isinstance(right, Scaled):
        return scale(right.factor, multiply(left, right.operator))
    factors = [
        factor
        for side in (left, right)
        for factor in (side.parts if isinstance(side, Product) else (side,))
        if not isinstance(factor, Identity)
    ]
    return Product(tuple(factors)) if len(factors) > 1 else factors[0] if factors else left


def add(left: SpatialOperator, right: SpatialOperator) -> SpatialOperator:
    """A + B.

    Raises:
        DimensionError: they act on different spaces.
    """
    for side, mine, other in (
        ("give", left.rows, right.rows),
        ("take", left.columns, right.columns),
    ):
        if mine != other:
            raise DimensionError(
                f"{left} and {right} cannot be added: they {side} vectors of the {mine} and of the "
                f"{_told_apart(other, mine)}"
            )
    sides = (side.parts if isinstance(side, Sum) else (side,) for side in (left, right))
    return Sum(tuple(chain.from_iterable(sides)))


def scale(factor: float, operator: SpatialOperator) -> SpatialOperator:
    """c A; a number in front of A is multiplied in, and 1 A is A."""
    if isinstance(operator, Scaled):
        factor, operator = factor * operator.factor, operator.operator
    return operator if factor == 1.0 else Scaled(factor, operator)


def atoms_in(operator: SpatialOperator) -> list[Atom | Adjoint]:
    """The atoms and adjoints of atoms, left to right, with repetitions."""
    if isinstance(operator, Atom | Adjoint):
        return [operator]
    return [atom for part in operator.parts for atom in atoms_in(part)]


def names_in(operator: SpatialOperator) -> list[str]:
    """The names of the operators, each once, in the expression's order; inverses and roots under what they are of."""
    found = []
    for part in atoms_in(operator):
        atom = part.atom if isinstance(part, Adjoint) else part
        found += (
            names_in(atom.undoes) if atom.undoes is not None else [atom.name.removesuffix("^1/2")]
        )
    return list(dict.fromkeys(found))


def _told_apart(space: Space, other: Space) -> str:
    """A space; one with the other's name and size belongs to other operators."""
    same = (space.name, space.size) == (other.name, other.size)
    return f"{space} of other SpatialOperators" if same else str(space)


def _in_product(operator: SpatialOperator) -> str:
    needs_parentheses = isinstance(operator, Sum | Scaled)
    return f"({operator})" if needs_parentheses else str(operator)
