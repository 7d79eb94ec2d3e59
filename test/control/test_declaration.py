# SPDX-License-Identifier: Apache-2.0
"""A parameter is declared once: everything that knows it follows from one line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from helpers.documents import ROOT

from opspace_ctrl import (
    CenterOfMassTask,
    Contact,
    Controller,
    OrientationTask,
    PoseTask,
    PositionTask,
    Posture,
    Simulator,
    load_robot,
)
from opspace_ctrl.control.fields import Law
from opspace_ctrl.control.options import Limits, Payload
from opspace_ctrl.control.settings import (
    ControllerSettings,
    controller_settings,
    controller_table,
    fixed_changes,
)
from opspace_ctrl.control.tasks import ControlTask, FrameTask
from opspace_ctrl.declaration import Names, Numbers, Settings, declared, fixed, live
from opspace_ctrl.errors import ConfigurationError, OpspaceError, ParameterError, TargetError
from opspace_ctrl.sim.settings import SimulatorSettings

# The line and its use that docs/extending.md describes; nothing else is changed.
LINE = (
    '    viscosity: float = live(0.0, "Force against the task\'s motion.", "Ns/m, Nms/rad", 0.0, 1e4, '
    "law=True)\n"
)
BEFORE = "    wrench_limit: float"
USE = "            f = _force(law, i, c, a0, a1, a2, dt)\n"
USED = USE + (
    "            d = law.task_viscosity[i]\n"
    "            v = row_times(v, a0, a1, a2)\n"
    "            f = (f[0] - d * v[0], f[1] - d * v[1], f[2] - d * v[2])\n"
)
TRIAL = """
from dataclasses import replace
import numpy as np
from opspace_ctrl import Controller, OpspaceError, PoseTask, frame_jacobian, load_robot
from opspace_ctrl.cli import main
from opspace_ctrl.control.settings import controller_settings, controller_table

arm = load_robot("arm7")
(found,) = [each for each in controller_table(["tool"]) if each.name == "tool.viscosity"]
assert (found.minimum, found.maximum, found.read_only) == (0.0, 1e4, False)
assert found.text == "Force against the task's motion [Ns/m, Nms/rad]."
try:
    PoseTask("tool", viscosity=-1.0)
except OpspaceError as error:
    assert str(error) == "tool.viscosity: -1.0 is out of range; valid is 0 to 10000", error
else:
    raise AssertionError("it is not checked")

q, v = np.array([0.0, 0.5, 0.0, 1.2, 0.0, 0.8, 0.0]), np.linspace(-0.1, 0.2, 7)
controller = Controller.from_file("with_viscosity.yaml")
assert controller.settings.tasks[0].viscosity == 3.0
free = Controller(arm, [PoseTask("tool")], limits=controller.settings.limits)
for each in (free, controller):
    each.activate(q, v, 0.0)
J = frame_jacobian(arm, q, "tool")
difference = controller.tick(q, v, 0.0) - free.tick(q, v, 0.0)
np.testing.assert_allclose(difference, -3.0 * J.T @ J @ v, atol=1e-9)
free.apply(replace(free.settings, tasks=[PoseTask("tool", viscosity=5.0)]))
rates = free.tick(q, v, 100.0) - controller.tick(q, v, 100.0)
np.testing.assert_allclose(rates, -2.0 * J.T @ J @ v, atol=1e-9)
assert main(["check", "arm7", "with_viscosity.yaml"]) == 0

import generate
assert "| `<t>.viscosity` | double | `0` | 0 to 10000 | yes |" in generate.table(generate.TABLES["controller"])
assert "| `task_viscosity` | (t) | setting |" in generate.fields_page()
"""
FILE = """
opspace_controller:
  ros__parameters:
    robot: arm7
    tasks: [tool]
    tool: {viscosity: 3.0}
    ramp: 0.0
    torque_rate_limit: 1.0e+7
    posture: {positions: [0.0, 0.5, 0.0, 1.2, 0.0, 0.8, 0.0]}
opspace_simulator:
  ros__parameters:
    robot: arm7
    initial_positions: [0.0, 0.5, 0.0, 1.2, 0.0, 0.8, 0.0]
