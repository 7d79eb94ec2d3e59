# SPDX-License-Identifier: Apache-2.0
"""The panel beside the scene: stop, state, method, gains, posture, faults, and what is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from html import escape
from typing import Any, get_args

import numpy as np
import viser

from ..control.safety.settings import GATES
from ..control.safety.state_gate import names_of
from ..control.safety.words import GATE_TEXTS
from ..control.settings import ControllerSettings, Mode
from ..declaration import Settings, declared
from ..model import Model
from ..sim.joint_index import coordinate_names, position_index
from .faults import FaultTab
from .style import STOP, STOP_IN_SIGHT
from .widgets import Choice, Note, ParameterWidget, slider_step

__all__ = ["Panel"]

Ask = Callable[..., None]

MODES = get_args(Mode)
OPEN, CLOSED = "#2b8a3e", "#c92a2a"  # colours of lamps
MAIN = ("enabled", "stiffness", "damping_ratio", "integral", "speed")  # of a task, shown at once


class Panel:
    """The elements, and what they ask for.

    Args:
        server: viser's.
        model: The robot.
        settings: Of its controller.
        methods: Names of the methods that can be chosen.
        ask: Takes requests; None: nothing can be asked for, the page only shows.
        able: Names of the requests that it takes.
        release: Called when tasks no longer go where their handles are.
        is_alone: There is no other robot in the page: the key Escape is this one's.

    Attributes:
        is_paused: Time was told to stand.
    """

    def __init__(
        self,
        server: Any,
        model: Model,
        settings: ControllerSettings,
        methods: Sequence[str],
        ask: Ask | None,
        able: Set[str],
        release: Callable[[], None],
        is_alone: bool = True,
    ):
        self._gui, self._model, self._settings = server.gui, model, settings
        self._methods, self._ask, self._release = tuple(methods), ask, release
        self._able = able if ask is not None else frozenset()
        self._said, self.is_paused = "", False
        self._state = self._gui.add_html("")
        if ask is not None:
            self._stop_buttons(is_alone)
        tabs = self._gui.add_tab_group()
        with tabs.add_tab("Drive", viser.Icon.STEERING_WHEEL):
            self._drive()
        with tabs.add_tab("Gains", viser.Icon.ADJUSTMENTS):
            self._gains()
        if ask is not None and "fault" in self._able:
            with tabs.add_tab("Faults", viser.Icon.BOLT):
                FaultTab(self._gui, model, ask)
        self.show_tab = tabs.add_tab("Show", viser.Icon.EYE)

    # ---- stop ----

    def _stop_buttons(self, is_alone: bool) -> None:
        gui = self._gui
        gui.add_html(STOP_IN_SIGHT if is_alone else STOP)
        stop = gui.add_button("STOP", color="red", icon=viser.Icon.HAND_STOP)
        stop.on_click(lambda _: self.stop())
        if is_alone:
            command = gui.add_command("Emergency stop", hotkey="escape", icon=viser.Icon.HAND_STOP)
            command.on_trigger(lambda _: self.stop())
        words = ("Release", "Hold", "Reset", "Pause")
        row = gui.add_button_group("", [word for word in words if word.lower() in self._able])
        row.on_click(self._pressed)
        self.note = Note(gui)

    def stop(self) -> None:
        """Emergency stop."""
        self._do("stop")

    def _pressed(self, event: Any) -> None:
        word = event.target.value.lower()
        if word == "pause":
            self.is_paused = not self.is_paused
            self._ask_for("pause", self.is_paused)
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
        gui, settings = self._gui, self._settings
        self._mode = gui.add_dropdown(
            "mode",
            MODES if settings.tasks else ("gravity",),
            initial_value=settings.mode if settings.tasks else "gravity",
            disabled="mode" not in self._able,
            hint="tasks: the hierarchy of tasks; gravity: compensation only; raw: forces come from outside; velocity: "
            "the hierarchy for drives that take velocities",
        )
        self._mode_choice = Choice(self._mode, Note(gui))
        self._mode.on_update(self._mode_changed)
        self._method = gui.add_dropdown(
            "method",
            ("auto", *self._methods),
            initial_value=settings.method,
            disabled="settings" not in self._able,
            hint="Algorithm of the operational-space inertia; it changes between two ticks",
        )
        self._method_choice = Choice(self._method, Note(gui))
        self._method.on_update(self._method_changed)
        self._numbers, self._gates = gui.add_html(""), gui.add_html("")
        if "speed" in self._able:
            speed = gui.add_dropdown(
                "time runs",
                ("1", "0.5", "0.25", "0.1"),
                hint="Simulated seconds a second: slow motion",
            )
            speed.on_update(lambda _: self._ask_for("speed", float(speed.value)))
        if "posture" not in self._able:
            return
        with gui.add_folder("Posture", expand_by_default=False):
            self._posture()

    def _mode_changed(self, event: Any) -> None:
        if event.client is not None and self._ask is not None:
            self._release()
            self._ask("mode", self._mode.value, answer=self._mode_choice.answer())

    def _method_changed(self, event: Any) -> None:
        if event.client is not None and self._ask is not None:
            changes = {"method": self._method.value}
            self._ask("settings", changes, answer=self._method_choice.answer())

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
                name, least, most, slider_step(most - least), _within(0.0, least, most)
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
        if "armature" in self._able:
            with gui.add_folder("armature", expand_by_default=False):
                self._armature()

    def _armature(self) -> None:
        """Rotors of the simulated robot, which the controller does not know of."""
        joint = self._gui.add_dropdown("joint", ["all", *self._model.joint_names])
        hint = "Rotor inertia that the simulated robot has more than the controller's model [kg m^2 or kg]"
        added = self._gui.add_number("added", 0.0, min=0.0, max=100.0, step=0.01, hint=hint)
        note = Note(self._gui)

        def changed(event: Any) -> None:
            if event.client is not None and self._ask is not None:
                self._ask("armature", joint.value, added.value, answer=note.say)

        added.on_update(changed)

    def _group(self, part: Settings, only: Sequence[str] = (), but: Sequence[str] = ()) -> None:
        """A widget for every parameter of a part that may change and is built into no law."""
        for name, parameter in declared(type(part), part.own_prefix()).items():
            is_wanted = (not only or name in only) and name not in but
            if is_wanted and not parameter.read_only and not parameter.structural:
                ParameterWidget(self._gui, parameter, part.flat()[parameter.name], self._ask)

    # ---- what is told ----

    def show(self, row: np.void, trouble: Sequence[str] = (), is_live: bool = True) -> None:
        """Say what a row tells: gates, method, time of a tick."""
        closed = names_of(int(row["gates"]))
        state = _lamps(closed, is_live) + "".join(_line(each) for each in trouble)
        self._say(state)
        method = self._methods[int(row["method"])] if self._methods else ""
        turns, missed = int(row["turns"]), int(row["missed"])
        facts = {
            "method": method,
            "tick": f"{row['tick']:.1f} us (most {row['tick_most']:.0f})" if turns else "",
            "state to command": f"{row['trip']:.0f} us" if row["trip"] else "",
            "residual of the last switch": f"{row['residual']:.1e}" if row["switches"] else "",
            "missed": f"{missed} of {turns} turns" if turns else "",
            "time": f"{row['time']:.2f} s",
        }
        self._numbers.content = _table({name: text for name, text in facts.items() if text})
        gates = _gates(closed) if is_live else ""
        if gates != self._gates.content:
            self._gates.content = gates
        self._show_posture(row["q"])

    def show_silence(self, text: str) -> None:
        """Say that nothing comes any more, and why."""
        self._say(_line(text, CLOSED))

    def show_pause(self) -> None:
        """Say that time was told to stand."""
        self._say(_line("paused: press Pause again to go on"))

    def _say(self, state: str) -> None:
        if state != self._said:
            self._said = self._state.content = state

    def _show_posture(self, q: np.ndarray) -> None:
        """Before anybody has moved a slider, all stand where the robot is."""
        if "posture" not in self._able or self._has_posture:
            return
        for slider, place in self._sliders.values():
            slider.value = _within(float(q[place]), slider.min, slider.max)
        self._has_posture = True


def _within(value: float, least: float, most: float) -> float:
    return float(min(max(value, least), most))


def _lamps(closed: Sequence[str], is_live: bool) -> str:
    """One lamp for all gates, and a line with the reason of each that is closed."""
    if not is_live:
        return ""
    if not closed:
        return _line("all gates are open", OPEN)
    return "".join(_line(f"{name}: {GATE_TEXTS[name]}", CLOSED) for name in closed)


def _gates(closed: Sequence[str]) -> str:
    """Every gate with its lamp; what it stands for is said where the mouse rests on it."""
    lamps = "".join(
        f'<span title="{escape(GATE_TEXTS[name])}" style="white-space:nowrap;margin-right:.9em">'
        f"{_lamp(CLOSED if name in closed else OPEN)}{escape(name)}</span> "
        for name in reversed(GATES)
    )
    return f'<div style="font-size:.8em;line-height:1.6;margin:.2em .95em .6em">{lamps}</div>'


def _lamp(colour: str) -> str:
    shape = "display:inline-block;width:.75em;height:.75em;border-radius:50%;margin-right:.5em"
    return f'<span style="{shape};background:{colour}"></span>'


def _line(text: str, colour: str = "#e67700") -> str:
    style = "padding:.15em .75em;font-size:.9em"
    return f'<div style="{style}">{_lamp(colour)}{escape(text)}</div>'


def _table(facts: dict[str, str]) -> str:
    rows = "".join(
        f'<tr><td style="opacity:.65;padding-right:1em">{escape(name)}</td><td>{escape(text)}</td></tr>'
        for name, text in facts.items()
    )
    return f'<table style="font-size:.85em;margin:.2em .75em">{rows}</table>'
