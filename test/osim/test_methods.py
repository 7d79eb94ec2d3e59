# SPDX-License-Identifier: Apache-2.0
"""Which methods there are, what each refuses, switching between them while running, and methods of other packages."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from helpers.osim_cases import Dense, end_frames, random_state
from helpers.support import load_quietly, urdf_path
from helpers.urdf_text import arm, joint, link, mimic, robot

from opspace_ctrl import (
    CenterOfMass,
    OperationalSpace,
    Task,
    load_robot,
    load_urdf,
    mass_matrix,
    osim,
)
from opspace_ctrl.compiled.workspace import Workspace
from opspace_ctrl.errors import MethodError
from opspace_ctrl.osim import registry

ALL = ("dense", "sparse_ltl", "sparse_ltdl", "rjk", "efpa", "pv_osim", "pv_osimr", "base_invariant")
CARRY_ALL = ("dense", "sparse_ltl", "sparse_ltdl")
ON_A_FIXED_BASE = tuple(name for name in ALL if name != "base_invariant")
# a mimic joint on each arm, and another joint between them
CROSSED = robot(
    *(link(name) for name in "abcde"),
    joint("left", "a", "b", "continuous"),
    joint("left_wrist", "b", "c", "continuous"),
    joint("right", "a", "d", "continuous"),
    joint("right_wrist", "d", "e", "continuous", extra=mimic("left_wrist", 1.0, 0.0)),
)
FEET_AND_HANDS = ["left_hand", "right_hand", "left_foot", "right_foot"]


@pytest.fixture(scope="module")
def asimo():
    return load_robot("asimo")


@pytest.fixture(scope="module")
def state(asimo):
    (q, v), rng = random_state(asimo, 2), np.random.default_rng(0)
    return q, v, rng.normal(size=24), rng.normal(size=asimo.nv)


# ---- what there is ----


def test_methods_are_the_eight_of_the_design():
    assert osim.methods() == ALL


@pytest.mark.parametrize(
    "model, able",
    [
        (load_robot("free_flyer"), ALL),
        (load_robot("arm7"), ON_A_FIXED_BASE),
        (load_robot("arm7", base="floating"), ALL),
        (load_quietly(urdf_path("panda")), ON_A_FIXED_BASE),
        (load_quietly(urdf_path("panda"), "floating"), ALL),
        (load_urdf(CROSSED), CARRY_ALL),
        (load_urdf([arm(), arm()], ["floating", "floating"], prefixes=["a_", "b_"]), ALL),
        (load_urdf([arm(), arm()], ["floating", "fixed"], prefixes=["a_", "b_"]), ON_A_FIXED_BASE),
    ],
    ids=(
        "floating",
        "fixed",
        "floating arm",
        "mimic",
        "floating mimic",
        "crossed mimic",
        "floating forest",
        "mixed forest",
    ),
)
def test_methods_of_a_model_are_those_that_can_carry_it(model, able):
    assert osim.methods(model) == able
    for name in able:
        assert OperationalSpace(model, end_frames(model), name).method == name


@pytest.mark.parametrize(
    "source, task, method, says",
    [
        ("arm7", "tool", "base_invariant", "a fixed base"),
        *(
            (CROSSED, "e", method, r"mimic joints with other joints between them \(right_wrist\)")
            for method in ("rjk", "efpa", "pv_osim", "pv_osimr")
        ),
    ],
)
def test_a_method_that_cannot_carry_a_robot_refuses_and_names_those_that_can(
    source, task, method, says
):
    model = load_urdf(source) if source == CROSSED else load_robot(source)
    ospace = OperationalSpace(model, task, "dense").update(model.neutral())
    before = ospace.inertia_inv.copy()
    with pytest.raises(MethodError, match=says) as built:
        OperationalSpace(model, task, method)
    with pytest.raises(MethodError, match=says) as switched:
        ospace.method = method
    for error in (built, switched):
        assert (
            repr(method) in str(error.value) and "sparse_ltdl" in str(error.value).split("able:")[1]
        )
        assert method not in str(error.value).split("able:")[1].split(", ")
    assert ospace.method == "dense" and (ospace.inertia_inv == before).all()


def test_base_invariant_refuses_a_floating_joint_with_armature():
    """It would count as a free base, but its motors hold on to the world."""
    text = robot(link("a"), link("b"), joint("free", "a", "b", "floating"))
    assert "base_invariant" in osim.methods(load_urdf(text))
    assert "base_invariant" not in osim.methods(load_urdf(text, armature={"free": 0.1}))


@pytest.mark.parametrize("task", [Task("left_hand", relative_to="right_hand"), CenterOfMass()])
@pytest.mark.parametrize("method", ALL)
def test_002_section_10_every_method_carries_relative_tasks_and_the_centre_of_mass(
    asimo, method, task
):
    q, v = random_state(asimo, 0)
    ospace = OperationalSpace(asimo, task, method).update(q, v)
    Dense(mass_matrix(asimo, q), ospace.jacobian).check_all(ospace)


@pytest.mark.parametrize("name", ["", "RJK", "no_such", None, 3, ["rjk"]])
def test_an_unknown_method_is_refused_with_the_names_there_are(asimo, name):
    ospace = OperationalSpace(asimo, "left_hand", "rjk")
    with pytest.raises(MethodError, match="sparse_ltdl"):
        ospace.method = name
    with pytest.raises(MethodError, match="sparse_ltdl"):
        OperationalSpace(asimo, "left_hand", name)
    assert ospace.method == "rjk"


# ---- auto ----


def test_auto_takes_an_able_method_and_says_why(asimo):
    ospace = OperationalSpace(asimo, FEET_AND_HANDS)
    assert ospace.method in ALL
    assert ospace.choice.startswith(f"{ospace.method}: ")
    assert "us" in ospace.choice or "operations" in ospace.choice


def test_auto_skips_what_cannot_carry_the_robot():
    assert OperationalSpace(load_urdf(CROSSED), "e").method in CARRY_ALL
    panda = load_quietly(urdf_path("panda"))
    assert OperationalSpace(panda, "panda_link7").method in ON_A_FIXED_BASE


def test_a_method_asked_for_by_name_is_the_choice_also_after_auto(asimo):
    ospace = OperationalSpace(asimo, "left_hand", "efpa")
    assert ospace.choice == "efpa: asked for by name"
    ospace.method = "auto"
    assert ospace.method in ALL and ospace.choice.startswith(f"{ospace.method}: ")
    ospace.method = "dense"
    assert ospace.choice == "dense: asked for by name"


def test_choosing_auto_while_running_keeps_the_state(asimo, state):
    ospace = OperationalSpace(asimo, FEET_AND_HANDS, "rjk").update(*state[:2])
    before = ospace.inertia_inv.copy()
    ospace.method = "auto"
    np.testing.assert_allclose(ospace.inertia_inv, before, rtol=0.0, atol=1e-9)


# ---- switching while running ----


def addresses(ospace):
    return [
        getattr(ospace, name).__array_interface__["data"][0]
        for name in (
            "jacobian",
            "inertia_inv",
            "inertia",
            "jbar",
            "null_space",
            "bias_forces",
            "bias_acceleration",
        )
    ]


def test_switching_changes_nothing_but_rounding_and_no_array_moves(asimo, state):
    q, v, force, tau0 = state
    ospace = OperationalSpace(asimo, FEET_AND_HANDS, "sparse_ltdl").update(q, v)
    dense, where = Dense(mass_matrix(asimo, q), ospace.jacobian.copy()), addresses(ospace)
    ospace.prepare()
    for method in (*ALL, *reversed(ALL)):
        ospace.method = method
        dense.check_all(ospace)
        dense.check_torque(ospace.torque(force, tau0), force, tau0)
        assert addresses(ospace) == where


def test_a_method_switched_to_is_used_by_the_very_next_tick(asimo, state):
    """Rounding betrays which method computed: each has its own, bit by bit."""
    q, v, force, tau0 = state
    ospace = OperationalSpace(asimo, FEET_AND_HANDS, "sparse_ltdl")
    alone = {
        m: OperationalSpace(asimo, FEET_AND_HANDS, m).control(q, v, force, tau0).copy() for m in ALL
    }
    assert len({x.tobytes() for x in alone.values()}) > 4
    for method in (*ALL, *reversed(ALL)):
        ospace.method = method
        assert (ospace.control(q, v, force, tau0) == alone[method]).all()


def test_another_thread_ticks_on_while_methods_are_built_and_switched(asimo, state):
    q, v, force, tau0 = state
    ospace = OperationalSpace(asimo, FEET_AND_HANDS, "pv_osimr")
    expected, done, ticks = ospace.control(q, v, force, tau0).copy(), threading.Event(), []

    def tick():
        while not done.is_set():
            ticks.append(np.abs(ospace.control(q, v, force, tau0) - expected).max())

    thread = threading.Thread(target=tick)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        thread.start()
        for method in (*ALL, *ALL):
            ospace.method, reached = method, len(ticks) + 10
            while thread.is_alive() and len(ticks) < reached:
                time.sleep(0.0005)
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert len(ticks) > 100 and max(ticks) < 1e-8


@pytest.mark.parametrize(
    "start, other", [("rjk", "pv_osimr"), ("pv_osimr", "base_invariant"), ("efpa", "rjk")]
)
def test_a_tick_in_the_middle_of_building_another_method_is_right(
    asimo, state, monkeypatch, start, other
):
    """What a thread that ticks at the worst moment would see."""
    ospace, ticks = OperationalSpace(asimo, FEET_AND_HANDS, start), []
    expected, allocate = ospace.control(*state).copy(), Workspace._allocate

    def tick_then_allocate(workspace, shapes):
        ticks.append(ospace.control(*state).copy())
        allocate(workspace, shapes)
        ticks.append(ospace.control(*state).copy())

    monkeypatch.setattr(Workspace, "_allocate", tick_then_allocate)
    ospace.method = other
    assert ticks and all((tick == expected).all() for tick in ticks)


# ---- methods of other packages ----

THEIRS = """
from opspace_ctrl.compiled.jit import stage
from opspace_ctrl.compiled.lanes import W
from opspace_ctrl.dynamics import crba, ltl
from opspace_ctrl.osim import Method
from opspace_ctrl.osim.blocks import products, times_support
from opspace_ctrl.osim.fields import Space
from opspace_ctrl.osim.method import LTL
from opspace_ctrl.osim.methods.sparse_ltl import y_ltl

