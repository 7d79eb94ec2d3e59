"""`opspace bench`: honest before it is fast. No test looks at seconds, only at what is compared and said."""
import json
import os
import re
from types import SimpleNamespace

import matplotlib.image
import numpy as np
import pytest

from opspace_ctrl import OperationalSpace, load_robot, load_urdf
from opspace_ctrl.bench import auto_check, growth, peers, pinocchio_peer, report, robots, start_up, tail
from opspace_ctrl.bench.agreement import DisagreementError, check_agreement, conditions, explicit_parts
from opspace_ctrl.bench.ours import our_contestants, spaces
from opspace_ctrl.bench.robots import DEFAULT, Case, default_tasks, find_case
from opspace_ctrl.bench.singularity import singularity_costs
from opspace_ctrl.bench.states import regular_states, singular_states
from opspace_ctrl.bench.targets import RATIOS, Verdict, ratio_verdicts
from opspace_ctrl.bench.timing import Contestant, Timing, pinned, time_in_turns
from opspace_ctrl.cli import main
from opspace_ctrl.commands._bench_tables import _judged
from opspace_ctrl.dynamics import forward_methods
from opspace_ctrl.errors import OpspaceError, SourceError
from opspace_ctrl.osim import methods

QUICK = ("--calls", "64", "--calls-long", "100")
QUANTITIES = {"tick", "explicit", "inertia_inv", "forward", "inverse"}


@pytest.fixture(scope="module")
def arm7():
    return find_case("arm7")


@pytest.fixture(scope="module")
def space(arm7):
    return OperationalSpace(arm7.model, arm7.tasks, method="sparse_ltdl")