"""


def test_a_new_live_number_of_a_task_is_a_line_in_one_file_and_its_use_in_another(tmp_path):
    for folder in ("opspace_ctrl", "config", "urdf"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "docs" / "generate.py", tmp_path)
    (tmp_path / "with_viscosity.yaml").write_text(FILE)
    for path, old, new in (
        ("control/tasks.py", BEFORE, LINE + BEFORE),
        ("control/law/demands.py", USE, USED),
    ):
        source = tmp_path / "opspace_ctrl" / path
        text = source.read_text()
        assert text.count(old) == 1, path
        source.write_text(text.replace(old, new))
    (tmp_path / "trial.py").write_text(TRIAL)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "trial.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ---- what follows from a declaration ----


@dataclass(frozen=True, kw_only=True)
class Example(Settings, prefix="example."):
    """One field of each kind."""

    rate: float = live(1.0, "A rate.", "1/s", 0.0, 10.0)
    count: int = fixed(2, "A count.", "", 1)
    gains: Numbers = live((1.0, 2.0), "Gains.", "", 0.0)
    names: Names = live((), "Names.", choices=("a", "b"), name="other.names")


def test_a_field_is_a_parameter_with_its_name_range_and_unit():
    found = declared(Example)
    assert [each.name for each in found.values()] == [
        "example.rate",
        "example.count",
        "example.gains",
        "other.names",
    ]
    assert [each.kind for each in found.values()] == [
        "double",
        "integer",
        "double_array",
        "string_array",
    ]
    assert [each.read_only for each in found.values()] == [False, True, False, False]
    assert found["rate"].text == "A rate [1/s]." and found["count"].text == "A count."


@pytest.mark.parametrize(
    "given, words",
    [
        ({"rate": 11.0}, r"example.rate: 11.0 is out of range; valid is 0 to 10"),
        ({"rate": "fast"}, r"example.rate: 'fast' is not a number"),
        ({"rate": float("nan")}, r"example.rate: nan is not a finite number"),
        ({"count": 1.5}, r"example.count: 1.5 is not an integer"),
        ({"gains": [1.0, -1.0]}, r"example.gains: -1.0 is out of range"),
        ({"gains": "12"}, r"example.gains: '12' is not a list of numbers"),
        ({"gains": True}, r"example.gains: True is not a list of numbers"),
        ({"names": ["c"]}, r"other.names: 'c' is not a choice; valid are a, b"),
        ({"names": "a"}, r"other.names: 'a' is not a list of strings"),
    ],
)
def test_a_wrong_value_is_refused_when_the_object_is_made(given, words):
    with pytest.raises(ParameterError, match=words):
        Example(**given)


@pytest.mark.parametrize(
    "gains, kept",
    [(3, (3.0,)), (np.array([1, 2]), (1.0, 2.0)), (np.float32(2.0), (2.0,)), ([], ())],
)
def test_one_number_is_a_list_of_one_and_all_come_out_as_plain_tuples(gains, kept):
    made = Example(gains=gains)
    assert made.gains == kept and all(type(each) is float for each in made.gains)
    assert made == Example(gains=list(kept)) and hash(made) == hash(Example(gains=kept))


def test_objects_and_flat_values_are_the_same_thing():
    made = Example(rate=2, gains=7.0, names=["b"])
    assert made.flat() == {
        "example.rate": 2.0,
        "example.count": 2,
        "example.gains": [7.0],
        "other.names": ["b"],
    }
    assert Example.of(made.flat()) == made


@pytest.mark.parametrize(
    "values, made",
    [
        ({"tasks": ["tool"], "tool.stiffness": [-1.0]}, lambda: PoseTask("tool", stiffness=-1.0)),
        ({"tasks": ["tool"], "tool.level": 0}, lambda: PoseTask("tool", level=0)),
        (
            {"tasks": ["tool"], "tool.rows": "position", "tool.damping": [1.0, 2.0]},
            lambda: PositionTask("tool", damping=[1.0, 2.0]),
        ),
        (
            {"tasks": ["tool"], "tool.rows": "com", "tool.force_axes": ["rx"]},
            lambda: CenterOfMassTask("tool", force_axes=["rx"]),
        ),
        ({"contacts": ["foot"], "foot.friction": 11.0}, lambda: Contact("foot", friction=11.0)),
        ({"posture.speed": 0.0}, lambda: Posture(speed=0.0)),
        ({"posture.stiffness": []}, lambda: Posture(stiffness=[])),
        ({"payload.centre": [0.0]}, lambda: Payload(centre=0.0)),
        ({"singularity.cut": 0.6}, lambda: Limits(singular_cut=0.6)),
        ({"tasks": ["a b"]}, lambda: ControllerSettings(tasks=[PoseTask("a b")])),
        ({"mode": "raw"}, lambda: ControllerSettings(mode="raw")),
    ],
)
def test_python_refuses_in_the_words_of_a_parameter_file(values, made):
    with pytest.raises(OpspaceError) as of_file:
        controller_settings(values)
    with pytest.raises(OpspaceError) as of_python:
        made()
    assert str(of_python.value) == str(of_file.value)
    assert type(of_python.value) is type(of_file.value)


def test_what_is_made_in_python_has_the_values_that_a_file_with_the_same_would_have():
    made = ControllerSettings(
        tasks=[
            PoseTask("tool", stiffness=[400.0, 1600.0], law="impedance", level=2),
            OrientationTask("trunk", frame="torso", relative_to="base_link"),
            CenterOfMassTask(error_clip=0.03),
        ],
        contacts=[Contact("foot", rows="position", enabled=False)],
        posture=Posture(joints=["a", "b"], positions=[0.1, 0.2], null_damping=3.0),
        mode="gravity",
    )
    assert controller_settings({**made.values, "com.rows": "com"}) == made
    assert controller_settings(made.values).values == made.values


def test_the_law_has_a_field_for_every_number_that_is_declared_for_it():
    table = [each for each in controller_table(["task"], ["contact"]) if each.law]
    assert len(table) >= 30
    for each in table:
        assert Law.fields[each.field].role == "setting", each.name


def test_every_live_number_of_a_task_reaches_the_law_when_it_is_applied():
    numbers = {
        name: each
        for name, each in declared(ControlTask).items()
        if each.law and each.kind == "double"
    }
    assert "force_damping" in numbers and "error_clip" in numbers
    controller = Controller(load_robot("arm7"), [PoseTask("other", frame="tool"), PoseTask("tool")])
    for name, each in numbers.items():
        new = 0.5 * (each.minimum + each.maximum)
        changed = replace(controller.settings.tasks[1], **{name: new})
        controller.apply(
            replace(controller.settings, tasks=[controller.settings.tasks[0], changed])
        )
        assert getattr(controller._core.law, f"task_{name}").tolist() == [each.default, new]


def test_a_fixed_field_is_refused_by_apply_and_named():
    controller = Controller(load_robot("arm7"), [PoseTask("tool")])
    new = replace(controller.settings, mode="gravity")
    assert fixed_changes(controller.settings, new) == ["mode"]
    with pytest.raises(OpspaceError, match="mode cannot change"):
        controller.apply(new)


def test_every_field_of_a_task_is_a_live_number_or_is_structural():
    for name, each in declared(FrameTask).items():
        assert not each.read_only, name
        assert each.structural == (name in ("level", "law", "axes", "frame", "relative_to")), name


@pytest.mark.parametrize(
    "cls, settings, beside",
    [
        (Controller, ControllerSettings, {"model"}),
        (Simulator, SimulatorSettings, {"robot"}),
    ],
)
def test_the_constructor_takes_every_setting_with_its_declared_default(cls, settings, beside):
    from dataclasses import fields
    from inspect import signature

    of_nodes = {"robot", "node"} if settings is ControllerSettings else set()
    known = {each.name: each.default for each in fields(settings) if each.name not in of_nodes}
    taken = dict(signature(cls.__init__).parameters)
    del taken["self"]
    assert set(taken) == known.keys() | beside
    assert {name: taken[name].default for name in known} == known


def test_a_misspelt_field_is_named_with_what_was_probably_meant():
    with pytest.raises(ParameterError, match="PoseTask has no 'stifness' .*mean 'stiffness'"):
        PoseTask("tool", stifness=3.0)
    with pytest.raises(ParameterError, match="Posture has no 'spede' .*mean 'speed'"):
        Posture(spede=1.0)


def test_a_misspelt_argument_or_attribute_of_a_controller_is_refused():
    model = load_robot("arm7")
    with pytest.raises(ParameterError, match="Controller has no 'task' .*mean 'tasks'"):
        Controller(model, task=[PoseTask("tool")])
    controller = Controller(model, [PoseTask("tool")])
    for name in ("postur", "posture", "taks"):  # nor may one hide a method
        with pytest.raises(AttributeError, match=name):
            setattr(controller, name, Posture())


@pytest.mark.parametrize("time", ["1", b"1", ["1"]])
def test_a_time_is_no_text(time):
    controller = Controller(load_robot("arm7"), [PoseTask("tool")])
    q, v = controller.model.neutral(), np.zeros(7)
    with pytest.raises(ConfigurationError):
        controller.activate(q, v, time)
    controller.activate(q, v, 0.0)
    with pytest.raises(ConfigurationError):
        controller.tick(q, v, time)
    with pytest.raises(TargetError, match="time.*is not an array of numbers"):
        controller.target_pose("tool", [0.3, 0.0, 0.5], None, time)
    with pytest.raises(TargetError, match="position.*is not an array of numbers"):
        controller.target_pose("tool", ["0.3", "0", "0.5"], None, 1.0)
