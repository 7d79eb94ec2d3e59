# SPDX-License-Identifier: Apache-2.0
"""What `opspace bench` measures: the same work, in turns, judged. No test looks at seconds."""

import os
import time
from types import SimpleNamespace

import numpy as np
import pytest

from opspace_ctrl import OperationalSpace, load_urdf
from opspace_ctrl.bench import auto_check, growth, peers, start_up, tail
from opspace_ctrl.bench.agreement import (
    DisagreementError,
    check_agreement,
    conditions,
    explicit_parts,
)
from opspace_ctrl.bench.body import body
from opspace_ctrl.bench.ours import our_contestants, spaces
from opspace_ctrl.bench.robots import DEFAULT, Case, default_tasks, find_case
from opspace_ctrl.bench.singularity import singularity_costs
from opspace_ctrl.bench.states import regular_states, singular_states
from opspace_ctrl.bench.targets import Verdict, body_verdicts, ratio_verdicts
from opspace_ctrl.bench.timing import Contestant, Timing, pinned, time_in_turns
from opspace_ctrl.dynamics import forward_methods
from opspace_ctrl.errors import OpspaceError, UnknownFrameError
from opspace_ctrl.osim import methods


@pytest.fixture(scope="module")
def arm7():
    return find_case("arm7")


@pytest.fixture(scope="module")
def space(arm7):
    return OperationalSpace(arm7.model, arm7.tasks, method="sparse_ltdl")


@pytest.fixture(scope="module")
def states(space):
    return regular_states(space, 8, np.random.default_rng(0))


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
        peer = theirs.get(quantity, {})
        worst = check_agreement(quantity, {**ours, **peer}, condition)
        assert set(peer) < set(worst) and max(worst.values()) <= 1.0
    assert set(theirs["tick"]) == {"Pinocchio smart", "Pinocchio best", "MuJoCo"}


@pytest.mark.parametrize(
    "name, nv, m", [("panda", 7, 6), ("g1", 35, 24), ("talos", 38, 24), ("asimo", 40, 24)]
)
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
    # n = m: N is zero but for rounding
    parts = [np.ones((6, 6)), np.ones((6, 6)), np.zeros((6, 6)), np.ones(6)]

    def contestant(N):
        return Contestant(
            lambda: (*parts[:2], N, parts[3]), [()], lambda found, k: explicit_parts(*found)
        )

    noise = 1e-15 * np.random.default_rng(0).normal(size=(6, 6))
    check_agreement(
        "explicit", {"ours": contestant(parts[2]), "theirs": contestant(noise)}, np.ones(1)
    )
    with pytest.raises(DisagreementError, match="differ by 1.0e-09 .* part 3 of 4"):
        check_agreement(
            "explicit",
            {"ours": contestant(parts[2]), "theirs": contestant(parts[2] + 1e-9)},
            np.ones(1),
        )


@pytest.mark.parametrize(
    "name, base",
    [
        ("ur5_robot", None),
        ("ur10_robot", None),
        ("z1", None),
        ("free_flyer", None),
        ("ur5_robot", "floating"),
        ("tiago_no_hand", "floating"),
    ],
)
def test_robots_without_redundancy_or_with_odd_names_and_light_links_are_compared_too(name, base):
    case = find_case(name, base)
    built = spaces(case)
    states = regular_states(built["sparse_ltdl"], 16, np.random.default_rng(0))
    theirs, absent, failed = peers.peer_contestants(case, states)
    assert not absent and not failed
    for quantity, ours in our_contestants(built, states).items():
        check_agreement(
            quantity, {**ours, **theirs.get(quantity, {})}, conditions(built["sparse_ltdl"], states)
        )


def test_states_are_regular_or_singular_as_asked(space, states):
    for state in states:
        assert space.update(state.q).rank == space.m and not space.damped
    for state in singular_states(space, 2, np.random.default_rng(0)):
        assert space.update(state.q).rank < space.m


def test_the_body_in_a_loop_is_the_tick(space, states):
    loop = body(space)
    for state in states:
        expected = space.control(*state).copy()
        space.control(*states[0])
        np.testing.assert_array_equal(loop(*state), expected)


# ---- the stopwatch ----


