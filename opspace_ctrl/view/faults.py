# SPDX-License-Identifier: Apache-2.0
"""Faults of the simulated robot on buttons, as `opspace hil` has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import viser

from ..model import Model
from .widgets import Note

__all__ = ["FAULTS", "FaultTab"]

FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "Lose all messages": ({"kind": "loss", "side": "both"}, "no message gets through"),
    "Drop one in ten": ({"kind": "drop", "side": "both", "probability": 0.1}, "messages are lost"),
    "5 ms late": ({"kind": "latency", "side": "both", "delay": 0.005}, "every message is late"),
    "Encoder noise": (
        {"kind": "noise", "joints": "$joint", "position": 1e-3, "velocity": 0.02},
        "of the joint above",
    ),
    "Freeze encoder": ({"kind": "freeze", "joints": "$joint"}, "of the joint above"),
    "Dead joint": ({"kind": "dead_joint", "joints": "$joint"}, "its drive applies nothing"),
    "Weak drive": (
        {"kind": "torque_scale", "joints": "$joint", "factor": 0.5},
        "it applies half of its command",
    ),
    "More friction": (
        {"kind": "friction", "joints": "$joint", "viscous": 2.0, "coulomb": 2.0},
        "than the model knows",
    ),
    "Add 2 kg": ({"kind": "mass", "frame": "$frame", "added": 2.0}, "to the link above"),
    "Push 30 N": (
        {"kind": "push", "frame": "$frame", "force": [0, 30, 0]},
        "the link above, along y",
    ),
}


class FaultTab:
    """The joint and the link that faults are of, for how long, and a button for each.

    Args:
        gui: viser's.
        model: The robot.
        ask: Takes requests.
    """

    def __init__(self, gui: Any, model: Model, ask: Callable[..., None]):
        self._ask = ask
        joints, frames = list(model.joint_names), list(model.body_names)
        self._joint = gui.add_dropdown("joint", joints, initial_value=joints[-1])
        self._frame = gui.add_dropdown("link", frames, initial_value=frames[-1])
        self._seconds = gui.add_number("for [s]", 1.0, min=0.01, max=600.0, step=0.1)
        for title, (entry, hint) in FAULTS.items():
            button = gui.add_button(title, hint=hint, color="gray")
            button.on_click(lambda _, entry=entry: self._inject(entry))
        end = gui.add_button("End all faults", icon=viser.Icon.CIRCLE_CHECK)
        self._note = Note(gui)
        end.on_click(lambda _: ask("clear_faults", answer=self._note.say))

    def _inject(self, entry: dict[str, Any]) -> None:
        own = {"$joint": self._joint.value, "$frame": self._frame.value}
        given = {
            key: own.get(value, value) if isinstance(value, str) else value
            for key, value in entry.items()
        }
        given["duration"] = self._seconds.value
        self._ask("fault", given, answer=self._note.say)
