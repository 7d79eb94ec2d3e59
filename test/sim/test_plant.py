# SPDX-License-Identifier: Apache-2.0
"""A simulated robot on its bus: what passes, what is refused, what the watchdog does, and that every fault shows."""

import itertools
import json

import numpy as np
import pytest
from helpers.plant_runs import ARM, HOME, hold_home, make_plant, run

from opspace_ctrl import forward_dynamics, load_robot
from opspace_ctrl.dynamics import center_of_mass_jacobian, kinetic_energy
from opspace_ctrl.errors import ConfigurationError, FaultError
from opspace_ctrl.sim.altered import altered_model
from opspace_ctrl.sim.plant.fault_kinds import ASKED, KINDS
from opspace_ctrl.sim.plant.faults import load_faults
from opspace_ctrl.sim.plant.plant import Plant
from opspace_ctrl.sim.record.log import progress, read_log
from opspace_ctrl.sim.record.report import make_report
from opspace_ctrl.sim.settings import SimulatorSettings
from opspace_ctrl.sim.simulator import Simulator

STEP = 0.001
ZERO = np.zeros(7)


def test_without_faults_the_bus_changes_nothing():
    through, bare = run(make_plant(), 200), make_plant().simulator
    for row in through:
        assert np.array_equal(row[:14], [*bare.q, *bare.v]) and np.array_equal(row[14:21], bare.q)
        bare.step(row[21:])


def test_the_robot_holds_its_pose_until_the_first_command_comes():
    plant = make_plant("{kind: push, frame: tool, force: [50, 0, 0]}")
    start = plant.simulator.q.copy()
    for _ in range(300):
        plant.measure()
        plant.step()
    assert np.abs(plant.simulator.q - start).max() < 1e-6
    assert (
        plant.counters["watchdog"] == 0
        and plant.counters["missed"] == 0
        and not plant.timetable.active(KINDS)
    )


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ([0.0] * 6, "6 efforts came, the robot has 7 joints"),
        ([], "0 efforts came, the robot has 7 joints"),
        ([0.0, np.nan, 0, 0, 0, 0, 0], "the effort of joint2 is not finite"),
        ([0, 0, 0, 0, 0, 0, -np.inf], "the effort of joint7 is not finite"),
        ([0, 0, 1e3, 0, 0, 0, 0], "the effort of joint3, 1000, is beyond its limit"),
        ("torque", "a command is 7 efforts"),
        ([[0.0] * 7], "7 efforts came"),
        (0.0, "1 efforts came"),
    ],
)
def test_a_bad_command_is_refused_counted_and_changes_nothing(command, reason, tmp_path):
    good, bad = make_plant(log_folder=tmp_path), make_plant()
    for k in range(15):
        tau = hold_home(good.measure()[0])
        bad.measure()
        if k < 10:
            assert good.command(tau) is None and bad.command(tau) is None
        else:
            assert reason in good.command(command)
        good.step()
        bad.step()
        assert np.array_equal(good.simulator.q, bad.simulator.q)
    assert good.counters["refused"] == 5 and good.counters["commands"] == 15
    good.close()
    assert [event["text"] for event in read_log(tmp_path).events if event["kind"] == "refused"] == [
        good.command(command)
    ] * 5


def test_a_command_at_its_limit_passes():
    plant = make_plant()
    assert plant.command(ARM.effort_limits) is None and plant.command(-ARM.effort_limits) is None


@pytest.mark.parametrize("action", ["zero", "hold", "damping"])
def test_the_watchdog_acts_after_its_time_and_lets_go_when_a_command_comes(action, tmp_path):
    plant = make_plant(command_timeout=0.02, timeout_action=action, log_folder=tmp_path)
    run(plant, 100)
    last = plant.simulator.tau.copy()
    for k in range(220):
        plant.measure()
        plant.step()
        acts = k >= 20  # the last command came 1 ms before the first of these steps
        assert plant.watchdog.is_tripped == acts
        assert np.array_equal(plant.simulator.tau, last) != acts
    if action == "zero":
        assert np.array_equal(plant.simulator.tau, ZERO)
    if action == "hold":
        assert np.abs(plant.simulator.v).max() < 1e-3
    run(plant, 5)
    assert not plant.watchdog.is_tripped and plant.counters["watchdog"] == 1
    plant.close()
    texts = [event["text"] for event in read_log(tmp_path).events if event["kind"] == "watchdog"]
    assert texts == [f"no command for 20 ms: {action}", "commands came again"]