def test_contestants_take_turns_through_all_states():
    calls = []
    field = {
        name: Contestant(
            lambda k, name=name: calls.append((name, k)), [(k,) for k in range(6)], None
        )
        for name in "ab"
    }
    times = time_in_turns(field, 12)
    one_turn = [0, 1, 2, 3, *range(6)]  # four untimed, then all
    assert calls == [(name, k) for name in "abab" for k in one_turn]
    assert all(timing.calls == 12 for timing in times.values())


def test_a_call_that_does_the_work_several_times_is_divided_by_that():
    def wait():
        time.sleep(0.002)

    field = {f"{n}": Contestant(wait, [()], None, repeats=n) for n in (1, 100)}
    times = time_in_turns(field, 3)
    # a busy machine may wake it late, but not 190 ms each time
    assert 1900.0 < times["1"].least and 19.0 < times["100"].least < 1900.0


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
    # a ratio in one run: it was once compiled away
    assert 0.5 < found["loop_median"] / found["median"] < 2.0


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
    ours = {
        "forward": {"aba": Timing(2.0, 9.0, 9.0, 2000), "crba_ltdl": Timing(1.0, 9.0, 9.0, 2000)}
    }
    theirs = {"forward": {"Pinocchio": Timing(4.0, 9.0, 9.0, 2000)}}
    found = {verdict.claim: verdict for verdict in ratio_verdicts("g1", ours, theirs)}
    assert found["forward: Pinocchio / our fastest"].value == 4.0
    assert found["forward: Pinocchio / aba"].value == 2.0
    assert all(verdict.met for verdict in found.values())


def test_the_body_is_shown_as_a_share_of_its_tick():
    ours = {"tick": {"sparse_ltdl": Timing(2.0, 9.0, 9.0, 2000)}}
    ours["body"] = {"sparse_ltdl": Timing(1.0, 9.0, 9.0, 2000)}
    (found,) = body_verdicts("g1", ours)
    assert found.value == 0.5 and found.met is None


# ---- peers ----


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
    found = growth.exponents(
        {
            "cubic": {n: 2.0 * n**3 for n in sizes},
            "flat_then_linear": {n: float(max(n, 64)) for n in sizes},
        }
    )
    assert found == pytest.approx({"cubic": 3.0, "flat_then_linear": 1.0})


def test_a_time_beside_the_fitted_line_shows_as_a_misfit():
    smooth = {n: 0.1 * n for n in (64, 128, 256, 512)}
    found = growth.misfits({"smooth": smooth, "disturbed": {**smooth, 256: 0.2 * 256}})
    assert found["smooth"] < 1e-9
    x, y = np.log([*smooth]), np.log([6.4, 12.8, 51.2, 51.2])
    assert found["disturbed"] == pytest.approx(
        np.exp(np.abs(y - np.poly1d(np.polyfit(x, y, 1))(x)).max()) - 1.0
    )


def test_frames_that_are_given_are_the_tasks_and_unknown_ones_are_refused():
    assert find_case("arm7", frames=("link4", "tool")).frames == ["link4", "tool"]
    with pytest.raises(UnknownFrameError, match="'finger'"):
        find_case("arm7", frames=("finger",))


def test_the_crossover_lies_where_the_lines_meet():
    sizes = (8, 16, 32, 64)
    found = growth.crossover(
        {"sparse_ltdl": {n: n**3 / 1000 for n in sizes}, "pv_osim": {n: float(n) for n in sizes}}
    )
    assert (found.joints, found.cost) == pytest.approx((1000**0.5, 1000**0.5))
    assert (
        growth.crossover({"sparse_ltdl": {8: 1.0, 16: 2.0}, "pv_osim": {8: 2.0, 16: 3.0}}) is None
    )


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
    assert (
        set(found["least_us"]) == set(methods(arm7.model)) and found["choice"] in found["least_us"]
    )
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
    script = (
        "import json, os, pathlib; seen = pathlib.Path(os.environ['NUMBA_CACHE_DIR'], 'starts'); "
        "n = len(seen.read_text()) if seen.exists() else 0; seen.write_text('x' * (n + 1)); "
        "print(json.dumps({'total': 10.0 - n}))"
    )
    monkeypatch.setattr(start_up, "_SCRIPT", script)
    assert start_up.start_up() == {"first": {"total": 10.0}, "later": {"total": 7.0}}


def test_a_start_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(start_up, "_SCRIPT", "raise SystemExit('no memory left')")
    with pytest.raises(start_up.StartUpError, match="no memory left"):
        start_up.start_up()
