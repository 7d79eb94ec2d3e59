# SPDX-License-Identifier: Apache-2.0
"""`OperationalSpace` is an ordinary Python object: derived from, wrapped, mocked, held through its parts."""

import copy
import functools
import gc
import inspect
import threading
import unittest.mock
import weakref

import numpy as np
import pytest

from opspace_ctrl import OperationalSpace, load_robot


@pytest.fixture(scope="module")
def model():
    return load_robot("arm7")


def make(model, cls=OperationalSpace):
    return cls(model, ["tool"], "sparse_ltdl")


def test_a_bound_method_keeps_its_object(model):
    function = make(model).update
    gone = weakref.ref(function.__self__)
    gc.collect()
    assert function(np.zeros(7)) is gone() and gone().inertia_inv.shape == (6, 6)
    with pytest.raises(Exception, match="not finite"):
        function([np.nan] * 7)
    del function
    gc.collect()
    assert gone() is None


def test_views_outlive_their_object(model):
    shown = make(model).update(np.full(7, 0.2)).inertia_inv
    kept = shown.copy()
    gc.collect()
    rubbish = [np.full(10_000, np.nan) for _ in range(50)]
    assert len(rubbish) == 50 and np.array_equal(shown, kept)


def test_a_class_may_be_derived_from_and_its_methods_overridden(model):
    class Scaled(OperationalSpace):
        def control(self, *args, **kwargs):
            return 2.0 * super().control(*args, **kwargs)

    plain, scaled = make(model), make(model, Scaled)
    q, v = np.full(7, 0.3), np.full(7, 0.1)
    np.testing.assert_array_equal(scaled.control(q, v), 2.0 * plain.control(q, v))
    np.testing.assert_array_equal(scaled.control(q, v, tau0=q), 2.0 * plain.control(q, v, tau0=q))


def test_an_overridden_update_is_not_called_while_its_object_is_made_and_copies_keep_their_class(
    model,
):
    class Counting(OperationalSpace):
        updates = None

        def update(self, q, v=None):
            self.updates = (self.updates or 0) + 1
            return super().update(q, v)

    made = Counting(model, ["tool"])
    assert made.updates is None and made.update(np.zeros(7)) is made and made.updates == 1
    assert type(copy.copy(made)) is Counting


def test_help_shows_names_defaults_and_documentation():
    names = list(inspect.signature(OperationalSpace.control).parameters.values())
    assert [each.name for each in names] == ["self", "q", "v", "force", "tau0", "compensate"]
    assert [each.default for each in names[3:]] == [None, None, True]
    assert "control tick" in OperationalSpace.control.__doc__
    assert "Lambda^-1" in OperationalSpace.inertia_inv.__doc__


def test_arguments_may_be_named_and_wrong_calls_are_type_errors(model):
    space, q, v = make(model), np.full(7, 0.3), np.full(7, 0.1)
    expected = space.control(q, v, None, q, False).copy()
    np.testing.assert_array_equal(space.control(v=v, q=q, compensate=False, tau0=q), expected)
    for call in (
        lambda: space.control(),
        lambda: space.update(q, v, q),
        lambda: space.control(q, v, z=1),
        lambda: space.update(q, q=q),
    ):
        with pytest.raises(TypeError):
            call()


def test_results_cannot_be_assigned(model):
    with pytest.raises(AttributeError):
        make(model).update(np.zeros(7)).inertia = 3


def test_objects_made_by_several_threads_at_once_all_work(model):
    found = []

    def work(k):
        space, q = make(model), np.full(7, 0.1 * k)
        for _ in range(200):
            one = space.update(q).inertia_inv.copy()
            found.append(np.array_equal(one, space.update(list(q)).inertia_inv))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 800 and all(found)


def test_what_wraps_or_mocks_a_method_is_left_in_place(model):
    calls, original = [], OperationalSpace.control

    @functools.wraps(original)
    def counting(self, *args, **kwargs):
        calls.append(1)
        return original(self, *args, **kwargs)

    with (
        unittest.mock.patch.object(OperationalSpace, "control", counting),
        unittest.mock.patch.object(OperationalSpace, "torque"),
    ):
        space = make(model)
        assert not calls and space.control(np.zeros(7), np.zeros(7)).shape == (7,)
        assert len(calls) == 1
