# SPDX-License-Identifier: Apache-2.0
"""The plugin's ROS-free core, compiled by g++ with sanitizers: the same commands as Python, bit for bit."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers.exported import shipped

from opspace_ctrl import Simulator
from opspace_ctrl.control.safety.guarded import GuardedController
from opspace_ctrl.control.safety.state_gate import StateGate
from opspace_ctrl.export import library_path
from opspace_ctrl.export.controller import image_of
from opspace_ctrl.export.library import machine, native_target, runtime_folder
from opspace_ctrl.export.native import Library
from opspace_ctrl.export.record import with_reference_ticks
from opspace_ctrl.export.simulator import simulator_image, with_reference_steps

HERE = Path(__file__).parent
CORE = HERE.parents[1] / "ros2_control" / "core"
STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-pthread")
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
MILLISECOND = 1_000_000
START = 5_000 * MILLISECOND


def compiled(folder: Path, source: Path, *flags: str) -> Path:
    """The object of a source."""
    made = folder / f"{source.stem}.o"
    words = [
        *STRICT,
        *flags,
        "-I",
        CORE / "include",
        "-I",
        runtime_folder(),
        "-c",
        source,
        "-o",
        made,
    ]
    done = subprocess.run(["g++", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


def linked(folder: Path, name: str, objects: list[Path], *flags: str) -> Path:
    """A program of this folder with the core."""
    own = [compiled(folder, HERE / f"{each}.cpp", *flags) for each in (name, "counting")]
    words = [*flags, "-pthread", *own, *objects, "-o", folder / name, "-ldl"]
    done = subprocess.run(["g++", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / name


def core_objects(folder: Path, *flags: str) -> list[Path]:
    return [compiled(folder, source, *flags) for source in sorted(CORE.glob("src/*.cpp"))]


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory) -> tuple[Path, list[Path]]:
    """A folder, and the objects of the core with sanitizers in it."""
    folder = tmp_path_factory.mktemp("sanitized")
    return folder, core_objects(folder, *SANITIZED)


@pytest.fixture(scope="module")
def images(tmp_path_factory) -> Path:
    """A folder with arm7's controller and simulator, and asimo's controller."""
    folder, record = tmp_path_factory.mktemp("images"), Library(library_path()).record
    here = machine(native_target())
    for name in ("arm7", "asimo"):
        controller = shipped(name)
        image = with_reference_ticks(image_of(controller), controller, record, here)
        (folder / f"{name}.opspace").write_bytes(image.packed())
    simulator = Simulator("arm7", initial_positions=[0.0, 0.35, 0.0, 1.55, 0.0, 1.24, 0.0])
    image = with_reference_steps(simulator_image(simulator), simulator, record, here)
    (folder / "arm7_simulator.opspace").write_bytes(image.packed())
    return folder


@pytest.fixture(scope="module")
def script(sanitized) -> Path:
    return linked(sanitized[0], "script", sanitized[1], *SANITIZED)


def run(program: Path, image: Path, events: str = "") -> list[str]:
    """What the program says of the events, a line each, and first what it says of the image."""
    words = [str(each) for each in (program, library_path(), image)]
    done = subprocess.run(words, input=events, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def row(*numbers: object) -> str:
    """Numbers in all their bits."""
    flat = np.concatenate([np.ravel(np.asarray(each, float)) for each in numbers])
    return " ".join(float(x).hex() for x in flat)


def commands(lines: list[str]) -> list[tuple[str, bytes]]:
    """(outcome, bits of the torque) of every cycle."""
    split = [
        line.split() for line in lines if line.startswith(("command", "safe", "nothing", "error"))
    ]
    return [
        (words[0], np.array([float.fromhex(x) for x in words[1:]]).tobytes()) for words in split
    ]


def motion(name: str, count: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(time [ns], q, v) of a motion within all limits, a millisecond apart."""
    model, rng = shipped(name).model, np.random.default_rng(4)
    start = model.integrate(model.neutral(), 0.02 * rng.standard_normal(model.nv), 1.0)
    swing = 0.01 * rng.standard_normal(model.nv)
    for i in range(count):
        phase = 0.004 * i
        q = model.integrate(start, swing, np.sin(phase))
        yield START + i * MILLISECOND, q, 4.0 * np.cos(phase) * swing


