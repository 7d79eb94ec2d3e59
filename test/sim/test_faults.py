# SPDX-License-Identifier: Apache-2.0
"""Schedules of faults: what is read, what is refused in which words, what sensors, drives and models make of them."""

import math
import os
import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from helpers.plant_runs import make_plant
from helpers.support import pin_model

from opspace_ctrl import bias_forces, load_robot, mass_matrix
from opspace_ctrl.data import read_shipped
from opspace_ctrl.errors import FaultError
from opspace_ctrl.model.source import robot_text
from opspace_ctrl.sim.altered import altered_model
from opspace_ctrl.sim.joint_index import joint_coordinates, position_index
from opspace_ctrl.sim.plant.actuation import Actuation
from opspace_ctrl.sim.plant.fault_kinds import KINDS
from opspace_ctrl.sim.plant.faults import Fault, Schedule, faults_of_text, load_faults, parse_faults
from opspace_ctrl.sim.plant.sensing import Sensing
from opspace_ctrl.sim.plant.timetable import Activity, Timetable

ARM = load_robot("arm7")


def one(kind, **entry):
    """A schedule of one fault."""
    return parse_faults([{"kind": kind, **entry}])


def at_work(fault, seed=1):
    return Activity(fault, seed, 0)


def test_a_file_text_a_list_and_a_single_fault_are_read_alike(tmp_path):
    entry = "{kind: drop, side: state, start: 1, duration: 2.5, probability: 0.25}"
    file = tmp_path / "faults.yaml"
    file.write_text(f"seed: 3\nfaults:\n  - {entry}\n")
    expected = (Fault("drop", 1.0, 2.5, side="state", values={"probability": 0.25}),)
    assert load_faults(file) == load_faults(str(file)) == Schedule(expected, 3)
    for text in (f"[{entry}]", entry, f"faults: [{entry}]", f"- {entry}\n"):
        assert load_faults(text) == Schedule(expected)
    assert load_faults("") == load_faults("  \n") == Schedule()


def test_the_shipped_example_has_every_kind_and_fits_its_robot():
    schedule = load_faults(read_shipped("config", "faults_example.yaml").decode())
    assert {fault.kind for fault in schedule.faults} == set(KINDS)
    assert {fault.side for fault in schedule.faults if fault.side} == {"state", "command", "both"}
    schedule.check(ARM)


def test_the_guide_lists_every_kind_with_its_target_and_values():
    text = (Path(__file__).parents[2] / "docs" / "hil.md").read_text()
    rows = re.findall(
        r"^\| `(\w+)` \| `(side|joints|frame|task|name)` \| (.*?) \|", text, re.MULTILINE
    )
    listed = {kind: (target, re.findall(r"`(\w+)`", values)) for kind, target, values in rows}
    assert listed == {name: (kind.target, list(kind.values)) for name, kind in KINDS.items()}
    shown = re.search(r"```yaml\n(seed:.*?)```", text, re.DOTALL)[1]
    load_faults(shown).check(ARM)


