# SPDX-License-Identifier: Apache-2.0
"""What OperationalSpace does with numbers and tasks it cannot use, and with those it can though they look odd."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.osim_cases import random_state
from helpers.urdf_text import arm, link, robot

from opspace_ctrl import CenterOfMass, OperationalSpace, Task, load_robot, load_urdf
from opspace_ctrl.errors import ConfigurationError, MethodError, UnknownFrameError
from opspace_ctrl.osim import methods

RESULTS = (
    "jacobian",
    "bias_acceleration",
    "bias_forces",
    "inertia_inv",
    "inertia",
    "jbar",
    "null_space",
)
ROBOTS = ("arm7", "free_flyer")


class Case:
    """A robot with a task on its last link, in a known good state."""

    def __init__(self, name):
        self.model = load_robot(name)
        self.ospace = OperationalSpace(self.model, self.model.body_names[-1], "sparse_ltdl")
        (self.q, self.v), rng = random_state(self.model, 1), np.random.default_rng(2)
        self.force, self.tau0 = rng.normal(size=6), rng.normal(size=self.model.nv)
        self.torque = self.ospace.update(self.q, self.v).torque(self.force, self.tau0).copy()
        self.results = {name: getattr(self.ospace, name).copy() for name in RESULTS}

    @property
    def good(self):
        return {"q": self.q, "v": self.v, "force": self.force, "tau0": self.tau0}

    def check_unharmed(self):
        for name, expected in self.results.items():
            np.testing.assert_array_equal(getattr(self.ospace, name), expected, err_msg=name)
        close(self.ospace.torque(self.force, self.tau0), self.torque)


@pytest.fixture(params=ROBOTS)
def case(request):
    return Case(request.param)


def close(ours, expected):
    np.testing.assert_allclose(ours, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())


def spoiled(x, how):
    x = np.array(x)
    bad = {
        "nan": lambda: np.where(np.arange(len(x)) == len(x) - 1, np.nan, x),
        "inf": lambda: np.where(np.arange(len(x)) == 0, -np.inf, x),
        "huge": lambda: x + 1e200,
        "short": lambda: x[:-1],
        "long": lambda: np.append(x, 0.0),
        "column": lambda: x[:, None],
        "scalar": lambda: x[0],
        "text": lambda: ["a"] * len(x),
        "number texts": lambda: [str(e) for e in x],
        "complex": lambda: x + 1j,
        "ragged": lambda: [[1.0], 2.0],
        "objects": lambda: [object()] * len(x),
    }
    return bad[how]()


HOWS = (
    "nan",
    "inf",
    "huge",
    "short",
    "long",
    "column",
    "scalar",
    "text",
    "number texts",
    "complex",
    "ragged",
    "objects",
)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("which", ["q", "v", "force", "tau0"])
def test_control_refuses_bad_numbers_and_keeps_its_last_good_state(case, which, how):
    with pytest.raises(ConfigurationError, match="beyond" if how == "huge" else which):
        case.ospace.control(**{**case.good, which: spoiled(case.good[which], how)})
    case.check_unharmed()


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("which", ["q", "v"])
def test_update_refuses_bad_numbers_and_keeps_its_last_good_state(case, which, how):
    given = {"q": case.q, "v": case.v, which: spoiled(case.good[which], how)}
    with pytest.raises(ConfigurationError, match="beyond" if how == "huge" else which):
        case.ospace.update(**given)
    case.check_unharmed()


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("which", ["force", "tau0"])
def test_torque_refuses_bad_numbers_and_keeps_its_last_good_state(case, which, how):
    given = {"force": case.force, "tau0": case.tau0, which: spoiled(case.good[which], how)}
    with pytest.raises(ConfigurationError, match="beyond" if how == "huge" else which):
        case.ospace.torque(**given)
    case.check_unharmed()


@pytest.mark.parametrize("scale", [0.0, 1e-12])
def test_a_quaternion_without_direction_is_refused(scale):
    case = Case("free_flyer")
    q = case.q.copy()
    q[3:7] *= scale
    for call in (
        lambda: case.ospace.update(q, case.v),
        lambda: case.ospace.control(q, case.v, case.force, case.tau0),
    ):
        with pytest.raises(ConfigurationError, match="quaternion"):
            call()
        case.check_unharmed()


@pytest.mark.parametrize("scale", [1e-7, 0.3, -1.0, 1e5, 1e80])
def test_a_quaternion_of_any_length_counts_by_its_direction(scale):
    case = Case("free_flyer")
    q = case.q.copy()
    q[3:7] *= scale
    close(case.ospace.control(q, case.v, case.force, case.tau0, compensate=False), case.torque)


ODD = {
    "lists": list,
    "tuples": tuple,
    "read-only": lambda x: read_only(x),
    "every other": lambda x: np.repeat(x, 2)[::2],
    "reversed": lambda x: x[::-1].copy()[::-1],
    "big endian": lambda x: x.astype(">f8"),
    "long double": lambda x: x.astype(np.longdouble),
}


def read_only(x):
    x = x.copy()
    x.setflags(write=False)
    return x


@pytest.mark.parametrize("how", ODD)
def test_odd_but_good_arrays_give_the_same_results(case, how):
    """But for a last bit that another normalisation of the quaternion may turn."""
    given = {name: ODD[how](x) for name, x in case.good.items()}
    case.ospace.update(*random_state(case.model, 9))
    close(case.ospace.control(**given, compensate=False), case.torque)
    case.ospace.update(*random_state(case.model, 9)).update(given["q"], given["v"])
    close(case.ospace.torque(given["force"], given["tau0"]), case.torque)
    for name, expected in case.results.items():
        close(getattr(case.ospace, name), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, bool])
def test_numbers_of_other_types_count_by_their_value(case, dtype):
    given = {name: np.round(x).astype(dtype) for name, x in case.good.items()}
    if case.model.nq > case.model.nv:
        given["q"][6] = 1  # a quaternion of zeros would be refused
    expected = case.ospace.control(**{name: x.astype(float) for name, x in given.items()}).copy()
    close(case.ospace.control(**given), expected)


def test_a_missing_force_tau0_or_velocity_is_zero(case):
    none = np.zeros(case.model.nv)
    np.testing.assert_array_equal(
        case.ospace.torque(case.force).copy(), case.ospace.torque(case.force, none)
    )
    np.testing.assert_array_equal(
        case.ospace.torque(tau0=case.tau0).copy(), case.ospace.torque(np.zeros(6), case.tau0)
    )
    np.testing.assert_array_equal(case.ospace.update(case.q).bias_acceleration, np.zeros(6))


def test_inputs_are_left_as_they_were(case):
    before = {name: x.copy() for name, x in case.good.items()}
    case.ospace.control(**case.good)
    for name, x in case.good.items():
        np.testing.assert_array_equal(x, before[name])


@pytest.mark.parametrize("name", (*RESULTS, "rank", "condition", "damped"))
def test_reading_before_the_first_state_is_refused(name):
    model = load_robot("arm7")
    with pytest.raises(ConfigurationError, match="update"):
        getattr(OperationalSpace(model, "tool", "rjk"), name)


def test_a_torque_before_the_first_state_is_refused_also_after_a_bad_state():
    ospace = OperationalSpace(load_robot("arm7"), "tool", "rjk")
    with pytest.raises(ConfigurationError, match="finite"):
        ospace.update(np.full(7, np.nan))
    with pytest.raises(ConfigurationError, match="update"):
        ospace.torque(np.zeros(6))


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_read_only_views_that_follow_the_state(case, name):
    result = getattr(case.ospace, name)
    with pytest.raises(ValueError, match="read-only"):
        result[...] = 0.0
    case.ospace.update(*random_state(case.model, 5))
    assert np.shares_memory(getattr(case.ospace, name), result)
    assert not np.array_equal(result, case.results[name])


@pytest.mark.parametrize("method", [m for m in methods() if m != "base_invariant"])
def test_a_torque_leaves_what_was_read_before_as_it_was(case, method):
    """Bit by bit, though it computes Lambda^-1 again."""
    case.ospace.method = method
    result = case.ospace.update(case.q, case.v).inertia_inv
    before = result.copy()
    case.ospace.torque(case.force, case.tau0)
    np.testing.assert_array_equal(result, before)
    np.testing.assert_array_equal(result, result.T)


def test_torques_are_read_only(case):
    for torque in (
        case.ospace.torque(case.force),
        case.ospace.control(case.q, case.v, case.force, case.tau0),
    ):
        with pytest.raises(ValueError, match="read-only"):
            torque[0] = 0.0


# ---- tasks ----


@pytest.mark.parametrize(
    "task", ["tol", Task("tol"), ("tol", "position"), Task("tool", relative_to="tol"), Task(3), ""]
)
def test_an_unknown_frame_is_refused_with_the_frames_there_are(task):
    with pytest.raises(UnknownFrameError, match="link7"):
        OperationalSpace(load_robot("arm7"), ["tool", task])


@pytest.mark.parametrize(
    "rows",
    [
        "pos",
        "",
        np.eye(3),
        np.zeros((0, 6)),
        np.zeros(6),
        np.full((1, 6), np.nan),
        [[1, 2], [3]],
        [["a"] * 6],
        None,
        np.zeros((2, 2, 6)),
    ],
)
def test_rows_that_pick_nothing_are_refused_by_the_tasks_name(rows):
    with pytest.raises(ConfigurationError, match="tool"):
        OperationalSpace(load_robot("arm7"), Task("tool", rows))


@pytest.mark.parametrize(
    "rows", ["pose", np.eye(6), np.zeros((0, 3)), [[1, 2], [3]], None, np.full((1, 3), np.inf)]
)
def test_rows_of_the_centre_of_mass_that_pick_nothing_are_refused(rows):
    with pytest.raises(ConfigurationError, match="centre of mass"):
        OperationalSpace(load_robot("arm7"), CenterOfMass(rows))


@pytest.mark.parametrize(
    "tasks", [[], None, 3, [3], ["tool", None], [("tool", "position", "base_link")], {}]
)
def test_what_is_no_task_is_refused(tasks):
    with pytest.raises(ConfigurationError, match="task"):
        OperationalSpace(load_robot("arm7"), tasks)


@pytest.mark.parametrize(
    "task, fixed_to",
    [
        ("base_link", "the world"),
        (Task("base_link", relative_to="base_link"), "base"),
        (Task("tool", relative_to="link7"), "link7"),
    ],
)
def test_a_frame_that_nothing_moves_is_refused(task, fixed_to):
    with pytest.raises(MethodError, match=f"nothing moves it.*{fixed_to}"):
        OperationalSpace(load_robot("arm7"), ["tool", task])


def test_a_robot_without_joints_has_no_task():
    stone = load_urdf(robot(link("stone")))
    for task in ("stone", CenterOfMass()):
        with pytest.raises(MethodError, match="moves"):
            OperationalSpace(stone, task)


def test_all_ways_to_write_a_task_mean_the_same():
    model = load_urdf(arm(4))
    q, v = random_state(model, 0)
    expected = OperationalSpace(model, Task("l4", "position"), "dense").update(q, v).jacobian
    rows = np.eye(6)[:3]
    for task in (
        ("l4", "position"),
        [("l4", "position")],
        ("l4", rows),
        Task("l4", rows.tolist()),
        (("l4", rows),),
    ):
        np.testing.assert_array_equal(
            OperationalSpace(model, task, "dense").update(q, v).jacobian, expected
        )
    # two frames, not a frame and its rows
    pair = OperationalSpace(model, ("l4", "l2"), "dense").update(q, v)
    assert [task.frame for task in pair.tasks] == ["l4", "l2"] and pair.jacobian.shape == (12, 4)


def test_a_task_of_zero_rows_everywhere_has_rank_zero_and_leaves_tau0_alone():
    model = load_robot("arm7")
    ospace = OperationalSpace(model, Task("tool", np.zeros((2, 6))), "rjk").update(
        *random_state(model, 0)
    )
    assert (ospace.rank, ospace.damped, ospace.condition) == (0, True, np.inf)
    np.testing.assert_array_equal(ospace.torque([1.0, 2.0], np.arange(7)), np.arange(7.0))


def test_a_misspelt_method_is_offered_the_nearest():
    model = load_robot("arm7")
    with pytest.raises(
        MethodError, match="no method 'base_invarient'.*did you mean 'base_invariant'"
    ):
        OperationalSpace(model, ["tool"], method="base_invarient")
