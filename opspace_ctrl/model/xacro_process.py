# SPDX-License-Identifier: Apache-2.0
"""Expanding xacro files in a process of its own, with limits: a xacro file is a program."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from .. import errors
from ..errors import SourceError, UrdfWarning, quoted, shown
from .xml_safety import MAX_BYTES

CHILD = Path(__file__).with_name("xacro_child.py")
SECONDS = 30  # of the processor
PATIENCE = 300.0  # [s], on the wall
MEMORY = 1 << 30  # [bytes]
# What the process itself gets of the environment, to find packages; $(env NAME) knows all but what looks like a secret.
PASSED_ON = ("AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH")
SECRET = re.compile("AUTH|COOKIE|CREDENTIAL|KEY|PASS|SECRET|TOKEN", re.IGNORECASE)
# What our own checks in the process raise, raised here again.
OURS = ("UnsafeXmlError", "UrdfSyntaxError")


def expand_xacro(path: Path, arguments: Mapping[str, object]) -> str:
    """The URDF that a xacro file makes.

    Args:
        path: the file.
        arguments: name -> value.

    Raises:
        SourceError: xacro is missing, or fails, or takes too long or too much memory.
        UnsafeXmlError, UrdfSyntaxError: a file that it includes is not read.
    """
    if importlib.util.find_spec("xacro") is None:
        raise SourceError(f"{quoted(path)} needs xacro: pip install 'opspace_ctrl[xacro]'")
    secret = [name for name in os.environ if SECRET.search(name)]
    request = {
        "file": str(path),
        "arguments": {str(name): str(value) for name, value in arguments.items()},
        "environment": {name: os.environ[name] for name in os.environ if name not in secret},
        "secret": secret,
        # not what stands in the current folder
        "path": [str(CHILD.parents[2]), *(part for part in sys.path if os.path.isabs(part))],
        "seconds": SECONDS,
        "memory": MEMORY,
    }
    answer = _answer(path, json.dumps(request).encode())
    if answer.get("said"):
        warnings.warn(f"xacro says of {quoted(path)}: {shown(answer['said'], 400)}", UrdfWarning, 2)
    if isinstance(answer.get("text"), str):
        return answer["text"]
    kind, reason = str(answer.get("error")), str(answer.get("reason"))
    if kind in OURS:
        raise getattr(errors, kind)(f"{quoted(path)}: {shown(reason, 400)}")
    raise SourceError(f"xacro failed on {quoted(path)}: {shown(f'{kind}: {reason}', 400)}")


def _answer(path: Path, request: bytes) -> dict:
    """Start the process, send it the request, and wait for its answer."""
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
            start_new_session=True,  # so that its end is also that of what it may have started
        )
    except OSError as error:
        raise SourceError(f"cannot start xacro for {quoted(path)}: {error.strerror}") from None
    assert process.stdin is not None and process.stdout is not None
    timer = threading.Timer(PATIENCE, _end, [process])
    timer.start()
    try:
        with suppress(BrokenPipeError):
            process.stdin.write(request)
            process.stdin.close()
        data = process.stdout.read(2 * MAX_BYTES + 1)
    finally:
        timer.cancel()
        _end(process)
        process.stdout.close()
        process.wait()
    with suppress(ValueError):
        answer = json.loads(data)
        if isinstance(answer, dict):
            return answer
    raise SourceError(
        f"xacro did not finish {quoted(path)} within {SECONDS} s of computing, {PATIENCE:g} s in all, "
        f"{MEMORY >> 20} MiB of memory and {2 * MAX_BYTES >> 20} MiB of text"
    )


def _end(process: subprocess.Popen) -> None:
    """Kill the process, which has answered or never will, and all that is in its session."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