class Theirs(Method):
    name = "theirs"
    leaves = LTL
    carries = ("mimic", "relative", "center_of_mass")

@stage(Space, Theirs, fills="inertia_inv")
def inertia_inv(space, own):
    crba.mass_matrix(space.tree)
    ltl.ltl(space.tree)
    y_ltl(space)
    for r in range(space.registers):
        space.Y_d[r, 0:W] = space.Y_D[r, 0:W]
    products(space)
    times_support(space, space.Y_D, space.tree.x, space.Jx)

no_method = 3

class NoKernel(Method):
    name = "no_kernel"

@stage(Space, NoKernel, fills="inertia_inv")
def no_kernel(space, own):
    space.misspelt[0] = 1.0

class Dense(Method):
    name = "dense"
"""


@pytest.fixture
def their_package(tmp_path, monkeypatch):
    """Installs a package with the given entry points of our group."""

    def install(**entry_points):
        info = tmp_path / "theirs-1.0.dist-info"
        info.mkdir()
        info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in entry_points.items()]
        info.joinpath("entry_points.txt").write_text(
            "[opspace_ctrl.osim_methods]\n" + "\n".join(lines) + "\n"
        )
        tmp_path.joinpath("their_osim.py").write_text(THEIRS)
        tmp_path.joinpath("their_broken.py").write_text("import a_package_that_is_not_there\n")
        monkeypatch.syspath_prepend(tmp_path)
        forget()

    def forget():
        sys.modules.pop("their_osim", None)
        registry._foreign.cache_clear()
        registry._load.cache_clear()

    yield install
    monkeypatch.undo()
    forget()


def test_a_method_of_another_package_is_listed_used_and_timed_like_ours(
    their_package, asimo, state
):
    their_package(theirs="their_osim:Theirs")
    assert osim.methods() == (*ALL, "theirs") and "theirs" in osim.methods(load_robot("arm7"))
    ospace = OperationalSpace(asimo, FEET_AND_HANDS, "theirs").update(*state[:2])
    Dense(mass_matrix(asimo, state[0]), ospace.jacobian).check_all(ospace)
    assert "theirs" in OperationalSpace(asimo, FEET_AND_HANDS).choice


@pytest.mark.parametrize(
    "value, says",
    [
        ("their_broken:method", "a_package_that_is_not_there"),
        ("their_osim:missing", "missing"),
        ("their_osim:no_method", "no subclass of opspace_ctrl.osim.Method"),
        ("their_osim:NoKernel", "cannot be loaded"),
    ],
)
def test_a_broken_method_of_another_package_disturbs_nothing_and_is_refused_by_name(
    their_package, asimo, value, says
):
    their_package(broken=value)
    assert "broken" in osim.methods()
    with pytest.warns(UserWarning, match="broken"):
        assert "broken" not in osim.methods(asimo)
    with pytest.warns(UserWarning, match="broken"):
        ospace = OperationalSpace(asimo, FEET_AND_HANDS)
    assert ospace.method in ALL
    with pytest.raises(MethodError, match=says), pytest.warns(UserWarning, match="broken"):
        ospace.method = "broken"


def test_another_package_cannot_replace_a_method_of_ours(their_package, asimo):
    their_package(dense="their_osim:Dense", auto="their_osim:Theirs")
    assert osim.methods() == ALL
    assert registry.get_method("dense").__module__ == "opspace_ctrl.osim.methods.dense"
    assert OperationalSpace(asimo, "left_hand", "dense").method == "dense"


@pytest.mark.parametrize(
    "first",
    [
        "import opspace_ctrl.osim.methods.rjk",
        "from opspace_ctrl.osim.methods import rjk",
        "import opspace_ctrl.osim; opspace_ctrl.osim.registry.get_method('rjk')",
    ],
)
def test_the_function_methods_survives_imports_from_the_folder_of_its_name(first):
    script = f"{first}; import opspace_ctrl; print(*opspace_ctrl.osim.methods())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert tuple(done.stdout.split()) == ALL