def test_damping_brakes_the_joints_in_its_time_without_gravity():
    model = load_robot("arm7", gravity=(0, 0, 0))
    settings = SimulatorSettings(
        joint_friction=False, joint_damping=False, initial_positions=list(HOME)
    )
    plant = Plant(Simulator.from_settings(model, settings), timeout_action="damping")
    plant.command(ZERO)
    plant.step()
    plant.simulator.reset(HOME, np.full(7, 0.5))
    energy, energies = kinetic_energy, []
    for _ in range(221):
        plant.step()
        energies.append(energy(model, plant.simulator.q, plant.simulator.v))
    assert energies[20] > 0.9 * energies[0] and (np.diff(energies[22:]) < 0).all()
    rate = np.log(energies[30] / energies[-1]) / (190 * STEP)
    assert rate == pytest.approx(2 / 0.05, rel=0.05)


def test_a_refused_command_does_not_feed_the_watchdog_and_zero_switches_it_off():
    for timeout, trips in ((0.02, 1), (0.0, 0)):
        plant = make_plant(command_timeout=timeout)
        plant.command(ZERO)
        for _ in range(50):
            plant.command([np.nan] * 7)
            plant.step()
        assert plant.counters["watchdog"] == trips


def test_in_lock_step_the_first_command_after_a_state_counts():
    for lockstep, applied in ((True, 1.0), (False, 2.0)):
        plant = make_plant(lockstep=lockstep)
        for _ in range(10):
            assert not plant.awaits
            plant.measure()
            assert plant.awaits
            plant.command(np.full(7, 1.0))
            assert not plant.awaits
            plant.command(np.full(7, 2.0))
            plant.step()
            assert (plant.simulator.tau == applied).all()
        assert (plant.counters["commands"], plant.counters["extra"], plant.counters["missed"]) == (
            20,
            10,
            0,
        )


def test_states_without_a_command_are_missed_deadlines():
    plant = make_plant()
    for k in range(10):
        plant.measure()
        if k % 3 == 0:
            plant.command(ZERO)
        plant.step()
    assert plant.counters["missed"] == 6  # k = 1, 2, 4, 5, 7, 8


def test_a_lock_step_does_not_wait_for_an_answer_to_a_state_that_was_lost():
    plant = make_plant("{kind: loss, side: state, start: 0.005, duration: 0.01}", lockstep=True)
    waited = []
    for _ in range(30):
        plant.measure()
        waited.append(plant.awaits)
        if plant.awaits:
            plant.command(ZERO)
        plant.step()
    assert waited == [True] * 5 + [False] * 10 + [True] * 15 and plant.counters["missed"] == 0


def test_a_command_acts_exactly_its_latency_later():
    plant = make_plant("{kind: latency, side: command, delay: 0.004}")
    for k in range(15):
        plant.measure()
        assert plant.command(np.full(7, float(k))) is None
        plant.step()
        if k >= 4:
            assert (plant.simulator.tau == k - 4).all()


# One fault of every kind from 50 to 100 ms, what the report counts, and what it changes first.
ONE_EACH = {
    "latency": ("{side: state, delay: 0.003}", "delayed", "seen"),
    "jitter": ("{side: command, spread: 0.004}", "delayed", "moves"),
    "drop": ("{side: command, probability: 0.5}", "dropped", "moves"),
    "duplicate": ("{side: state, probability: 0.5}", "duplicated", "nothing"),
    "reorder": ("{side: both, probability: 0.5}", "reordered", "seen"),
    "loss": ("{side: both}", "lost", "seen"),
    "noise": ("{position: 0.001}", "measurements", "seen"),
    "quantisation": ("{position: 0.01}", "measurements", "seen"),
    "bias": ("{joints: joint2, position: 0.01}", "measurements", "seen"),
    "freeze": ("{joints: [joint1, joint4]}", "measurements", "seen"),
    "torque_scale": ("{factor: 0.8}", "steps", "moves"),
    "torque_offset": ("{joints: joint4, effort: 2}", "steps", "moves"),
    "dead_joint": ("{joints: joint2}", "steps", "moves"),
    "friction": ("{viscous: 2, coulomb: 0.5}", "steps", "moves"),
    "armature": ("{joints: joint4, added: 1}", "steps", "moves"),
    "mass": ("{frame: tool, added: 1}", "steps", "moves"),
    "push": ("{frame: link4, force: [0, 20, 0]}", "steps", "moves"),
}


def test_every_kind_has_its_case():
    assert {*ONE_EACH, *ASKED} == set(KINDS)


