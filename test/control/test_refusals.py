# SPDX-License-Identifier: Apache-2.0
"""What a controller refuses in words: wrong arguments of every kind, answers before a state, time that runs back."""

import copy
import pickle

import numpy as np
import pytest
from helpers.closed_loop import ARM_START

from opspace_ctrl import (
    Contact,
    Controller,
    OpspaceError,
    OrientationTask,
    PoseTask,
    Posture,
    load_robot,
)
from opspace_ctrl.control.settings import controller_settings
from opspace_ctrl.errors import ConfigurationError, ParameterError, SettingsError, TargetError

ARM, V = load_robot("arm7"), np.zeros(7)
NAN = float("nan")
WRONG = [
    None,
    "nonsense",
    3,
    NAN,
    [],
    {},
    object(),
    ARM,
    np.zeros(5),
    np.zeros((7, 7)),
    [[1.0, 2.0], [3.0]],
    1j,
    10**400,
    b"x",
]


def arm(**settings):
    return Controller(ARM, [PoseTask("tool", force_axes=["z"])], method="rjk", **settings)


@pytest.fixture(scope="module")
def running():
    controller = arm()
    controller.activate(ARM_START, V, 0.0)
    controller.tick(ARM_START, V, 0.0)
    return controller


@pytest.mark.parametrize(
    "given, words",
    [
        ({"tasks": ["tool"]}, r"tasks: 'tool' is not valid; valid is PoseTask\(...\) or Position"),
        ({"tasks": "tool"}, r"tasks: 'tool' is not a list of PoseTask\(...\)"),
        ({"tasks": PoseTask("tool")}, "tasks: PoseTask.* is not a list of"),
        ({"tasks": None}, "tasks: None is not a list"),
        ({"contacts": ["tool"]}, r"contacts: 'tool' is not valid; valid is Contact\(...\)"),
        ({"contacts": [PoseTask("tool")]}, r"contacts: .*valid is Contact"),
        ({"posture": 50.0}, r"posture: 50.0 is not valid; valid is Posture\(...\)"),
        ({"limits": {"ramp": 0.0}}, r"limits: .* valid is Limits\(...\)"),
        ({"safety": None}, r"safety: None is not valid; valid is SafetySettings\(...\)"),
        ({"payload": 3.0}, r"payload: .* valid is Payload\(...\)"),
        ({"compensation": True}, r"compensation: .* valid is Compensation\(...\)"),
        ({"tasks": [PoseTask("tool"), PoseTask("tool")]}, "'tool' is given 2 times"),
        ({"tasks": [PoseTask(3)]}, "3 cannot name a task"),
        ({"tasks": [3], "contacts": [4], "posture": 5}, r"3 mistakes: \(1\) tasks.*\(3\) posture"),
    ],
)
def test_parts_of_another_kind_are_refused_with_what_is_valid(given, words):
    with pytest.raises(SettingsError, match=words):
        Controller(ARM, **given)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: PoseTask(stiffness=400.0), "PoseTask needs name"),
        (lambda: PoseTask("tool", 400.0), "PoseTask: 400.0 is given without a name; valid.*name"),
        (lambda: PoseTask("tool", rows="pose"), "PoseTask has no 'rows'"),
        (lambda: Posture(50.0), "Posture: 50.0 is given without a name"),
        (lambda: Contact(friction=0.5), "Contact needs name"),
        (
            lambda: OrientationTask("tool", stiffness="x", damping=-1.0),
            r"2 mistakes: \(1\) tool.stiffness.*\(2\) tool.damping",
        ),
    ],
)
def test_fields_that_are_missing_or_out_of_place_are_named(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


def test_settings_can_be_copied():
    for each in (PoseTask("tool", stiffness=1.0), Contact("tool"), Posture()):
        assert each == pickle.loads(pickle.dumps(each)) == copy.deepcopy(each) == copy.copy(each)


CALLS = {
    "activate": {"q": ARM_START, "v": V, "time": 0.0},
    "restart": {"q": ARM_START, "v": V, "time": 0.0},
    "hold": {"q": ARM_START, "v": V, "time": 0.0},
    "tick": {"q": ARM_START, "v": V, "time": 1.0},
    "safe_command": {"kind": "gravity", "q": ARM_START, "v": V, "time": 0.0},
    "apply": {"settings": None},
    "target_pose": {"task": "tool", "position": [0, 0, 0], "quaternion": [0, 0, 0, 1], "time": 0.0},
    "target_twist": {"task": "tool", "twist": np.zeros(6), "time": 0.0},
    "trajectory": {"task": "tool", "times": [1.0], "positions": None, "quaternions": None},
    "target_wrench": {"task": "tool", "wrench": np.zeros(6), "time": 0.0},
    "measured_wrench": {"task": "tool", "wrench": np.zeros(6), "time": 0.0},
    "posture": {"names": ["joint1"], "positions": [0.1], "velocities": [0.0], "time": 0.0},
    "pose": {"task": "tool"},
    "target": {"task": "tool"},
    "error": {"task": "tool"},
}
CALLS["trajectory"]["time"] = 0.0


@pytest.mark.parametrize("name", CALLS)
def test_whatever_an_argument_is_only_named_errors_are_raised(running, name):
    """Some of it is valid for some arguments, such as None for a position; most is not."""
    for key in CALLS[name]:
        refused = 0
        for wrong in WRONG:
            try:
                getattr(running, name)(**{**CALLS[name], key: wrong})
            except OpspaceError:
                refused += 1
        assert refused > len(WRONG) // 2, key
    running.activate(ARM_START, V, 0.0)


def test_what_needs_a_state_is_refused_before_there_is_one():
    controller = arm()
    for refused in (
        lambda: controller.tick(ARM_START, V, 0.0),
        lambda: controller.hold(ARM_START, V, 0.0),
        lambda: controller.pose("tool"),
        lambda: controller.target("tool"),
        lambda: controller.error("tool"),
        lambda: controller.osim,
    ):
        with pytest.raises(
            ConfigurationError, match=r"knows no state yet: call activate\(q, v, time"
        ):
            refused()
    for refused in (
        lambda: controller.target_pose("tool", np.zeros(3), None, 0.0),
        lambda: controller.target_twist("tool", np.zeros(6), 0.0),
        lambda: controller.trajectory("tool", [1.0], np.zeros((1, 3)), None, 0.0),
        lambda: controller.target_wrench("tool", np.zeros(6), 0.0),
        lambda: controller.measured_wrench("tool", np.zeros(6), 0.0),
        lambda: controller.posture(["joint1"], [0.1], None, 0.0),
    ):
        with pytest.raises(TargetError, match=r"knows no state yet: call activate\(q, v, time"):
            refused()


def test_after_activation_every_task_is_where_it_should_be():
    """Also the second time, when there is a tick of another place to forget."""
    controller = arm()
    for q in (ARM_START, ARM_START + 0.1):
        controller.activate(q, V, 0.0)
        for mine, other in zip(controller.target("tool"), controller.pose("tool")):
            np.testing.assert_array_equal(mine, other)
        assert not controller.error("tool").any()
        controller.target_pose("tool", controller.pose("tool")[0] + 0.05, None, 0.0)
        controller.tick(q, V, 3.0)
        assert controller.error("tool").any()


def test_time_that_runs_back_is_refused_and_changes_nothing():
    controller, twin = arm(), arm()
    for each in (controller, twin):
        each.activate(ARM_START, V, 5.0)
        each.target_pose("tool", each.pose("tool")[0] + 0.1, None, 5.0)
        each.target_wrench("tool", [0, 0, 5.0, 0, 0, 0], 5.0)
    with pytest.raises(ConfigurationError, match="time runs back: 4.999 s after 5.0 s; .*activate"):
        controller.tick(ARM_START, V, 4.999)  # before the activation
    for k in range(1, 400):
        time = 5.0 + 1e-3 * k
        if k == 100:
            controller.method = twin.method = "efpa"
        if k % 50 == 0:
            for before in (time - 1e-3 - 1e-9, 0.0, -np.inf, NAN, np.inf, 1e300):
                with pytest.raises(ConfigurationError, match="time"):
                    controller.tick(ARM_START, V, before)
        mine, other = controller.tick(ARM_START, V, time), twin.tick(ARM_START, V, time)
        assert mine.tobytes() == other.tobytes()
    assert controller.method == "efpa" and controller.switches == 1


def test_the_same_time_again_is_the_same_state_again():
    controller = arm()
    controller.activate(ARM_START, V, 0.0)
    controller.target_pose("tool", controller.pose("tool")[0] + 0.1, None, 0.0)
    for k in range(50):
        first = controller.tick(ARM_START, V, 1e-3 * k).copy()
        assert controller.tick(ARM_START, V, 1e-3 * k).tobytes() == first.tobytes()


def test_activation_begins_anew_at_any_time():
    controller = arm()
    for time in (100.0, 0.0, -3.0):
        controller.activate(ARM_START, V, time)
        assert np.isfinite(controller.tick(ARM_START, V, time)).all()


def test_a_target_of_the_past_counts_from_the_last_tick_on():
    """Else the reference would be at its end at once: a step."""
    controller = arm()
    controller.activate(ARM_START, V, 0.0)
    controller.tick(ARM_START, V, 10.0)
    controller.target_pose("tool", controller.pose("tool")[0] + 0.1, None, 1.0)
    controller.tick(ARM_START, V, 10.001)
    assert np.abs(controller.error("tool")[:3]).max() < 1e-5
    controller.tick(ARM_START, V, 20.0)
    np.testing.assert_allclose(controller.error("tool")[:3], 0.1, atol=1e-9)


def test_settings_of_another_kind_are_refused():
    for wrong in WRONG:
        with pytest.raises(OpspaceError, match="ControllerSettings"):
            Controller.from_settings(ARM, wrong)
    with pytest.raises(OpspaceError, match="is no Model"):
        Controller.from_settings("arm7", controller_settings({}))
    for wrong in (None, 3, [], {}):
        with pytest.raises(OpspaceError, match="no path of a parameter file"):
            Controller.from_file(wrong)
        with pytest.raises(OpspaceError, match="no name of a node"):
            Controller.from_file("arm7.yaml", node=wrong)


def test_a_restart_says_which_motions_it_has_ended():
    controller = arm()
    controller.activate(ARM_START, V, 0.0)
    assert controller.dropped == ()
    controller.target_pose("tool", controller.pose("tool")[0] + 0.1, None, 0.0)
    controller.tick(ARM_START, V, 0.1)
    controller.restart(ARM_START, V, 0.1)
    assert controller.dropped == ("tool",)
    controller.tick(ARM_START, V, 0.2)
    controller.restart(ARM_START, V, 0.2)
    assert controller.dropped == ()
    controller.target_pose("tool", controller.pose("tool")[0] + 0.1, None, 0.2)
    controller.tick(ARM_START, V, 30.0)  # the reference has arrived, the robot has not
    controller.restart(ARM_START, V, 30.0)
    assert controller.dropped == ("tool",)
    controller.target_pose("tool", controller.pose("tool")[0] + 0.0015, None, 30.0)
    controller.tick(ARM_START, V, 60.0)  # it is as good as there
    controller.restart(ARM_START, V, 60.0)
    assert controller.dropped == ()
