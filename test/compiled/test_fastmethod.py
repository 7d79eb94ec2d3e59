"""Methods that are kernels behave as Python methods do, whatever they are given, and keep what they need alive."""

import copy
import gc
import inspect
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from numba.types import boolean, int64

import opspace_ctrl
from opspace_ctrl import OperationalSpace, load_robot
from opspace_ctrl.dynamics.layout import Workspace, count
from opspace_ctrl.fastmethod import Compiled, FastProperty, fast, install
from opspace_ctrl.jit import getter, method
from opspace_ctrl.vector import floats_of, is_absent, is_vector, vector

ROOT = Path(opspace_ctrl.__file__).parents[1]
A, B, NONE = 300, 301, 302  # slots of a header that nobody uses here


@method(int64(vector, vector, boolean, int64), defaults=(None, False))
def larger(x, y, swapped, w):
    """Which of two objects in the header: A if the first number of x is larger than that of y, else B."""
    if is_absent(x) or is_absent(y):
        return 0
    for each in (x, y):
        if not is_vector(each, 1, count(w, 0), count(w, 1)):
            return 0
    return count(w, A) if (floats_of(x)[0] > floats_of(y)[0]) != swapped else count(w, B)


@method(int64(int64), returns_self=True)
def nothing(w):
    """Does nothing."""
    return 1


@getter
def shown(slot, w):
    """The object in a slot, if there is one."""
    return count(w, slot)


class Pair(Compiled):
    def __init__(self):
        work = Workspace()
        self.a, self.b = np.zeros(2), np.zeros(3)
        work.keep(A, self.a)
        work.keep(B, self.b)
        self._head = work.head
        install(Pair)

    @fast(larger)
    def larger(self, x, y=None, swapped: bool = False):
        """One of the two."""
        return "python", x, y, swapped

    @fast(nothing)
    def nothing(self):
        """Itself."""
        return "python"

    first = FastProperty(shown, A, "The first object.")
    empty = FastProperty(shown, NONE, "No object.")

    def _read_refused(self):
        raise LookupError("there is none")


@pytest.fixture
def pair():
    return Pair()


ONE, TWO = np.array([1.0]), np.array([2.0])


def test_what_the_kernel_takes_it_does(pair):
    assert pair.larger(TWO, ONE) is pair.a and pair.larger(ONE, TWO) is pair.b
    assert pair.larger(TWO, ONE, True) is pair.b and pair.larger(TWO, ONE, False) is pair.a
    assert pair.larger(TWO, y=ONE) is pair.a and pair.larger(y=ONE, x=TWO, swapped=True) is pair.b
    assert pair.larger(TWO, ONE, **{"swapped": True}) is pair.b
    assert pair.nothing() is pair and pair.first is pair.a


def test_what_it_refuses_the_python_method_is_given_unchanged(pair):
    assert pair.larger(ONE) == ("python", ONE, None, False)  # y absent: the kernel refuses
    assert pair.larger(TWO, y=[1.0], swapped=True) == ("python", TWO, [1.0], True)
    assert pair.larger([2.0], ONE) == ("python", [2.0], ONE, False)
    assert pair.larger(TWO, ONE, 1) == ("python", TWO, ONE, 1)  # a flag is True or False
    assert pair.larger(np.zeros(3), None)[:1] == ("python",)
    with pytest.raises(LookupError, match="there is none"):
        pair.empty  # noqa: B018


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.larger(),
        lambda p: p.larger(ONE, ONE, True, 4),
        lambda p: p.nothing(1),
        lambda p: p.larger(ONE, z=1),
        lambda p: p.larger(ONE, ONE, y=TWO),
        lambda p: Pair.larger(),
        lambda p: Pair.larger(3, ONE),
    ],
)
def test_wrong_calls_are_type_errors(pair, call):
    with pytest.raises(TypeError):
        call(pair)


def test_an_object_without_a_header_uses_python():
    bare = Pair.__new__(Pair)
    assert bare.larger(TWO, ONE) == ("python", TWO, ONE, False)
    with pytest.raises(LookupError):
        bare.first  # noqa: B018


def test_attributes_cannot_be_set(pair):
    with pytest.raises(AttributeError):
        pair.first = 3


