# SPDX-License-Identifier: Apache-2.0
"""`ospace.tasks = [...]`: as if the object were made anew, whole or not at all, also while another thread ticks."""

import sys
import threading

import numpy as np
import pytest

from opspace_ctrl import CenterOfMass, OperationalSpace, OpspaceError, Task, load_robot
from opspace_ctrl.osim import methods

RESULTS = (
    "jacobian",
    "bias_acceleration",
    "bias_forces",
    "inertia_inv",
    "inertia",
    "jbar",
    "null_space",
    "rank",
    "condition",
)
CASES = {
    "arm7": (["tool"], [("tool", "position"), CenterOfMass()]),
    "asimo": (
        ["left_foot", "right_foot"],
        ["left_foot", Task("right_hand", "position", "left_hand"), CenterOfMass()],
    ),
}
MODELS = {name: load_robot(name) for name in CASES}


def state(model, seed=3):
    rng = np.random.default_rng(seed)
    return model.random_configuration(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


def shown(ospace, q, v, tau0):
    """Every result at a state, and the torques of a force on every row."""
    force = np.linspace(-1.0, 2.0, ospace.m)
    torque = ospace.control(q, v, force, tau0).copy()
    ospace.update(q, v)
    return [torque, *(np.array(getattr(ospace, name)) for name in RESULTS)]


@pytest.mark.parametrize(
    "robot, method", [(name, method) for name in CASES for method in methods(MODELS[name])]
)
def test_results_are_those_of_a_new_object_bit_by_bit_there_and_back(robot, method):
    model, (first, second) = MODELS[robot], CASES[robot]
    ospace = OperationalSpace(model, first, method)
    shown(ospace, *state(model))
    for tasks in (second, first):
        ospace.tasks = tasks
        anew = OperationalSpace(model, tasks, method)
        assert ospace.method == method and ospace.m == anew.m
        assert len(ospace.tasks) == len(anew.tasks) == len(tasks)
        for one, other in zip(shown(ospace, *state(model)), shown(anew, *state(model))):
            np.testing.assert_array_equal(one, other)


def test_old_results_stay_as_they_are_and_new_ones_need_a_state():
    model, (first, second) = MODELS["arm7"], CASES["arm7"]
    q, v, _ = state(model)
    ospace = OperationalSpace(model, first)
    held = ospace.update(q, v).inertia_inv
    before = held.copy()
    ospace.tasks = second
    for name in RESULTS:
        with pytest.raises(OpspaceError, match="no state yet"):
            getattr(ospace, name)
    with pytest.raises(OpspaceError, match="no state yet"):
        ospace.torque()
    ospace.update(-q, v)
    np.testing.assert_array_equal(held, before)
    with pytest.raises(OpspaceError, match="force"):
        ospace.control(q, v, np.zeros(7))
    assert ospace.control(q, v, np.zeros(6)).shape == (7,)


def test_auto_chooses_again_and_a_method_asked_for_is_kept():
    model, (first, second) = MODELS["asimo"], CASES["asimo"]
    ospace = OperationalSpace(model, first)
    ospace.tasks = second
    assert "asked for" not in ospace.choice and ospace.choice.startswith(ospace.method)
    ospace.method = "efpa"
    ospace.tasks = first
    assert ospace.method == "efpa" and "asked for" in ospace.choice


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        None,
        ["tol"],
        [("tool", "poses")],
        [("tool", [[1.0, 2.0]])],
        [("tool", np.full((1, 6), np.nan))],
        ["tool", Task("tool", relative_to="nowhere")],
        [Task("tool", relative_to="tool")],
        [3],
    ],
)
def test_wrong_tasks_are_refused_and_nothing_changes(wrong):
    model = MODELS["arm7"]
    q, v, tau0 = state(model)
    ospace = OperationalSpace(model, ["tool"], "rjk")
    ospace.update(q, v)
    tasks, interval = ospace.tasks, sys.getswitchinterval()
    before = ospace.inertia.copy()
    with pytest.raises(OpspaceError):
        ospace.tasks = wrong
    assert ospace.tasks is tasks and ospace.m == 6 and ospace.method == "rjk"
    np.testing.assert_array_equal(ospace.inertia, before)
    assert sys.getswitchinterval() == interval
    anew = OperationalSpace(model, ["tool"], "rjk")
    for one, other in zip(shown(ospace, q, v, tau0), shown(anew, q, v, tau0)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("robot", CASES)
@pytest.mark.parametrize("method", ["sparse_ltdl", "pv_osimr"])
def test_another_thread_sees_the_old_tasks_or_the_new_ones_and_nothing_between(robot, method):
    model, lists = MODELS[robot], CASES[robot]
    q, v, tau0 = state(model)
    right = [OperationalSpace(model, tasks, method).control(q, v, None, tau0) for tasks in lists]
    ospace = OperationalSpace(model, lists[0], method)
    seen, inertias, done = {0: 0, 1: 0}, {0: 0, 1: 0}, threading.Event()
    expected = [OperationalSpace(model, tasks, method).update(q, v).inertia for tasks in lists]
    wrong = []

    def which(found, candidates):
        return next((k for k, each in enumerate(candidates) if np.array_equal(found, each)), None)

    def tick():
        while not done.is_set():
            k = which(ospace.control(q, v, None, tau0), right)
            seen[k] = seen.get(k, 0) + 1
            try:
                k = which(ospace.update(q, v).inertia, expected)
            except OpspaceError as error:  # exchanged between the two calls
                if "no state yet" not in str(error):
                    wrong.append(error)
            else:
                inertias[k] = inertias.get(k, 0) + 1

    thread, usual = threading.Thread(target=tick), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        thread.start()
        changes = 0
        while changes < 40 or not (all(seen.values()) and all(inertias.values())):
            changes += 1
            ospace.tasks = lists[changes % 2]
            if not thread.is_alive():
                break
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(usual)
    assert not wrong and set(seen) == set(inertias) == {0, 1}
    assert all(seen.values()) and all(inertias.values())
