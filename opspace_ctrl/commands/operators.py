# SPDX-License-Identifier: Apache-2.0
"""Explain an operator expression such as "(I - H Psi G)* D^-1 (I - H Psi G)" down to the links of a robot."""

import argparse

import numpy as np

from ..algebra.operators import SpatialOperators, evaluate, explanation
from ..errors import ExpressionError
from ..model import Model
from . import CommandError, _robot


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ROBOT, EXPR, and where the robot is."""
    _robot.add_robot_arguments(parser)
    parser.add_argument(
        "expression",
        metavar="EXPR",
        help='operators side by side; * after one is the adjoint, ^-1 the inverse: "H phi M phi* H*"',
    )
    parser.add_argument(
        "--frames",
        metavar="A,B",
        help="frames of B and J (default: a shipped robot's own, else all tips)",
    )
    parser.add_argument(
        "--q",
        metavar="Q1,Q2",
        help="configuration (default: neutral; begin with a space if negative)",
    )
    parser.add_argument("--matrix", action="store_true", help="print the matrix too")


def run(args: argparse.Namespace) -> int:
    """Print the levels, and the matrix if asked for."""
    model = _robot.load(args)
    operators = SpatialOperators(
        model, _configuration(args.q, model), _robot.task_frames(args, model)
    )
    try:
        text = explanation(args.expression, operators)
    except ExpressionError as error:  # the marks below the place would be lost in one line
        place = (
            ""
            if error.text is None
            else f" (column {error.start + 1}: {error.text[error.start : error.end]!r})"
        )
        raise CommandError(f"{error.reason}{place}") from error
    print(text)
    if args.matrix:
        with np.printoptions(precision=4, suppress=True, linewidth=160, threshold=40_000):
            print(evaluate(args.expression, operators).dense())
    return 0


def _configuration(text: str | None, model: Model) -> np.ndarray | list[float]:
    if text is None:
        return model.neutral()
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise CommandError(
            f"--q {text!r}: {model.nq} numbers separated by commas are expected"
        ) from None
