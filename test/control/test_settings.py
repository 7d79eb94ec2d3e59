# SPDX-License-Identifier: Apache-2.0
"""Parameters of the controller: every table row is valid, every contradiction is refused by name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspace_ctrl import Contact, load_robot
from opspace_ctrl.control.core import Core
from opspace_ctrl.control.law.base import half_lengths
from opspace_ctrl.control.safety.settings import GATES
from opspace_ctrl.control.settings import (
    ControllerSettings,
    controller_settings,
    controller_table,
    fixed_changes,
)
from opspace_ctrl.errors import OpspaceError, ParameterError, SettingsError
from opspace_ctrl.osim import CenterOfMass

TABLE = controller_table(["hand"], ["foot"])
BASE = {"tasks": ["hand"], "contacts": ["foot"]}


def test_names_of_the_design_are_all_in_the_table():
    names = {parameter.name for parameter in TABLE}
    general = (
        "robot base joints mode method tasks contacts compensate safe_command state_timeout target_timeout "
        "torque_rate_limit payload.mass payload.centre payload.frame posture.positions"
    ).split()
    own = [f"hand.{name}" for name in "frame rows level law stiffness damping relative_to".split()]
    assert names >= {*general, *own}
    assert len(names) == len(TABLE)


def test_every_parameter_has_a_description_that_ends_as_a_sentence():
    for parameter in TABLE:
        assert len(parameter.description) > 10 and parameter.description[-1] == ".", parameter.name


def test_locked_joints_are_frozen_at_zero_unless_positions_are_given():
    assert controller_settings({"locked_joints": ["a", "b"]}).robot.locked == {"a": 0.0, "b": 0.0}
    given = {"locked_joints": ["a"], "locked_positions": [0.5]}
    assert controller_settings(given).robot.locked == {"a": 0.5}


def test_defaults_alone_are_valid_and_safe():
    settings = controller_settings({})
    assert settings.mode == "tasks" and settings.limits.torque_rate == 1000.0
    assert settings.safety.state_timeout == 0.02 and settings.compensation.bias


@pytest.mark.parametrize(
    "law, stiffness", [("inertia", (400.0,) * 6), ("impedance", (400.0,) * 3 + (20.0,) * 3)]
)
def test_damping_is_critical_where_it_is_not_given(law, stiffness):
    (task,) = controller_settings({"tasks": ["hand"], "hand.law": law}).tasks
    assert task.kp == stiffness
    if law == "inertia":
        assert task.kd == pytest.approx([2.0 * k**0.5 for k in stiffness])
    else:  # found at every tick, see test_impedance_damping
        assert task.kd == (-1.0,) * 6


@pytest.mark.parametrize(
    "rows, given, six",
    [
        ("pose", [9.0], (9.0,) * 6),
        ("pose", [9.0, 4.0], (9.0,) * 3 + (4.0,) * 3),
        ("pose", [1, 2, 3, 4, 5, 6], range(1, 7)),
        ("position", [1, 2, 3], (1, 2, 3, 1, 2, 3)),
        ("com", [7], (7,) * 6),
        ("orientation", [1, 2, 3], (1, 2, 3) * 2),
    ],
)
def test_gains_are_given_for_all_axes_at_once_or_each(rows, given, six):
    (task,) = controller_settings(
        {"tasks": ["hand"], "hand.rows": rows, "hand.stiffness": given}
    ).tasks
    assert list(task.kp) == list(six)


def test_an_axis_is_of_motion_or_of_force():
    (task,) = controller_settings({"tasks": ["hand"], "hand.force_axes": ["z"]}).tasks
    assert dict(task.law_values())["task_force_axes"] == [0, 0, 1, 0, 0, 0]


def test_a_sole_is_a_rectangle_about_its_centre():
    """Half lengths as the kernel that shares forces finds them; the centre is held by test_contacts."""
    sole = Contact("foot", front=0.14, back=0.06, left=0.05, right=0.03)
    core = Core(
        load_robot("asimo"), ControllerSettings(contacts=[replace(sole, frame="left_foot")])
    )
    assert half_lengths(core.law, 0) == pytest.approx((0.1, 0.04))


def test_frames_are_named_like_their_tasks_unless_given():
    settings = controller_settings(
        {
            **BASE,
            "tasks": ["hand", "balance"],
            "balance.rows": "com",
            "hand.relative_to": "torso",
            "hand.axes": "hand",
        }
    )
    hand, balance = settings.tasks
    assert (hand.moved_frame, hand.relative_to, hand.axes) == ("hand", "torso", "hand")
    assert (balance.moved_frame, balance.rows) == ("", "com")
    assert isinstance(balance.task(), CenterOfMass) and len(balance.task().selection()) == 3
    assert settings.contacts[0].held_frame == "foot" and settings.joints == ()


@pytest.mark.parametrize(
    "values, words",
    [
        ({"tasks": ["a", "a"]}, "'a' is given 2 times"),
        ({"tasks": ["a"], "contacts": ["a"]}, "'a' is given 2 times"),
        ({"tasks": ["posture"]}, "name of a parameter"),
        ({"tasks": ["mode"]}, "name of a parameter"),
        ({"tasks": ["left hand"]}, "letters"),
        ({"tasks": ["1st"]}, "letter first"),
        ({"tasks": [""]}, "letters"),
        ({"tasks": ["a"], "a.stiffness": [1.0, 2.0, 3.0]}, "a.stiffness has 3.*1, 2 or 6"),
        (
            {"tasks": ["a"], "a.rows": "position", "a.damping": [1.0, 2.0]},
            "a.damping has 2.*1 or 3",
        ),
        ({"tasks": ["a"], "a.rows": "com", "a.frame": "hand"}, "a.frame"),
        ({"tasks": ["a"], "a.rows": "com", "a.relative_to": "hand"}, "a.relative_to"),
        ({"tasks": ["a"], "a.rows": "position", "a.force_axes": ["rx"]}, "'rx'.*x, y, z"),
        ({"singularity.cut": 0.6}, "singularity.cut = 0.6 must be below singularity.damping"),
        (
            {"locked_joints": ["a"], "locked_positions": [1.0, 2.0]},
            "locked_positions has 2 numbers for 1",
        ),
        ({"locked_joints": ["j"], "joints": ["j"]}, "'j' is given 2 times"),
        ({"mode": "raw"}, "tasks"),
        ({"joints": ["j", "j"]}, "'j' is given 2 times"),
        ({"payload.centre": [0.0]}, "payload.centre has 1.*3"),
        ({"posture.stiffness": []}, "posture.stiffness is empty"),
        (
            {"posture.joints": ["a", "b"], "posture.positions": [1.0]},
            "posture.positions has 1 numbers for 2",
        ),
        (
            {"posture.joints": ["a", "b"], "posture.damping": [1.0, 1.0, 1.0]},
            "posture.damping has 3 numbers for 2",
        ),
    ],
)
def test_contradictions_are_refused_with_the_reason(values, words):
    with pytest.raises(SettingsError, match=words):
        controller_settings(values)


@pytest.mark.parametrize(
    "values, words",
    [
        ({"tasks": "hand"}, "tasks.*list of strings"),
        ({"mode": "task"}, "tasks, raw, gravity"),
        ({"method": "magic"}, "sparse_ltdl"),
        ({"tasks": ["a"], "b.frame": "x"}, "'b.frame'"),
        ({"tasks": ["a"], "a.stifness": [1.0]}, "'a.stifness'.*a.stiffness"),
        ({"manual_recovery": ["gate"]}, GATES[0]),
        ({"torque_rate_limit": 0.0}, "1 to"),
        ({"tasks": ["a"], "a.stiffness": [-1.0]}, "0 to"),
    ],
)
def test_wrong_parameters_are_refused_by_their_table(values, words):
    with pytest.raises(ParameterError, match=words):
        controller_settings(values)


def test_changes_that_need_a_new_controller_are_named():
    old = controller_settings(BASE)
    live = {
        **BASE,
        "hand.stiffness": [100.0],
        "method": "rjk",
        "foot.enabled": False,
        "payload.mass": 1.0,
    }
    assert fixed_changes(old, controller_settings(live)) == []
    assert fixed_changes(
        old, controller_settings({**live, "foot.rows": "position", "base": "floating"})
    ) == ["base", "foot.rows"]
    assert "contacts" in fixed_changes(old, controller_settings({"tasks": ["hand"]}))
    other = {name: value for name, value in live.items() if not name.startswith("hand.")}
    assert fixed_changes(old, controller_settings({**other, "tasks": ["other"]})) == []


@given(
    st.dictionaries(
        st.sampled_from([parameter.name for parameter in TABLE]),
        st.booleans()
        | st.integers(-3, 9)
        | st.floats(-2.0, 2.0)
        | st.sampled_from(["", "hand", "com", "x", "pose"])
        | st.lists(st.floats(0.0, 9.0), max_size=7)
        | st.lists(st.sampled_from(["hand", "foot", "x", "rz"]), max_size=3),
        max_size=4,
    )
)
def test_rubbish_is_refused_by_name_or_yields_complete_settings(values):
    try:
        settings = controller_settings({**BASE, **values})
    except OpspaceError:
        return
    assert all(len(task.kp) == len(task.kd) == 6 for task in settings.tasks)
