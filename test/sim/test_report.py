"""The report of a run: its numbers against those of a run made by hand, limits, words, and the plots."""

import io
import itertools
import json

import matplotlib.image
import numpy as np
import pytest
from helpers.plant_runs import ARM, HOME, hold_home, make_plant, run

from opspace_ctrl.commands._hil_plots import draw
from opspace_ctrl.errors import LogError, OutputError
from opspace_ctrl.sim.plant.fault_kinds import KINDS
from opspace_ctrl.sim.record.log import read_log
from opspace_ctrl.sim.record.report import LIMITS, make_report, on_schedule, report_text

STEP = 0.001
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
    """A tracking error of 1 mm and 0.01 rad, of 9 mm during 10 ms after 0.255 s, every fifth state."""
    wall = log["left"][np.isfinite(log["left"])][::5]
    rows = np.zeros((len(wall), 7))
    rows[:, 0], rows[:, 2], rows[:, 6] = wall, 1e-3, 0.01
    late = on_schedule(log, wall)
    rows[(late > 0.255) & (late < 0.265), 2] = 9e-3
    return {"/peer/tool/error": rows}


def test_a_run_counts_from_its_first_command_to_the_seconds_asked_for(log):
    report = make_report(log, 0.2, {}, {})
    assert report["seconds"] == pytest.approx(0.2) and report["robot"] == "arm7"
    assert report["kept"] and report["summary"] == "all limits kept"
    assert len(log.until(0.2).rows) == 20 + 201  # before, and from 0 to 0.2 s


def test_times_are_those_of_the_wall(log):
    report = make_report(log, 0.3, {}, {})
    answered = np.isfinite(log["arrived"] - log["left"])
    assert report["latency"]["count"] == answered[log["schedule"] <= 0.3].sum() == 301 - 50
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
    assert torque["share_of_limit"] == np.nanmax(np.abs(command) / ARM.effort_limits)


def test_tracking_is_looked_at_during_the_run_and_around_each_fault(log, tracking):
    report = make_report(log, 0.3, tracking, {})
    task = report["tracking"]["tasks"]["/peer/tool/error"]
    assert (task["position"], task["angle"]) == (9e-3, 0.01) and 1e-3 < task["position_rms"] < 9e-3
    push = report["faults"][2]["effect"]
    assert (push["position_error"], push["position_error_before"]) == (9e-3, 1e-3)
    assert report["faults"][0]["effect"]["position_error"] == 1e-3
    assert make_report(log, 0.2, tracking, {})["tracking"]["largest"]["position"] == 1e-3


def test_every_fault_is_told_in_words(log, tracking):
    lost, noise, push, freeze = make_report(log, 0.3, tracking, {})["faults"]
    assert lost["words"].startswith(
        "loss of states and commands, 0.1 s to 0.15 s: 50 messages lost, "
    )
    assert "watchdog for 29 ms" in lost["words"] and lost["effect"][
        "watchdog_seconds"
    ] == pytest.approx(0.029)
    assert noise["words"].startswith(
        "noise of all joints (position 0.002 rad or m), 0.2 s to 0.25 s: 50 measurements"
    )
    assert 0.002 < noise["effect"]["measured_off"] < 0.01
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
