# SPDX-License-Identifier: Apache-2.0
"""Declared workspaces: what is declared is there, in Python and in kernels, under one name and of one shape."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core.errors import LoweringError, TypingError

import opspace_ctrl
from opspace_ctrl.compiled.jit import choice, kernel, run, stage
from opspace_ctrl.compiled.lanes import W
from opspace_ctrl.compiled.workspace import (
    Workspace,
    call,
    constant,
    count,
    part,
    result,
    scratch,
    setting,
    state,
    workspace_at,
)

ROOT = Path(opspace_ctrl.__file__).parents[1]


class Limb(Workspace):
    """A limb."""

    n = count("links")
    parent = constant("n", "parent of each link", int)
    mass = setting("n + 1", "of each link [kg]")
    length = setting("", "of all links [m]")
    turns = state("", "how often it was asked", int)
    q = state("n", "angles [rad]")
    H = result("n, 2 * n", "a matrix")
    spare = scratch("3, n + 1", "for the time being")
    load = result("", "a number")
    total_mass = call("(limb): load")


class Body(Workspace):
    """A body with a limb."""

    limb = part(Limb, "the limb")
    heaviest = result("", "mass of its heaviest link")
    measure = call("(body): load")


@stage(Limb)
def total_mass(limb):
    """The load, all masses."""
    mass = limb.mass
    found = 0.0
    for i in range(limb.n + 1):
        found += mass[i]
    limb.load = found
    limb.turns += 1


def make(n=3, **given):
    return Limb(n=n, mass=np.arange(n + 1.0), length=0.5, **given)


def test_fields_have_their_declared_shapes_and_begin_as_zeros():
    limb = Limb(n=5)
    assert [limb.parent.shape, limb.mass.shape, limb.H.shape, limb.spare.shape] == [
        (5,),
        (6,),
        (5, 10),
        (3, 6),
    ]
    assert limb.parent.dtype == np.int64 and limb.mass.dtype == np.float64
    assert limb.n == 5 and limb.length == 0.0 and isinstance(limb.turns, int)
    assert not any(getattr(limb, name).any() for name in ("parent", "mass", "q", "H", "spare"))


def test_rows_begin_on_a_register_and_have_room_for_a_whole_one_behind_the_last():
    limb = Limb(n=3)
    assert limb.address % 64 == 0 and limb.H.strides == (64, 8)
    for name in ("parent", "mass", "q", "H", "spare"):
        assert getattr(limb, name).ctypes.data % 64 == 0
    starts = sorted(getattr(limb, name).ctypes.data for name in ("parent", "mass", "q", "H"))
    assert starts[1] - starts[0] >= 8 * (3 + W)


def test_fields_of_no_rows_are_allowed():
    limb = Limb(n=0)
    assert limb.q.shape == (0,) and limb.H.shape == (0, 0)


def test_python_reads_and_writes_what_kernels_do():
    @kernel
    def move(limb):
        q, H, parent = limb.q, limb.H, limb.parent
        for i in range(limb.n):
            q[i] += limb.length
            H[i, i + 1] = parent[i]
        limb.load = q[0] + 1.0
        limb.turns = 7

    limb = make(parent=[3, 0, 1])
    view = limb.q
    limb.q = [1.0, 2.0, 3.0]
    move(limb)
    np.testing.assert_array_equal(view, [1.5, 2.5, 3.5])
    np.testing.assert_array_equal(limb.H[:, 1:4], np.diag([3.0, 0.0, 1.0]))
    assert limb.load == 2.5 and limb.turns == 7
    limb.length = 1.0  # live
    limb.q[:] = 0.0
    move(limb)
    assert limb.load == 2.0


@pytest.mark.parametrize(
    "given, message",
    [
        ({}, "no count n"),
        ({"n": 3, "lenght": 1.0}, "no field lenght"),
        ({"mass": 1.0, "colour": 2}, "no field colour, no count n"),
    ],
)
def test_wrong_names_are_named(given, message):
    with pytest.raises(TypeError, match=f"Limb: {message}"):
        Limb(**given)


def test_a_value_of_another_shape_is_refused():
    with pytest.raises(ValueError):
        Limb(n=3, parent=[0, 1])


def test_reset_puts_zeros_into_a_role_and_touches_no_other():
    limb = make(parent=[3, 0, 1], q=np.ones(3), H=np.ones((3, 6)), turns=4, load=2.0)
    limb.reset()
    assert not limb.q.any() and limb.turns == 0 and limb.H.all() and limb.load == 2.0
    limb.reset("result", "scratch")
    assert not limb.H.any() and limb.load == 0.0
    assert limb.mass[3] == 3.0 and limb.length == 0.5 and limb.parent.tolist() == [3, 0, 1]


def test_a_shared_field_is_another_name_of_the_same_memory():
    @kernel
    def write(limb):
        limb.spare[1, 2] = 8.0

    limb = make()
    limb.share("H", "spare")
    write(limb)
    assert limb.H[1, 2] == 8.0 and limb.H is limb.spare


# ---- parts and stages ----


@kernel
def mass_of(body, i):
    return body.limb.mass[i]


def test_a_kernel_sees_a_part_and_what_it_is_exchanged_for():
    body = Body(limb=make())
    assert mass_of(body, 2) == 2.0
    body.limb = Limb(n=4, mass=np.full(5, 9.0))
    assert mass_of(body, 2) == 9.0 and body.limb.n == 4


def test_a_part_lives_as_long_as_it_is_held():
    body = Body(limb=make())
    first = weakref.ref(body.limb)
    gc.collect()
    assert first() is body.limb
    body.limb = make()
    gc.collect()
    assert first() is None


def test_a_part_of_another_class_is_refused():
    with pytest.raises(TypeError, match="limb takes a Limb, not a Body"):
        Body(limb=Body())


def test_a_part_can_be_exchanged_by_another_thread_while_kernels_run():
    @kernel
    def spoiled(body, times):
        """How often the masses of one limb were not all the same."""
        found = 0
        for _ in range(times):
            limb = body.limb
            mass = limb.mass
            found += mass[0] != mass[1] or mass[1] != mass[2]
        return found

    limbs = [Limb(n=2, mass=k + 1.0) for k in range(2)]
    body, stop = Body(limb=limbs[0]), threading.Event()

    def exchange():
        while not stop.is_set():
            for limb in limbs:
                body.limb = limb

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        assert sum(spoiled(body, 1000) for _ in range(300)) == 0
    finally:
        stop.set()
        thread.join()


def test_a_stage_stands_in_the_call_field_of_its_name_and_kernels_call_it_by_name():
    @kernel
    def through_a_kernel(limb):
        total_mass(limb)

    limb = make()
    assert limb.total_mass is Limb.stages["total_mass"]
    through_a_kernel(limb)
    assert limb.load == 6.0 and limb.turns == 1
    total_mass(limb)  # uncompiled
    assert limb.turns == 2


def test_a_choice_stands_nowhere_until_it_is_put_there():
    @choice(Body)
    def heaviest(body):
        limb, found = body.limb, 0.0
        for i in range(limb.n + 1):
            found = max(found, limb.mass[i])
        body.heaviest = found

    @choice(Body)
    def lightest(body):
        body.heaviest = body.limb.mass[0]

    @kernel
    def measured(body):
        run(body.measure, body)
        return body.heaviest

    body = Body(limb=make())
    assert "measure" not in Body.stages
    body.measure = heaviest
    assert measured(body) == 3.0
    body.measure = lightest
    assert measured(body) == 0.0


def test_a_subclass_is_laid_out_as_its_base_and_kernels_of_the_base_take_its_address():
    class Finger(Limb):
        """A limb that presses."""

        pressure = state("n", "[Pa]")

    class Thumb(Limb):
        """A limb without fields of its own."""

    assert list(Finger.fields)[: len(Limb.fields)] == list(Limb.fields)
    assert Thumb.type is Limb.type and Finger.type is not Limb.type
    limb_at = workspace_at(Limb)

    @kernel
    def first_angle(address):
        return limb_at(address).q[0]

    finger = Finger(n=2, q=[3.0, 4.0], pressure=[1.0, 2.0])
    assert first_angle(finger.address) == 3.0 and finger.total_mass is Limb.stages["total_mass"]


def test_an_address_is_the_workspace_again_uncompiled_too():
    limb, limb_at = make(), workspace_at(Limb)
    assert limb_at(limb.address) is limb


def test_a_workspace_that_is_gone_leaves_nothing_behind():
    limb = make()
    address, gone = limb.address, weakref.ref(limb)
    del limb
    gc.collect()
    assert gone() is None
    with pytest.raises(KeyError):
        workspace_at(Limb)(address)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_workspace_cannot_be_copied(copied):
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copied(make())


# ---- mistakes, and others' code ----


def test_a_misspelt_field_is_named_in_numbas_error():
    @njit
    def wrong(limb):
        return limb.lenght

    with pytest.raises(TypingError, match=r"Unknown attribute 'lenght' of type Limb_[0-9a-f]{8}"):
        wrong(make())


def change_count(limb):
    limb.n = 5


def change_array(limb):
    limb.H = limb.spare


@pytest.mark.parametrize(("change", "name"), [(change_count, "n"), (change_array, "H")])
def test_a_kernel_cannot_change_what_llvm_is_told_is_fixed(change, name):
    with pytest.raises(
        (TypeError, LoweringError), match=f"{name} is fixed"
    ):  # older Numba wraps it
        kernel(change)(make())


def sum_of_q(limb):
    found = 0.0
    for i in range(limb.n):
        found += limb.q[i]
    return found


def test_a_field_that_is_lent_other_memory_between_calls_is_read_there():
    limb, total = make(), kernel(sum_of_q)
    limb.q = 0.5
    assert total(limb) == 0.5 * limb.n
    limb.lend("q", np.arange(1.0, limb.n + 1.0))
    assert total(limb) == limb.n * (limb.n + 1) / 2


def test_a_users_njit_reads_a_workspace_and_calls_a_stage():
    @njit
    def mine(limb):
        total_mass(limb)
        return limb.load * limb.length

    assert mine(make()) == 3.0


def test_a_users_njit_calls_a_kernel():
    """Numba once aborted the process here."""
    code = """
from numba import njit
from opspace_ctrl.dynamics.spatial import momentum

@njit
def kinetic(m, mc, i, w, v):
    return momentum(m, mc, i, w, v)

one = (1.0, 1.0, 1.0)
print(kinetic(1.0, one, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0), one, one))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))\n"


def test_described_is_a_table_of_all_fields():
    lines = Limb.described().splitlines()
    assert lines[:4] == ["### Limb", "", "A limb.", ""]
    assert "| `mass` | (n + 1) | setting | of each link [kg] |" in lines
    assert "| `length` |  | setting | of all links [m] |" in lines
    assert "| `limb` |  | Limb | the limb |" in Body.described().splitlines()
    assert len(lines) == 6 + len(Limb.fields)


def test_every_field_of_the_package_has_a_meaning():
    from opspace_ctrl.algebra.closure.fields import Chain
    from opspace_ctrl.dynamics.fields import Dual, Tree

    for cls in (Tree, Dual, Chain):
        assert all(field.doc for field in cls.fields.values())
        assert (cls.__doc__ or "").strip()
