# SPDX-License-Identifier: Apache-2.0
"""The memory of all references: what each task, and the posture, shall do from now on.

A *program* is rows in time order, one polynomial segment each:

    position     p(s) = sum c_k s^k,   s = t - t0
    orientation  R(s) = exp([r(s)]) R0, world axes,   w = Jl(r) r',   dw/dt = Jl(r) r'' + d/dt(Jl(r)) r'

At r = 0 these are w = r' and dw/dt = r'', so that a segment begins with any rate and acceleration; the norm of Jl is at
most 1, so that a limit on r' limits w. Rotation about a fixed axis is SLERP. Kernels make programs of targets (`poses`,
`twists`, `way_points`, `postures`) and sample them (`programs`, `law.reference`).

A *motion* is pose, twist and acceleration at an instant, MOTION numbers: position, quaternion xyzw, velocity, angular
velocity, acceleration, angular acceleration.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...compiled.workspace import (
    Workspace,
    call,
    constant,
    count,
    result,
    scratch,
    setting,
    state,
)
from ...declaration import declared
from ..tasks import ControlTask

__all__ = ["CAPACITY", "COLUMNS", "MOTION", "OF_TASKS", "References"]

# Columns of a program's row: axis after axis, six coefficients each.
START, END, POSITION, QUATERNION, ROTATION, COLUMNS = 0, 1, 2, 20, 24, 42
FIRST_JOINT = 2  # column of the first coefficient in the posture's program
# Places in a motion.
AT, TURNED, VELOCITY, RATE, ACCELERATION, RATE_CHANGE, MOTION = 0, 3, 7, 10, 13, 16, 19
STOP = 2  # rows that a stop has at most
CAPACITY = 8  # rows of a program; what is no trajectory needs five at most
HAS_POSITION, HAS_ORIENTATION = 1, 2  # what a target pose tells
# the parameters of a task that its reference is made by
OF_TASKS = (
    "time",
    "speed",
    "angular_speed",
    "acceleration",
    "angular_acceleration",
    "jump",
    "jump_angle",
    "wrench_limit",
)
_LIMITS = {name: setting("t", declared(ControlTask)[name].text) for name in OF_TASKS}


class References(Workspace, declared=_LIMITS):
    """The references of the tasks, and the posture's."""

    t = count("tasks")
    k = count("joint coordinates")
    capacity = count("rows that the program of a task may have")

    # ---- what is known ----
    has_position = constant("t", "1: the task moves a position", int)
    has_orientation = constant("t", "1: it moves an orientation", int)
    joint_q = constant("k", "the entry of q of each joint, -1 where there is no single one", int)
    joint_lower = constant("k", "lower limit of each joint [rad or m]; -inf where none")
    joint_upper = constant("k", "upper limit; inf where none")
    joint_speed = setting("k", "largest speed at which a posture is approached [rad/s or m/s]")
    posture_given = setting("k", "1: a posture of this joint is in the settings", int)
    posture_position = setting("k", "it [rad or m]")
    target_timeout = setting("", "after which a target pose is stale [s]; 0: never")
    stream_timeout = setting("", "after which a twist, wrench, F or tau0 is [s]")

    # ---- the programs ----
    rows = state("t", "rows of each program", int)
    present = state("t", "the one that the last tick was in: the search begins here", int)
    stamp = state("t", "when the last target came [s]; NaN: none since the start")
    clipped = state("t", "1: it was too far or too fast, and changed", int)
    table = state(
        "t * capacity, 42",
        "the programs, one after the other: start and end [s], then coefficients in rising powers"
        " of t - start",
    )
    posture_rows = state("", "rows of the posture's program", int)
    posture_present = state("", "likewise", int)
    posture_table = state(
        "2, 2 + 6 * k", "likewise: start and end [s], then six coefficients a joint (model order)"
    )

    # ---- a target, before it is judged ----
    given = scratch("7", "position [m] and quaternion xyzw of a target pose")
    given_twist = scratch("6", "of a target twist [m/s, rad/s]")
    given_points = scratch("", "way points that are given", int)
    has_twists = scratch("", "1: with a twist each", int)
    point = scratch("capacity, 14", "of each: time from now [s], position, quaternion, twist")
    given_joint = scratch("k", "1: the posture of this joint is given", int)
    given_position = scratch("k", "it [rad or m]")
    given_speed = scratch("k", "with which it is to be passed [rad/s or m/s]")
    status = result("", "OK or REFUSED of `dynamics.state`: what became of the last target", int)

    # ---- making a program ----
    now = scratch("19", "motion that it begins with")
    later = scratch("19", "motion at a later row")
    drafted = scratch("", "rows of the draft", int)
    draft = scratch("capacity, 42", "the program that is being made")
    knot = scratch(
        "capacity + 1, 23",
        "where rows of a trajectory meet: time [s], position, velocity, acceleration, quaternion,"
        " turn to the next, rate, its change",
    )
    spline = scratch("capacity + 1, 10", "see `splines`: C' (2 x 2) and d' (2 x 3) of every knot")
    posture_now = scratch("3, k", "position, velocity and acceleration of the posture")
    posture_goal = scratch("k", "where its joints shall go [rad or m]")
    posture_speed = scratch("k", "and with which speed [rad/s or m/s]")

    # ---- stages ----
    aim = call("(references, task, what, time): move a task to the pose that is given")
    drive = call("(references, task, time, duration): move a task with the twist that is given")
    follow = call("(references, task, time): move a task through the way points that are given")
    approach = call("(references, time): approach the posture that is given")

    def __init__(self, **given):
        super().__init__(**given)
        self.rows, self.stamp, self.posture_rows = 1, np.nan, 1
        self.table[:, QUATERNION + 3] = 1.0

    def take(self, tasks: Iterable[tuple[int, ControlTask]]) -> None:
        """Use the settings of tasks, each with its place, from the next target on."""
        for i, task in tasks:
            selection = task.task().selection()
            self.has_position[i] = selection[:, :3].any()
            self.has_orientation[i] = selection[:, 3:].any()
            for name in OF_TASKS:
                getattr(self, name)[i] = getattr(task, name)

    def with_room(self, capacity: int) -> References:
        """A copy whose programs may have so many rows."""
        made = type(self)(t=self.t, k=self.k, capacity=capacity)
        for name, field in self.fields.items():
            if field.role in ("constant", "setting", "state") and name != "table":
                setattr(made, name, getattr(self, name))
        for i in range(self.t):
            made.table[i * capacity :][: self.rows[i]] = self.program(i)
        return made

    def program(self, task: int) -> np.ndarray:
        """(rows, COLUMNS) that of a task, a view."""
        first = task * self.capacity
        return self.table[first : first + self.rows[task]]
