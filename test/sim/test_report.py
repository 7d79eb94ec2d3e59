# SPDX-License-Identifier: Apache-2.0
"""The report of a run: its numbers against those of a run made by hand, limits, words, and the plots."""

import io
import itertools
import json

import matplotlib.image
import numpy as np
import pinocchio
import pytest
from helpers.plant_runs import ARM, HOME, hold_home, make_plant, run
from helpers.support import pin_model

from opspace_ctrl.commands._hil_plots import draw
from opspace_ctrl.errors import LogError, OutputError
from opspace_ctrl.model.source import robot_text
from opspace_ctrl.sim.plant.fault_kinds import KINDS
from opspace_ctrl.sim.record.log import read_log
from opspace_ctrl.sim.record.report import LIMITS, make_report, report_text
from opspace_ctrl.sim.record.tracking import Told, Tracking, tracking_errors

STEP = 0.001
PIN = pin_model(robot_text("arm7"))
FAULTS = """
- {kind: loss, side: both, start: 0.1, duration: 0.05}
- {kind: noise, position: 0.002, start: 0.2, duration: 0.05}
- {kind: push, frame: tool, force: [20, 0, 0], start: 0.25, duration: 0.01}
- {kind: freeze, start: 9}
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """0.3 s on a wall clock that ticks 0.1 ms whenever somebody looks at it; the first 20 states have no command."""
    folder, ticks = tmp_path_factory.mktemp("log"), itertools.count()
    plant = make_plant(FAULTS, log_folder=folder, clock=lambda: 1e-4 * next(ticks))
    for _ in range(20):
        plant.measure()
        plant.step()
    run(plant, 302)
    plant.command([1.0])
    plant.close()
    return read_log(folder)


@pytest.fixture(scope="module")
def tracking(log):
    """A tracking error of 1 mm and 0.01 rad, of 9 mm during 10 ms after 0.265 s, every fifth state."""
    time = log["schedule"][np.isfinite(log["left"]) & np.isfinite(log["schedule"])][::5]
    rows = np.zeros((len(time), 7))
    rows[:, 0], rows[:, 2], rows[:, 6] = time, 1e-3, 0.01
    rows[(time > 0.265) & (time < 0.275), 2] = 9e-3
    return {"/peer/tool": Tracking(rows, 0.2, 0.2)}


def test_a_run_counts_from_its_first_command_to_the_seconds_asked_for(log):
    report = make_report(log, 0.2, {}, {})
    assert report["seconds"] == pytest.approx(0.2) and report["robot"] == "arm7"
    assert report["kept"] and report["summary"] == "all limits kept"
    assert len(log.until(0.2).rows) == 20 + 201  # before, and from 0 to 0.2 s


def test_times_are_those_of_the_wall(log):
    report = make_report(log, 0.3, {}, {})
    answered = np.isfinite(log["arrived"] - log["left"])
    counted = (log["schedule"] > 0.0) & (log["schedule"] <= 0.3)  # the first had to start
    assert report["latency"]["count"] == answered[counted].sum() == 300 - 50
    assert report["latency"]["least"] == pytest.approx(1e-4) and report["latency"][
        "median"
    ] == pytest.approx(1e-4)
    assert report["period"]["least"] > 2e-4


def test_deadlines_are_missed_where_states_left_and_nothing_came(log):
    assert make_report(log, 0.3, {}, {})["deadlines"]["missed"] == 0  # what was lost did not leave
    plant_rows = log.rows.copy()
    at = np.flatnonzero(log["schedule"] > 0.2)[:7]
    plant_rows[at, log.columns["arrived"]] = np.nan
    holed = type(log)(log.header, log.counters, log.faults, log.events, log.columns, plant_rows)
    deadlines = make_report(holed, 0.3, {}, {})["deadlines"]
    assert deadlines["missed"] == 7 and deadlines["share"] == pytest.approx(7 / deadlines["states"])


def test_torques_are_those_of_the_controller(log):
    torque = make_report(log, 0.3, {}, {})["torque"]
    command = log["command"][np.isfinite(log["schedule"])]
    assert torque["commanded"] == np.nanmax(np.abs(command), axis=0).tolist()
    assert torque["largest"] == np.nanmax(np.abs(command))
    at = np.flatnonzero(np.abs(log["command"]) == torque["largest"])[0] // 7
    assert torque["time"] == log["schedule"][at]
    assert torque["share_of_limit"] == np.nanmax(np.abs(command) / ARM.effort_limits)


def test_tracking_is_looked_at_during_the_run_and_around_each_fault(log, tracking):
    report = make_report(log, 0.3, tracking, {})
    task = report["tracking"]["tasks"]["/peer/tool"]
    assert (task["position"], task["angle"]) == (9e-3, 0.01) and 1e-3 < task["position_rms"] < 9e-3
    push = report["faults"][2]["effect"]
    assert (push["position_error"], push["position_error_before"]) == (9e-3, 1e-3)
    assert task["coverage"] == report["tracking"]["coverage"] == 0.2
    peak = report["tracking"]["largest"]
    assert peak["words"].startswith(f"at {peak['time']:.3f} s (") and 0.265 < peak["time"] < 0.275
    after = f"{1e3 * (peak['time'] - 0.26):.0f} ms after push of tool (force [20, 0, 0] N)"
    assert after in peak["words"]
    assert make_report(log, 0.2, tracking, {})["tracking"]["largest"]["position"] == 1e-3


def test_the_largest_torque_is_told_with_the_fault_that_it_follows(tmp_path):
    """One window for errors and torques: the largest command of this run comes when communication is back."""
    plant = make_plant("{kind: loss, side: both, start: 0.1, duration: 0.05}", log_folder=tmp_path)
    run(plant, 302)
    plant.close()
    report = make_report(read_log(tmp_path), 0.3, {}, {})
    torque, (lost,) = report["torque"], report["faults"]
    assert 0.15 <= torque["time"] < 0.2
    assert f"{1e3 * (torque['time'] - 0.15):.0f} ms after loss of states" in torque["words"]
    assert lost["effect"]["torque"] == torque["largest"] > lost["effect"]["torque_before"]
    joint = ARM.joint_names[int(np.argmax(torque["commanded"]))]
    assert f"torque up to {torque['largest']:.3g} on {joint} (" in lost["words"]


def true_pose(q):
    """Of frame `tool`, by Pinocchio."""
    data = PIN.createData()
    pinocchio.framesForwardKinematics(PIN, data, q)
    return data.oMf[PIN.getFrameId("tool")].copy()


def references(log, shift):
    """What a controller that holds frame `tool` would tell, every state, its reference off by a shift [m]."""
    rows = []
    for k in np.flatnonzero(np.isfinite(log["left"]) & np.isfinite(log["schedule"])):
        pose = true_pose(log["q"][k])
        rows.append([log["left"][k] + 1e-5, *pose.rotation.ravel(), *(pose.translation + shift)])
    return np.array(rows)


def test_errors_are_judged_at_every_step_against_the_true_pose(log):
    rows = references(log, np.array([0.0, 0.003, 0.004]))
    told = {"tool": Told(["pose", "tool", ""], np.array_split(rows, 7))}
    tracking = tracking_errors(log.until(0.3), ARM, told)["tool"]
    assert tracking.coverage == 1.0 and tracking.told == pytest.approx(251 / 301)
    moving = np.isin(tracking.rows[:, 0], log["schedule"][np.isfinite(log["left"])])
    assert np.allclose(tracking.rows[moving, 1:], [0, 0.003, 0.004, 0, 0, 0], atol=1e-12)
    assert (~moving).sum() == 50  # communication was lost: the last reference counts on
    held = tracking.rows[~moving]
    at = np.searchsorted(log["schedule"], held[-1, 0])
    first = np.searchsorted(log["schedule"], held[0, 0]) - 1
    places = [true_pose(log["q"][k]).translation for k in (first, at)]
    wanted = places[0] + [0.0, 0.003, 0.004] - places[1]
    assert np.allclose(held[-1, 1:4], wanted, atol=1e-12) and np.abs(wanted).max() > 1e-4


def test_a_task_is_judged_in_what_it_controls_and_an_error_as_it_was_told(log):
    rows = references(log, np.array([0.0, 0.003, 0.004]))
    errors = np.column_stack(
        (rows[::20, 0], np.tile([1e-3, 0, 0, 0, 0, 0.1], (len(rows[::20]), 1)))
    )
    tracking = tracking_errors(
        log.until(0.3),
        ARM,
        {
            "turn": Told(["orientation", "tool", ""], [rows]),
            "peer": Told([], [errors]),
            "late": Told(["pose", "tool", ""], [rows[100:]]),
            "silent": Told(),
        },
    )
    assert set(tracking) == {"turn", "peer", "late"}
    assert not tracking["turn"].rows[:, 1:4].any()
    assert tracking["late"].coverage == pytest.approx(151 / 301)  # from 0.15 s on
    assert tracking["peer"].coverage == len(errors) / 301 == tracking["peer"].told
    assert (tracking["peer"].rows[:, 1:] == errors[:, 1:]).all()


def test_every_fault_is_told_in_words(log, tracking):
    lost, noise, push, freeze = make_report(log, 0.3, tracking, {})["faults"]
    assert lost["words"].startswith(
        "loss of states and commands, 0.1 s to 0.15 s: 50 messages lost, "
    )
    assert "watchdog for 30 ms" in lost["words"] and lost["effect"][
        "watchdog_seconds"
    ] == pytest.approx(0.03)
    assert noise["words"].startswith(
        "noise of all joints (position 0.002 rad or m), 0.2 s to 0.25 s: 50 measurements"
    )
    assert 0.002 < noise["effect"]["measured_off"] < 0.01
    assert "10 steps, positions measured off" not in push["words"]
    assert "10 steps, tracking error up to 9 mm (1 mm before), torque up to" in push["words"]
    assert (
        not freeze["acted"]
        and freeze["words"] == "freeze of all joints, 9 s to the end: did not act"
    )


def test_limits_are_judged_and_what_was_not_measured_is_not_kept(log, tracking):
    limits = dict.fromkeys(LIMITS, 1e3)
    report = make_report(log, 0.3, tracking, limits)
    assert report["kept"] and [limit["name"] for limit in report["limits"]] == ["complete", *LIMITS]
    report = make_report(
        log, 0.3, tracking, {"max_error": 5e-3, "max_refused": 0, "max_watchdog": 1}
    )
    assert not report["kept"]
    assert (
        report["summary"]
        == "largest tracking error [m]: 0.009, allowed 0.005; commands refused: 1, allowed 0"
    )
    report = make_report(log, 0.3, {}, {"max_error": 5e-3})
    assert report["summary"] == "largest tracking error [m]: not measured, allowed 0.005"


def test_a_run_that_ended_early_is_not_kept(log):
    report = make_report(log, 5.0, {}, {})
    assert not report["kept"] and report["summary"].startswith(
        "the run lasted as long as asked [s]: 0.30"
    )


def test_a_run_without_any_command_has_a_report(tmp_path):
    plant = make_plant(FAULTS, log_folder=tmp_path)
    for _ in range(10):
        plant.measure()
        plant.step()
    plant.close()
    report = make_report(read_log(tmp_path), 1.0, {}, {"max_torque": 1.0})
    assert not report["kept"] and report["seconds"] == 0.0 and report["latency"]["count"] == 0
    assert not any(fault["acted"] for fault in report["faults"])
    draw(read_log(tmp_path), report, {})


def test_report_json_is_strict_json(log, tracking):
    text = report_text(make_report(log, 0.3, tracking, {"max_torque": 50.0}, {"mode": "lockstep"}))
    assert "NaN" not in text and "Infinity" not in text
    report = json.loads(text)
    assert report["mode"] == "lockstep" and {fault["kind"] for fault in report["faults"]} <= set(
        KINDS
    )


def test_plots_are_drawn(log, tracking):
    report = make_report(log, 0.3, tracking, {})
    drawn = draw(log, report, tracking)
    assert list(drawn) == ["timing.png", "tracking.png", "torque.png", "faults.png"]
    for data in drawn.values():
        picture = matplotlib.image.imread(io.BytesIO(data))[..., :3]
        assert (picture < 0.95).any(axis=-1).mean() > 0.005


def test_a_folder_without_a_log_is_named(tmp_path):
    with pytest.raises(LogError, match="holds no log of a run"):
        read_log(tmp_path / "missing")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write into"):
        make_plant(log_folder=tmp_path / "file" / "log")


def test_floods_of_events_are_cut_and_counted(tmp_path):
    plant = make_plant(log_folder=tmp_path)
    for _ in range(1000):
        plant.command([])
    plant.close()
    assert len(read_log(tmp_path).events) == 200 and read_log(tmp_path).counters["refused"] == 1000


def test_home_is_where_the_controller_pulls():
    plant = make_plant()
    run(plant, 1500, hold_home)
    assert np.abs(plant.simulator.q - HOME).max() < 0.05
