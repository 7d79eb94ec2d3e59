# SPDX-License-Identifier: Apache-2.0
"""The machine and the versions that figures were measured with."""

import os
import platform
from importlib import metadata
from pathlib import Path

from ..compiled import COMPILERS

DISTRIBUTIONS = (
    "opspace_ctrl",
    "numpy",
    "scipy",
    *COMPILERS,
    "pin",
    "mujoco",
    "example-robot-data",
)
VECTOR_FLAGS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512vl", "asimd", "sve")


def machine() -> dict:
    """Processor, its vector instructions, cores that may be used, how many wanted to run, operating system."""
    entries = _cpuinfo()
    flags = set((entries.get("flags") or entries.get("Features") or "").split())
    return {
        "cpu": entries.get("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "cores_allowed": _cores_allowed(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "clock_MHz": float(entries["cpu MHz"]) if "cpu MHz" in entries else None,
        "vector_flags": [flag for flag in VECTOR_FLAGS if flag in flags],
        "flags": sorted(flags),
        "system": f"{platform.system()} {platform.release()}",
    }


def versions() -> dict[str, str | None]:
    """Versions of Python and of what is compared; None where it is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def _cores_allowed() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _cpuinfo() -> dict[str, str]:
    """The first processor's entries of /proc/cpuinfo; empty where there is none."""
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return {}
    first = path.read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}
