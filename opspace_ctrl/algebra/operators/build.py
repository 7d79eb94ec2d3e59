# SPDX-License-Identifier: Apache-2.0
"""From the tree of an expression to an operator: which space each part acts on, then the composition."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ...errors import DimensionError, ExpressionError, NotInvertibleError, UnknownSymbolError
from .algebra import Atom, Identity, Space, SpatialOperator, add, multiply, scale
from .expression import Adjoint, Inverse, Name, Node, Number, Root, Sum, parse
from .recursions import ROOTS
from .symbols import SYMBOLS

if TYPE_CHECKING:
    from .operators import SpatialOperators

COLUMN = "column"  # the space that the operator of a vector takes: one number


def build(
    text: str, operators: SpatialOperators, vectors: Mapping[str, np.ndarray] = MappingProxyType({})
) -> SpatialOperator:
    """The operator that an expression describes; `vectors` are names that stand for columns of numbers.

    Raises:
        ExpressionError: it cannot be read, or the size of an I is left open.
        UnknownSymbolError, DimensionError, NotInvertibleError: marking the place in the text.
    """
    node = parse(text)
    return _Builder(text, operators, node, vectors).of(node)


def inverses_in(text: str, operators: SpatialOperators) -> list[tuple[str, SpatialOperator]]:
    """Every x^-1 of an expression: the text of x, and x itself."""
    node = parse(text)
    builder = _Builder(text, operators, node)
    found, pending = [], [node]
    while pending:
        at = pending.pop()
        if isinstance(at, Inverse):
            (inverted,) = at.parts
            found.append((text[inverted.start : inverted.end], builder.of(inverted)))
        pending += reversed(at.parts)
    return found


class _Unknown:
    """A space not yet known (of an I or a number), joined with others as the expression is read."""

    def __init__(self, space: Space | None = None):
        self.space = space
        self.joined: _Unknown | None = None

    def root(self) -> _Unknown:
        """The one that stands for all those joined with it."""
        at = self
        while at.joined is not None:
            at = at.joined
        return at


class _Spaces:
    """Rows and columns of every part of an expression, by unification."""

    def __init__(
        self,
        text: str,
        operators: SpatialOperators,
        vectors: Mapping[str, np.ndarray] = MappingProxyType({}),
    ):
        self.text, self.operators, self.vectors = text, operators, vectors
        self.column = Space(COLUMN, 1, operators)
        self.known: dict[int, tuple[_Unknown, _Unknown]] = {}

    def space_of(self, node: Node) -> Space | None:
        """The space an I or a number acts on."""
        return self.known[id(node)][0].root().space

    def of(self, node: Node) -> tuple[_Unknown, _Unknown]:
        """(rows, columns) of a part, those of its own parts first."""
        self.known[id(node)] = pair = self._find(node)
        return pair

    def _find(self, node: Node) -> tuple[_Unknown, _Unknown]:
        if isinstance(node, Name) and node.name != "I":
            return self._of_name(node)
        if isinstance(node, Name | Number):
            same = _Unknown()
            return same, same
        pairs = [self.of(part) for part in node.parts]
        if isinstance(node, Adjoint):
            return pairs[0][::-1]
        if isinstance(node, Inverse):
            rows, columns = pairs[0]
            self._join(
                rows,
                columns,
                node,
                "only square operators have an inverse: this one maps the {1} to the {0}",
                NotInvertibleError,
            )
            return rows, columns
        if isinstance(node, Root):
            return pairs[0]
        if isinstance(node, Sum):
            for part, (rows, columns) in zip(node.parts[1:], pairs[1:]):
                for side, first, own in (
                    ("give", pairs[0][0], rows),
                    ("take", pairs[0][1], columns),
                ):
                    self._join(
                        first,
                        own,
                        part,
                        f"cannot be added: the terms before {side} vectors of the {{0}}, this "
                        "one of the {1}",
                    )
            return pairs[0]
        for part, (_, columns), (rows, _) in zip(node.parts[1:], pairs, pairs[1:]):
            self._join(
                columns,
                rows,
                part,
                "cannot be multiplied: the factor before takes vectors of the {0}, this "
                "one gives vectors of the {1} (* after a name is its adjoint)",
            )
        return pairs[0][0], pairs[-1][1]

    def _of_name(self, node: Name) -> tuple[_Unknown, _Unknown]:
        if node.name in self.vectors:  # of the space that its neighbours ask for, see `_Builder`
            return _Unknown(), _Unknown(self.column)
        if node.name not in SYMBOLS:
            close = difflib.get_close_matches(node.name, SYMBOLS, cutoff=0.5)
            hint = f"did you mean {' or '.join(close)}? " if close else ""
            raise UnknownSymbolError(
                f"unknown operator {node.name[:60]!r}: {hint}Operators: I, {', '.join(SYMBOLS)}",
                self.text,
                node.start,
                node.end,
            )
        symbol = SYMBOLS[node.name]
        if "task" in (symbol.rows, symbol.columns) and not self.operators.frames:
            raise ExpressionError(
                f"{node.name} needs frames: name the links whose motion it describes",
                self.text,
                node.start,
                node.end,
            )
        spaces = self.operators.spaces
        return _Unknown(spaces[symbol.rows]), _Unknown(spaces[symbol.columns])

    def _join(
        self,
        left: _Unknown,
        right: _Unknown,
        node: Node,
        message: str,
        error: type[ExpressionError] = DimensionError,
    ) -> None:
        left, right = left.root(), right.root()
        if left is right:
            return
        if left.space is not None and right.space is not None and left.space != right.space:
            raise error(message.format(left.space, right.space), self.text, node.start, node.end)
        left.space = left.space or right.space
        right.joined = left


class _Builder:
    """Finds all spaces of a tree, then composes the operators of its parts."""

    def __init__(
        self,
        text: str,
        operators: SpatialOperators,
        tree: Node,
        vectors: Mapping[str, np.ndarray] = MappingProxyType({}),
    ):
        self.text, self.operators = text, operators
        self.spaces = _Spaces(text, operators, vectors)
        self.spaces.of(tree)

    def of(self, node: Node) -> SpatialOperator:
        """The operator of a part."""
        if isinstance(node, Name) and node.name in self.spaces.vectors:
            return self._vector(node)
        if isinstance(node, Name) and node.name != "I":
            return self.operators.atom(node.name)
        if isinstance(node, Name | Number):
            return self._identity(node)
        if isinstance(node, Adjoint):
            return self.of(node.parts[0]).T
        if isinstance(node, Inverse):
            try:
                return self.of(node.parts[0]).inverse()
            except NotInvertibleError as error:
                if error.text is not None:  # marked already, further inside
                    raise
                raise NotInvertibleError(error.reason, self.text, node.start, node.end) from None
        parts = [self.of(part) for part in node.parts]
        if isinstance(node, Root):
            return self._root(node, parts[0])
        if isinstance(node, Sum):
            result = scale(float(node.signs[0]), parts[0])
            for sign, part in zip(node.signs[1:], parts[1:]):
                result = add(result, scale(float(sign), part))
            return result
        result = parts[0]
        for part in parts[1:]:
            result = multiply(result, part)
        return result

    def _vector(self, node: Name) -> SpatialOperator:
        """The column of a vector; where nothing beside it says of which space, the only one of its size."""
        x = self.spaces.vectors[node.name]
        space = self.spaces.space_of(node)
        fitting = [each for each in self.operators.spaces.values() if each.size == len(x)]
        if space is None and len(fitting) == 1:
            (space,) = fitting
        if space is None or space.size != len(x):
            wanted = space or ", ".join(map(str, self.operators.spaces.values()))
            raise DimensionError(
                f"the vector {node.name} has {len(x)} numbers, which is not one of: {wanted}",
                self.text,
                node.start,
                node.end,
            )
        column = x[:, None]
        return Atom(
            node.name, space, self.spaces.column, lambda one: column @ one, lambda y: column.T @ y
        )

    def _root(self, node: Node, operator: SpatialOperator) -> SpatialOperator:
        name = f"{operator}^1/2"
        if name not in ROOTS:
            raise ExpressionError(
                f"only {', '.join(sorted(ROOTS))} are square roots, not that of {operator}",
                self.text,
                node.start,
                node.end,
            )
        return self.operators.atom(name)

    def _identity(self, node: Node) -> SpatialOperator:
        space = self.spaces.space_of(node)
        if space is None:
            raise ExpressionError(
                "the size of this is open: nothing beside it says whether it acts on joints, bodies "
                "or tasks",
                self.text,
                node.start,
                node.end,
            )
        return scale(node.value if isinstance(node, Number) else 1.0, Identity(space))
