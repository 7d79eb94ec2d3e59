# SPDX-License-Identifier: Apache-2.0
"""A parameter in the panel: what it shows and takes follows from its declaration, and a refusal stands beside it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from ..parameters import Parameter

__all__ = ["Choice", "Note", "ParameterWidget", "slider_step"]

Ask = Callable[..., None]
# parameters that are tuned by hand: (least, most) of a slider, where they are one number
SLIDERS = {"stiffness": (0.0, 3000.0), "damping_ratio": (0.0, 2.0), "integral": (0.0, 20.0)}


class Note:
    """A line of text below something, not there while it is empty."""

    def __init__(self, gui: Any):
        self._html = gui.add_html("", visible=False)
        self.text = ""

    def say(self, text: str) -> None:
        """Show why something was refused, or nothing."""
        if text == self.text:
            return
        self.text = text
        style = "color:#c92a2a;font-size:0.8em;padding:0 0.75em 0.4em;line-height:1.25"
        self._html.content = f'<div role="alert" style="{style}">{escape(text)}</div>'
        self._html.visible = bool(text)


class Choice:
    """A list to choose from that goes back to what holds when a choice is refused.

    Args:
        element: viser's.
        note: Below it.
    """

    def __init__(self, element: Any, note: Note):
        self._element, self._note, self._holds = element, note, element.value

    def answer(self) -> Callable[[str], None]:
        """What takes why the present choice is refused, or "" if it holds."""
        chosen = self._element.value

        def answer(text: str) -> None:
            self._note.say(text)
            if not text:
                self._holds = chosen
            elif self._element.value == chosen:
                self._element.value = self._holds

        return answer


class ParameterWidget:
    """One live parameter of the controller.

    Args:
        gui: viser's.
        parameter: Its declaration.
        value: The one in use.
        ask: Takes requests; None: it only shows.
    """

    def __init__(self, gui: Any, parameter: Parameter, value: Any, ask: Ask | None):
        self._parameter, self._ask = parameter, ask
        self._label = parameter.name.rpartition(".")[2].replace("_", " ")
        self._hint = parameter.description + (f" [{parameter.unit}]" if parameter.unit else "")
        self.value = value
        self._element = self._make(gui, value)
        self.note = Note(gui)
        self._element.on_update(self._changed)

    def _make(self, gui: Any, value: Any) -> Any:
        own, label = self._parameter, self._label
        told = {"hint": self._hint, "disabled": self._ask is None}
        if own.kind == "bool":
            return gui.add_checkbox(label, bool(value), **told)
        if own.choices and not own.is_array:
            return gui.add_dropdown(label, list(own.choices), initial_value=value, **told)
        if self._is_number(value):
            return self._number(gui, float(value[0] if own.is_array else value), told)
        return gui.add_text(label, _text(value), **told)

    def _is_number(self, value: Any) -> bool:
        own = self._parameter
        return own.kind in ("double", "integer") or (own.kind == "double_array" and len(value) == 1)

    def _number(self, gui: Any, value: float, told: dict[str, Any]) -> Any:
        own, name = self._parameter, self._parameter.name.rpartition(".")[2]
        if name in SLIDERS:
            least, most = SLIDERS[name]
            most = max(most, 2.0 * value)
            return gui.add_slider(
                self._label, least, most, slider_step(most - least), value, **told
            )
        if own.kind == "integer":
            return gui.add_number(self._label, int(value), step=1, **told)
        return gui.add_number(self._label, value, step=_step(value), **told)

    def _changed(self, event: Any) -> None:
        if self._ask is None or event.client is None:
            return
        try:
            value = self._read()
        except ValueError as error:
            self.note.say(f"{error}; it is still {_text(self.value)}")
            return

        def answer(text: str) -> None:
            if not text:
                self.value = value
            self.note.say(text and f"{text}; it is still {_text(self.value)}")

        self._ask("settings", {self._parameter.name: value}, answer=answer)

    def _read(self) -> Any:
        """What the element holds, as the parameter wants it."""
        own, given = self._parameter, self._element.value
        if own.is_array and not isinstance(given, str):
            return [float(given)]
        if own.kind == "string_array":
            return [each for each in given.replace(",", " ").split() if each]
        if own.is_array:
            try:
                return [float(each) for each in given.replace(",", " ").split()]
            except ValueError:
                raise ValueError(
                    f"{own.name}: {given!r} are not numbers with spaces between"
                ) from None
        return int(given) if own.kind == "integer" else given


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    several = value if isinstance(value, (list, tuple)) else [value]
    return " ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in several)


def slider_step(span: float) -> float:
    """A hundredth of what a slider spans or less, a power of ten: 0.01 of 2, 10 of 3000."""
    return float(10.0 ** np.floor(np.log10(span / 100.0)))


def _step(value: float) -> float:
    """A hundredth or so of a number, round."""
    size = abs(value) or 1.0
    step = 1.0
    while step > 0.05 * size and step > 1e-6:
        step /= 10.0
    return step
