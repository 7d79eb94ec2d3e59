# SPDX-License-Identifier: Apache-2.0
"""What messages show of values from outside: short, in one line, and quickly."""

import gc
import resource
import sys
import unicodedata
import weakref

import numpy as np
import pytest

from opspace_ctrl import OpspaceError, PoseTask
from opspace_ctrl.errors import (
    MOST_MISTAKES,
    Mistakes,
    ParameterError,
    SettingsError,
    listed,
    quoted,
    shown,
)

# Controls, what turns the direction of writing, and what breaks a line.
FORBIDDEN = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ufeff",
]


def test_the_list_has_every_mark_of_direction_that_unicode_knows():
    marks = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    turning = {chr(c) for c in range(sys.maxunicode) if unicodedata.bidirectional(chr(c)) in marks}
    assert turning <= set(FORBIDDEN)


@pytest.mark.parametrize("show", [quoted, shown, lambda text: listed([text])])
def test_no_control_reaches_a_terminal(show):
    for character in FORBIDDEN:
        text = show(f"a{character}b")
        assert character not in text and text.isprintable() and "a" in text and "b" in text


@pytest.mark.parametrize("show", [quoted, shown, lambda text: listed([text])])
def test_letters_of_all_languages_stay(show):
    for text in ("grün", "机器人", "робот", "ρ", "ロボット", "ذراع"):
        assert text in show(text)


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value] * 9
    return value


HUGE = {
    "text": "x" * 10**8,
    "bytes": b"x" * 10**8,
    "integer": 1 << 10**7,
    "list": list(range(10**6)),
    "dict": dict.fromkeys(range(10**6)),
    "set": set(range(10**6)),
    "aliases": nested(30),
    "strings": ["x" * 10**6] * 10**4,
    "array": np.zeros(10**6),
    "robot": "\u202e" * 10**7,
}


@pytest.mark.parametrize(
    "show, name", [*((quoted, name) for name in HUGE), (shown, "text"), (shown, "robot")]
)
def test_a_huge_value_is_cut_before_it_is_written_out(show, name):
    before = resource.getrusage(resource.RUSAGE_SELF)
    text = show(HUGE[name])
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert len(text) <= 2400 and text.isprintable()
    assert after.ru_maxrss - before.ru_maxrss < 50_000  # [kB]


def test_short_values_are_whole():
    for value in ("a", b"a", 7, 1.5, None, [1, "a"], {"a": [1]}, {1, 2}, (), True):
        assert quoted(value) == repr(value)


def test_no_text_that_a_command_prints_controls_the_terminal(capsys):
    from rich.table import Table

    from opspace_ctrl.commands._console import console

    table = Table("name")
    for character in FORBIDDEN:
        if character != "\n":  # ours; what comes from outside has passed `shown` or the loader
            table.add_row(f"a{character}b")
    out = console()
    out.print(table)
    out.print("a\x1b[2J\x9b\u202eb")
    printed = capsys.readouterr().out
    assert set(printed) & set(FORBIDDEN) == {"\n"}


def gathered(*errors):
    mistakes = Mistakes()
    for error in errors:
        with mistakes:
            raise error
    return mistakes


def test_mistakes_are_told_at_once_each_once_and_one_alone_as_it_is():
    gathered().tell()
    alone = SettingsError("a")
    with pytest.raises(SettingsError) as caught:
        gathered(alone, SettingsError("a")).tell()
    assert caught.value is alone
    with pytest.raises(ParameterError) as caught:
        gathered(ParameterError("a"), SettingsError("b"), ParameterError("c")).tell()
    assert str(caught.value) == "3 mistakes: (1) a; (2) b; (3) c"
    assert [str(each) for each in gathered(alone, caught.value).found] == ["a", "b", "c"]


def test_a_message_stays_short_whatever_the_number_of_mistakes():
    many = gathered(*(ParameterError(f"x{i}") for i in range(1000)))
    with pytest.raises(ParameterError, match=f"{1000 - MOST_MISTAKES} more$") as caught:
        many.tell()
    assert len(str(caught.value)) < 300 and len(caught.value.parts) == 1000


def test_what_is_no_mistake_of_a_user_is_raised_at_once():
    with pytest.raises(ZeroDivisionError):
        gathered(ZeroDivisionError())


@pytest.mark.parametrize("wrong", [{"stiffness": -1.0}, {"stiffness": -1.0, "level": -1}])
def test_a_refusal_leaves_no_circle_of_error_and_frames(wrong):
    def refusal():
        try:
            PoseTask("tool", **wrong)
        except OpspaceError as error:
            return weakref.ref(error)

    gc.disable()  # as the node does while efforts go out
    try:
        assert refusal()() is None
    finally:
        gc.enable()
