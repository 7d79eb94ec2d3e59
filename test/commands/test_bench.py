# SPDX-License-Identifier: Apache-2.0
"""`opspace bench`: what it writes, prints, draws and refuses, and what it does when a part fails."""

import json
import os
import re

import matplotlib.image
import pytest

from opspace_ctrl import load_robot
from opspace_ctrl.bench import growth, pinocchio_peer, report, robots
from opspace_ctrl.bench.targets import RATIOS, Verdict, ratio_verdicts
from opspace_ctrl.bench.timing import Timing
from opspace_ctrl.cli import main
from opspace_ctrl.commands._bench_notes import _native, notes
from opspace_ctrl.commands._bench_tables import _judged
from opspace_ctrl.errors import SourceError
from opspace_ctrl.osim import methods

QUICK = ("--calls", "64", "--calls-long", "100")
QUANTITIES = {"tick", "body", "explicit", "inertia_inv", "forward", "inverse"}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What a short run on the shipped arm writes."""
    path = tmp_path_factory.mktemp("bench") / "run.json"
    assert main(["bench", "arm7", *QUICK, "--json", str(path)]) == 0
    return path


def test_the_command_fails_when_a_peer_computes_something_else(monkeypatch, capsys):
    monkeypatch.setattr(
        pinocchio_peer, "smart_tick", lambda twin: lambda q, v, force, tau0: 1.001 * tau0
    )
    assert main(["bench", "arm7", *QUICK]) == 2
    last = capsys.readouterr().err.splitlines()[
        -1
    ]  # before it stands what was compiled, if anything
    assert last.startswith("opspace: error: arm7: tick: Pinocchio smart and dense differ by ")


def test_one_failing_robot_costs_the_others_nothing(tmp_path, monkeypatch, capsys):
    whole = report.find_case

    def failing(name, *options):
        if name == "free_flyer":
            raise ZeroDivisionError("no inertia")
        return whole(name, *options)

    monkeypatch.setattr(report, "find_case", failing)
    path = tmp_path / "run.json"
    assert main(["bench", "free_flyer", "arm7", *QUICK, "--json", str(path)]) == 2
    out, err = capsys.readouterr()
    assert err.endswith("opspace: error: free_flyer: ZeroDivisionError: no inertia\n")
    assert "free_flyer failed: ZeroDivisionError: no inertia" in out and "arm7 n=7 m=6" in out
    saved = json.loads(path.read_text())
    assert set(saved["robots"]) == {"arm7"} and saved["failed"] == {
        "free_flyer": "ZeroDivisionError: no inertia"
    }


def test_whatever_a_peer_raises_is_named_and_costs_the_others_nothing(
    tmp_path, monkeypatch, capsys
):
    def broken(twin):
        raise RuntimeError("inside Pinocchio")

    monkeypatch.setattr(pinocchio_peer, "delassus", lambda twin: broken)
    path = tmp_path / "run.json"
    assert main(["bench", "arm7", *QUICK, "--json", str(path)]) == 2
    assert capsys.readouterr().err.endswith(
        "opspace: error: arm7, Pinocchio: RuntimeError: inside Pinocchio\n"
    )
    saved = json.loads(path.read_text())
    assert saved["robots"]["arm7"]["peers"]["tick"] == ["MuJoCo"]
    assert list(saved["failed"]) == ["arm7, Pinocchio"]


def test_an_interrupted_run_shows_and_writes_what_is_complete(tmp_path, monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(growth, "growth", interrupted)
    path = tmp_path / "run.json"
    assert main(["bench", "arm7", *QUICK, "--growth", "--json", str(path)]) == 130
    assert "interrupted" in capsys.readouterr().out
    saved = json.loads(path.read_text())
    assert saved["interrupted"] and set(saved["robots"]) == {"arm7"} and "growth" not in saved


@pytest.mark.parametrize(
    "options, words",
    [
        (
            ["--json", "missing/bench.json"],
            "cannot write 'missing/bench.json': its folder does not exist",
        ),
        (["--json", "."], "cannot write '.': it is a folder"),
        (["--plot", "bench.docx"], "cannot write 'bench.docx': its ending must be one of"),
    ],
)
def test_what_could_not_be_written_is_refused_before_anything_is_measured(
    options, words, monkeypatch, capsys
):
    monkeypatch.setattr("opspace_ctrl.bench.report.run", None)
    assert main(["bench", "arm7", *options]) == 2
    assert words in capsys.readouterr().err


def test_too_few_calls_are_shown_but_not_judged(written, capsys):
    verdicts = json.loads(written.read_text())["verdicts"]
    assert [verdict["claim"] for verdict in verdicts if verdict["met"] is not None] == [
        "tick: allocated"
    ]
    assert main(["bench", "--from", str(written)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "64 calls of each at 64 random regular states, in turns, and 1000 ticks for the tail" in out
    )
    assert "ratios and shares are not judged: 64 calls, their targets are for 2000 or more" in out
    assert "the tail is not judged: 1000 ticks, its target is for 100000 or more" in out
    few = {"forward": {"aba": Timing(2.0, 9.0, 9.0, 1999)}}
    theirs = {"forward": {"Pinocchio": Timing(4.0, 9.0, 9.0, 2000)}}
    assert [verdict.met for verdict in ratio_verdicts("g1", few, theirs)] == [None, None]


def test_units_and_senses_stand_beside_the_figures():
    assert _judged(Verdict("", "", 9.0, "x", ">=", 8.0).as_dict()).plain == "9.00 [≥ 8] ok"
    assert (
        _judged(Verdict("", "", 30.0, "s", "<=", 25.0).as_dict()).plain == "30.00 s [≤ 25 s] short"
    )
    assert _judged(Verdict("", "", 0.0, "B", "<=", 0.0).as_dict()).plain == "0 B [≤ 0 B] ok"


def test_a_busy_machine_is_said_and_so_is_an_exponent_that_does_not_fit(written):
    saved = json.loads(written.read_text())
    saved["machine"].update(load=0.1, cores_allowed=2)
    assert not any("busy" in line for line in notes(saved))
    assert f"tasks of arm7: {', '.join(saved['robots']['arm7']['frames'])}" in notes(saved)
    saved["machine"]["load"] = 7.0
    saved["growth"] = {"chain": {"misfits": {"rjk": 0.5, "efpa": 0.1}}}
    assert "the machine was busy: a load of 7.0 on 2 cores when it began" in notes(saved)
    (fit,) = (line for line in notes(saved) if "exponent" in line)
    assert fit.endswith("the exponent says little: rjk of chain 50 %")


def test_native_figures_stand_beside_the_body_of_the_robots_they_were_measured_on():
    (line,) = _native({"panda": {"path": None}, "arm7": {"path": None}})
    assert line.endswith("panda: Pinocchio in C++ 3 us, MuJoCo in C 1.7 us") and "another" in line
    assert _native({"panda": {"path": "own/panda.urdf"}}) == []


def test_the_json_holds_machine_versions_times_and_verdicts(written):
    saved = json.loads(written.read_text())
    assert saved["machine"]["cores"] == os.cpu_count() and saved["machine"]["cpu"]
    assert set(saved["versions"]) >= {"python", "numpy", "numba", "pin", "mujoco"}
    robot = saved["robots"]["arm7"]
    assert (robot["nv"], robot["m"], robot["floating"]) == (7, 6, False)
    assert set(robot["times"]) == QUANTITIES
    assert set(robot["times"]["tick"]) == {*methods(load_robot("arm7")), *robot["peers"]["tick"]}
    for field in robot["times"].values():
        for timing in field.values():
            assert 0.0 < timing["least"] <= timing["median"] and timing["calls"] >= 64
    claims = [verdict["claim"] for verdict in saved["verdicts"]]
    for ratio in RATIOS:
        assert any(claim.startswith(f"{ratio.quantity}: {ratio.peer} / ") for claim in claims)


def test_an_earlier_run_is_shown_without_measuring(written, capsys):
    assert main(["bench", "--from", str(written)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^ +sparse_ltdl +\d+\.\d\d / +\d+\.\d\d *$", out, re.M)
    # arm7 has no target
    assert re.search(r"tick: Pinocchio best / sparse_ltdl +\d+\.\d\d *$", out, re.M)
    assert re.search(r"^\d+ of \d+ targets met$", out, re.M)


def test_markdown_tables_have_a_rule_below_their_head(written, capsys):
    assert main(["bench", "--from", str(written), "--markdown"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^\|method or peer *\| *arm7 n=7 m=6 *\|\n\|-+\|-+\|$", out, re.M)
    assert "|**tick: control tick**" in out and re.search(
        r"^\|sparse_ltdl *\|.* / .*\|$", out, re.M
    )


def test_markdown_keeps_lines_and_titles_apart(written, capsys):
    assert main(["bench", "--from", str(written), "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("- ") and lines[1].startswith("- ")
    (title,) = [k for k, line in enumerate(lines) if line.startswith("**microseconds")]
    assert not lines[title - 1].strip() and not lines[title + 1].strip()
    (note,) = [k for k, line in enumerate(lines) if line == "- tasks of arm7: tool"]
    assert not lines[note - 1].strip()
    assert lines[note + 1].startswith("- auto takes sparse_ltdl on arm7")


def test_the_plot_shows_robots_and_growth(written, tmp_path):
    saved = json.loads(written.read_text())
    line = {"sparse_ltdl": [1.0, 4.0], "pv_osim": [2.0, 3.0]}
    saved["growth"] = {
        "chain": {
            "joints": [8, 16],
            "least_us": line,
            "exponents": {"pv_osim": 0.6},
            "crossover": {"joints": 11.0, "cost": 2.4},
        }
    }
    earlier, picture = tmp_path / "run.json", tmp_path / "run.png"
    earlier.write_text(json.dumps(saved))
    assert main(["bench", "--from", str(earlier), "--plot", str(picture)]) == 0
    height, width, _ = matplotlib.image.imread(picture).shape
    assert width > 1000 and height > 1000


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["no_such_robot"], "no robot 'no_such_robot'"),
        (["--calls", "0"], "'0' is not a number of calls"),
        (["--from", "missing.json"], "cannot read 'missing.json'"),
        (
            ["--from", "missing.json", "g1", "--all", "--calls", "9"],
            "leave out ROBOT, --calls, --all",
        ),
        (["ur5"], "no robot 'ur5'; did you mean ur5_gripper, ur5_joint_limited_robot, ur5_robot?"),
        (["tallos"], "no robot 'tallos'; did you mean talos?"),
    ],
)
def test_wrong_arguments_are_one_clear_line(arguments, complaint, capsys):
    try:
        code = main(["bench", *arguments])
    except SystemExit as stop:  # argparse's way out
        code = stop.code
    err = capsys.readouterr().err
    assert code == 2 and complaint in err and err.count("\n") == 1


def test_default_robots_that_are_not_installed_are_left_out_and_named_ones_are_an_error(
    monkeypatch,
):
    def missing():
        raise SourceError("the wheel is not installed")

    monkeypatch.setattr(robots, "wheel_urdfs", missing)
    monkeypatch.setattr(report, "DEFAULT", ("panda", "arm7"))
    found = report.run(report.Plan(calls=8, calls_long=50, states=8))
    assert set(found["robots"]) == {"arm7"}
    assert found["left_out"] == {"panda": "the wheel is not installed"}
    with pytest.raises(SourceError, match="not installed"):
        report.run(report.Plan(robots=("panda",)))


def test_a_file_heads_its_column_by_its_stem_unless_that_is_another_robots_name(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for name in ("robot.urdf", "panda.urdf"):
            (tmp_path / folder / name).touch()
    first, second, panda = (
        str(tmp_path / name) for name in ("a/robot.urdf", "b/robot.urdf", "a/panda.urdf")
    )
    assert robots.labels(["panda", first, second, panda, first]) == {
        "panda": "panda",
        "robot": first,
        "b/robot": second,
        "a/panda": panda,
    }


def test_the_path_of_a_file_is_said_once_and_kept(tmp_path, capsys):
    urdf, path = tmp_path / "own_arm.urdf", tmp_path / "run.json"
    urdf.write_text(load_robot("arm7").source, encoding="utf-8")
    assert main(["bench", str(urdf), *QUICK, "--json", str(path)]) == 0
    out = "".join(capsys.readouterr().out.split("\n"))  # long paths are wrapped
    assert out.count(str(urdf)) == 1 and "own_arm n=7 m=6" in out
    assert json.loads(path.read_text())["robots"]["own_arm"]["path"] == str(urdf)


def test_accuracy_counts_digits_and_times_nothing(capsys):
    assert main(["bench", "arm7", "--accuracy", "1"]) == 0
    out = capsys.readouterr().out
    assert "correct digits of Lambda^-1" in out and "square_root" in out and "arm7, light" in out
    lines = [line for line in out.splitlines() if "arm7" in line]
    digits = [float(x) for line in lines for x in re.findall(r"(?<!\S)\d+\.\d(?!\S)", line)]
    assert len(lines) == 4 and min(digits) > 9.0 and max(digits) <= 16.0