def test_what_is_asked_of_the_controller_is_handed_over_once_when_its_time_has_come(tmp_path):
    plant = make_plant(
        "[{kind: method, name: rjk}, {kind: target, task: tool, start: 0.01, by: [0, 0.1, 0]}, "
        "{kind: trajectory, task: hand, frame: tool, start: 0.02, points: [[0.5, 0, 0, 0.1]]}]",
        log_folder=tmp_path,
    )
    taken = []
    for k in range(40):
        plant.measure()
        plant.command(ZERO)
        taken += [(k, each.fault.kind, each.fault.name) for each in plant.asked]
        for each in plant.asked:
            plant.answered(each, "nobody is there" if each.fault.name == "hand" else "")
        plant.asked.clear()
        plant.step()
    plant.close()
    assert taken == [(0, "method", "rjk"), (10, "target", "tool"), (20, "trajectory", "hand")]
    log = read_log(tmp_path)
    assert np.array_equal(plant.home, log["q"][0])
    method, target, trajectory = make_report(log, 0.039, {}, {})["faults"]
    assert method["words"].startswith("method rjk, 0 s to 0.1 s: 1 sent to the controller")
    assert target["acted"] and (target["start"], target["end"]) == (0.01, 1.01)
    assert trajectory["words"] == "trajectory of hand (1 points), 0.02 s to 0.52 s: did not act"
    (event,) = (event for event in log.events if event["kind"] == "unheard")
    assert event["text"] == "trajectory of hand (1 points): nobody is there"


@pytest.fixture(scope="module")
def sound():
    return run(make_plant(), 200)


@pytest.mark.parametrize("kind", ONE_EACH)
def test_every_fault_shows_in_the_motion_the_log_and_the_report(kind, sound, tmp_path):
    entry, counted, changes = ONE_EACH[kind]
    fault = f"{{kind: {kind}, start: 0.05, duration: 0.05, {entry[1:]}"
    plant = make_plant(fault, seed=3, log_folder=tmp_path)
    rows = run(plant, 200)
    plant.close()
    differs = ~np.isclose(rows, sound, rtol=0, atol=1e-12, equal_nan=True)
    motion, seen = (
        np.flatnonzero(differs[:, :14].any(axis=1)),
        np.flatnonzero(differs[:, 14:21].any(axis=1)),
    )
    if changes == "nothing":
        assert not len(motion)
    elif changes == "moves":
        assert 50 < motion[0] <= 60
    else:
        assert 50 <= seen[0] <= 55 and (not len(motion) or motion[0] > seen[0])
    log = read_log(tmp_path)
    assert [event["text"].split()[-1] for event in log.events if event["kind"] == "fault"] == [
        "begins",
        "ends",
    ]
    assert [event["time"] for event in log.events if event["kind"] == "fault"] == pytest.approx(
        [0.05, 0.1]
    )
    report = make_report(log, 0.199, {}, {})
    (fault,) = report["faults"]
    assert fault["acted"] and fault["kind"] == kind and 0 < fault["counts"][counted] <= 100
    assert (
        fault["words"].startswith(f"{kind} of ") and str(fault["counts"][counted]) in fault["words"]
    )
    json.dumps(report, allow_nan=True)


def test_the_same_seed_gives_the_same_motion_bit_for_bit_and_another_does_not():
    faults = (
        "[{kind: noise, position: 0.001, velocity: 0.01}, {kind: drop, side: both, probability: 0.2}, "
        "{kind: jitter, side: both, spread: 0.005}, {kind: reorder, side: both, probability: 0.2}]"
    )
    first, again, other = (run(make_plant(faults, seed=seed), 300) for seed in (1, 1, 2))
    assert np.array_equal(first, again, equal_nan=True) and not np.array_equal(
        first, other, equal_nan=True
    )


def test_a_mass_error_accelerates_as_the_altered_robot_and_ends_with_the_fault():
    schedule = load_faults(
        "{kind: mass, frame: link5, factor: 1.5, added: 2, start: 0.1, duration: 0.1}"
    )
    plant = make_plant(
        "{kind: mass, frame: link5, factor: 1.5, added: 2, start: 0.1, duration: 0.1}"
    )
    heavy = altered_model(ARM, schedule.faults)
    for k in range(300):
        for measurement in plant.measure():
            plant.command(hold_home(measurement))
        q, v = plant.simulator.q.copy(), plant.simulator.v.copy()
        plant.step()
        assert plant.simulator.time == pytest.approx((k + 1) * STEP)
        model = heavy if 100 <= k < 200 else ARM
        # all joints slide, in one direction, below their limits
        if k % 25 == 0 and np.abs(v).min() > 1e-4:
            loss = model.friction * np.sign(v) + model.damping * plant.simulator.v
            expected = forward_dynamics(model, q, v, plant.simulator.tau - loss)
            assert np.allclose((plant.simulator.v - v) / STEP, expected, atol=1e-6)
    assert plant.simulator.model is ARM and plant.model is ARM


