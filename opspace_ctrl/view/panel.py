# SPDX-License-Identifier: Apache-2.0
"""The panel beside the scene: stop, state, method, gains, posture, faults, and what is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
import viser

from ..control.safety.state_gate import names_of
from ..control.safety.words import GATE_TEXTS
from ..control.settings import ControllerSettings
from ..declaration import Settings, declared
from ..model import Model
from ..sim.joint_index import coordinate_names, position_index
from .widgets import Note, ParameterWidget

__all__ = ["Panel"]

Ask = Callable[..., None]

MODES = ("tasks", "gravity", "raw")
MAIN = ("enabled", "stiffness", "damping_ratio", "integral", "speed")  # of a task, shown at once
BIG = """<style>
[data-opspace-stop] ~ *, .opspace-none {}
div:has(> [data-opspace-stop]) + div button, div:has([data-opspace-stop]) + div button {
  height: 3.4em !important; font-size: 1.35em !important; font-weight: 800 !important; letter-spacing: .18em; }
</style><div data-opspace-stop></div>"""


class Panel:
    """The elements, and what they ask for.

    Args:
        server: viser's.
        model: The robot.
        settings: Of its controller.
        methods: Names of the methods that can be chosen.
        ask: Takes requests; None: nothing can be asked for, the page only shows.
        release: Called when tasks no longer go where their handles are.
    """

    def __init__(
        self,
        server: Any,
        model: Model,
        settings: ControllerSettings,
        methods: Sequence[str],
        ask: Ask | None,
        release: Callable[[], None],
    ):
        self._gui, self._model, self._settings = server.gui, model, settings
        self._methods, self._ask, self._release = tuple(methods), ask, release
        self._said, self._is_paused = "", False
        self._state = self._gui.add_html("")
        if ask is not None:
            self._stop_buttons()
        tabs = self._gui.add_tab_group()
        with tabs.add_tab("Drive", viser.Icon.STEERING_WHEEL):
            self._drive()
        with tabs.add_tab("Gains", viser.Icon.ADJUSTMENTS):
            self._gains()
        if ask is not None:
            with tabs.add_tab("Faults", viser.Icon.BOLT):
                self._faults()
        self.show_tab = tabs.add_tab("Show", viser.Icon.EYE)

    # ---- stop ----

    def _stop_buttons(self) -> None:
        gui = self._gui
        gui.add_html(BIG)
        stop = gui.add_button("STOP", color="red", icon=viser.Icon.HAND_STOP)
        stop.on_click(lambda _: self._do("stop"))
        command = gui.add_command("Emergency stop", hotkey="escape", icon=viser.Icon.HAND_STOP)
        command.on_trigger(lambda _: self._do("stop"))
        row = gui.add_button_group("", ("Release", "Hold", "Reset", "Pause"))
        row.on_click(self._pressed)
        self.note = Note(gui)

    def _pressed(self, event: Any) -> None:
        word = event.target.value.lower()
        if word == "pause":
            self._is_paused = not self._is_paused
            self._ask_for("pause", self._is_paused)
            return
        self._do(word)

    def _do(self, word: str) -> None:
        self._release()
        self._ask_for(word)

    def _ask_for(self, *request: Any) -> None:
        if self._ask is not None:
            self._ask(*request, answer=self.note.say)

    # ---- drive ----

    def _drive(self) -> None:
        gui, settings, is_shown = self._gui, self._settings, self._ask is None
        self._mode = gui.add_dropdown(
            "mode",
            MODES if settings.tasks else ("gravity",),
            initial_value=settings.mode,
            disabled=is_shown,
            hint="tasks: the hierarchy of tasks; gravity: compensation only; raw: forces come from outside",
        )
        self._mode_note = Note(gui)
        self._mode.on_update(self._mode_changed)
        self._method = gui.add_dropdown(
            "method",
            ("auto", *self._methods),
            initial_value=settings.method,
            disabled=is_shown,
            hint="Algorithm of the operational-space inertia; it changes between two ticks",
        )
        self._method_note = Note(gui)
        self._method.on_update(self._method_changed)
        self._numbers = gui.add_html("")
        if self._ask is None:
            return
        speed = gui.add_dropdown(
            "time runs",
            ("1", "0.5", "0.25", "0.1"),
            hint="Simulated seconds a second: slow motion",
        )
        speed.on_update(lambda _: self._ask_for("speed", float(speed.value)))
        with gui.add_folder("Posture", expand_by_default=False):
            self._posture()

    def _mode_changed(self, event: Any) -> None:
        if event.client is not None and self._ask is not None:
            self._release()
            self._ask("mode", self._mode.value, answer=self._mode_note.say)

    def _method_changed(self, event: Any) -> None:
        if event.client is not None and self._ask is not None:
            self._ask("settings", {"method": self._method.value}, answer=self._method_note.say)

    def _posture(self) -> None:
        """A slider a joint, where the null space is to bring it."""
        model, gui = self._model, self._gui
        names, places = coordinate_names(model), position_index(model, of_all=False)
        self._sliders = {}
        for name, place, (lower, upper) in zip(names, places, model.position_limits):
            if place < 0:
                continue
            least, most = max(lower, -np.pi), min(upper, np.pi)
            slider = gui.add_slider(
                name, least, most, (most - least) / 400.0, _within(0.0, least, most)
            )
            slider.on_update(lambda event, name=name: self._moved(name, event))
            self._sliders[name] = (slider, place)
        self._posture_note = Note(gui)
        self._has_posture = False

    def _moved(self, name: str, event: Any) -> None:
        if event.client is not None and self._ask is not None:
            value = self._sliders[name][0].value
            self._ask("posture", [name], [value], answer=self._posture_note.say)

    # ---- gains ----

    def _gains(self) -> None:
        gui, settings = self._gui, self._settings
        for task in settings.tasks:
            with gui.add_folder(f"{task.name} (level {task.level}, {task.law})"):
                self._group(task, MAIN)
                with gui.add_folder("more", expand_by_default=False):
                    self._group(task, but=MAIN)
        with gui.add_folder("posture", expand_by_default=False):
            self._group(settings.posture)
        for title, part in (
            ("payload", settings.payload),
            ("limits", settings.limits),
            ("compensation", settings.compensation),
            *((contact.name, contact) for contact in settings.contacts),
        ):
            with gui.add_folder(title, expand_by_default=False):
                self._group(part)

    def _group(self, part: Settings, only: Sequence[str] = (), but: Sequence[str] = ()) -> None:
        """A widget for every parameter of a part that may change and is built into no law."""
        for name, parameter in declared(type(part), part.own_prefix()).items():
            is_wanted = (not only or name in only) and name not in but
            if is_wanted and not parameter.read_only and not parameter.structural:
                ParameterWidget(self._gui, parameter, part.flat()[parameter.name], self._ask)

    # ---- faults ----

    def _faults(self) -> None:
        gui, model = self._gui, self._model
        joints, frames = list(model.joint_names), list(model.body_names)
        self._joint = gui.add_dropdown("joint", joints, initial_value=joints[-1])
        self._frame = gui.add_dropdown("link", frames, initial_value=frames[-1])
        self._seconds = gui.add_number("for [s]", 1.0, min=0.01, max=600.0, step=0.1)
        for title, (entry, hint) in FAULTS.items():
            button = gui.add_button(title, hint=hint, color="gray")
            button.on_click(lambda _, entry=entry: self._inject(entry))
        end = gui.add_button("End all faults", icon=viser.Icon.CIRCLE_CHECK)
        end.on_click(lambda _: self._ask_for("clear_faults"))
        self._fault_note = Note(gui)

    def _inject(self, entry: dict[str, Any]) -> None:
        own = {
            "$joint": self._joint.value,
            "$frame": self._frame.value,
        }
        given = {
            key: own.get(value, value) if isinstance(value, str) else value
            for key, value in entry.items()
        }
        if self._ask is not None:
            given["duration"] = self._seconds.value
            self._ask("fault", given, answer=self._fault_note.say)

    # ---- what is told ----

    def show(self, row: np.void, trouble: Sequence[str] = (), is_live: bool = True) -> None:
        """Say what a row tells: gates, method, time of a tick."""
        closed = names_of(int(row["gates"]))
        state = _lamps(closed, is_live) + "".join(_line(each) for each in trouble)
        if state != self._said:
            self._said = self._state.content = state
        method = self._methods[int(row["method"])] if self._methods else ""
        turns, missed = int(row["turns"]), int(row["missed"])
        facts = {
            "method": method,
            "tick": f"{row['tick']:.1f} us (most {row['tick_most']:.0f})" if turns else "",
            "residual of the last switch": f"{row['residual']:.1e}" if row["switches"] else "",
            "missed": f"{missed} of {turns} turns" if turns else "",
            "time": f"{row['time']:.2f} s",
        }
        self._numbers.content = _table({name: text for name, text in facts.items() if text})
        self._show_posture(row["q"])

    def _show_posture(self, q: np.ndarray) -> None:
        """Before anybody has moved a slider, all stand where the robot is."""
        if self._ask is None or self._has_posture:
            return
        for slider, place in self._sliders.values():
            slider.value = _within(float(q[place]), slider.min, slider.max)
        self._has_posture = True


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


def _within(value: float, least: float, most: float) -> float:
    return float(min(max(value, least), most))


def _lamps(closed: Sequence[str], is_live: bool) -> str:
    """One lamp for all gates, and a line with the reason of each that is closed."""
    if not is_live:
        return ""
    if not closed:
        return _line("all gates are open", "#2b8a3e")
    return "".join(_line(f"{name}: {GATE_TEXTS[name]}", "#c92a2a") for name in closed)


def _line(text: str, colour: str = "#e67700") -> str:
    lamp = f"display:inline-block;width:.75em;height:.75em;border-radius:50%;background:{colour}"
    return (
        f'<div style="padding:.15em .75em;font-size:.9em"><span style="{lamp};margin-right:.5em"></span>'
        f"{escape(text)}</div>"
    )


def _table(facts: dict[str, str]) -> str:
    rows = "".join(
        f'<tr><td style="opacity:.65;padding-right:1em">{escape(name)}</td><td>{escape(text)}</td></tr>'
        for name, text in facts.items()
    )
    return f'<table style="font-size:.85em;margin:.2em .75em">{rows}</table>'