def test_references_are_counted(pair):
    counted = pair.a, pair.b, pair, ONE, TWO, None, True
    before = [sys.getrefcount(each) for each in counted]
    for _ in range(1000):
        pair.larger(TWO, ONE)
        pair.larger(ONE, TWO, True)
        pair.larger(ONE)
        pair.larger(x=ONE, y=TWO)
        pair.nothing()
        pair.first  # noqa: B018
    after = [sys.getrefcount(each) for each in counted]
    assert max(abs(x - y) for x, y in zip(before, after)) < 100


def test_a_bound_method_keeps_its_object():
    function, gone = OperationalSpace(load_robot("arm7"), ["tool"], "sparse_ltdl").update, None
    gone = weakref.ref(function.__self__)
    gc.collect()
    assert function(np.zeros(7)) is gone() and gone().inertia_inv.shape == (6, 6)
    with pytest.raises(Exception, match="not finite"):
        function([np.nan] * 7)
    del function
    gc.collect()
    assert gone() is None


def test_views_outlive_their_object():
    shown = (
        OperationalSpace(load_robot("arm7"), ["tool"], "sparse_ltdl")
        .update(np.full(7, 0.2))
        .inertia_inv
    )
    kept = shown.copy()
    gc.collect()
    rubbish = [np.full(10_000, np.nan) for _ in range(50)]
    assert len(rubbish) == 50 and np.array_equal(shown, kept)


def test_a_class_may_be_derived_from_and_its_methods_overridden():
    class Scaled(OperationalSpace):
        def control(self, *args, **kwargs):
            return 2.0 * super().control(*args, **kwargs)

    model = load_robot("arm7")
    plain, scaled = (
        OperationalSpace(model, ["tool"], "sparse_ltdl"),
        Scaled(model, ["tool"], "sparse_ltdl"),
    )
    q, v = np.full(7, 0.3), np.full(7, 0.1)
    np.testing.assert_array_equal(scaled.control(q, v), 2.0 * plain.control(q, v))
    np.testing.assert_array_equal(scaled.control(q, v, tau0=q), 2.0 * plain.control(q, v, tau0=q))


def test_an_overridden_update_is_not_called_while_its_object_is_made_and_copies_keep_their_class():
    class Counting(OperationalSpace):
        updates = None

        def update(self, q, v=None):
            self.updates = (self.updates or 0) + 1
            return super().update(q, v)

    made = Counting(load_robot("arm7"), ["tool"])
    assert made.updates is None and made.update(np.zeros(7)) is made and made.updates == 1
    assert type(copy.copy(made)) is Counting


def test_help_shows_names_defaults_and_documentation():
    OperationalSpace(load_robot("arm7"), ["tool"], "sparse_ltdl")
    assert (
        str(inspect.signature(OperationalSpace.control))
        == "(self, /, q, v, force=None, tau0=None, compensate=True)"
    )
    assert (
        "control tick" in OperationalSpace.control.__doc__
        and "Lambda^-1" in OperationalSpace.inertia_inv.__doc__
    )


def test_objects_made_by_several_threads_at_once_all_work():
    model, found = load_robot("arm7"), []

    def work(k):
        space, q = OperationalSpace(model, ["tool"], "sparse_ltdl"), np.full(7, 0.1 * k)
        for _ in range(200):
            found.append(
                np.array_equal(space.update(q).inertia_inv, space.update(list(q)).inertia_inv)
            )

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 800 and all(found)


def test_what_wraps_or_mocks_a_method_before_the_first_object_is_left_in_place():
    code = """
import functools, unittest.mock
import numpy as np
import opspace_ctrl
from opspace_ctrl import OperationalSpace, load_robot
calls, original = [], OperationalSpace.control

@functools.wraps(original)
def counting(self, *args, **kwargs):
    calls.append(1)
    return original(self, *args, **kwargs)

OperationalSpace.control = counting
with unittest.mock.patch.object(OperationalSpace, "torque"):
    space = OperationalSpace(load_robot("arm7"), ["tool"], "sparse_ltdl")
print(len(calls), space.control(np.zeros(7), np.zeros(7)).shape, len(calls), OperationalSpace.jacobian.__doc__)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == "0 (7,) 1 J (m, nv).\n"
