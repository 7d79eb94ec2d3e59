# SPDX-License-Identifier: Apache-2.0
"""The processors that LLVM knows, by the names under which code is made for them."""

import re
import subprocess
import sys
from functools import cache

__all__ = ["known_processors"]

# LLVM has no call that lists them: asked for the processor "help" it prints them, past Python, on the process's stderr.
ASK = """
import sys
from llvmlite import binding
binding.initialize_all_targets()
binding.Target.from_triple(sys.argv[1]).create_target_machine(cpu="help")
"""


@cache
def known_processors(triple: str) -> tuple[str, ...]:
    """All processors of a target such as "aarch64-unknown-linux-gnu"; none if LLVM does not tell."""
    asked = subprocess.run(
        [sys.executable, "-c", ASK, triple], capture_output=True, text=True, errors="replace"
    )
    return tuple(re.findall(r"^  (\S+)\s+- Select the", asked.stderr, re.MULTILINE))
