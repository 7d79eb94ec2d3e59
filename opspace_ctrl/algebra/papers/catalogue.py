# SPDX-License-Identifier: Apache-2.0
"""Equations of the papers and where they are in this package, read from the YAML files beside this one.

A line names places as the paper does: "(4)-(8)", "(2.12a)", "figure 8", "table 2", "algorithm 1", "section VII.D".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

import yaml

from ...errors import ConfigurationError

NUMBERS = ("000", "001", "002", "003", "004")
_RANGE = re.compile(r"\((\w[\w.]*)\)-\((\w[\w.]*)\)")
_WORDS = {
    "fig": "figure",
    "figures": "figure",
    "figs": "figure",
    "sec": "section",
    "alg": "algorithm",
    "eq": "",
    "eqs": "",
    "equation": "",
    "tab": "table",
    "app": "appendix",
}


@dataclass(frozen=True)
class Line:
    """One line of the checklist.

    Attributes:
        paper: Its number, "000" to "004".
        at: Where it is in the paper, as the paper counts.
        says: What is there.
        call: The function, method or class that does it, by its dotted name.
        test: The test that proves it: "path::function", or "path::function[parameter]".
        code: What `run_line` runs: Python with `model`, `q`, `v`, `tau`, `np`; its last line is what is shown.
        robot: The shipped robot that it is run on unless told otherwise.
        symbols: How the code's symbols differ from the paper's, empty if they do not.
    """

    paper: str
    at: str
    says: str
    call: str
    test: str
    code: str
    robot: str = "arm7"
    symbols: str = ""

    @property
    def places(self) -> tuple[str, ...]:
        """Every place by itself, ranges written out: ("4", "5", "figure 8")."""
        return places_in(self.at)


@dataclass(frozen=True)
class Erratum:
    """A place where a paper's print is not what holds.

    Attributes:
        at: The place.
        printed, correct: What stands there, and what holds.
        test: The test that sees the printed form fail and ours hold; where a print is a slip of words that cannot be
            computed, the test of what is meant.
    """

    at: str
    printed: str
    correct: str
    test: str


@dataclass(frozen=True)
class Paper:
    """A paper, its lines and its errata.

    Attributes:
        note: What of the reference was compared with a print, and what was not.
    """

    number: str
    key: str
    title: str
    doi: str
    bibtex: str
    symbols: dict[str, str]
    lines: tuple[Line, ...]
    errata: tuple[Erratum, ...]
    note: str = ""


@cache
def papers() -> dict[str, Paper]:
    """The five papers by number."""
    return {number: _read(number) for number in NUMBERS}


def _read(number: str) -> Paper:
    text = files(__package__).joinpath(f"{number}.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    lines = tuple(Line(paper=number, **line) for line in data.pop("lines"))
    errata = tuple(Erratum(**erratum) for erratum in data.pop("errata"))
    return Paper(number=number, lines=lines, errata=errata, **data)


def find(number: str, place: str) -> list[Line]:
    """The lines of a paper about a place, such as "fig8", "(22)", "22", "algorithm 1", "VII.D"; or as a line has it.

    Raises:
        ConfigurationError: There is no such paper, or nothing of it has that place.
    """
    if number not in NUMBERS:
        raise ConfigurationError(f"there is no paper {number!r}; choose {', '.join(NUMBERS)}")
    lines, wanted = papers()[number].lines, normal(place)
    whole = re.sub(r"(\d)[a-z]$", r"\1", wanted)  # (2.12a) is on the line of (2.12)
    spellings = {wanted, whole, f"section {wanted}"}
    found = [
        line for line in lines if spellings.intersection(line.places) or normal(line.at) == wanted
    ]
    if not found:
        known = dict.fromkeys(each for line in lines for each in line.places)
        raise ConfigurationError(f"paper {number} has no {place!r} here; it has {', '.join(known)}")
    return found


def normal(place: str) -> str:
    """A place in one spelling: lower case, words in full, no parentheses ("Fig. 8" and "fig8" are "figure 8")."""
    words = re.findall(r"[a-z]{3,}(?=\d)|[\w.]+", place.lower().replace("(", " ").replace(")", " "))
    words = [_WORDS.get(word.rstrip("."), word.rstrip(".")) for word in words]
    return " ".join(word for word in words if word)


def places_in(at: str) -> tuple[str, ...]:
    """The places of a text, ranges written out."""
    found: list[str] = []
    for part in at.split(","):
        ends = _RANGE.fullmatch(part.strip())
        found += _between(*ends.groups()) if ends else [normal(part)]
    return tuple(found)


def _between(first: str, last: str) -> list[str]:
    """(4)-(8) and (A.1)-(A.9), with what comes before the last number in common."""
    before, start = re.fullmatch(r"(.*?)(\d+)", first).groups()  # type: ignore[union-attr]  # _RANGE ends in one
    end = last[len(before) :]
    if not last.startswith(before) or not end.isdigit():
        raise ConfigurationError(f"({first})-({last}) is no range of equations")
    return [f"{before}{k}".lower() for k in range(int(start), int(end) + 1)]


def resolve(call: str) -> Any:
    """The object of a dotted name.

    Raises:
        ConfigurationError: There is none.
    """
    parts = call.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            if not hasattr(found, name):
                raise ConfigurationError(f"{call}: {'.'.join(parts[:cut])} has no {name}")
            found = getattr(found, name)
        return found
    raise ConfigurationError(f"{call}: no such module")
