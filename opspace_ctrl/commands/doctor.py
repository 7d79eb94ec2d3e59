# SPDX-License-Identifier: Apache-2.0
"""Look at this machine: versions, kernel cache, ROS 2, real-time permissions; what is wrong, and how to mend it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path

from ._console import console
from ._findings import Findings

FAILED = 1
OLDEST = (3, 10)
PRIORITY = 50  # what the controller's loop asks for
EXTRAS = {
    "matplotlib": ("plot", "pictures"),
    "mujoco": ("mujoco", "MJCF files and the MuJoCo engine"),
    "xacro": ("xacro", ".xacro files"),
    "mcap_ros2": ("record", "bags"),
    "dartpy": ("dart", "the DART engine"),
    "viser": ("view", "the page in the browser"),
    "sympy": ("study", "formulas of H^-1"),
    "mpmath": ("study", "digits of `opspace bench --accuracy`"),
}
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing."""


def run(args: argparse.Namespace) -> int:
    """Print one line a finding; 0 if nothing failed, 1 otherwise."""
    del args
    findings, out = Findings(), console()
    for look in (
        _look_at_python,
        _look_at_cache,
        _look_at_ros,
        _look_at_real_time,
        _look_at_extras,
    ):
        look(findings)
    out.print(findings.table())
    failed, doubtful = findings.count("FAIL"), findings.count("warning")
    out.print(f"{failed or 'nothing'} failed, {doubtful} warning{'' if doubtful == 1 else 's'}")
    return FAILED if failed else 0


def _look_at_python(findings: Findings) -> None:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST:
        findings.fail("Python", f"{version}: 3.10 or newer is needed")
    else:
        findings.good("Python", f"{version}, {sys.executable}")
    for name, low, high in _bounds():
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            findings.fail("packages", f"{name} is missing: pip install --upgrade opspace_ctrl")
            continue
        if _numbers(found) < _numbers(low) or (high and _numbers(found) >= _numbers(high)):
            findings.warn(
                "packages",
                f"{name} {found} was never tried: {low} to below {high} were; pip install "
                f"'{name}>={low},<{high}'",
            )
        else:
            findings.good("packages", f"{name} {found}")


def _bounds() -> Iterator[tuple[str, str, str]]:
    """(package, oldest, first too new) of what the package requires with bounds."""
    try:
        required = metadata.requires("opspace_ctrl") or []
    except metadata.PackageNotFoundError:
        return
    for line in required:
        name = re.match(r"[A-Za-z0-9_.-]+", line)
        low, high = re.search(r">=([0-9.]+)", line), re.search(r"<([0-9.]+)", line)
        if name and low and high and "extra" not in line:
            yield name[0], low[1], high[1]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"[0-9]+", version)[:3])


def _look_at_cache(findings: Findings) -> None:
    from ..compiled.cache import base_folder

    folder = base_folder()
    if folder is None:
        findings.warn(
            "kernels",
            "no folder for compiled kernels can be used: each start compiles for minutes; set "
            "NUMBA_CACHE_DIR to a folder of your own, mode 0700",
        )
        return
    states = [each for each in folder.glob("*-*") if each.is_dir()]
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    findings.good("kernels", f"{folder}: {len(states)} states of layers, {size / 1e6:.0f} MB")


def _look_at_ros(findings: Findings) -> None:
    try:
        import_module("rclpy")
    except ImportError as error:
        findings.warn(
            "ROS 2",
            f"none ({error}): source it, or pip install 'opspace_ctrl[ros-kilted]'; without it the "
            "library, the simulator and `opspace demo --no-ros` work",
        )
        return
    distro = os.environ.get("ROS_DISTRO", "from wheels")
    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    findings.good("ROS 2", f"{distro}, domain {domain}")
    reach = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    if reach == "SUBNET" and not os.environ.get("ROS_SECURITY_ENABLE"):
        findings.warn(
            "ROS 2",
            "whoever is on this network can send targets: ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST, or "
            "SROS 2 (docs/security.md)",
        )


def _look_at_real_time(findings: Findings) -> None:
    import resource

    allowed = resource.getrlimit(getattr(resource, "RLIMIT_RTPRIO", 14))[0]
    if os.geteuid() == 0 or allowed < 0 or allowed >= PRIORITY:
        findings.good("real time", f"SCHED_FIFO {PRIORITY} is permitted")
    else:
        findings.warn(
            "real time",
            f"SCHED_FIFO {PRIORITY} is not permitted (limit {allowed}): '@realtime - rtprio 98' in "
            "/etc/security/limits.d/realtime.conf, and your user in the group realtime",
        )
    memory = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    if os.geteuid() == 0 or memory < 0:
        findings.good("real time", "memory can be locked")
    else:
        findings.warn(
            "real time", "memory cannot be locked: '@realtime - memlock unlimited' in the same file"
        )
    governor = GOVERNOR.read_text().strip() if GOVERNOR.is_file() else ""
    if governor and governor != "performance":
        findings.warn(
            "real time",
            f"the processor's governor is {governor}: cpupower frequency-set -g performance",
        )


def _look_at_extras(findings: Findings) -> None:
    for module, (extra, what) in EXTRAS.items():
        try:
            import_module(module)
            findings.good("extras", f"{what}: {module}")
        except ImportError:
            findings.good("extras", f"{what}: not installed (pip install 'opspace_ctrl[{extra}]')")
