# SPDX-License-Identifier: Apache-2.0
"""From a `Simulator` to its image: a robot that C programs step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import ExportError, listed
from ..sim.engine.integrators import STAGES
from ..sim.engine.native import NativeSimulator
from ..sim.simulator import Simulator
from .image import Image
from .memory import Memory
from .naming import field_rows
from .record import TICKS, Recorder
from .stages import kernel_hash

__all__ = ["simulator_image", "with_reference_steps"]

SWING = 0.001  # of the effort limits, or of 50 Nm where there is none


def simulator_image(simulator: Simulator) -> Image:
    """The image of a simulated robot as it is now, without reference steps.

    Raises:
        ExportError: Another engine than the native one; an integrator that is not compiled; a joint with several
            coordinates; a forward dynamics that is not in the library.
    """
    if not isinstance(simulator, NativeSimulator):
        raise ExportError(
            f"engine {simulator.settings.engine!r} cannot be exported; valid is 'native'"
        )
    integrator = simulator.settings.integrator
    if integrator not in STAGES:
        raise ExportError(
            f"integrator {integrator!r} cannot be exported; valid are {listed(STAGES)}"
        )
    model, engine = simulator.model, simulator._engine
    if engine.joints != len(model.joint_names):
        raise ExportError(f"{model.name}: a joint has several coordinates; valid is one each")
    memory = Memory([engine])
    return Image(
        robot=model.name,
        nq=model.nq,
        nv=model.nv,
        data=memory.data,
        pointers=memory.pointers,
        calls=memory.calls,
        fields=sorted(field_rows(memory, engine), key=lambda row: row.name.encode()),
        joints=model.joint_names,
        kernels=kernel_hash(),
        engine=memory.place(engine.address),
        state=engine.state_words,
        frames=model.frame_names,
    )


def with_reference_steps(
    image: Image, simulator: Simulator, record: Recorder | None, target: str
) -> Image:
    """The image with reference steps, made through a library of a target, or else by Python.

    The efforts hold the robot where it is, and swing a little: a robot that falls on what it touches makes more of a
    rounding, with every step, than another kind of machine may differ by.
    """
    limit = np.where(
        np.isfinite(simulator.model.effort_limits), simulator.model.effort_limits, 50.0
    )
    times = simulator.settings.step * np.arange(1.0, TICKS + 1)[:, None]
    swing = SWING * limit * np.sin(20.0 * times + np.arange(len(limit)))
    efforts = np.array(simulator.hold()) + swing
    states = record(image.packed(), efforts) if record else _by_python(simulator, efforts)
    return image.with_ticks(np.hstack([times, states, efforts]), target)


def _by_python(simulator: Simulator, efforts: NDArray[np.float64]) -> NDArray[np.float64]:
    before, states = simulator.save(), []
    for tau in efforts:
        simulator.step(tau)
        states.append(np.concatenate([simulator.q, simulator.v]))
    simulator.restore(before)
    return np.array(states)
