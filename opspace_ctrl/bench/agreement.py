# SPDX-License-Identifier: Apache-2.0
"""Are two results the same, as far as rounding lets one tell?"""

from collections.abc import Mapping

import numpy as np

from ..dynamics import mass_matrix
from ..errors import OpspaceError
from ..osim import OperationalSpace
from .states import State
from .timing import Contestant

EPSILON = float(np.finfo(float).eps)
SAFETY, MOST = 1e4, 1e-6  # see check_agreement


class DisagreementError(OpspaceError):
    """Two programs that are about to be timed against each other do not compute the same."""


def conditions(ospace: OperationalSpace, states: list[State]) -> np.ndarray:
    """The factor by which each state may amplify rounding: the worse of the condition numbers of H and Lambda^-1.

    Both are first scaled to a unit diagonal, for the error of a Cholesky factorisation does not see units.
    """
    return np.array(
        [
            max(
                _scaled_condition(mass_matrix(ospace.model, state.q)),
                _scaled_condition(ospace.update(state.q).inertia_inv),
            )
            for state in states
        ]
    )


def _scaled_condition(A: np.ndarray) -> float:
    scale = np.sqrt(np.diag(A))
    return float(np.linalg.cond(A / np.outer(scale, scale)))


def check_agreement(
    what: str, contestants: Mapping[str, Contestant], condition: np.ndarray
) -> dict[str, float]:
    """Run every contestant at every state and compare it with the first.

    A result y differs from the reference x by max |y - x| / max |x|. Allowed are 1e4 eps n times the condition number
    of the state, n the number of rows, and never more than 1e-6. Backward stable algorithms stay below a few eps n
    cond; recursive ones also amplify rounding by the condition of the inertias on their way, which neither H nor
    Lambda^-1 shows.

    Measured in eps n cond over the shipped robots and all of the wheel, fixed and floating, 64 states each: 2200 in the
    ticks of base_invariant (on tiago_no_hand) and rjk (on hextilt_flying_arm_5), 490 by decoupled, 60 and less
    otherwise (59 by Pinocchio, 28 by rjk on ur10_robot, 16 by base_invariant on free_flyer). Beside algebra in extended
    precision, on six of these robots, the error is theirs: dense and sparse_ltdl are within 1.3, on tiago_no_hand 40.
    The worst two are 1e-9 and 3e-10 of the result: another formula, axis or frame differs by far more.

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
            for part, (x, y) in enumerate(zip(expected, found), start=1):
                difference = np.abs(y - x).max() / np.abs(x).max()
                allowed = min(SAFETY * EPSILON * len(x) * condition[k], MOST)
                if not difference <= allowed:
                    raise DisagreementError(
                        f"{what}: {name} and {reference} differ by {difference:.1e} of the largest entry at "
                        f"state {k}, part {part} of {len(expected)}; rounding explains {allowed:.1e}"
                    )
                worst[name] = max(worst[name], float(difference / allowed))
    return worst


def explicit_parts(
    Lambda: np.ndarray, Jbar: np.ndarray, N: np.ndarray, tau: np.ndarray
) -> tuple[np.ndarray, ...]:
    """The explicit set as it is compared: with Jbar J in place of N = 1 - Jbar J, which is mere rounding if n = m."""
    return Lambda, Jbar, np.eye(len(N)) - N, tau
