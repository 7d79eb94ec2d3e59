# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md and the table of errata in docs/theory.md, from the data beside this module."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

from .catalogue import Line, Paper, papers, resolve

_HEAD = """# The five papers, equation by equation

Find an equation, the call that computes it, and the test that proves it. `opspace papers 002` prints one of these
tables, `opspace papers 002 fig8` shows the code of figure 8 and runs it on a robot. Where a print is wrong, the code
has what holds: see the [errata](theory.md#errata-of-the-papers). Symbols are the papers' own; where ours differ, a
list says how.

This page is made by `python docs/generate.py` from `opspace_ctrl/algebra/papers/*.yaml`.

```sh
opspace papers 002 fig8
```
"""


def source_of(call: str) -> Any:
    """The function or class behind a call: of properties and compiled kernels what was written."""
    found = resolve(call)
    for name in ("fget", "func", "py_func"):
        found = getattr(found, name, found)
    return found


def file_of(call: str) -> str:
    """The file of a call, relative to the repository."""
    found = source_of(call)
    module = sys.modules[found.__name__ if inspect.ismodule(found) else found.__module__]
    top = Path(sys.modules["opspace_ctrl"].__path__[0]).parent
    return Path(str(module.__file__)).relative_to(top).as_posix()


def papers_page() -> str:
    """The whole of docs/papers.md."""
    return "\n".join([_HEAD, *(_section(paper) for paper in papers().values())])


def _section(paper: Paper) -> str:
    rows = [f"| {_cells(line)} |" for line in paper.lines]
    symbols = [f"| {_text(theirs)} | {_text(ours)} |" for theirs, ours in paper.symbols.items()]
    own = [f"| {_text(line.at)} | {_text(line.symbols)} |" for line in paper.lines if line.symbols]
    return "\n".join(
        [
            f"## {paper.number}: {paper.title.split(': ', 1)[1]}",
            "",
            f"[{paper.key}] {paper.title}. doi: [{paper.doi}](https://doi.org/{paper.doi})",
            *([paper.note] if paper.note else []),
            "",
            "```text",
            paper.bibtex.rstrip(),
            "```",
            "",
            "| place | what | call | test |",
            "|---|---|---|---|",
            *rows,
            "",
            "| symbol of the paper, or place | here |",
            "|---|---|",
            *symbols,
            *own,
            "",
        ]
    )


def _cells(line: Line) -> str:
    path, function = line.test.split("::")
    call = line.call.removeprefix("opspace_ctrl.")
    test = function.split("[")[0].removeprefix("test_")
    return " | ".join(
        [
            _text(line.at),
            _text(line.says),
            f"[`{call}`](../{file_of(line.call)})",
            f"[{test}](../{path})",
        ]
    )


def errata_table() -> str:
    """A Markdown table, one row an erratum."""
    rows = ["| paper | place | printed | correct |", "|---|---|---|---|"]
    for paper in papers().values():
        for number, e in enumerate(paper.errata):
            key = f"[{paper.key}]" if number == 0 else ""
            rows.append(f"| {key} | {_text(e.at)} | {_text(e.printed)} | {_text(e.correct)} |")
    return "\n".join(rows)


def _text(text: str) -> str:
    """Text that Markdown leaves as it is: a star is no emphasis, a bar no column."""
    return text.strip().replace("*", r"\*").replace("|", r"\|").replace("_", r"\_")