def test_what_is_left_out_does_nothing():
    (fault,) = one("mass", frame="tool", added=1).faults
    assert fault.values == {"factor": 1.0, "added": 1.0}
    (fault,) = one("push", frame="tool", force=[1, "2e0", 3]).faults
    assert fault.values == {"force": (1.0, 2.0, 3.0), "torque": (0.0, 0.0, 0.0)}
    assert (fault.start, fault.end) == (0.0, math.inf)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{kind: lag}", "fault 1: no kind 'lag'; kinds: latency, jitter, drop"),
        ("[{kind: loss, side: state}, {side: state}]", "fault 2: no kind None; kinds: latency"),
        (
            "{kind: drop, probability: 0.1}",
            "fault 1 (drop): side = None; valid: state, command, both",
        ),
        (
            "{kind: drop, side: left, probability: 0.1}",
            "side = 'left'; valid: state, command, both",
        ),
        ("{kind: drop, side: state}", "fault 1 (drop): give probability"),
        (
            "{kind: drop, side: state, probability: 1.5}",
            "probability = 1.5; a finite number from 0 to 1 [1] is valid",
        ),
        ("{kind: drop, side: state, probability: true}", "probability = True"),
        ("{kind: drop, side: state, probability: .nan}", "probability = nan"),
        (
            "{kind: latency, side: state, delay: -1}",
            "delay = -1; a finite number >= 0 [s] is valid",
        ),
        ("{kind: latency, side: state, delay: [1]}", "delay = [1]"),
        ("{kind: loss, side: state, start: -1}", "start = -1"),
        ("{kind: target, by: [0, 0, 1]}", "fault 1 (target): task = None; the name of a task is"),
        ("{kind: target, task: a/b, by: [0, 0, 1]}", "task = 'a/b'; the name of a task is valid"),
        ("{kind: target, task: tool}", "fault 1 (target): give by or turn"),
        ("{kind: target, task: tool, by: [1, 2]}", "by = [1, 2]; 3 numbers [m] are valid"),
        ("{kind: target, task: tool, frame: 3, by: [0, 0, 1]}", "frame = 3; the name of a link"),
        ("{kind: method}", "fault 1 (method): name = None; that of a method is valid"),
        ("{kind: trajectory, task: tool}", "fault 1 (trajectory): give points"),
        ("{kind: trajectory, task: tool, points: []}", "points = []; a list of 1 to 10000 points"),
        (
            "{kind: trajectory, task: tool, points: [[1, 0, 0, 0], [2, 0, 0]]}",
            "points, number 2 = [2, 0, 0]; 4 or 7 numbers [s, m, rad] are valid",
        ),
        (
            "{kind: trajectory, task: tool, points: [[1, 0, 0, 0], [1, 0, 0, 0]]}",
            "points, number 2: its time 1 s; valid is one after 1 s",
        ),
        (
            "{kind: trajectory, task: tool, points: [[0, 0, 0, 0]]}",
            "points, number 1: its time 0 s; valid is one after 0 s",
        ),
        (
            "{kind: trajectory, task: tool, points: [[1, 0, .inf, 0]]}",
            "points, number 1 = inf; a finite number [s, m, rad] is valid",
        ),
        ("{kind: loss, side: state, duration: soon}", "duration = 'soon'"),
        (
            "{kind: loss, side: state, probability: 1}",
            "no 'probability'; valid: kind, start, duration, side",
        ),
        ("{kind: loss, side: state, 3: 1}", "the key 3 is not a string"),
        (
            "{kind: noise, position: 0.1, side: state}",
            "no 'side'; valid: kind, start, duration, joints, position",
        ),
        ("{kind: noise, joints: []}", "joints = []; a name, a list of names or 'all' is valid"),
        ("{kind: noise}", "fault 1 (noise): give position or velocity or effort"),
        ("{kind: push, force: [1, 0, 0]}", "frame = None; the name of a link is valid"),
        ("{kind: push, frame: tool, force: [1, 0]}", "force = [1, 0]; 3 numbers [N] are valid"),
        ("{kind: push, frame: tool, force: 100}", "force = 100; 3 numbers [N] are valid"),
        ("{kind: mass, frame: tool, factor: 0}", "factor = 0; a finite number >= 0.01"),
        ("seed: -1\nfaults: []", "seed = -1: a whole number"),
        ("seed: 1\nfault: []", "the schedule has no 'fault'; valid: seed, faults"),
        ("faults: 3", "a schedule is {seed: ..., faults: [...]} or a list of faults, not 3"),
        ("faults: [3]", "fault 1 is 3, not a mapping"),
        ("{a: [", "not YAML"),
        ("a: !!python/object:os.system x", "not YAML"),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_valid(text, words):
    with pytest.raises(FaultError, match=re.escape(words)):
        load_faults(text)


def test_a_missing_or_wrong_file_is_named(tmp_path):
    with pytest.raises(FaultError, match="missing.yaml: cannot be read .No such file"):
        load_faults("missing.yaml")
    (tmp_path / "bad.yaml").write_bytes(b"a: \x80")
    with pytest.raises(FaultError, match="bad.yaml"):
        load_faults(tmp_path / "bad.yaml")
    (tmp_path / "kind.yaml").write_text("- {kind: lag}")
    with pytest.raises(FaultError, match="kind.yaml: fault 1: no kind 'lag'"):
        load_faults(tmp_path / "kind.yaml")


def aliases(levels):
    """YAML that is nine times as long with every level, if aliases are followed."""
    rows = [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9) if k else 'x'}]" for k in range(levels)]
    return "\n".join(rows)


@pytest.mark.parametrize("levels", [2, 8, 30])
def test_aliases_are_refused(levels):
    with pytest.raises(FaultError, match="aliases"):
        faults_of_text(aliases(levels))


def test_size_depth_and_number_are_bounded():
    for text, words in (
        ("#" * (1 << 21), "larger than"),
        ("[" * 100 + "]" * 100, "levels deep"),
        ("[" + "{kind: loss, side: state}," * 1001 + "]", "1001 faults; at most 1000"),
    ):
        with pytest.raises(FaultError, match=words):
            faults_of_text(text)


