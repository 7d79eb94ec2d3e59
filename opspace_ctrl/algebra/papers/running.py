# SPDX-License-Identifier: Apache-2.0
"""Runs a line of the papers on a robot."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ...model import Model, load_robot
from .catalogue import Line


def run_line(line: Line, model: Model | None = None, seed: int = 0) -> Any:
    """What the line's code gives for a random state of a robot.

    Args:
        model: The robot; the line's own if not given.
        seed: Of the state: q, v, dv/dt = vdot and the joint forces tau.
    """
    model = load_robot(line.robot) if model is None else model
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv), 1.0)
    v, vdot, tau = rng.normal(size=(3, model.nv))
    names: dict[str, Any] = {"np": np, "model": model, "q": q, "v": v, "vdot": vdot, "tau": tau}
    names["tip"] = model.body_names[-1]
    *statements, last = ast.parse(line.code).body
    assert isinstance(last, ast.Expr), f"{line.paper} {line.at}: the last line shows nothing"
    exec(compile(ast.Module(statements, []), line.at, "exec"), names)
    return eval(compile(ast.Expression(last.value), line.at, "eval"), names)
