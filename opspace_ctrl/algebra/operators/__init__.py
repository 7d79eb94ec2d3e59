# SPDX-License-Identifier: Apache-2.0
"""The spatial operator algebra of [Rodriguez1992], [Rodriguez1991] and [Jain1995]: expressions that are recursions."""

from .algebra import SpatialOperator
from .evaluate import evaluate, evaluate_vector
from .explain import explain, explanation
from .operators import SpatialOperators

__all__ = [
    "SpatialOperator",
    "SpatialOperators",
    "evaluate",
    "evaluate_vector",
    "explain",
    "explanation",
]
