"""Level 1 of [Rodriguez1992] section IX: the user types an operator expression, the program finds the recursions."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ...model import Model
from .algebra import SpatialOperator, names_in
from .build import build
from .operators import SpatialOperators


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


def operators_of(
    model: Model | SpatialOperators, q: ArrayLike | None, frames: Sequence[str]
) -> SpatialOperators:
    """The operators at hand, or those of a model at q (None: neutral)."""
    if isinstance(model, SpatialOperators):
        return model
    return SpatialOperators(model, model.neutral() if q is None else q, frames)
