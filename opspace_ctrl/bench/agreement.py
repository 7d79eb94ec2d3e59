"""Are two results the same, as far as rounding lets one tell?"""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..dynamics import mass_matrix
from ..errors import OpspaceError
from ..osim import OperationalSpace
from .states import State
from .timing import Contestant

__all__ = ["DisagreementError", "check_agreement", "conditions"]

EPSILON = float(np.finfo(float).eps)
SAFETY = 8.0


class DisagreementError(OpspaceError):
    """Two programs that are about to be timed against each other do not compute the same."""


def conditions(ospace: OperationalSpace, states: list[State]) -> np.ndarray:
    """How much each state may amplify rounding: the worse of the condition numbers of H and Lambda^-1.

    Both are first scaled to a unit diagonal, for the error of a Cholesky factorisation does not see units.
    """
    return np.array([max(_scaled_condition(mass_matrix(ospace.model, state.q)),
                         _scaled_condition(ospace.update(state.q).inertia_inv)) for state in states])


def _scaled_condition(A: np.ndarray) -> float:
    scale = np.sqrt(np.diag(A))
    return float(np.linalg.cond(A / np.outer(scale, scale)))


def check_agreement(what: str, contestants: Mapping[str, Contestant], condition: np.ndarray
                    ) -> dict[str, float]:
    """Run every contestant at every state and compare it with the first.

    A result y differs from the reference x by max |y - x| / max |x|. Allowed are 8 eps n times the condition
    number of the state, n the number of rows: what backward stable algorithms may differ by.

    Returns:
        The worst difference of each, as a fraction of what is allowed.

    Raises:
        DisagreementError: Naming who differs, where and by how much.
    """
    (reference, first), *rest = contestants.items()
    worst = dict.fromkeys(contestants, 0.0)
    for k, arguments in enumerate(first.inputs):
        expected = [x.copy() for x in first.ours(first.call(*arguments), k)]
        for name, contestant in rest:
            found = contestant.ours(contestant.call(*contestant.inputs[k]), k)
            for part, (x, y) in enumerate(zip(expected, found)):
                difference = np.abs(y - x).max() / np.abs(x).max()
                allowed = SAFETY * EPSILON * len(x) * condition[k]
                if not difference <= allowed:
                    raise DisagreementError(
                        f"{what}: {name} and {reference} differ by {difference:.1e} of the largest entry at "
                        f"state {k}, part {part}; rounding explains {allowed:.1e}")
                worst[name] = max(worst[name], float(difference / allowed))
    return worst
