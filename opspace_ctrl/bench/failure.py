# SPDX-License-Identifier: Apache-2.0
"""A part that fails is noted, and the others go on: minutes of measuring are not to be lost."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import in_one_line


@contextmanager
def noted(failed: dict[str, str], what: str) -> Iterator[None]:
    """An error inside ends the block, not the run: `failed[what]` is its reason. OPSPACE_TRACEBACK lets it through."""
    try:
        yield
    except Exception as error:
        if os.environ.get("OPSPACE_TRACEBACK"):
            raise
        failed[what] = in_one_line(error)
