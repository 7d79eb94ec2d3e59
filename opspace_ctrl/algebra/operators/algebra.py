"""Operators that compose: adjoints, products, sums and inverses of recursions are recursions again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ...errors import DimensionError

__all__ = [
    "Adjoint",
    "Atom",
    "Identity",
    "Product",
    "Recursion",
    "Scaled",
    "Space",
    "SpatialOperator",
    "Sum",
    "add",
    "multiply",
    "scale",
]

# Takes a matrix (n, c) of c stacked vectors to a new one (m, c).
Recursion = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Space:
    """What an operator acts on: "joint" (nv), "body" (6 N) or "task" (6 a frame), of one robot at one q."""

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
    """

    def __init__(self, rows: Space, columns: Space):
        super().__init__(dtype=np.dtype(float), shape=(rows.size, columns.size))
        self.rows, self.columns = rows, columns

    def forward(self, x: np.ndarray) -> np.ndarray:
        """A x of the columns of x (n, c)."""
        raise NotImplementedError

    def adjoint_operator(self) -> SpatialOperator:
        """A*."""
        return Adjoint(self)

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
        return self.forward(np.array(X).astype(float, order="C", casting="same_kind"))

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._matmat(np.reshape(x, (-1, 1)))

    def _rmatmat(self, X: np.ndarray) -> np.ndarray:
        return self.adjoint_operator()._matmat(X)

    def _rmatvec(self, x: np.ndarray) -> np.ndarray:
        return self._rmatmat(np.reshape(x, (-1, 1)))

    def _adjoint(self) -> SpatialOperator:
        return self.adjoint_operator()

    _transpose = _adjoint  # all operators are real

    def dot(self, x):
        """A B for an operator, A x for a vector or matrix, c A for a number."""
        if isinstance(x, SpatialOperator):
            return multiply(self, x)
        if isinstance(x, Real):
            return scale(float(x), self)
        return super().dot(x)

    def __rmul__(self, x):
        return scale(float(x), self) if isinstance(x, Real) else super().__rmul__(x)

    def __add__(self, other):
        return add(self, other) if isinstance(other, SpatialOperator) else super().__add__(other)

    def __sub__(self, other):
        return add(self, -other) if isinstance(other, SpatialOperator) else super().__sub__(other)

    def __neg__(self):
        return scale(-1.0, self)

    def __repr__(self) -> str:
        m, n = self.shape
        return f"<{m}x{n} SpatialOperator {self}>"


class Atom(SpatialOperator):
    """A named operator with a recursion of its own, and another for its adjoint.

    Attributes:
        name: as in an expression.
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
        super().__init__(rows, columns)
        self.name, self.is_symmetric, self.undoes = name, backward is forward, undoes
        self._forward, self._backward = forward, backward

    def forward(self, x):
        """See the base class."""
        return self._forward(x)

    def backward(self, x: np.ndarray) -> np.ndarray:
        """A* x."""
        return self._backward(x)

    def adjoint_operator(self):
        """See the base class."""
        return self if self.is_symmetric else Adjoint(self)

    def __str__(self) -> str:
        return self.name


class Adjoint(SpatialOperator):
    """A* of an atom."""

    def __init__(self, atom: Atom):
        super().__init__(atom.columns, atom.rows)
        self.atom = atom

    def forward(self, x):
        """See the base class."""
        return self.atom.backward(x)

    def adjoint_operator(self):
        """See the base class."""
        return self.atom

    def __str__(self) -> str:
        return f"{self.atom}*"


class Identity(SpatialOperator):
    """I of a space."""

    def __init__(self, space: Space):
        super().__init__(space, space)

    def forward(self, x):
        """See the base class."""
        return x.copy()

    def adjoint_operator(self):
        """See the base class."""
        return self

    def __str__(self) -> str:
        return "I"


class Scaled(SpatialOperator):
    """c A for a number c."""

    def __init__(self, factor: float, operator: SpatialOperator):
        super().__init__(operator.rows, operator.columns)
        self.factor, self.operator = factor, operator

    def forward(self, x):
        """See the base class."""
        return self.factor * self.operator.forward(x)

    def adjoint_operator(self):
        """See the base class."""
        return Scaled(self.factor, self.operator.adjoint_operator())

    def __str__(self) -> str:
        number = {1.0: "", -1.0: "-"}.get(self.factor, f"{self.factor:.15g} ")
        return f"{number}{_in_product(self.operator)}"


class Product(SpatialOperator):
    """A B ..., applied right to left, one recursion after the other: never a matrix product."""

    def __init__(self, factors: tuple[SpatialOperator, ...]):
        super().__init__(factors[0].rows, factors[-1].columns)
        self.factors = factors

    def forward(self, x):
        """See the base class."""
        for factor in reversed(self.factors):
            x = factor.forward(x)
        return x

    def adjoint_operator(self):
        """See the base class."""
        return Product(tuple(factor.adjoint_operator() for factor in reversed(self.factors)))

    def __str__(self) -> str:
        return " ".join(_in_product(factor) for factor in self.factors)


class Sum(SpatialOperator):
    """A + B + ..."""

    def __init__(self, terms: tuple[SpatialOperator, ...]):
        super().__init__(terms[0].rows, terms[0].columns)
        self.terms = terms

    def forward(self, x):
        """See the base class."""
        total = self.terms[0].forward(x)
        for term in self.terms[1:]:
            total += term.forward(x)
        return total

    def adjoint_operator(self):
        """See the base class."""
        return Sum(tuple(term.adjoint_operator() for term in self.terms))

    def __str__(self) -> str:
        text = str(self.terms[0])
        for term in map(str, self.terms[1:]):
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
    factors = [factor for side in (left, right) for factor in getattr(side, "factors", (side,))]
    factors = [factor for factor in factors if not isinstance(factor, Identity)]
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
    return Sum(tuple(term for side in (left, right) for term in getattr(side, "terms", (side,))))


def scale(factor: float, operator: SpatialOperator) -> SpatialOperator:
    """C A."""
    if isinstance(operator, Scaled):
        factor, operator = factor * operator.factor, operator.operator
    return operator if factor == 1.0 else Scaled(factor, operator)


def _told_apart(space: Space, other: Space) -> str:
    """A space; one with the other's name and size belongs to other operators."""
    same = (space.name, space.size) == (other.name, other.size)
    return f"{space} of other SpatialOperators" if same else str(space)


def _in_product(operator: SpatialOperator) -> str:
    needs_parentheses = isinstance(operator, Sum | Scaled)
    return f"({operator})" if needs_parentheses else str(operator)