def test_a_push_gives_the_momentum_of_its_force_and_time():
    model = load_robot("free_flyer")
    plant = Plant(
        Simulator(model),
        load_faults(
            "[{kind: push, frame: left_tool, start: 0.02, duration: 0.1, force: [3, 0, -1]},"
            " {kind: push, frame: left_tool, start: 0.05, duration: 0.05, force: [0, 2, 0]}]"
        ),
    )
    for _ in range(150):
        plant.measure()
        plant.command(np.zeros(len(model.effort_limits)))
        plant.step()
    q, v = plant.simulator.q, plant.simulator.v
    momentum = model.mass.sum() * center_of_mass_jacobian(model, q) @ v
    assert momentum == pytest.approx([0.3, 0.1, -0.1], abs=1e-4)


def test_floating_bases_are_measured_with_the_joints():
    model = load_robot("free_flyer")
    plant = Plant(Simulator(model))
    (measurement,) = plant.measure()
    assert np.array_equal(
        measurement.base_pose, plant.simulator.q[:7]
    ) and measurement.base_twist.shape == (6,)
    assert np.array_equal(measurement.positions, plant.simulator.q[7:])


def test_live_faults_begin_at_once_and_can_be_cleared():
    plant = make_plant()
    run(plant, 20)
    plant.inject(load_faults("{kind: loss, side: state}"))
    assert plant.measure() == []
    plant.step()
    plant.clear_injected()
    assert len(plant.measure()) == 1
    with pytest.raises(FaultError, match="no joint 'elbow'"):
        plant.inject(load_faults("{kind: dead_joint, joints: elbow}"))


def test_a_reset_brings_back_the_beginning():
    faults = "[{kind: mass, frame: tool, added: 1, start: 0.02}, {kind: noise, position: 0.01, start: 0.05}]"
    plant = make_plant(faults)
    first = run(plant, 40)
    plant.simulator.reset()
    plant.reset()
    assert not plant.timetable.active(KINDS) and plant.simulator.model is ARM
    assert np.array_equal(run(plant, 40), first)


def test_a_wrong_watchdog_is_named():
    with pytest.raises(
        ConfigurationError, match="timeout_action = 'brake'; valid: zero, hold, damping"
    ):
        make_plant(timeout_action="brake")
    with pytest.raises(ConfigurationError, match="command_timeout = nan"):
        make_plant(command_timeout=float("nan"))


def test_a_run_can_be_followed_while_it_goes_and_read_when_it_was_cut_short(tmp_path):
    ticks = itertools.count()
    plant = make_plant(log_folder=tmp_path, clock=lambda: 0.01 * next(ticks))
    assert progress(tmp_path) is None
    run(plant, 300)
    reached = progress(tmp_path)
    assert 0.2 < reached < 0.3
    with open(tmp_path / "rows.f64", "ab") as file:
        file.write(b"half a row")
    with open(tmp_path / "events.jsonl", "a") as file:
        file.write('{"time": ')
    cut = read_log(tmp_path)
    assert cut["schedule"][-1] == reached and cut.counters["commands"] >= 200
    plant.close()
    assert len(cut.until(0.1).rows) == 101


def test_drives_that_take_velocities_follow_them_refuse_others_and_stand_without_any(tmp_path):
    plant = make_plant(commands="velocity", log_folder=tmp_path / "log")
    wanted = np.array([0.2, -0.1, 0.0, 0.1, 0.0, 0.0, -0.3])
    for _ in range(50):
        plant.measure()
        assert plant.command(wanted) is None
        plant.step()
    np.testing.assert_allclose(plant.simulator.v, wanted, rtol=0, atol=1e-6)
    assert plant.command([9.0] + [0.0] * 6) == (
        f"the velocity of joint1, 9, is beyond its limit {ARM.velocity_limits[0]:g}"
    )
    assert plant.command(np.zeros(6)) == "6 velocities came, the robot has 7 joints"
    for _ in range(100):  # the watchdog's zero is zero velocity
        plant.measure()
        plant.step()
    assert plant.watchdog.is_tripped and np.abs(plant.simulator.v).max() < 1e-6
    plant.close()
    run_of = read_log(tmp_path / "log")
    assert run_of.header["commands"] == "velocity"
    assert run_of.header["command_limits"] == ARM.velocity_limits.tolist()
    report = make_report(run_of, 0.149, {}, {})
    assert report["torque"]["share_of_limit"] == pytest.approx(
        (np.abs(wanted) / ARM.velocity_limits).max()
    )