def believed(gate: StateGate, controller, time: int, q: np.ndarray, v: np.ndarray):
    """The state as the gate takes it: a quaternion of length one but for rounding is normalised once more."""
    model, joints = controller.model, controller.joints
    k = len(joints)
    order = [model.joint_names.index(name) for name in joints]
    if len(q) > k:
        gate.odometry(q[:-k], v[:-k], time, model.frame_names[0], time, time)
    gate.joint_states(joints, q[-k:][order], v[-k:][order], time, time, time)
    return gate.q, gate.v


def state_line(model, joints, time: int, q: np.ndarray, v: np.ndarray) -> str:
    """The event of a state, joints in the order of the command."""
    k = len(joints)
    order = [list(model.joint_names).index(name) for name in joints]
    base = (q[:-k], v[:-k]) if len(q) > k else ()
    return f"state {time} {row(q[-k:][order], v[-k:][order], *base)}"


def test_plain_tests_pass_under_sanitizers(images, sanitized):
    program = linked(sanitized[0], "core", sanitized[1], *SANITIZED)
    files = (library_path(), images / "arm7.opspace", images / "arm7_simulator.opspace")
    done = subprocess.run([str(each) for each in (program, *files)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert done.stdout == "0 failures\n"


@pytest.mark.parametrize("name", ["arm7", "asimo"])
def test_commands_are_those_of_controller_tick_on_the_same_states(script, images, name):
    controller = shipped(name)
    gate = StateGate(controller.model, controller.settings.safety)
    task, joints = controller.task_names[0], controller.joints
    lines, expected = [f"begin {START - MILLISECOND}"], []
    target = row([0.3, 0.1, 0.4], [0.0, 0.6, 0.0, 0.8])
    for i, (time, q, v) in enumerate(motion(name, 400)):
        steady, told = time * 1e-9, (time - START) * 1e-9
        told_state = state_line(controller.model, joints, time, q, v)
        q, v = believed(gate, controller, time, q, v)
        if i == 0:
            controller.begin()
            controller.restart(q, v, told)
            controller.use_wall_clock(True)
        if i == 50:
            lines.append(f"pose {task} {target}")
            controller.target_pose(task, [0.3, 0.1, 0.4], [0.0, 0.6, 0.0, 0.8], told - 0.001)
        if i == 150:
            lines.append("choose method rjk")
            controller.method = "rjk"
        if i % 3 == 1:
            lines.append("warm")  # nothing may come of it
        lines.append(told_state)
        expected.append(controller.tick(q, v, told, steady).tobytes())
    found = commands(run(script, images / f"{name}.opspace", "\n".join(lines)))[1:]
    assert [outcome for outcome, _ in found] == ["command"] * 400
    assert [tau for _, tau in found] == expected


def test_behind_closed_gates_commands_are_those_of_python(script, images):
    """A state that is not finite, one that jumped, a stop and a reset, a target in between, and the end."""
    controller = shipped("arm7")
    gate = StateGate(controller.model, controller.settings.safety)
    guarded = GuardedController(controller, gate)
    controller.use_wall_clock(True)
    lines, expected = [f"begin {START - MILLISECOND}"], []
    guarded.activate(START - MILLISECOND, START - MILLISECOND)
    for i, (time, q, v) in enumerate(motion("arm7", 300)):
        if i == 40:
            q = np.where(np.arange(7) == 3, np.nan, q)
        if i == 80:
            q = q + 2.0
        if i == 120:
            lines.append("stop")
            gate.stop()
        if i == 160:
            lines.append("reset")
            gate.open_all()
        if i % 3 == 1:
            lines.append("warm")
        if i == 200:
            lines.append(f"twist tool {row(np.full(6, 0.1))}")
            controller.target_twist("tool", np.full(6, 0.1), gate.time)
        if i == 240:
            lines.append("hold")
            controller.hold(gate.q, gate.v, gate.time)
        lines.append(state_line(controller.model, controller.joints, time, q, v))
        verdict = gate.joint_states(controller.joints, q, v, time, time, time)
        tau = guarded.answer(verdict, time, time)
        assert tau is not None
        expected.append(tau.tobytes())
        gate.computed(1000)
    lines.append("end")
    last = guarded.deactivate()
    found = commands(run(script, images / "arm7.opspace", "\n".join(lines)))[1:]
    assert last is not None
    assert [tau for _, tau in found] == [*expected, last.tobytes()]
    outcomes = [outcome for outcome, _ in found]
    assert outcomes[39:42] == ["command", "safe", "command"] and outcomes[80] == "safe"
    assert outcomes[119:161] == ["command", *["safe"] * 40, "command"] and outcomes[-1] == "safe"


def test_an_error_comes_only_after_gates_were_closed_for_so_long(script, images):
    controller = shipped("arm7")
    lines = ["error_after 0.05", f"begin {START - MILLISECOND}"]
    for i, (time, q, v) in enumerate(motion("arm7", 300)):
        if i in (100, 200):
            lines.append("stop")
        if i == 140:
            lines.append("reset")
        lines.append(state_line(controller.model, controller.joints, time, q, v))
    outcomes = [
        outcome for outcome, _ in commands(run(script, images / "arm7.opspace", "\n".join(lines)))
    ][1:]
    assert outcomes[:200] == ["command"] * 100 + ["safe"] * 40 + ["command"] * 60
    assert outcomes[200:] == ["safe"] * 50 + ["error"] * 50


def test_without_a_usable_first_state_nothing_is_sent_and_then_it_is_an_error(script, images):
    lines = ["error_after 0.02", f"begin {START - MILLISECOND}"]
    lines += [f"state {START + i * MILLISECOND} {row(np.full(14, np.nan))}" for i in range(30)]
    outcomes = [
        outcome for outcome, _ in commands(run(script, images / "arm7.opspace", "\n".join(lines)))
    ]
    assert outcomes == ["nothing"] * 21 + ["error"] * 10


def test_a_reference_of_another_controller_counts_as_a_target_once(script, images):
    """Given in every cycle, and in one cycle as a target: the same commands."""
    controller = shipped("arm7")
    pose = row([0.3, 0.1, 0.4, 0.0, 0.6, 0.0, 0.8])
    found = []
    for event in ("refer", "pose"):
        lines = [f"begin {START - MILLISECOND}"]
        for i, (time, q, v) in enumerate(motion("arm7", 100)):
            if i == 9:
                lines.append(f"refer {row([0.3, 0.1, 0.4, np.nan, 0.6, 0.0, 0.8])}")
            if i >= 10 and event == "refer":
                lines.append(f"refer {pose}")
            if i == 10 and event == "pose":
                lines.append(f"pose tool {pose}")
            lines.append(state_line(controller.model, controller.joints, time, q, v))
        found.append(commands(run(script, images / "arm7.opspace", "\n".join(lines))))
    assert found[0] == found[1]


def test_a_reference_counts_again_when_gates_have_been_closed(script, images):
    """Given in every cycle, and as a target whenever all gates are open for the first time: the same commands."""
    controller = shipped("arm7")
    pose = row([0.3, 0.1, 0.4, 0.0, 0.6, 0.0, 0.8])
    found = []
    for event in ("refer", "pose"):
        lines = [f"begin {START - MILLISECOND}"]
        for i, (time, q, v) in enumerate(motion("arm7", 200)):
            lines += ["stop"] if i == 100 else ["reset"] if i == 130 else []
            if event == "refer":
                lines.append(f"refer {pose}")
            elif i in (1, 131):  # the cycle before was answered with a torque
                lines.append(f"pose tool {pose}")
            lines.append(state_line(controller.model, controller.joints, time, q, v))
        found.append(commands(run(script, images / "arm7.opspace", "\n".join(lines))))
    assert found[0] == found[1]
    assert [outcome for outcome, _ in found[0]].count("safe") == 30


def test_references_of_many_tasks_that_always_change_are_taken_by_turns(script, images):
    """Asimo's tasks all get a new reference in every cycle; a tick takes two."""
    controller, count = shipped("asimo"), 60
    tasks, lines = len(controller.task_names), [f"begin {START - MILLISECOND}"]
    for i, (time, q, v) in enumerate(motion("asimo", count)):
        lines.append(f"refer {row([[1e-3 * i, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]] * tasks)}")
        lines.append(state_line(controller.model, controller.joints, time, q, v))
    said = run(script, images / "asimo.opspace", "\n".join([*lines, "field references.stamp"]))
    stamps = [float.fromhex(x) for x in said[-2].split()[1:]]
    assert tasks > 2 and len(stamps) == tasks
    newest = 1e-3 * (count - 2)  # the state that was believed when the last references came
    assert max(stamps) == pytest.approx(newest)
    assert min(stamps) > newest - 1e-3 * (tasks + 1) / 2


def test_nothing_is_allocated_in_a_cycle(images, tmp_path):
    """Targets, references, parameters, switches, closed gates and all."""
    program = linked(tmp_path, "script", core_objects(tmp_path, "-O1"), "-O1")
    controller = shipped("arm7")
    lines = [f"begin {START - MILLISECOND}"]
    events = (
        f"pose tool {row([0.3, 0.1, 0.4, 0.0, 0.6, 0.0, 0.8])}",
        f"twist tool {row(np.full(6, 0.1))}",
        "choose method rjk",
        f"set tool.stiffness {row(500.0)}",
        "hold",
        "stop",
        "reset",
        f"posture {row(np.full(7, 0.1))}",
    )
    for i, (time, q, v) in enumerate(motion("arm7", 200)):
        if i % 20 == 19:
            lines.append(events[i // 20 % len(events)])
        if i % 3 == 1:
            lines.append("warm")
        lines.append(state_line(controller.model, controller.joints, time, q, v))
    said = run(program, images / "arm7.opspace", "\n".join(lines))
    assert not [line for line in said if line.startswith("asked") and line != "asked "]
    word, inside, _, everywhere = said[-1].split()
    assert (word, inside) == ("allocations", "0") and int(everywhere) > 200


def test_reference_ticks_that_differ_in_a_bit_are_refused_unless_they_are_of_another_target(
    script, images, tmp_path
):
    controller, record = shipped("arm7"), Library(library_path()).record
    image = with_reference_ticks(image_of(controller), controller, record, machine(native_target()))
    ticks = image.ticks.copy()
    ticks[77, -1] *= 1.0 + 1e-14
    file = tmp_path / "robot.opspace"
    said = {}
    for target in (machine(native_target()), "another machine"):
        file.write_bytes(image.with_ticks(ticks, target).packed())
        said[target] = run(script, file)[0]
    assert "refused, 199 of 200 reference ticks bit-identical" in said[machine(native_target())]
    assert (
        said["another machine"].startswith("opened 199 of 200")
        and "another machine" in said["another machine"]
    )
    ticks[77, -1] *= 1.001
    file.write_bytes(image.with_ticks(ticks, "another machine").packed())
    assert "refused, 199 of 200" in run(script, file)[0]
    file.write_bytes(image.with_ticks(ticks[:0], "another machine").packed())
    assert "no reference ticks" in run(script, file)[0]
