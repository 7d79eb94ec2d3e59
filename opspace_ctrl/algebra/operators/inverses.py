# SPDX-License-Identifier: Apache-2.0
"""Inverses that are recursions: of named operators, of products of square factors, of the sums the papers invert."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import NotInvertibleError
from .algebra import (
    Adjoint,
    Atom,
    Identity,
    Product,
    Recursion,
    Scaled,
    SpatialOperator,
    multiply,
    scale,
)
from .build import build
from .recursions import body_blocks
from .symbols import SYMBOLS
from .words import Words, normal_form

if TYPE_CHECKING:
    from .operators import SpatialOperators


# An expression, its inverse, and where it is proved; their adjoints and multiples are known with them.
KNOWN = (
    ("I - E_phi", "phi", "004 (2.5)"),
    ("I - E_psi", "psi", "004 (2.9), 003 lemma 5"),
    ("I + Phi", "phi^-1", "000 (28)"),
    ("I + psi E_psi", "psi^-1", "004 (2.9)"),
    ("I + H phi K", "I - H psi K", "003 lemma 2, 000 identity 5, 004 (2.10b)"),
    ("I - H psi K", "I + H phi K", "003 lemma 2, 000 identity 5, 004 (2.10b)"),
    ("I + phi K H", "I - psi K H", "003 lemma 5"),
    ("I - psi K H", "I + phi K H", "003 lemma 5"),
    ("I + K H phi", "I - K H psi", "003 lemma 5"),
    ("I - K H psi", "I + K H phi", "003 lemma 5"),
    (
        "H phi M phi* H* + A",
        "(I - H psi K)* D^-1 (I - H psi K)",
        "003 lemma 3, 000 identity 6, 004 (2.10c)",
    ),
    ("H P H* + A", "D^-1", "000 (36)"),
)
# Below this share of a block's scaled size, a singular value is rounding.
SINGULAR = 1e-12


class KnownInverses:
    """The table `KNOWN` for the operators of one robot."""

    def __init__(self, operators: SpatialOperators):
        self._has_armature = bool(operators.quantities.armature.any())
        self._build = lambda text: build(text, operators)
        self._table = [
            (self._words(self._build(text)), inverse, source) for text, inverse, source in KNOWN
        ]

    def _words(self, operator: SpatialOperator) -> Words | None:
        return normal_form(operator, self._has_armature)

    def find(self, operator: SpatialOperator) -> tuple[SpatialOperator, str] | None:
        """The inverse and where it is proved, None if the table has none."""
        for is_adjoint in (False, True):
            words = self._words(operator.T if is_adjoint else operator)
            for known, inverse, source in self._table:
                factor = _ratio(words, known)
                if factor:
                    found = scale(1.0 / factor, self._build(inverse))
                    return (found.T if is_adjoint else found), source
        return None

    def lacks_armature(self, operator: SpatialOperator) -> bool:
        """Is it the mass matrix without the armature that this robot has?"""
        return (
            bool(_ratio(self._words(operator), {("H", "phi", "M", "phi*", "H*"): 1.0}))
            and self._has_armature
        )


def _ratio(words: Words | None, known: Words | None) -> float | None:
    """The number c with words = c known, None if there is none."""
    if words is None or known is None or words.keys() != known.keys():
        return None
    ratios = [words[word] / known[word] for word in known]
    return ratios[0] if np.allclose(ratios, ratios[0], rtol=1e-14, atol=0.0) else None


def inverse_of(operator: SpatialOperator, operators: SpatialOperators) -> SpatialOperator:
    """operator^-1 as a recursion.

    Named operators invert as `SYMBOLS` says, products factor by factor, sums by the table `KNOWN`; an operator on
    the task space, whose size does not grow with the robot, by its small matrix (one O(N) application a column).

    Raises:
        NotInvertibleError: it is singular or not square, or no recursion is known.
    """
    if operator.rows != operator.columns:
        raise NotInvertibleError(
            f"{operator} has no inverse: it maps the {operator.columns} to the {operator.rows}"
        )
    if isinstance(operator, Identity):
        return operator
    if isinstance(operator, Scaled):
        if operator.factor == 0.0:
            raise NotInvertibleError(f"{operator} is zero")
        return scale(1.0 / operator.factor, inverse_of(operator.operator, operators))
    if isinstance(operator, Adjoint):
        return inverse_of(operator.atom, operators).T
    if isinstance(operator, Atom):
        return _atom_inverse(operator, operators)
    if isinstance(operator, Product):
        parts = _square_parts(operator)
        if len(parts) > 1:
            result = inverse_of(parts[-1], operators)
            for part in parts[-2::-1]:
                result = multiply(result, inverse_of(part, operators))
            return result
    return _composite_inverse(operator, operators)


def _composite_inverse(operator: SpatialOperator, operators: SpatialOperators) -> SpatialOperator:
    known = operators.known_inverses.find(operator)
    if known is not None:
        return known[0]
    if operator.rows.name == "task":
        return _small_inverse(operator)
    if isinstance(operator, Product):
        rank = min(factor.columns.size for factor in operator.parts[:-1])
        if rank < operator.rows.size:
            raise NotInvertibleError(
                f"{operator} has no inverse: its rank is at most {rank}, its size "
                f"{operator.rows.size}"
            )
    if operators.known_inverses.lacks_armature(operator):
        raise NotInvertibleError(
            f"no recursion is known for the inverse of {operator}: with armature the joint-space "
            f"inertia is H phi M phi* H* + A"
        )
    forms = ", ".join(text for text, _, _ in KNOWN)
    raise NotInvertibleError(
        f"no recursion is known for the inverse of {operator}; of sums and of products with "
        f"factors that are not square, these have one: {forms}"
    )


def _square_parts(product: Product) -> list[SpatialOperator]:
    """The product cut wherever it is back in the space it began in."""
    parts, start = [], 0
    for end, factor in enumerate(product.parts, 1):
        if factor.columns == product.rows:
            factors = product.parts[start:end]
            parts.append(factors[0] if len(factors) == 1 else Product(factors))
            start = end
    return parts


def _atom_inverse(atom: Atom, operators: SpatialOperators) -> SpatialOperator:
    name = atom.name
    if atom.undoes is not None:
        return atom.undoes
    if name == "A" and not np.all(operators.quantities.armature > 0.0):
        raise NotInvertibleError("A is singular: not every joint has armature")
    if name in ("phi", "psi", "D", "A"):
        return _undoing(atom, *operators.recursions_of(f"{name}^-1"))
    if not isinstance(getattr(operators.quantities, name, None), np.ndarray):
        reason = SYMBOLS[name].inverse if name in SYMBOLS else "unknown to these operators"
        raise NotInvertibleError(f"{name} has no inverse: {reason}")
    if operators.quantities.has_clusters and name in ("P_plus", "taubar"):
        raise NotInvertibleError(f"{name} has no inverse: mimic joints tie its bodies together")
    blocks = _inverted_blocks(name, operators)
    return _undoing(atom, *body_blocks(lambda: blocks, atom.is_symmetric))


def _inverted_blocks(name: str, operators: SpatialOperators) -> np.ndarray:
    blocks = getattr(operators.quantities, name)
    # rows and columns are scaled first: metres beside radians must not look singular
    size = np.sqrt(np.linalg.norm(blocks, axis=2) + 1e-300)
    scaled = blocks / size[:, :, None] / size[:, None, :]
    values = np.linalg.svd(scaled, compute_uv=False)
    singular = ~(values[:, -1] > SINGULAR * values[:, 0])
    if singular.any():
        link = operators.model.body_names[int(np.flatnonzero(singular)[0])]
        raise NotInvertibleError(
            f"{name} is singular at link {link}; it inverts {SYMBOLS[name].inverse}"
        )
    return np.linalg.inv(scaled) / size[:, :, None] / size[:, None, :]


def _small_inverse(operator: SpatialOperator) -> SpatialOperator:
    """The inverse of an operator on the task space by its matrix."""
    matrix = operator.dense()
    values = np.linalg.svd(matrix, compute_uv=False)
    if values.size and not values[-1] > SINGULAR * values[0]:
        raise NotInvertibleError(
            f"{operator} is singular: its rank is {int(np.sum(values > SINGULAR * values[0]))}, "
            f"its size {len(matrix)}"
        )
    inverse = np.linalg.inv(matrix)
    return _undoing(operator, lambda x: inverse @ x, lambda x: inverse.T @ x)


def _undoing(operator: SpatialOperator, forward: Recursion, backward: Recursion) -> Atom:
    """The inverse with these recursions; its own inverse is the operator again."""
    name = str(operator) if isinstance(operator, Atom) else f"({operator})"
    return Atom(f"{name}^-1", operator.rows, operator.columns, forward, backward, undoes=operator)
