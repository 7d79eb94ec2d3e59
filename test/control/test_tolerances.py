# SPDX-License-Identifier: Apache-2.0
"""How a trajectory that is followed is judged, and how a task is stopped on its way."""

import numpy as np
import pytest

from opspace_ctrl import Controller, PoseTask, load_robot
from opspace_ctrl.control.targets.tolerances import Component, Outcome, Pursuit, Tolerance

ERROR = np.array([0.003, -0.04, 0.0, 0.0, 0.3, -0.4])


@pytest.mark.parametrize(
    "component, size",
    [
        ("X_AXIS", 0.003),
        ("Y_AXIS", 0.04),
        ("Z_AXIS", 0.0),
        ("TRANSLATION", 0.0401123),
        ("ROTATION", 0.5),
    ],
)
def test_a_tolerance_is_about_its_component(component, size):
    assert Component[component].of(ERROR) == pytest.approx(size, rel=1e-5)


def judged(time, **asked):
    outcome = Pursuit(2.0, **asked).judge(time, ERROR)
    return outcome and outcome[0]


def test_it_goes_on_until_its_end_and_then_succeeds_where_nothing_is_asked_for():
    assert judged(1.999) is None
    assert judged(2.0) is Outcome.SUCCESSFUL


@pytest.mark.parametrize("limit, is_kept", [(0.5001, True), (0.4999, False)])
def test_the_path_is_judged_before_the_end_and_the_goal_after_it(limit, is_kept):
    asked = [Tolerance(Component.ROTATION, limit)]
    on_the_way = judged(1.0, path=asked)
    assert on_the_way is (None if is_kept else Outcome.PATH_TOLERANCE_VIOLATED)
    assert judged(2.0, path=asked) is Outcome.SUCCESSFUL
    assert judged(1.0, goal=asked) is None
    at_the_end = Outcome.SUCCESSFUL if is_kept else Outcome.GOAL_TOLERANCE_VIOLATED
    assert judged(2.0, goal=asked) is at_the_end


def test_the_goal_has_its_leeway_and_the_reason_names_what_is_exceeded():
    asked = [Tolerance(Component.X_AXIS, 1.0), Tolerance(Component.Y_AXIS, 0.03)]
    late = Pursuit(2.0, goal=asked, leeway=0.5)
    assert late.judge(2.4999, ERROR) is None
    outcome, reason = late.judge(2.5, ERROR)
    assert outcome is Outcome.GOAL_TOLERANCE_VIOLATED
    assert reason.startswith("Y_AXIS: the error is 0.04 m, the tolerance 0.03 m, 0.5 s after")
    assert Pursuit(2.0, goal=asked, leeway=np.inf).judge(1e9, ERROR) is None
    assert late.judge(2.2, np.zeros(6)) == (Outcome.SUCCESSFUL, "")


def test_a_task_is_stopped_on_its_way_within_its_limits():
    arm = load_robot("arm7")
    q = np.array([0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
    controller = Controller(arm, [PoseTask("tool", speed=0.3, acceleration=1.0)])
    controller.activate(q, np.zeros(arm.nv), 0.0)
    position, quaternion = controller.pose("tool")
    assert controller.motion("tool")[0] is None
    controller.target_pose("tool", position + [0.0, 0.3, 0.0], quaternion, 0.0)
    stamp, end = controller.motion("tool")
    assert stamp == 0.0 and end > 1.0

    def reference(time):
        controller.tick(q, np.zeros(arm.nv), time)
        return controller.target("tool")[0][1]

    middle, step = 0.5 * end, 1e-3
    on_the_way = [reference(middle + k * step) for k in range(-2, 1)]
    controller.stop("tool", middle)
    stamp, rest = controller.motion("tool")
    assert stamp is None and middle < rest < end
    later = [reference(middle + k * step) for k in range(1, round((rest - middle) / step) + 20)]
    speeds = np.diff(on_the_way + later) / step
    assert speeds[0] > 0.1 and abs(speeds[-1]) < 1e-9 and (speeds > -1e-9).all()
    assert np.abs(np.diff(speeds)).max() / step < 1.25 * 1.0 + 1e-6
    assert later[-1] < position[1] + 0.29
