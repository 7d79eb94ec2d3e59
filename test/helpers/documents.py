# SPDX-License-Identifier: Apache-2.0
"""The fenced blocks and links of README.md, CONTRIBUTING.md and docs/, as the documentation tests read them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: the document it stands in, its language and its text."""

    document: str
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.document}: {self.text.splitlines()[0][:50]}"


def blocks(*languages: str, document: str | None = None) -> list[Block]:
    """All blocks in these languages, of all documents or of one."""
    paths = DOCUMENTS if document is None else [ROOT / document]
    found = [
        Block(str(path.relative_to(ROOT)), *match.groups())
        for path in paths
        for match in _BLOCK.finditer(path.read_text(encoding="utf-8"))
    ]
    return [block for block in found if not languages or block.language in languages]


def commands(text: str) -> list[str]:
    """The command lines of a shell block: continued lines joined; prompts, comments, output and the venv left out."""
    joined = text.replace("\\\n", " ")
    has_prompts = any(line.startswith("$ ") for line in joined.splitlines())
    lines = [
        line.removeprefix("$ ")
        for line in joined.splitlines()
        if not has_prompts or line.startswith("$ ")
    ]
    return [
        " ".join(line.split(" #")[0].split()).removeprefix(".venv/bin/")
        for line in lines
        if line.strip() and not line.startswith("#")
    ]


def links(path: Path) -> list[str]:
    """Targets of the relative links in a document, without their anchors."""
    text = _BLOCK.sub("", path.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [
        target.split("#")[0] for target in targets if "://" not in target and target.split("#")[0]
    ]