@pytest.fixture(scope="module")
def states(space):
    return regular_states(space, 8, np.random.default_rng(0))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What a short run on the shipped arm writes."""
    path = tmp_path_factory.mktemp("bench") / "run.json"
    assert main(["bench", "arm7", *QUICK, "--json", str(path)]) == 0
    return path


def single(value):
    """A contestant that answers with one array whatever it is asked."""
    return Contestant(lambda: np.array(value), [()], lambda x, k: (x,))


# ---- what is timed is the same work ----

@pytest.mark.parametrize("name", DEFAULT)
def test_methods_and_peers_compute_the_same_on_the_default_robots(name):
    case = find_case(name)
    built = spaces(case)
    states = regular_states(built["sparse_ltdl"], 5, np.random.default_rng(1))
    theirs, absent, failed = peers.peer_contestants(case, states)
    assert not absent and not failed
    condition = conditions(built["sparse_ltdl"], states)
    for quantity, ours in our_contestants(built, states).items():
        worst = check_agreement(quantity, {**ours, **theirs[quantity]}, condition)
        assert set(theirs[quantity]) < set(worst) and max(worst.values()) <= 1.0
    assert set(theirs["tick"]) == {"Pinocchio smart", "Pinocchio best", "MuJoCo"}


@pytest.mark.parametrize("name, nv, m", [("panda", 7, 6), ("g1", 35, 24), ("talos", 38, 24),
                                         ("asimo", 40, 24)])
def test_the_robots_of_the_targets_have_their_sizes(name, nv, m):
    case = find_case(name)
    assert case.model.nv == nv and 6 * len(case.tasks) == m


def test_a_difference_beyond_rounding_is_an_error_that_names_who_differs():
    x = np.array([1.0, 2.0])
    with pytest.raises(DisagreementError, match="tick: theirs and ours differ by 5.0e-10"):
        check_agreement("tick", {"ours": single(x), "theirs": single(x + [0.0, 1e-9])}, np.ones(1))


def test_a_difference_that_rounding_explains_is_accepted_and_reported_as_a_fraction():
    x = np.array([1.0, 2.0])
    theirs = single(x + [0.0, 1e-9])
    worst = check_agreement("tick", {"ours": single(x), "theirs": theirs}, np.array([1e6]))
    assert 0.0 < worst["theirs"] < 1.0


def test_a_result_that_is_not_a_number_is_an_error():
    with pytest.raises(DisagreementError):
        check_agreement("tick", {"ours": single([1.0]), "theirs": single([np.nan])}, np.ones(1))


def test_null_spaces_are_compared_by_what_they_leave_out():
    parts = [np.ones((6, 6)), np.ones((6, 6)), np.zeros((6, 6)), np.ones(6)]  # n = m: N is zero but for rounding

    def contestant(N):
        return Contestant(lambda: (*parts[:2], N, parts[3]), [()], lambda found, k: explicit_parts(*found))

    noise = 1e-15 * np.random.default_rng(0).normal(size=(6, 6))
    check_agreement("explicit", {"ours": contestant(parts[2]), "theirs": contestant(noise)}, np.ones(1))
    with pytest.raises(DisagreementError, match="differ by 1.0e-09 .* part 3 of 4"):
        check_agreement("explicit", {"ours": contestant(parts[2]), "theirs": contestant(parts[2] + 1e-9)}, np.ones(1))


@pytest.mark.parametrize("name, base", [("ur5_robot", None), ("ur10_robot", None), ("z1", None), ("free_flyer", None),
                                        ("ur5_robot", "floating"), ("tiago_no_hand", "floating")])
def test_robots_without_redundancy_or_with_odd_names_and_light_links_are_compared_too(name, base):
    case = find_case(name, base)
    built = spaces(case)
    states = regular_states(built["sparse_ltdl"], 16, np.random.default_rng(0))
    theirs, absent, failed = peers.peer_contestants(case, states)
    assert not absent and not failed
    for quantity, ours in our_contestants(built, states).items():
        check_agreement(quantity, {**ours, **theirs[quantity]}, conditions(built["sparse_ltdl"], states))


def test_the_command_fails_when_a_peer_computes_something_else(monkeypatch, capsys):
    monkeypatch.setattr(pinocchio_peer, "smart_tick", lambda twin: lambda q, v, force, tau0: 1.001 * tau0)
    assert main(["bench", "arm7", *QUICK]) == 2
    err = capsys.readouterr().err
    assert err.startswith("opspace: error: arm7: tick: Pinocchio smart and dense differ by ")


def test_one_failing_robot_costs_the_others_nothing(tmp_path, monkeypatch, capsys):
    whole = report.find_case

    def failing(name, base=None):
        if name == "free_flyer":
            raise ZeroDivisionError("no inertia")
        return whole(name, base)

    monkeypatch.setattr(report, "find_case", failing)
    path = tmp_path / "run.json"
    assert main(["bench", "free_flyer", "arm7", *QUICK, "--json", str(path)]) == 2
    out, err = capsys.readouterr()
    assert err.endswith("opspace: error: free_flyer: ZeroDivisionError: no inertia\n")
    assert "free_flyer failed: ZeroDivisionError: no inertia" in out and "arm7 n=7 m=6" in out
    saved = json.loads(path.read_text())
    assert set(saved["robots"]) == {"arm7"} and saved["failed"] == {"free_flyer": "ZeroDivisionError: no inertia"}


def test_whatever_a_peer_raises_is_named_and_costs_the_others_nothing(tmp_path, monkeypatch, capsys):
    def broken(twin):
        raise RuntimeError("inside Pinocchio")

    monkeypatch.setattr(pinocchio_peer, "delassus", lambda twin: broken)
    path = tmp_path / "run.json"
    assert main(["bench", "arm7", *QUICK, "--json", str(path)]) == 2
    assert capsys.readouterr().err.endswith("opspace: error: arm7, Pinocchio: RuntimeError: inside Pinocchio\n")
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


@pytest.mark.parametrize("options, words", [
    (["--json", "missing/bench.json"], "cannot write 'missing/bench.json': its folder does not exist"),
    (["--json", "."], "cannot write '.': it is a folder"),
    (["--plot", "bench.docx"], "cannot write 'bench.docx': its ending must be one of"),
])
def test_what_could_not_be_written_is_refused_before_anything_is_measured(options, words, monkeypatch, capsys):
    monkeypatch.setattr("opspace_ctrl.bench.report.run", None)
    assert main(["bench", "arm7", *options]) == 2
    assert words in capsys.readouterr().err


def test_states_are_regular_or_singular_as_asked(space, states):
    for state in states:
        assert space.update(state.q).rank == space.m and not space.damped
    for state in singular_states(space, 2, np.random.default_rng(0)):
        assert space.update(state.q).rank < space.m


# ---- the stopwatch ----

def test_contestants_take_turns_through_all_states():
    calls = []
    field = {name: Contestant(lambda k, name=name: calls.append((name, k)), [(k,) for k in range(6)], None)
             for name in "ab"}
    times = time_in_turns(field, 12)
    one_turn = [0, 1, 2, 3, *range(6)]  # four untimed, then all
    assert calls == [(name, k) for name in "abab" for k in one_turn]
    assert all(timing.calls == 12 for timing in times.values())


def test_timing_holds_the_least_and_the_median():
    assert Timing.of(np.array([3000, 1000, 2000])) == Timing(1.0, 2.0, 2.98, 3)


def test_pinning_is_undone():
    before = os.sched_getaffinity(0)
    with pinned() as core:
        assert os.sched_getaffinity(0) == {core}
    assert os.sched_getaffinity(0) == before


def test_the_tick_allocates_nothing_and_the_check_sees_an_allocation(space, states):
    found = tail.allocations(space, states[0], ticks=50)
    assert found["kept_bytes"] == found["transient_bytes"] == found["compiled"] == 0

    wasteful = SimpleNamespace(control=lambda *state: (np.zeros(1000), space.control(*state)))
    assert tail.allocations(wasteful, states[0], ticks=50)["transient_bytes"] >= 8000


def test_the_tail_counts_every_call_and_sorts_its_percentiles(space, states):
    found = tail.tail(space, states, 1500)
    assert found["calls"] == found["loop_calls"] == 2000
    for who in ("", "loop_"):
        assert 0.0 < found[f"{who}median"] <= found[f"{who}p999"] <= found[f"{who}max"]
    assert found["not_preempted_p999"] <= found["p999"]


def test_the_loop_that_shows_preemption_takes_as_long_as_a_tick(space, states):
    found = tail.tail(space, states, 2000)
    assert 0.5 < found["loop_median"] / found["median"] < 2.0  # a ratio in one run: it was once compiled away


def test_ticks_are_called_preempted_no_more_often_than_the_loop_is_late():
    loop, tick = np.ones(10_000), np.ones(10_000)
    loop[::200] = 20.0  # 0.5 %
    tick[::200] = 18.0
    assert tail.not_preempted(tick, loop) == 1.0
    tick[1::500] = 5.0  # 0.2 % that the machine does not explain
    assert tail.not_preempted(tick, loop) == 5.0
    assert tail.late(loop) == 0.005 and tail.late(tick) == 0.007


def test_measuring_singular_ticks_leaves_the_thresholds_alone(space, states):
    before = [space.update(state.q).inertia.copy() for state in states]
    found = singularity_costs(space, states, rounds=2)
    assert "rank" in found["singular_states"]
    for state, inertia in zip(states, before):
        np.testing.assert_array_equal(space.update(state.q).inertia, inertia)


# ---- targets ----

def test_a_verdict_is_met_short_or_open():
    assert Verdict("", "", 9.0, "x", ">=", 9.0).met is True
    assert Verdict("", "", 3.1, "x", "<=", 3.0).met is False
    assert Verdict("", "", 3.1, "x", "<=", None).met is None


def test_ratios_divide_the_peers_least_time_by_ours():
    ours = {"forward": {"aba": Timing(2.0, 9.0, 9.0, 2000), "crba_ltdl": Timing(1.0, 9.0, 9.0, 2000)}}
    theirs = {"forward": {"Pinocchio": Timing(4.0, 9.0, 9.0, 2000)}}
    found = {verdict.claim: verdict for verdict in ratio_verdicts("g1", ours, theirs)}
    assert found["forward: Pinocchio / our fastest"].value == 4.0
    assert found["forward: Pinocchio / aba"].value == 2.0
    assert all(verdict.met for verdict in found.values())


def test_too_few_calls_are_shown_but_not_judged(written, capsys):
    verdicts = json.loads(written.read_text())["verdicts"]
    assert [verdict["claim"] for verdict in verdicts if verdict["met"] is not None] == ["tick: allocated"]
    assert main(["bench", "--from", str(written)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "64 calls of each at 64 random regular states, in turns, and 1000 ticks for the tail" in out
    assert "ratios and shares are not judged: 64 calls, their targets are for 2000 or more" in out
    assert "the tail is not judged: 1000 ticks, its target is for 100000 or more" in out
    few = {"forward": {"aba": Timing(2.0, 9.0, 9.0, 1999)}}
    theirs = {"forward": {"Pinocchio": Timing(4.0, 9.0, 9.0, 2000)}}
    assert [verdict.met for verdict in ratio_verdicts("g1", few, theirs)] == [None, None]


def test_units_and_senses_stand_beside_the_figures():
    assert _judged(Verdict("", "", 9.0, "x", ">=", 8.0).as_dict()).plain == "9.00 [≥ 8] ok"
    assert _judged(Verdict("", "", 30.0, "s", "<=", 25.0).as_dict()).plain == "30.00 s [≤ 25 s] short"
    assert _judged(Verdict("", "", 0.0, "B", "<=", 0.0).as_dict()).plain == "0 B [≤ 0 B] ok"


# ---- what the command writes, prints and draws ----

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
    assert re.search(r"tick: Pinocchio best / sparse_ltdl +\d+\.\d\d *$", out, re.M)  # arm7 has no target
    assert re.search(r"^\d+ of \d+ targets met$", out, re.M)


def test_markdown_tables_have_a_rule_below_their_head(written, capsys):
    assert main(["bench", "--from", str(written), "--markdown"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^\|method or peer *\| *arm7 n=7 m=6 *\|\n\|-+\|-+\|$", out, re.M)
    assert "|**tick: control tick**" in out and re.search(r"^\|sparse_ltdl *\|.* / .*\|$", out, re.M)


def test_markdown_keeps_lines_and_titles_apart(written, capsys):
    assert main(["bench", "--from", str(written), "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("- ") and lines[1].startswith("- ")
    (title,) = [k for k, line in enumerate(lines) if line.startswith("**microseconds")]
    assert not lines[title - 1].strip() and not lines[title + 1].strip()
    (note,) = [k for k, line in enumerate(lines) if line.startswith("- auto takes sparse_ltdl on arm7")]
    assert not lines[note - 1].strip()


def test_the_plot_shows_robots_and_growth(written, tmp_path):
    saved = json.loads(written.read_text())
    line = {"sparse_ltdl": [1.0, 4.0], "pv_osim": [2.0, 3.0]}
    saved["growth"] = {"chain": {"joints": [8, 16], "least_us": line, "exponents": {"pv_osim": 0.6},
                                  "crossover": {"joints": 11.0, "cost": 2.4}}}
    earlier, picture = tmp_path / "run.json", tmp_path / "run.png"
    earlier.write_text(json.dumps(saved))
    assert main(["bench", "--from", str(earlier), "--plot", str(picture)]) == 0
    height, width, _ = matplotlib.image.imread(picture).shape
    assert width > 1000 and height > 1000


@pytest.mark.parametrize("arguments, complaint", [
    (["no_such_robot"], "no robot 'no_such_robot'"),
    (["--calls", "0"], "'0' is not a number of calls"),
    (["--from", "missing.json"], "cannot read 'missing.json'"),
    (["--from", "missing.json", "g1", "--all", "--calls", "9"], "leave out ROBOT, --calls, --all"),
    (["ur5"], "no robot 'ur5'; did you mean ur5_gripper, ur5_joint_limited_robot, ur5_robot?"),
    (["tallos"], "no robot 'tallos'; did you mean talos?"),
])
def test_wrong_arguments_are_one_clear_line(arguments, complaint, capsys):
    try:
        code = main(["bench", *arguments])
    except SystemExit as stop:  # argparse's way out
        code = stop.code
    err = capsys.readouterr().err
    assert code == 2 and complaint in err and err.count("\n") == 1


def test_default_robots_that_are_not_installed_are_left_out_and_named_ones_are_an_error(monkeypatch):
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
    first, second, panda = (str(tmp_path / name) for name in ("a/robot.urdf", "b/robot.urdf", "a/panda.urdf"))
    assert robots.labels(["panda", first, second, panda, first]) == {
        "panda": "panda", "robot": first, "b/robot": second, "a/panda": panda}


def test_the_path_of_a_file_is_said_once_and_kept(tmp_path, capsys):
    urdf, path = tmp_path / "own_arm.urdf", tmp_path / "run.json"
    urdf.write_text(load_robot("arm7").source, encoding="utf-8")
    assert main(["bench", str(urdf), *QUICK, "--json", str(path)]) == 0
    out = "".join(capsys.readouterr().out.split("\n"))  # long paths are wrapped
    assert out.count(str(urdf)) == 1 and "own_arm n=7 m=6" in out
    assert json.loads(path.read_text())["robots"]["own_arm"]["path"] == str(urdf)


def test_a_peer_that_is_not_installed_is_named_and_left_out(arm7, states, monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda package: None)
    field, absent, _ = peers.peer_contestants(arm7, states)
    assert field == {} and set(absent) == {"Pinocchio", "MuJoCo"}
    assert all("opspace_ctrl[bench]" in reason for reason in absent.values())


def test_a_robot_with_mimic_joints_is_not_compared_with_peers():
    case = find_case("panda", base="floating")  # fingers free, one following the other
    assert case.model.is_mimic.any()
    field, absent, _ = peers.peer_contestants(case, [])
    assert field == {} and all("mimic" in reason for reason in absent.values())


# ---- growth, auto, start-up ----

def test_exponents_are_those_of_the_data():
    sizes = (8, 64, 128, 256)
    found = growth.exponents({"cubic": {n: 2.0 * n**3 for n in sizes},
                              "flat_then_linear": {n: float(max(n, 64)) for n in sizes}})
    assert found == pytest.approx({"cubic": 3.0, "flat_then_linear": 1.0})


def test_the_crossover_lies_where_the_lines_meet():
    sizes = (8, 16, 32, 64)
    found = growth.crossover({"sparse_ltdl": {n: n**3 / 1000 for n in sizes},
                              "pv_osim": {n: float(n) for n in sizes}})
    assert (found.joints, found.cost) == pytest.approx((1000**0.5, 1000**0.5))
    assert growth.crossover({"sparse_ltdl": {8: 1.0, 16: 2.0}, "pv_osim": {8: 2.0, 16: 3.0}}) is None


@pytest.mark.parametrize("shape, m, depth", [("chain", 6, 6 + 16), ("tree", 24, 6 + 5)])
def test_grown_robots_float_and_have_a_fixed_number_of_rows(shape, m, depth):
    case = growth.shaped_case(shape, 16)
    assert case.model.nv == 22 and case.model.depth == depth
    assert sum(len(task.selection()) for task in case.tasks) == m


def test_growth_times_every_method_at_every_size():
    found = growth.growth(sizes=(8, 16))
    for times in found.values():
        assert set(times) == {*methods(), *forward_methods(), "rnea"}
        assert all(set(by_size) == {8, 16} for by_size in times.values())


def test_auto_is_compared_with_every_able_method(arm7):
    (found, left_out) = auto_check.auto_check([("arm7", arm7), ("broken", "no such file")])
    assert left_out == {"robot": "broken", "left_out": "no such file"}
    assert set(found["least_us"]) == set(methods(arm7.model)) and found["choice"] in found["least_us"]
    assert found["excess"] == found["choice_us"] / min(found["least_us"].values()) - 1.0 >= 0.0


def test_tasks_of_an_unknown_robot_are_no_more_than_it_can_do():
    swing = """<robot name="swing"><link name="post"/><link name="bob">
        <inertial><origin xyz="0 0 -1"/><mass value="1"/>
          <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="continuous"><parent link="post"/><child link="bob"/><axis xyz="0 1 0"/>
      </joint>
    </robot>"""
    model = load_urdf(swing)
    (task,) = default_tasks(model)
    assert task.frame == "bob" and len(task.selection()) == 1
    assert Case("swing", model, (task,)).frames == ["bob"]
    with pytest.raises(OpspaceError, match="nothing moves"):
        default_tasks(load_urdf('<robot name="rock"><link name="rock"/></robot>'))


def test_start_up_reports_the_first_start_and_the_least_of_the_later_ones(monkeypatch):
    script = ("import json, os, pathlib; seen = pathlib.Path(os.environ['NUMBA_CACHE_DIR'], 'starts'); "
              "n = len(seen.read_text()) if seen.exists() else 0; seen.write_text('x' * (n + 1)); "
              "print(json.dumps({'total': 10.0 - n}))")
    monkeypatch.setattr(start_up, "_SCRIPT", script)
    assert start_up.start_up() == {"first": {"total": 10.0}, "later": {"total": 7.0}}


def test_a_start_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(start_up, "_SCRIPT", "raise SystemExit('no memory left')")
    with pytest.raises(start_up.StartUpError, match="no memory left"):
        start_up.start_up()
