# SPDX-License-Identifier: Apache-2.0
"""Level 1 of [Rodriguez1992] section IX: the user types an operator expression, the program finds the recursions."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...errors import ConfigurationError
from ...model import Model
from ...model.configuration import check_vector
from .algebra import SpatialOperator, names_in
from .build import COLUMN, build
from .operators import SpatialOperators
from .symbols import SYMBOLS


def evaluate(
    expression: str,
    model: Model | SpatialOperators,
    q: ArrayLike | None = None,
    frames: Sequence[str] = (),
) -> SpatialOperator:
    """The operator that an expression describes, applied with `@` in O(N).

        evaluate("(I - H Psi G)* D^-1 (I - H Psi G)", model, q) @ torque

    Names are those of `SpatialOperators`; postfix * is the adjoint, ^-1 the inverse, juxtaposition the product. I and
    numbers take the size that their neighbours need. P_plus is the updated P.

    Args:
        model: a model, or `SpatialOperators` at hand (then q and frames are theirs).
        q: configuration (nq,), default the neutral one.
        frames: the frames of B and J.

    Raises:
        ExpressionError: the expression cannot be read; its children UnknownSymbolError, DimensionError and
            NotInvertibleError say what else is wrong. All mark the place.
        MethodError: an articulated operator is used and mimic joints have other joints between them.
    """
    operators = operators_of(model, q, frames)
    result = build(expression, operators)
    operators.require(names_in(result))
    return result


def evaluate_vector(
    expression: str,
    model: Model | SpatialOperators,
    q: ArrayLike | None = None,
    frames: Sequence[str] = (),
    **vectors: ArrayLike,
) -> np.ndarray:
    """The vector that an expression of operators and vectors describes, (n,), each product applied in O(N).

        evaluate_vector("T - H phi (M phi* a + b + B f)", operators, T=tau, a=a, b=b, f=f)

    A vector's name is any that no operator has. Its space (joint, body or task) is the one that stands beside it.

    Raises:
        ConfigurationError: a vector has the name of an operator, is not finite, or the result is an operator.
        ExpressionError: as `evaluate`; DimensionError for a vector of the wrong length.
    """
    taken = sorted(set(vectors).intersection((*SYMBOLS, "I")))
    if taken:
        raise ConfigurationError(f"{', '.join(taken)}: the name of an operator, not of a vector")
    operators = operators_of(model, q, frames)
    checked = {name: check_vector(x, np.size(x), f"vector {name}") for name, x in vectors.items()}
    result = build(expression, operators, checked)
    if result.columns.name != COLUMN:
        raise ConfigurationError(f"{expression!r} is an operator, not a vector: use evaluate")
    operators.require(set(names_in(result)).difference(checked))
    return np.asarray(result.apply(np.ones((1, 1)))[:, 0])


def operators_of(
    model: Model | SpatialOperators, q: ArrayLike | None, frames: Sequence[str]
) -> SpatialOperators:
    """The operators at hand, or those of a model at q (None: neutral)."""
    if isinstance(model, SpatialOperators):
        return model
    return SpatialOperators(model, model.neutral() if q is None else q, frames)
