# SPDX-License-Identifier: Apache-2.0
"""One way to print tables."""

import os
import shutil
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table

from ..errors import shown


class _PlainConsole(Console):
    """A console that leaves a closed pipe to `opspace_ctrl.cli`, where rich would exit with code 1.

    Whatever text it is given, what it prints of it moves no cursor and turns no writing round; styles are its own.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments of rich, their text printable."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                lines = segment.text.split("\n")
                text = "\n".join(shown(line, len(line) + 20) for line in lines)
                yield Segment(text, segment.style)

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error again that rich has caught."""
        raise BrokenPipeError


def programs() -> str:
    """What goes before the name of a command of ours where it is to be pasted: "" if it is on the path."""
    if shutil.which("opspace"):
        return ""
    return f"{os.path.relpath(os.path.join(sys.prefix, 'bin'))}/"


def console() -> Console:
    """No markup, for names come from files; a pipe or file gets wide lines instead of 80 columns."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else 140
    return _PlainConsole(width=width, markup=False, highlight=False, emoji=False)


def right(title: str) -> Column:
    """A column of numbers."""
    return Column(title, justify="right", no_wrap=True)


def new_table(*columns: str | Column, title: str | None = None, **options: Any) -> Table:
    """An empty table with a line below its head and nothing else drawn; `options` are those of rich's Table."""
    look = {"box": box.SIMPLE_HEAD, "pad_edge": False, "title_justify": "left", **options}
    return Table(*columns, title=title, **look)