def test_pipes_and_devices_are_no_schedules(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/tty", tmp_path):
        with pytest.raises(FaultError, match="cannot be read"):
            load_faults(path)


@pytest.mark.parametrize(
    "content",
    [
        "root:$6$hunter2:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n",
        "password: hunter2\n",
        "{HUNTER2: 1}",
        "- hunter2\n- b",
        "hunter2",
        "[[hunter2]]",
        "A=hunter2\nB=c",
        "kind: {hunter2: 1}",
        "-----BEGIN KEY-----\nhunter2\n",
    ],
)
def test_a_file_that_is_no_schedule_is_not_quoted(tmp_path, content):
    (tmp_path / "secret").write_text(content)
    with pytest.raises(FaultError, match="secret") as caught:
        load_faults(tmp_path / "secret")
    assert "hunter2" not in str(caught.value).lower()


def test_text_is_never_taken_for_the_name_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.yaml").write_text("{kind: loss, side: state}")
    for text in ("secret.yaml", str(tmp_path / "secret.yaml"), "/etc/passwd", "/dev/zero"):
        with pytest.raises(FaultError, match="a schedule is .* not '"):
            faults_of_text(text)


def test_live_faults_do_not_grow_without_end():
    plant = make_plant()
    many = parse_faults([{"kind": "loss", "side": "state", "duration": 0.0}] * 400)
    plant.inject(many)
    plant.inject(many)
    with pytest.raises(FaultError, match="1200 faults of this run; at most 1000"):
        plant.inject(many)
    assert len(plant.timetable.all) == 800


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (
            {"kind": "freeze", "joints": ["joint1", "joint9"]},
            "fault 1 (freeze): no joint 'joint9'; joints: joint1,",
        ),
        (
            {"kind": "push", "frame": "tol", "force": [1, 0, 0]},
            "fault 1 (push): no frame 'tol'. Did you mean tool?",
        ),
        (
            {"kind": "mass", "frame": "base_link", "added": 1},
            "frame 'base_link' does not move; frames that do: link1",
        ),
    ],
)
def test_a_target_that_the_robot_lacks_is_named(entry, words):
    with pytest.raises(FaultError, match=re.escape(words)):
        parse_faults([entry]).check(ARM)


def test_faults_begin_and_end_with_the_step_that_reaches_their_time():
    table = Timetable(
        parse_faults(
            [
                {"kind": "loss", "side": "state", "start": 0.3, "duration": 0.4},
                {"kind": "freeze", "start": 0.5},
            ]
        ),
        0,
    )
    acting, time = [], 0.0
    for _ in range(10):
        table.advance(time)
        acting.append([activity.fault.kind for activity in table.active(KINDS)])
        time += 0.1  # a sum of tenths that is never quite the number
    assert acting == [[]] * 3 + [["loss"]] * 2 + [["loss", "freeze"]] * 2 + [["freeze"]] * 3


def test_live_faults_count_from_when_they_were_set_and_are_cleared_alone():
    table = Timetable(one("freeze"), 0)
    table.advance(5.0)
    table.add(one("loss", side="state", start=1.0), 5.0)
    assert [a.fault.kind for a in table.active(KINDS)] == ["freeze"]
    table.advance(6.0)
    assert [a.fault.kind for a in table.active(KINDS)] == ["freeze", "loss"]
    table.clear_live(7.0)
    table.advance(7.0)
    assert [a.fault.kind for a in table.active(KINDS)] == ["freeze"]


def test_combinations_are_the_sets_that_act_together():
    table = Timetable(
        parse_faults(
            [
                {"kind": "mass", "frame": "tool", "added": 1, "start": 1, "duration": 2},
                {"kind": "friction", "viscous": 1, "start": 2},
                {"kind": "freeze"},
            ]
        ),
        0,
    )
    sets = [
        [activity.number for activity in together]
        for together in table.combinations(("mass", "friction"))
    ]
    assert sets == [[], [0], [0, 1], [1]]


def test_a_fault_draws_the_same_numbers_whatever_else_is_scheduled():
    alone, among = (
        at_work(one("noise", position=1.0).faults[0]),
        Timetable(
            parse_faults(
                [
                    {"kind": "noise", "position": 1.0},
                    {"kind": "drop", "side": "both", "probability": 0.5},
                ]
            ),
            1,
        ).all,
    )
    assert np.array_equal(alone.rng["state"].random(9), among[0].rng["state"].random(9))
    assert not np.array_equal(among[1].rng["state"].random(9), among[1].rng["command"].random(9))


def measured(fault, position, velocity, effort):
    sensing = Sensing(ARM)
    sensing.set_faults([at_work(fault)])
    values = [np.array(x, dtype=float) for x in (position, velocity, effort)]
    sensing.measure(*values)
    return values


