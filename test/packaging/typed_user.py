# SPDX-License-Identifier: Apache-2.0
"""A user's program as a type checker sees it: all that is public has a type, and a slip is found before it runs.

It is checked by test_types.py, not run. A line with `type: ignore` is wrong on purpose: were it not found to be, the
comment would be reported as unused.
"""

from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import opspace_ctrl
from opspace_ctrl import (
    CenterOfMass,
    CenterOfMassTask,
    Contact,
    Controller,
    Model,
    OperationalSpace,
    OpspaceError,
    OrientationTask,
    PoseTask,
    PositionTask,
    Posture,
    Simulator,
    Task,
    bias_forces,
    forward_dynamics,
    frame_jacobian,
    frame_pose,
    inverse_dynamics,
    load_mjcf,
    load_robot,
    load_urdf,
    mass_matrix,
)

Floats: TypeAlias = NDArray[np.float64]


def loads(path: Path, paths: list[Path]) -> Model:
    assert_type(load_urdf(path, base="floating", locked={"finger": 0.0}), Model)
    assert_type(load_urdf(paths, prefixes=["left_", "right_"]), Model)
    assert_type(load_mjcf(path, gravity=[0.0, 0.0, 0.0]), Model)
    load_urdf(path, bass="floating")  # type: ignore[call-arg]
    load_robot("arm7", bass="floating")  # type: ignore[call-arg]
    load_robot("arm7", gravity=9.81)  # type: ignore[arg-type]
    return load_robot("arm7", armature=0.1)


def computes(model: Model, q: Floats) -> None:
    v = [0.0] * model.nv
    assert_type(mass_matrix(model, q), Floats)
    assert_type(bias_forces(model, q, v), Floats)
    assert_type(inverse_dynamics(model, q, v, v, external={"tool": [0.0] * 6}), Floats)
    assert_type(forward_dynamics(model, q, v, v, method="aba"), Floats)
    assert_type(frame_jacobian(model, q, "tool"), Floats)
    assert_type(frame_pose(model, q, "tool"), tuple[Floats, Floats])
    assert_type(model.joint_names, tuple[str, ...])
    mass_matrix(model)  # type: ignore[call-arg]
    mass_matrix("arm7", q)  # type: ignore[arg-type]
    frame_pose(model, q, 3)  # type: ignore[arg-type]
    model.joint_name  # type: ignore[attr-defined]  # noqa: B018


def takes_tasks_in_every_spelling(model: Model, q: Floats, tasks: list[Task]) -> None:
    OperationalSpace(model, "tool")
    OperationalSpace(model, ("tool", "position"))
    OperationalSpace(model, tasks)
    OperationalSpace(model, 3)  # type: ignore[arg-type]
    OperationalSpace(model, "tool", methd="rjk")  # type: ignore[call-arg]
    space = OperationalSpace(model, ["tool", ("tool", [[1.0] * 6]), Task("tool"), CenterOfMass()])
    assert_type(space.update(q).inertia, Floats)
    assert_type(space.control(q, [0.0] * model.nv, tau0=q), Floats)
    assert_type(space.rank, int)
    space.method = 3  # type: ignore[assignment]
    space.rank = 3  # type: ignore[misc]


def controls(model: Model) -> None:
    tasks = [
        PoseTask("tool", stiffness=400.0),
        PositionTask("elbow", level=1),
        OrientationTask("hand"),
        CenterOfMassTask("com"),
    ]
    controller = Controller(model, tasks, Posture(stiffness=50.0), [Contact("foot")])
    robot = Simulator(model, engine="native", initial_positions={"joint1": 0.1})
    try:
        tau = controller.tick(robot.q, robot.v, robot.time)
    except OpspaceError:
        return
    robot.step(tau)
    assert_type(tau, Floats)
    assert_type(robot, Simulator)
    assert_type(Controller.from_file("arm7.yaml"), Controller)
    assert_type(controller.pose("tool"), tuple[Floats, Floats])
    PoseTask("tool", stifness=400.0)  # type: ignore[call-arg]
    PoseTask("tool", stiffness="high")  # type: ignore[arg-type]
    Posture(stifness=50.0)  # type: ignore[call-arg]
    Contact("foot", frictoin=0.5)  # type: ignore[call-arg]
    Simulator(model, engine="bullet")  # type: ignore[arg-type]
    Simulator(model, stp=1e-3)  # type: ignore[call-arg]
    Controller(model, mode="task")  # type: ignore[arg-type]
    controller.tik  # type: ignore[attr-defined]  # noqa: B018


def looks_into_layers(model: Model) -> None:
    assert_type(opspace_ctrl.osim.methods(model), tuple[str, ...])
    assert_type(opspace_ctrl.dynamics.forward_methods(), tuple[str, ...])
    opspace_ctrl.Contoller  # type: ignore[attr-defined]  # noqa: B018