def test_bias_and_quantisation_change_the_named_joints_alone():
    x = np.linspace(-1.0, 1.0, 7)
    (bias,) = one("bias", joints=["joint2", "joint5"], position=0.1, effort=-2).faults
    position, velocity, effort = measured(bias, x, x, x)
    assert np.allclose(position - x, [0, 0.1, 0, 0, 0.1, 0, 0]) and np.allclose(
        effort - x, [0, -2, 0, 0, -2, 0, 0]
    )
    assert np.array_equal(velocity, x)
    position, velocity, _ = measured(one("quantisation", position=0.25).faults[0], x, x, x)
    assert np.allclose(position % 0.25, 0.0) and np.abs(position - x).max() <= 0.125
    assert np.array_equal(velocity, x)


def test_noise_has_the_stated_deviation_no_mean_and_no_memory():
    sensing, fault = Sensing(ARM), at_work(one("noise", position=1e-3, velocity=0.1).faults[0])
    sensing.set_faults([fault])
    samples = np.zeros((4000, 2, 7))
    for position, velocity in samples:
        sensing.measure(position, velocity, np.zeros(7))
    samples /= np.array([[1e-3], [0.1]])
    n = samples.size
    assert abs(samples.mean()) < 4 / math.sqrt(n) and abs(samples.std() - 1) < 4 / math.sqrt(2 * n)
    assert abs((samples[1:] * samples[:-1]).mean()) < 4 / math.sqrt(n)
    assert fault.counts == {"measurements": 4000}


def test_a_frozen_encoder_repeats_its_first_value_until_the_fault_ends():
    sensing, fault = Sensing(ARM), at_work(one("freeze", joints="joint3").faults[0])
    for k in range(6):
        sensing.set_faults([fault] if 2 <= k < 4 else [])
        position, velocity = np.full(7, float(k)), np.full(7, -float(k))
        sensing.measure(position, velocity, np.zeros(7))
        expected = 2.0 if 2 <= k < 4 else k
        assert (position[2], velocity[2]) == (expected, -expected)
        assert (np.delete(position, 2) == k).all()


def test_drives_scale_offset_and_die():
    drives, tau = Actuation(ARM), np.arange(1.0, 8.0)
    faults = [
        one("torque_scale", factor=0.5).faults[0],
        one("torque_offset", joints="joint1", effort=3).faults[0],
        one("dead_joint", joints="joint7").faults[0],
        one("torque_offset", joints="joint7", effort=3).faults[0],
    ]
    assert drives.apply(tau) is tau
    drives.set_faults(map(at_work, faults))
    assert np.allclose(drives.apply(tau), [3.5, 1, 1.5, 2, 2.5, 3, 0])
    drives.set_faults([])
    assert np.array_equal(drives.apply(tau), tau)


def test_a_heavier_link_is_what_pinocchio_makes_of_the_same_inertia():
    faults = (
        one("mass", frame="tool", added=1.5).faults[0],
        one("mass", frame="link4", factor=1.3).faults[0],
    )
    altered, twin = altered_model(ARM, faults), pin_model(robot_text("arm7"))
    frame = twin.frames[twin.getFrameId("tool")]
    tip, fourth = frame.parentJoint, twin.frames[twin.getFrameId("link4")].parentJoint
    point = pin.Inertia(1.5, frame.placement.translation, np.zeros((3, 3)))
    twin.inertias[tip] = twin.inertias[tip] + point
    body = twin.inertias[fourth]
    twin.inertias[fourth] = pin.Inertia(1.3 * body.mass, body.lever, 1.3 * body.inertia)
    rng, data = np.random.default_rng(0), twin.createData()
    for _ in range(5):
        q, v = ARM.random_configuration(rng), rng.normal(size=7)
        H = np.triu(pin.crba(twin, data, q))
        assert np.allclose(mass_matrix(altered, q), H + np.triu(H, 1).T, atol=1e-12)
        assert np.allclose(bias_forces(altered, q, v), pin.nle(twin, data, q, v), atol=1e-10)
    assert altered.total_mass == pytest.approx(ARM.total_mass + 1.5 + 0.3 * ARM.mass[3])
    assert ARM.mass[3] * 1.3 == altered.mass[3]  # and the first is as it was


def test_friction_is_added_to_the_named_joints_of_a_floating_robot():
    model = load_robot("asimo")
    name = model.joint_names[5]
    altered = altered_model(model, one("friction", joints=name, viscous=2.0, coulomb=0.5).faults)
    row = 6 + 5
    assert np.flatnonzero(altered.damping - model.damping).tolist() == [row]
    assert (
        altered.damping[row] == model.damping[row] + 2.0
        and altered.friction[row] == model.friction[row] + 0.5
    )
    assert joint_coordinates(model)[name] == slice(5, 6) and position_index(model)[5] == 7 + 5
